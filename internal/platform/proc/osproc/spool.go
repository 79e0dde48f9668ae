package osproc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// ErrSpoolFull means that the data exceeds the spool's limit.
var ErrSpoolFull = errors.New("the output is larger than is kept")

// A Spool buffers data in memory up to a limit and beyond that in a temporary file. The
// beginning stays in memory. It is safe for concurrent use.
//
// Where the system allows it, the file is unlinked. It is gone when Close is called, when the
// reader returned by Open is closed, or at the latest when the program exits.
type Spool struct {
	dir         string
	memory, max int64

	mu   sync.Mutex
	head []byte
	size int64
	file *os.File
}

// NewSpool returns a spool that keeps up to memory bytes in memory and spills to a file in dir,
// up to max bytes in total. An empty dir means the system's temporary directory.
func NewSpool(dir string, memory, max int64) *Spool {
	return &Spool{dir: dir, memory: memory, max: max}
}

// Write appends p. It fails with [ErrSpoolFull], or if the file cannot be written; earlier data
// remains available.
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

// spill moves the data to the file. The head also stays in memory.
func (s *Spool) spill() error {
	f, err := os.CreateTemp(s.dir, "adze-output-*")
	if err != nil {
		return err
	}
	if unlinkOpen {
		os.Remove(f.Name()) // ok: otherwise it is removed when closed
	}
	if _, err := f.Write(s.head); err != nil {
		s.discard(f)
		return err
	}
	s.file = f
	return nil
}

func (s *Spool) discard(f *os.File) {
	f.Close()           // ok: the reader is gone
	os.Remove(f.Name()) // ok: it may already be unlinked
}

// Size returns the number of bytes kept.
func (s *Spool) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Head returns up to n bytes from the beginning, limited to the part in memory.
func (s *Spool) Head(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.head[:min(n, len(s.head))])
}

// Open returns a reader for all data. It must be called at most once, and nothing may be
// written afterwards. Closing the reader discards the file.
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

// Close discards the file, if any.
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
