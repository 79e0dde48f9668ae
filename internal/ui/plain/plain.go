// Package plain is the front end that reads and writes lines: it only appends to what is on the screen, so that it works in
// every terminal and with a screen reader. Questions are answered by a letter, a word or a number. What is entered is
// carried out by package talk.
package plain

import (
	"context"
	"io"

	"adze/internal/ui/draw"
	"adze/internal/ui/talk"
)

// A Config is what the front end needs. In, Out and Open are required.
type Config struct {
	talk.Config
	// In delivers lines, which the terminal edits.
	In  io.Reader
	Out io.Writer
	// Interrupts receives a value for each Ctrl-C; it may be nil.
	Interrupts <-chan struct{}
	// Width returns the width of the terminal; 0 means unknown.
	Width   func() int
	Palette draw.Palette
	Glyphs  draw.Glyphs // the zero value means [draw.Unicode]
	// Verbose shows all that commands print.
	Verbose bool
	// Dir is the working directory: paths in it are shown relative to it.
	Dir string
	// Remember stores what was entered, for later sessions; it may be nil.
	Remember func(text string, sent bool)
}

// A Front is the front end.
type Front struct {
	*talk.Driver
	cfg     Config
	out     *printer
	asked   dialog // of the question that is shown; nil if there is none
	partial string // the lines so far of an entry with several
}

// New returns a front end.
func New(cfg Config) *Front {
	if cfg.Width == nil {
		cfg.Width = func() int { return 0 }
	}
	if cfg.Glyphs == (draw.Glyphs{}) {
		cfg.Glyphs = draw.Unicode()
	}
	return &Front{cfg: cfg, out: newPrinter(cfg), Driver: talk.New(cfg.Config)}
}

// Run runs conversations until the user leaves or ctx is done.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.out.fresh()
	go f.read(ctx)
	go f.interrupts(ctx)
	return f.Driver.Run(ctx, view{f})
}

// interrupts handles Ctrl-C, which does not come through the input.
func (f *Front) interrupts(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-f.cfg.Interrupts:
			f.Post(ctx, func(ctx context.Context) {
				typing := f.partial != ""
				f.partial = ""
				f.Interrupt(ctx, typing)
			})
		case <-ctx.Done():
		}
	}
}
