package conversation

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/redact"
	"adze/internal/setup"
)

// A Spec holds the debug log options.
type LogSpec struct {
	On     bool
	Filter string // words that lines must or must not contain
	File   string // empty means a file in the state home
}

// Config configures the debug log.
type LogConfig struct {
	LogSpec
	Home    string // state home
	Session string // session ID
	Version string // program version
}

// Open opens the debug log, or returns nil if it is off. opened is called with a function that
// closes it.
func OpenLog(c LogConfig, opened func(close func())) (*slog.Logger, error) {
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
	opened(func() { f.Close() }) // ok: nobody to report a close error to
	return log, nil
}

// A lineRedactor removes text that looks like a secret from each line.
type lineRedactor struct{ w io.Writer }

func (l lineRedactor) Write(line []byte) (int, error) {
	if _, err := l.w.Write(redact.Bytes(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// A lineFilter passes on lines that contain any of its words, and none of the words prefixed
// with "!". Each write is one line.
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
