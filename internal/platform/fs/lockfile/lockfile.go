// Package lockfile implements lock files that record their holder.
package lockfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Try creates and locks the file at path, and records this process as its holder. Closing the
// file releases the lock but does not remove the file.
func Try(path string) (*os.File, error) {
	file, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Lock(file); err != nil {
		file.Close()
		return nil, err
	}
	me := fmt.Sprintf("process %d of %s\n", os.Getpid(), os.Args[0])
	if was := make([]byte, len(me)+1); read(file, was) != me {
		file.Truncate(0)            // ok: the holder is only used in error messages
		file.WriteAt([]byte(me), 0) // ok: as above
	}
	return file, nil
}

// read returns the beginning of the file, up to len(buf) bytes.
func read(file *os.File, buf []byte) string {
	n, _ := file.ReadAt(buf, 0) // ok: unreadable content is overwritten
	return string(buf[:n])
}

// Holder returns a human-readable description of the process that holds the lock at path.
func Holder(path string) string {
	data, err := os.ReadFile(path)
	if who := strings.TrimSpace(string(data)); err == nil && who != "" {
		return who
	}
	return "another process"
}
