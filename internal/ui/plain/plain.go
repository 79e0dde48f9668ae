// Package plain is the line-based front end. It only appends to the screen, so that it works in
// every terminal and with a screen reader. Questions are answered by a letter, a word or a
// number. Package controller handles the input.
package plain

import (
	"context"
	"io"

	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
)

// Config configures a Front. In, Out and Open are required.
type Config struct {
	controller.Config
	// In delivers lines, which the terminal edits.
	In  io.Reader
	Out io.Writer
	// Interrupts receives a value for each Ctrl-C; it may be nil.
	Interrupts <-chan struct{}
	// Width returns the terminal width; 0 means unknown.
	Width   func() int
	Palette draw.Palette
	Glyphs  draw.Glyphs // the zero value means [draw.Unicode]
	// Verbose shows all command output.
	Verbose bool
	// Dir is the working directory. Paths in it are shown relative to it.
	Dir string
	// Remember stores entered text for later sessions; it may be nil.
	Remember func(text string, sent bool)
}

// A Front is the front end.
type Front struct {
	*controller.Driver
	cfg     Config
	out     *printer
	asked   dialog // dialog of the current question, or nil
	partial string // lines so far of a multi-line entry
}

// New returns a front end.
func New(cfg Config) *Front {
	if cfg.Width == nil {
		cfg.Width = func() int { return 0 }
	}
	if cfg.Glyphs == (draw.Glyphs{}) {
		cfg.Glyphs = draw.Unicode()
	}
	return &Front{cfg: cfg, out: newPrinter(cfg), Driver: controller.New(cfg.Config)}
}

// Run runs conversations until the user quits or ctx is done.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.out.fresh()
	go f.read(ctx)
	go f.interrupts(ctx)
	return f.Driver.Run(ctx, f)
}

// interrupts handles Ctrl-C, which does not arrive through the input.
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
