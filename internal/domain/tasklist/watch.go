package tasklist

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"

	"adze/internal/platform/fs/fsys"
)

const (
	// pollEvery is the polling interval on systems without change notifications.
	pollEvery = time.Second
	// quiet is how long changes are collected before the list is read.
	quiet = 50 * time.Millisecond
)

// Watch calls changed with the tasks whenever any process, including this one, has changed the
// list, until ctx is done. Idle cost is nil with change notifications, and one directory check
// per second without.
func (l *List) Watch(ctx context.Context, changed func([]Task)) error {
	if err := fsys.MkdirPrivate(l.cfg.Dir); err != nil {
		return fmt.Errorf("watching the task list: %w", err)
	}
	next := notices(ctx, l.cfg.Dir)
	if next == nil {
		next = polls(ctx, l.cfg.Dir)
	}
	return l.follow(ctx, next, changed)
}

// follow calls changed with the tasks whenever next returns true.
func (l *List) follow(ctx context.Context, next func() bool, changed func([]Task)) error {
	last, err := l.Tasks(ctx)
	if err != nil {
		return err
	}
	for next() && sleep(ctx, quiet) {
		now, err := l.Tasks(ctx)
		if err != nil || reflect.DeepEqual(last, now) {
			continue // perhaps readable after the next change
		}
		last = now
		changed(now)
	}
	return nil
}

// polls returns a function that waits until files were added to a directory, replaced or
// removed. It returns false when ctx is done.
func polls(ctx context.Context, dir string) func() bool {
	stamp := func() time.Time {
		info, err := os.Stat(dir)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	last := stamp()
	return func() bool {
		for sleep(ctx, pollEvery) {
			if now := stamp(); !now.Equal(last) {
				last = now
				return true
			}
		}
		return false
	}
}

// sleep returns false when ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
