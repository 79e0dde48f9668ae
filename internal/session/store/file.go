package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"adze/internal/platform/fs/fsys"
)

// ErrLocked is returned if another process has the log open.
var ErrLocked = errors.New("session is open in another process")

// A LockedError is an [ErrLocked] with details.
type LockedError struct {
	Path string
	PID  int // process that holds the lock, or 0 if unknown
}

// Error names the locked log and the process.
func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("session %s is open in %s", e.Path, holder)
}

// Is makes the error an ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// Torn is an incomplete line at the end of a log, caused by a crash or a power loss.
type Torn struct {
	Path  string // location of the moved text
	Bytes int64
}

type logFile struct{ *os.File }

func (f logFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f logFile) Truncate(size int64) error { return fsys.Truncate(f.File, size) }

func (f logFile) Mend() (*Torn, error) { return moveTorn(f.File) }

// openFile opens the log at path for appending, locks it and moves an incomplete last line
// aside.
func openFile(path string) (_ file, _ *Torn, err error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening transcript: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close() // ok: the first error is returned
		}
	}()
	if err := lock(f); err != nil {
		return nil, nil, err
	}
	torn, err := moveTorn(f)
	if err != nil {
		return nil, nil, fmt.Errorf("repairing transcript %s: %w", path, err)
	}
	return logFile{f}, torn, nil
}

// moveTorn moves the text after the last newline of f to a file next to it. It appends to an
// existing file, so nothing is ever lost.
func moveTorn(f *os.File) (*Torn, error) {
	size, err := logFile{f}.Size()
	if err != nil {
		return nil, err
	}
	end, err := lastLineEnd(f, size)
	if err != nil || end == size {
		return nil, err
	}
	aside, err := fsys.OpenFile(f.Name()+".torn", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer aside.Close()
	if _, err := io.Copy(aside, io.NewSectionReader(f, end, size-end)); err != nil {
		return nil, err
	}
	if _, err := aside.WriteString("\n"); err != nil {
		return nil, err
	}
	if err := aside.Sync(); err != nil {
		return nil, err
	}
	if err := fsys.Truncate(f, end); err != nil {
		return nil, err
	}
	return &Torn{Path: aside.Name(), Bytes: size - end}, nil
}

// lastLineEnd returns the position after the last newline before size.
func lastLineEnd(r io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		start := max(0, end-int64(len(buf)))
		chunk := buf[:end-start]
		if _, err := r.ReadAt(chunk, start); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
