//go:build !unix

package fsys

// SyncDir does nothing: on this system, directory entries are durable once the file is.
func SyncDir(string) error { return nil }
