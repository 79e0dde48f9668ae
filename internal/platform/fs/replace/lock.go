package replace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/lockfile"
)

// lockWait limits how long a call waits for a holder of a lock.
const lockWait = 10 * time.Second

// locks serializes access to files between calls in this process and between processes. Within
// the process, channels suffice. Between processes, separate lock files are used, because a
// lock on the file itself would be lost when it is replaced.
type locks struct {
	dir  string
	wait time.Duration

	mu    sync.Mutex
	held  map[string]*queue
	files map[string]*lockFile
}

// A lockFile is a lock file held by this process. The calls that share it work on different
// files.
type lockFile struct {
	file  *os.File
	calls int
}

// A queue holds the calls that have or want a file.
type queue struct {
	turn  chan struct{} // contains a token while the file is free
	calls int
}

// acquire waits for the lock for key and returns a function that releases it.
func (l *locks) acquire(ctx context.Context, key string) (release func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(l.wait, func() { cancel(ErrBusy) })
	defer patience.Stop()
	w := l.join(key)
	select {
	case <-w.turn:
	case <-ctx.Done():
		l.leave(key, w)
		return nil, waited(ctx, "another call of this session")
	}
	unlock, err := l.acquireFile(ctx, key, func() { patience.Reset(l.wait) })
	if err != nil {
		w.turn <- struct{}{}
		l.leave(key, w)
		return nil, err
	}
	return func() {
		unlock()
		w.turn <- struct{}{}
		l.leave(key, w)
	}, nil
}

// ErrBusy means that another call or process has held the file for too long.
var ErrBusy = errors.New("waited too long")

// A busyError is an [ErrBusy] that names the holder.
type busyError struct{ holder string }

func (e *busyError) Error() string {
	return fmt.Sprintf("the file is being changed by %s, which has not finished: nothing was written. Try again", e.holder)
}

func (e *busyError) Unwrap() error { return ErrBusy }

// waited returns the error for a call that did not get the lock.
func waited(ctx context.Context, holder string) error {
	if err := context.Cause(ctx); !errors.Is(err, ErrBusy) {
		return err
	}
	return &busyError{holder}
}

func (l *locks) join(key string) *queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.held[key]
	if w == nil {
		w = &queue{turn: make(chan struct{}, 1)}
		w.turn <- struct{}{}
		l.held[key] = w
	}
	w.calls++
	return w
}

func (l *locks) leave(key string, w *queue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.calls--; w.calls == 0 {
		delete(l.held, key)
	}
}

// acquireFile waits for a lock file. The system has no lock call with a timeout, so acquireFile
// polls, with jitter to keep many waiting processes from polling in step. The system releases
// the locks of a process that dies. A lock file held by another call in this process is shared:
// the queues keep the calls apart, and a call that changes one file while it holds another must
// not deadlock. Since polling is not fair, acquireFile calls progress when the lock has changed
// hands.
func (l *locks) acquireFile(ctx context.Context, key string, progress func()) (unlock func(), err error) {
	path, holder := filepath.Join(l.dir, key[:bucket]), ""
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		unlock, err := l.share(path)
		if errors.Is(err, fs.ErrNotExist) {
			if err = fsys.MkdirPrivate(l.dir); err == nil {
				continue
			}
		}
		switch {
		case err == nil:
			return unlock, nil
		case !errors.Is(err, lockfile.ErrLocked):
			return nil, fmt.Errorf("locking: %w", err)
		}
		if now := lockfile.Holder(path); now != holder {
			holder = now
			progress()
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, waited(ctx, holder)
		}
	}
}

// share locks the lock file at path, unless another call in this process already holds it.
func (l *locks) share(path string) (unlock func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[path]
	if f == nil {
		file, err := lockfile.Try(path)
		if err != nil {
			return nil, err
		}
		f = &lockFile{file: file}
		l.files[path] = f
	}
	f.calls++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.calls--; f.calls == 0 {
			delete(l.files, path)
			f.file.Close()
		}
	}, nil
}

// bucket is the length of the key prefix that names the lock file. Processes whose files share
// a lock file wait for each other, which takes milliseconds. In return there are few lock
// files, and they are kept: creating one for each change would cost as much as writing the
// file.
const bucket = 2
