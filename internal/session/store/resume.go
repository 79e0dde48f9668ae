package store

import (
	"errors"
	"fmt"
	"os"
)

// Resume opens the log of an existing session and loads it. It fails with [ErrLocked] if
// another process has it open, and with [ErrNoMessages] if there is nothing to continue.
//
// If the log cannot be written for any other reason, it is still loaded, with a notice.
// [Log.Append] then retries and returns the error, as for a log that fails later.
func Resume(opt Options, what LoadOptions) (*Log, *Contents, error) {
	l, err := newLog(opt)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(l.path); err != nil {
		return nil, nil, fmt.Errorf("reading transcript: %w", err)
	}
	startErr := l.start()
	if errors.Is(startErr, ErrLocked) {
		return nil, nil, startErr
	}
	what.Home = opt.Home
	c, err := Load(l.path, what)
	if err == nil && len(c.Entries) == 0 && !c.Rewound {
		err = fmt.Errorf("reading transcript %s: %w", l.path, ErrNoMessages)
	}
	if err != nil {
		l.Close() // ok: nothing was written
		return nil, nil, err
	}
	if what.At == "" {
		l.takePartial(c)
	}
	if startErr != nil {
		c.Notices = append(c.Notices, fmt.Sprintf("Writing the transcript failed: %v. New messages are not saved until it succeeds.", startErr))
	}
	if torn := l.torn; torn != nil {
		c.Notices = append(c.Notices, fmt.Sprintf("The last line of the transcript was cut off, by a crash perhaps; its %d bytes were moved to %s.", torn.Bytes, torn.Path))
	}
	l.restoreSticky(&c.State)
	return l, c, nil
}

// takePartial appends the partial answer or results of a killed process to the log, then removes their file.
func (l *Log) takePartial(c *Contents) {
	e, ok := c.restorePartial(l.path, true)
	if ok && errors.Join(l.Append(e), l.Sync()) != nil {
		return // the log reports the error
	}
	removePartial(l.path) // ok: a leftover file is not restored again
}
