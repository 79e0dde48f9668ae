// Package debuglog opens the debug log of a session, in which lines are filtered and secrets are left out.
package debuglog

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/platform/fsys"
	"adze/internal/platform/redact"
)

// A Spec says what is logged for debugging.
type Spec struct {
	On     bool
	Filter string // words that lines must or must not hold
	File   string // empty means a file in the state home
}

// A Config says whose log is opened.
type Config struct {
	Spec
	Home    string // the state home
	Session string // the id of the session
	Version string // of the program
}

// Open opens the debug log, or returns nil if none is wanted. Opened is called with what closes it.
func Open(c Config, opened func(close func())) (*slog.Logger, error) {
	if !c.On {
		return nil, nil
	}
	path := c.File
	if path == "" {
		dir := filepath.Join(c.Home, "debug")
		if err := fsys.MkdirPrivate(dir); err != nil {
			return nil, setup.Errorf("creating the folder of debug logs: %v", err)
		}
		path = filepath.Join(dir, c.Session+".log")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, setup.Errorf("opening the debug log: %v", err)
	}
	var out io.Writer = lineRedactor{f}
	if c.Filter != "" {
		out = &lineFilter{w: out, words: strings.Split(strings.ToLower(c.Filter), ",")}
	}
	log := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log.Debug("start", "version", c.Version, "session", c.Session)
	opened(func() { f.Close() }) // ok: a log that cannot be closed has no reader to tell
	return log, nil
}

// A lineRedactor leaves out of each line what looks like a secret.
type lineRedactor struct{ w io.Writer }

func (l lineRedactor) Write(line []byte) (int, error) {
	if _, err := l.w.Write(redact.Bytes(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// A lineFilter passes on the lines that have one of its words, and none of those with a ! before
// them. Each write is one line.
type lineFilter struct {
	w     io.Writer
	words []string
}

func (l *lineFilter) Write(line []byte) (int, error) {
	if l.wants(bytes.ToLower(line)) {
		if _, err := l.w.Write(line); err != nil {
			return 0, fmt.Errorf("writing the debug log: %w", err)
		}
	}
	return len(line), nil
}

func (l *lineFilter) wants(line []byte) bool {
	wanted, found := false, false
	for _, word := range l.words {
		word, not := strings.CutPrefix(strings.TrimSpace(word), "!")
		has := bytes.Contains(line, []byte(word))
		if not && has {
			return false
		}
		if !not {
			wanted, found = true, found || has
		}
	}
	return found || !wanted
}
