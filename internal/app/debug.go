package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fsys"
	"adze/internal/platform/redact"
)

// openDebug returns the debug log of a session, and what closes it. Without --debug there is none.
func openDebug(o *options, home, session string) (*slog.Logger, func(), error) {
	if !o.debug {
		return nil, func() {}, nil
	}
	path := o.debugFile
	if path == "" {
		dir := filepath.Join(home, "debug")
		if err := fsys.MkdirPrivate(dir); err != nil {
			return nil, nil, setupErrorf("creating the folder of debug logs: %v", err)
		}
		path = filepath.Join(dir, session+".log")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, setupErrorf("opening the debug log: %v", err)
	}
	var w io.Writer = lineRedactor{f}
	if o.filter != "" {
		w = &lineFilter{w: w, words: strings.Split(strings.ToLower(o.filter), ",")}
	}
	log := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log.Debug("start", "version", Version, "session", session)
	return log, func() { f.Close() }, nil // ok: a log that cannot be closed has no reader to tell
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
