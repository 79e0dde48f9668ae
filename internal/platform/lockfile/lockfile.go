// Package lockfile locks files of their own in place of what they stand for, and writes into them who holds them. What is
// kept from others with a lock, and how long to wait for one, is left to others.
package lockfile

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrLocked says that another process has the lock.
var ErrLocked = errors.New("locked by another process")

// Try makes and locks the file at path, and writes into it who did. Closing the file gives the lock back; the file stays.
func Try(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Lock(file); err != nil {
		file.Close()
		return nil, err
	}
	me := fmt.Sprintf("process %d of %s\n", os.Getpid(), os.Args[0])
	if was := make([]byte, len(me)+1); read(file, was) != me {
		file.Truncate(0)            // ok: who holds it is only told in an error
		file.WriteAt([]byte(me), 0) // ok: the same
	}
	return file, nil
}

// read returns what is at the beginning of the file, as much as fits into buf.
func read(file *os.File, buf []byte) string {
	n, _ := file.ReadAt(buf, 0) // ok: what cannot be read is written again
	return string(buf[:n])
}

// Holder returns who has the lock at path, in words.
func Holder(path string) string {
	data, err := os.ReadFile(path)
	if who := strings.TrimSpace(string(data)); err == nil && who != "" {
		return who
	}
	return "another process"
}
