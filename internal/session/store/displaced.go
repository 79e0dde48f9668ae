package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// checkPath checks that the log's file is still at its path: sync programs replace files, and
// users remove them. If not, it copies the records to the current file or to a new one.
func (l *Log) checkPath() error {
	now, err := os.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.relocate("The transcript was removed while the session was open. It was written again, with all that it held.")
	case err != nil:
		return nil // the location is unknown, but the file may be writable
	case !os.SameFile(now, l.info):
		return l.relocate("Another program replaced the transcript while the session was open. Missing entries were appended.")
	case !l.excess && now.Size() != l.size:
		return l.accept(now.Size())
	}
	return nil
}

// relocate opens the file at the log's path and appends the missing records. If that file
// cannot be written or is locked by another process, the log moves to a copy next to it.
func (l *Log) relocate(notice string) error {
	err := l.adopt(l.path)
	if err == nil {
		l.told.add(notice)
		return nil
	}
	beside := strings.TrimSuffix(l.path, ".jsonl") + "-copy.jsonl"
	if l.adopt(beside) != nil {
		return err // the more useful error
	}
	l.path = beside
	l.told.add(fmt.Sprintf("The transcript was removed or replaced while the session was open, and cannot be written any more (%v). The session continues in %s.", err, beside))
	return nil
}

// adopt makes the file at path the log's file, after appending the missing records to it.
func (l *Log) adopt(path string) error {
	if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	f, torn, err := l.open(path)
	if err != nil {
		return err
	}
	n, err := f.Size()
	if err == nil {
		n, err = appendMissing(f, n, l.f, l.size)
	}
	info, statErr := os.Stat(path)
	if err = errors.Join(err, statErr); err != nil {
		f.Close() // ok: the first error is returned
		return fmt.Errorf("writing %s: %w", path, err)
	}
	l.f.Close() // ok: no longer needed
	l.f, l.size, l.info, l.excess = f, n, info, false
	l.unsynced, l.named = true, false
	if torn != nil {
		l.torn = torn
	}
	return nil
}

// appendMissing appends to the file to, of size n, the lines of from after their common prefix.
// Records name their parents, so other programs' lines in between do no harm. It returns the
// new size.
func appendMissing(to file, n int64, from file, size int64) (int64, error) {
	same, err := commonLines(to, n, from, size)
	if err != nil {
		return 0, err
	}
	written, err := io.Copy(to, io.NewSectionReader(from, same, size-same))
	if err != nil {
		to.Truncate(n) // ok: the rest follows complete lines, and is compared again next time
	}
	return n + written, err
}

// commonLines returns the length of the common prefix of both files in whole lines, in bytes.
func commonLines(a file, sizeA int64, b file, sizeB int64) (int64, error) {
	const block = 256 << 10
	var lines int64
	for at := int64(0); at < min(sizeA, sizeB); {
		n := min(block, min(sizeA, sizeB)-at)
		x, y := make([]byte, n), make([]byte, n)
		if _, err := a.ReadAt(x, at); err != nil {
			return 0, err
		}
		if _, err := b.ReadAt(y, at); err != nil {
			return 0, err
		}
		same := 0
		for same < len(x) && x[same] == y[same] {
			same++
		}
		if i := bytes.LastIndexByte(x[:same], '\n'); i >= 0 {
			lines = at + int64(i) + 1
		}
		if same < len(x) {
			break
		}
		at += n
	}
	return lines, nil
}

// accept continues after another program changed the log's own file.
func (l *Log) accept(size int64) error {
	torn, err := l.f.Mend()
	if err != nil {
		return fmt.Errorf("repairing transcript %s: %w", l.path, err)
	}
	if torn != nil {
		l.torn, size = torn, size-torn.Bytes
	}
	if size < l.size {
		l.told.add(fmt.Sprintf("Another program cut the transcript while the session was open: %d bytes of earlier messages are gone from %s.", l.size-size, l.path))
	} else {
		l.told.add(fmt.Sprintf("Another program wrote to the transcript while the session was open: %s.", l.path))
	}
	l.size = size
	return nil
}

// notices holds messages for the user.
type notices []string

func (n *notices) add(text string) { *n = append(*n, text) }

// Notice returns a message for the user about the log's file, once, or "".
func (l *Log) Notice() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.Join(l.told, " ")
	l.told = nil
	return text
}
