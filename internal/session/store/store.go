// Package store keeps sessions on disk: one log of JSON lines for each, which is only ever appended
// to, and beside it the results that were too large for the conversation. It promises that what it
// acknowledged is there after a crash, in order. What a conversation is made of those lines, and
// when to start, resume or fork one, is left to package session.
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
	"adze/internal/platform/fsys"
)

// Options say whose log it is and what each record says about its surroundings.
type Options struct {
	// Home is the state home, Dir the absolute path of the folder where the session started.
	Home, Dir string
	// Session is the session's id. It becomes a file name and may hold letters, digits, '-' and '_'.
	Session string
	// Version is the program's, Branch that of the repository in Dir, or empty.
	Version, Branch string
	// Path is where the log is, if that does not follow from Home, Dir and Session: that of a session
	// that was found elsewhere.
	Path string
	// Agent is the id of the agent whose conversation it is, or empty for that of the session itself.
	Agent string
	// With is a file in the folder of the log that survives a loss of power if the log does, or empty. It may be missing.
	With string
	// NoSync leaves it to the operating system when records reach the disk, for measuring.
	NoSync bool
}

// A Log is the log of one session. It may be used from any goroutine. The nil Log keeps nothing: its
// Append succeeds without writing.
//
// Nothing is created before the first record. From then on the log is locked against other
// processes until Close.
type Log struct {
	opt  Options
	open func(path string) (file, *Torn, error) // a seam for faults

	mu   sync.Mutex
	path string
	f    file        // nil before the first record
	info fs.FileInfo // of f
	size int64       // of the complete records
	// excess says that the file may be longer than size, and must be cut before it is written again.
	excess bool
	// unsynced records are written but may be lost with the power; named says that the file's name
	// is safe.
	unsynced, named bool
	with            bool // opt.With is synced
	torn            *Torn
	early           []Note   // notes from before the first message
	unsaved         [][]byte // records that could not be written, oldest first
	err             error    // why
	buf             []byte
	sticky          []stickyNote
	cost            recorded
	told            notices
	results         resultsFile
}

// A file is what a log needs of its file, which writes at its end.
type file interface {
	io.WriteCloser
	io.ReaderAt
	Size() (int64, error)
	// Mend moves the end of the file aside if that is no whole line.
	Mend() (*Torn, error)
	Truncate(size int64) error
	Sync() error
}

// Open returns the log of a session: a new one, or that of a session to be resumed. It fails with
// [ErrLocked] when another process has it open. It creates nothing, but if the log ends in the middle
// of a line it moves that line aside; see [Log.Torn].
func Open(opt Options) (*Log, error) {
	l, err := newLog(opt)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(l.path); err != nil {
		return l, nil // not there yet; if it cannot be, the first record will tell
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

// Path returns where the log is or will be, or nothing for the nil Log.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// Append writes e as the last record. When it returns without error, the record has been handed to
// the operating system with a single write, after all records before it.
//
// A record that cannot be written is kept in memory and tried again, in its place, with the next
// one: the caller tells the user, once, and carries on.
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

// add writes a record after those that wait. It does not keep line.
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

// Sync makes the records survive a loss of power. It is called at the end of a turn, and before a
// side effect that a record promises.
func (l *Log) Sync() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sync()
}

// Close writes what is still waiting and gives up the lock.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errors.Join(l.flush(), l.results.close())
	if _, gone := os.Stat(l.path); l.f != nil && gone == nil { // one that was removed and not written since stays removed
		err = errors.Join(err, l.inPlace())
	}
	err = errors.Join(err, l.sync())
	if l.f != nil {
		err = errors.Join(err, l.f.Close())
		l.f = nil
	}
	return err
}

// flush writes the records that are waiting.
func (l *Log) flush() error {
	for len(l.unsaved) > 0 {
		if err := l.write(l.unsaved[0]); err != nil {
			return err
		}
		l.unsaved = l.unsaved[1:]
	}
	return nil
}

// write writes one record, whole or not at all.
func (l *Log) write(record []byte) (err error) {
	defer func() { l.err = err }()
	if l.f == nil {
		if err := l.start(); err != nil {
			return err
		}
	} else if err := l.inPlace(); err != nil {
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
		// Half a record would make one line of itself and the next.
		l.excess = l.f.Truncate(l.size) != nil
		var path *fs.PathError
		if errors.As(err, &path) { // which is named already
			err = path.Err
		}
		return fmt.Errorf("writing %s: %w", l.path, err)
	}
	l.size += int64(n)
	l.unsynced = true
	return nil
}

// start opens the log's file, and creates it if need be.
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
		f.Close() // ok: the error that counts is known
		return fmt.Errorf("opening %s: %w", l.path, err)
	}
	info, err := os.Stat(l.path)
	if err != nil {
		f.Close() // ok: the error that counts is known
		return fmt.Errorf("opening %s: %w", l.path, err)
	}
	l.f, l.info, l.size, l.named = f, info, size, size > 0
	if torn != nil {
		l.torn = torn
	}
	return nil
}

// claim makes sure of the project's folder, which decides where the log is.
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

// syncFile makes the content of a file survive a loss of power, if there is one of that name.
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

// safeName returns name with everything turned into '_' that could mean something in a path.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}
