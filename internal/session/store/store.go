// Package store persists sessions: an append-only log of JSON lines per session, and files next
// to it for results too large for the conversation. Acknowledged records survive a crash, in
// order.
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
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
)

// Options identifies a log and holds metadata written to each record.
type Options struct {
	// Home is the state home. Dir is the absolute path of the folder where the session started.
	Home, Dir string
	// Session is the session ID. It becomes a file name and may contain letters, digits, '-'
	// and '_'.
	Session string
	// Version is the program's version. Branch is the branch of the repository in Dir, or
	// empty.
	Version, Branch string
	// Path is the path of the log, if it does not follow from Home, Dir and Session, such as
	// for a session found elsewhere.
	Path string
	// Agent is the ID of the agent that the conversation belongs to, or empty for the session
	// itself.
	Agent string
	// With is a file in the log's folder that is synced together with the log, or empty. It may
	// be missing.
	With string
	// NoSync disables syncing, for benchmarks.
	NoSync bool
}

// A Log is the log of a session. It is safe for concurrent use. A nil Log stores nothing: its
// Append succeeds without writing.
//
// Nothing is created before the first record. After that the log is locked against other
// processes until Close.
type Log struct {
	opt  Options
	open func(path string) (file, *Torn, error) // replaced in tests to inject faults

	mu   sync.Mutex
	path string
	f    file        // nil before the first record
	info fs.FileInfo // info of f
	size int64       // size of the complete records
	// excess is true if the file may be longer than size, and must be truncated before the next
	// write.
	excess bool
	// unsynced is true if records are written that a power loss could destroy; named is true if
	// the file's name is synced.
	unsynced, named bool
	with            bool // opt.With is synced
	torn            *Torn
	early           []Note   // notes from before the first message
	unsaved         [][]byte // records that could not be written, oldest first
	err             error    // the write error
	buf             []byte
	sticky          []stickyNote
	cost            recorded
	told            notices
	results         resultsFile
}

// A file is the file of a log. Writes go to its end.
type file interface {
	io.WriteCloser
	io.ReaderAt
	Size() (int64, error)
	// Mend moves an incomplete last line aside.
	Mend() (*Torn, error)
	Truncate(size int64) error
	Sync() error
}

// Open returns the log of a new or existing session. It fails with [ErrLocked] if another
// process has it open. It creates nothing, but moves an incomplete last line aside; see
// [Log.Torn].
func Open(opt Options) (*Log, error) {
	l, err := newLog(opt)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(l.path); err != nil {
		return l, nil // missing; if it cannot be created, the first record reports it
	}
	if err := l.start(); err != nil {
		return nil, err
	}
	return l, nil
}

func newLog(opt Options) (*Log, error) {
	if opt.Session == "" || safeName(opt.Session) != opt.Session {
		return nil, fmt.Errorf("session id %q is not made of letters, digits, '-' and '_'", opt.Session)
	}
	path := opt.Path
	if path == "" {
		path = filepath.Join(projectDir(opt.Home, opt.Dir), opt.Session+".jsonl")
	}
	return &Log{opt: opt, open: openFile, path: path}, nil
}

// Path returns the path of the log, which may not exist yet, or "" for a nil Log.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// Append writes e as the last record. If it returns nil, the record has been handed to the
// operating system with a single write, after all earlier records.
//
// A record that cannot be written is held in memory and retried, in order, with the next one.
// The caller should notify the user once and continue.
func (l *Log) Append(e msg.Entry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = appendRecord(l.buf[:0], e, &l.opt)
	l.takeEarly()
	return l.add(l.buf)
}

// add writes a record after the waiting ones. It does not retain line.
func (l *Log) add(line []byte) error {
	err := l.flush()
	if err == nil {
		err = l.write(line)
	}
	if err != nil {
		l.unsaved = append(l.unsaved, bytes.Clone(line))
	}
	return err
}

// Sync makes the records survive a power loss. It is called at the end of a turn, and before a
// side effect that a record promises.
func (l *Log) Sync() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sync()
}

// Close writes the waiting records and releases the lock.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errors.Join(l.flush(), l.results.close())
	if _, gone := os.Stat(l.path); l.f != nil && gone == nil { // do not recreate a removed file that had no writes since
		err = errors.Join(err, l.checkPath())
	}
	err = errors.Join(err, l.sync())
	if l.f != nil {
		err = errors.Join(err, l.f.Close())
		l.f = nil
	}
	return err
}

// flush writes the waiting records.
func (l *Log) flush() error {
	for len(l.unsaved) > 0 {
		if err := l.write(l.unsaved[0]); err != nil {
			return err
		}
		l.unsaved = l.unsaved[1:]
	}
	return nil
}

// write writes a record completely or not at all.
func (l *Log) write(record []byte) (err error) {
	defer func() { l.err = err }()
	if l.f == nil {
		if err := l.start(); err != nil {
			return err
		}
	} else if err := l.checkPath(); err != nil {
		return err
	}
	if l.excess {
		if err := l.f.Truncate(l.size); err != nil {
			return fmt.Errorf("cutting %s back to its last whole record: %w", l.path, err)
		}
		l.excess = false
	}
	n, err := l.f.Write(record)
	if err == nil && n < len(record) {
		err = io.ErrShortWrite
	}
	if err != nil {
		// A partial record would merge with the next one into a line.
		l.excess = l.f.Truncate(l.size) != nil
		var path *fs.PathError
		if errors.As(err, &path) { // avoid naming the path twice
			err = path.Err
		}
		return fmt.Errorf("writing %s: %w", l.path, err)
	}
	l.size += int64(n)
	l.unsynced = true
	return nil
}

// start opens the log's file, creating it if needed.
func (l *Log) start() error {
	if err := l.claim(); err != nil {
		return err
	}
	f, torn, err := l.open(l.path)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil {
		f.Close() // ok: the first error is returned
		return fmt.Errorf("opening %s: %w", l.path, err)
	}
	info, err := os.Stat(l.path)
	if err != nil {
		f.Close() // ok: the first error is returned
		return fmt.Errorf("opening %s: %w", l.path, err)
	}
	l.f, l.info, l.size, l.named = f, info, size, size > 0
	if torn != nil {
		l.torn = torn
	}
	return nil
}

// claim ensures that the project's folder exists, which determines the log's path.
func (l *Log) claim() error {
	if l.f != nil {
		return nil
	}
	if l.opt.Path != "" {
		return fsys.MkdirPrivate(filepath.Dir(l.path))
	}
	dir, err := claimProject(l.opt.Home, l.opt.Dir)
	if err != nil {
		return err
	}
	l.path = filepath.Join(dir, l.opt.Session+".jsonl")
	return nil
}

func (l *Log) sync() error {
	if l.f == nil || !l.unsynced {
		return nil
	}
	l.restate()
	if l.opt.NoSync {
		return nil
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", l.path, err)
	}
	with := l.opt.With != "" && !l.with
	if with {
		if err := syncFile(l.opt.With); err != nil {
			return err
		}
	}
	if !l.named || with {
		if err := fsys.SyncDir(filepath.Dir(l.path)); err != nil {
			return err
		}
	}
	l.unsynced, l.named, l.with = false, true, true
	return nil
}

// syncFile makes the content of a file survive a power loss, if the file exists.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // ok: nothing was written
	return f.Sync()
}

// safeName replaces every character that could have a meaning in a path with '_'.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}
