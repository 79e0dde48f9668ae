//go:build !unix

package fsys

import "io/fs"

// OwnPrivate reports whether a file belongs to the user alone. Here the directory that it is in decides that.
func OwnPrivate(fs.FileInfo) bool { return true }

// Own reports whether a file belongs to the user, and no one else may write it. Here the directory decides that, too.
func Own(fs.FileInfo) bool { return true }
