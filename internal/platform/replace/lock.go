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

	"adze/internal/platform/lockfile"
)

// lockWait is how long a call waits for a file that others work on.
const lockWait = 10 * time.Second

// locks keeps calls of this process and other processes off each other's files. Inside the process a
// channel is enough; between processes it is a lock on a file of its own, since a lock on the file
// itself would be lost when it is replaced.
type locks struct {
	dir  string
	wait time.Duration

	mu    sync.Mutex
	held  map[string]*queue
	files map[string]*lockFile
}

// A lockFile is one that this process has locked. The calls that hold it hold different files.
type lockFile struct {
	file  *os.File
	calls int
}

// A queue is the calls that hold or want one file.
type queue struct {
	turn  chan struct{} // holds a token while the file is free
	calls int
}

// acquire waits for the lock called key. The func it returns gives the lock back.
func (l *locks) acquire(ctx context.Context, key string) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.wait, ErrBusy)
	defer cancel()
	w := l.join(key)
	select {
	case <-w.turn:
	case <-ctx.Done():
		l.leave(key, w)
		return nil, waited(ctx, "another call of this session")
	}
	unlock, err := l.acquireFile(ctx, key)
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

// ErrBusy says that another call or process works on the file, and has not finished for a long time.
var ErrBusy = errors.New("waited too long")

// A busyError is [ErrBusy] with who works on the file.
type busyError struct{ holder string }

func (e *busyError) Error() string {
	return fmt.Sprintf("the file is being changed by %s, which has not finished: nothing was written. Try again", e.holder)
}

func (e *busyError) Unwrap() error { return ErrBusy }

// waited is the error of a call that did not get the lock.
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

// acquireFile waits for the lock on one of the lock files. There is no call that waits for a limited
// time, so it asks again and again, after pauses that differ: many processes that began to wait together
// would ask together. The system unlocks the file of a process that dies. A lock file that another call has is shared with it: the queues keep
// the two apart, and a call that changes one file while it holds another must not wait for itself.
func (l *locks) acquireFile(ctx context.Context, key string) (unlock func(), err error) {
	path := filepath.Join(l.dir, key[:bucket])
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		unlock, err := l.share(path)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(l.dir, 0o700); err == nil {
				continue
			}
		}
		switch {
		case err == nil:
			return unlock, nil
		case !errors.Is(err, lockfile.ErrLocked):
			return nil, fmt.Errorf("locking: %w", err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, waited(ctx, lockfile.Holder(path))
		}
	}
}

// share locks the lock file at path, unless a call of this process has it already.
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

// bucket is how much of a key names its lock file. Processes whose files share one wait for each other,
// which takes milliseconds; in return the lock files are few and stay: making one for each change would
// cost as much as writing the file.
const bucket = 2
