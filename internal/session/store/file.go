package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrLocked says that another process has the log open.
var ErrLocked = errors.New("session is open in another process")

// A LockedError is an [ErrLocked] that says more.
type LockedError struct {
	Path string
	PID  int // of the process that has it, or 0 if not known
}

// Error says what is locked, and by whom.
func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("session %s is open in %s", e.Path, holder)
}

// Is makes the error an ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// Torn is the end of a log that was cut off in the middle of a line, by a crash or a loss of power.
type Torn struct {
	Path  string // where it was moved
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

func (f logFile) Mend() (*Torn, error) { return moveTorn(f.File) }

// openFile opens the log at path for appending, locks it and moves a torn end aside.
func openFile(path string) (_ file, _ *Torn, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening transcript: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close() // ok: the error that counts is known
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

// moveTorn moves what follows the last line break of f into a file beside it. A later tail is added
// to an earlier one, so nothing is ever lost.
func moveTorn(f *os.File) (*Torn, error) {
	size, err := logFile{f}.Size()
	if err != nil {
		return nil, err
	}
	end, err := lastLineEnd(f, size)
	if err != nil || end == size {
		return nil, err
	}
	aside, err := os.OpenFile(f.Name()+".torn", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
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
	if err := f.Truncate(end); err != nil {
		return nil, err
	}
	return &Torn{Path: aside.Name(), Bytes: size - end}, nil
}

// lastLineEnd returns the position after the last line break before size.
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
