//go:build !unix

package fsys

import "io/fs"

// OwnPrivate reports whether only the user can access a file. On this system that depends on
// its directory.
func OwnPrivate(fs.FileInfo) bool { return true }

// Own reports whether only the user can write a file. On this system that depends on its
// directory.
func Own(fs.FileInfo) bool { return true }
