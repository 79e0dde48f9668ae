package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"adze/internal/platform/term"
	"adze/internal/ui/draw"
	"adze/internal/ui/tui/dialog"
	"adze/internal/ui/tui/prelude"
)

// A Seat describes the user's terminal and preferences. Input and output are the same terminal.
type FrontEnd struct {
	Plain          bool   // --plain
	Setting, Theme string // the ui and theme settings
	In             io.Reader
	Out            io.Writer
	// Size returns the terminal's size; 0 means unknown. Keys switches it to raw mode.
	Size   func() (width, height int)
	Keys   func() (restore func(), err error)
	Getenv func(string) string
}

// Minimum terminal size for live rows.
const (
	leastWidth  = 20
	leastHeight = 6
)

// LineByLine returns the reason for using the line-by-line front end, meant for screen readers
// and simple terminals, or "" if the terminal supports keys and live rows.
func (s FrontEnd) LineByLine() string {
	kind := s.Getenv("TERM")
	emacs := s.Getenv("INSIDE_EMACS")
	width, height := s.Size()
	switch {
	case s.Plain:
		return "--plain"
	case s.Setting == "plain":
		return "the setting ui"
	case s.set("ADZE_PLAIN"):
		return "ADZE_PLAIN"
	case s.set("ACCESSIBLE"):
		return "ACCESSIBLE"
	case kind == "", kind == "dumb", kind == "unknown":
		return "TERM"
	case emacs != "" && !strings.Contains(emacs, "vterm") && !strings.Contains(emacs, "eat"):
		return "INSIDE_EMACS"
	case s.set("CI") && !s.attended():
		return "CI"
	case width > 0 && width < leastWidth || height > 0 && height < leastHeight:
		return "the size of the terminal"
	}
	return ""
}

// attended reports whether the terminal was opened by a person rather than by a build server.
func (s FrontEnd) attended() bool {
	for _, name := range []string{"TMUX", "STY", "SSH_TTY", "TERM_PROGRAM"} {
		if s.Getenv(name) != "" {
			return true
		}
	}
	return term.Reflows(s.Getenv) != term.NoReflow
}

// set reports whether a variable is set to anything but a false value.
func (s FrontEnd) set(name string) bool {
	switch strings.ToLower(s.Getenv(name)) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// Asks reports whether questions before a conversation use dialogs instead of lines.
func (s FrontEnd) Asks() bool {
	_, file := s.In.(*os.File)
	return file && term.Awaits && s.LineByLine() == ""
}

// ErrKeys reports that the terminal does not deliver single keys, so that dialogs cannot be
// used.
var ErrKeys = errors.New("the terminal does not deliver keys")

// Ask shows a dialog. It returns the index of the chosen answer, or -1, and other text the user
// typed. Its error is [ErrKeys] if no dialog was shown.
func (s FrontEnd) Ask(ctx context.Context, q dialog.Simple) (chosen int, typed []byte, err error) {
	in, ok := s.In.(*os.File)
	if !ok {
		return -1, nil, ErrKeys
	}
	waiter, err := term.NewWaiter(in)
	if err != nil {
		return -1, nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	defer waiter.Close()
	restore, err := s.Keys()
	if err != nil {
		return -1, nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	defer func() { restore() }()
	modes := term.KeyModes(s.Out, s.Getenv)
	modes.On()
	defer modes.Off()
	changes, stop := term.Changes()
	defer stop()
	q.Title, q.Body, q.Question = term.Spell(q.Title), term.Spell(q.Body), term.Spell(q.Question)
	return prelude.Ask(ctx, prelude.Config{
		In: term.Keys(in), Out: s.Out, Waiter: waiter,
		Width:   func() int { width, _ := s.Size(); return cmp.Or(width, 80) },
		Height:  func() int { _, height := s.Size(); return cmp.Or(height, 24) },
		Changes: changes, Reflows: term.Reflows(s.Getenv),
		Suspend: func() {
			modes.Off()
			restore()
			term.Suspend() // ok: continues if it cannot be stopped
			if now, err := s.Keys(); err == nil {
				restore = now
			}
			modes.On()
		},
		Resume: func() {
			s.Keys() // ok: a terminal that cannot be set echoes input
			modes.Off()
			modes.On()
		},
		Palette: draw.PaletteFor(true, s.Theme, s.Getenv), Glyphs: draw.GlyphsFor(s.Getenv),
	}, q)
}
