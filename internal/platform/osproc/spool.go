package osproc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// ErrSpoolFull says that more was written to a spool than it takes.
var ErrSpoolFull = errors.New("the output is larger than is kept")

// A Spool keeps what is written to it, in memory while it is short and then in a temporary file. Its
// beginning stays in memory. It is safe for concurrent use.
//
// The file has no name where the system allows that, and is gone when Close is called, when the reader
// that Open returned is closed, or at the latest when the program ends.
type Spool struct {
	dir         string
	memory, max int64

	mu   sync.Mutex
	head []byte
	size int64
	file *os.File
}

// NewSpool returns a spool that keeps up to memory bytes in memory and what is more in a file in dir,
// up to max bytes in all. An empty dir means the system's own for temporary files.
func NewSpool(dir string, memory, max int64) *Spool {
	return &Spool{dir: dir, memory: memory, max: max}
}

// Write keeps p. It fails with [ErrSpoolFull], or if the file cannot be written; what was written
// before stays.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int(min(int64(len(p)), s.max-s.size))
	if err := s.keep(p[:n]); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, ErrSpoolFull
	}
	return n, nil
}

func (s *Spool) keep(p []byte) error {
	if s.file == nil && s.size+int64(len(p)) > s.memory {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.file != nil {
		if _, err := s.file.Write(p); err != nil {
			return err
		}
	}
	s.head = append(s.head, p[:min(len(p), int(s.memory)-len(s.head))]...)
	s.size += int64(len(p))
	return nil
}

// spill moves what is in memory to the file. The head stays in memory too.
func (s *Spool) spill() error {
	f, err := os.CreateTemp(s.dir, "adze-output-*")
	if err != nil {
		return err
	}
	if unlinkOpen {
		os.Remove(f.Name()) // ok: then it is removed when it is closed
	}
	if _, err := f.Write(s.head); err != nil {
		s.discard(f)
		return err
	}
	s.file = f
	return nil
}

func (s *Spool) discard(f *os.File) {
	f.Close()           // ok: there is no reader left
	os.Remove(f.Name()) // ok: it may have lost its name already
}

// Size returns how many bytes were kept.
func (s *Spool) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Head returns up to n bytes of the beginning, no more than fit in memory.
func (s *Spool) Head(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.head[:min(n, len(s.head))])
}

// Open returns everything from the beginning. It may be called once; closing the reader discards the
// file. Nothing may be written any more.
func (s *Spool) Open() (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return io.NopCloser(bytes.NewReader(s.head)), nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &spoolReader{s.file, s}, nil
}

// Close discards the file, if there is one.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.discard(s.file)
	}
	return nil
}

type spoolReader struct {
	*os.File
	spool *Spool
}

func (r *spoolReader) Close() error { return r.spool.Close() }
