package plain

import (
	"context"
	"strconv"
	"strings"
)

// An input is what the user entered: a line, or the end.
type input struct {
	line string
	end  bool
}

// continued stands before the second and further lines of an entry.
const continued = ". "

// read handles what is entered, and reads more only when that has been done: a program that a command starts may read the
// same input. Nothing can interrupt a read of an input that stays open, so the goroutine is not waited for.
func (f *Front) read(ctx context.Context) {
	var rest string
	buf := make([]byte, 64<<10)
	for {
		n, err := f.cfg.In.Read(buf)
		rest += string(buf[:n])
		for {
			line, after, ok := strings.Cut(rest, "\n")
			if !ok {
				break
			}
			if rest = after; !f.hand(ctx, input{line: line}) {
				return
			}
		}
		if err != nil {
			if rest != "" {
				f.hand(ctx, input{line: rest})
			}
			f.hand(ctx, input{end: true})
			return
		}
	}
}

// hand has what was read handled, and waits for that.
func (f *Front) hand(ctx context.Context, t input) bool {
	done := make(chan struct{})
	handled := func(ctx context.Context) {
		defer close(done)
		f.take(ctx, t)
	}
	if !f.Post(ctx, handled) {
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// take handles what was entered.
func (f *Front) take(ctx context.Context, t input) {
	if t.end {
		f.End()
		return
	}
	f.Stay()
	f.out.entered() // the terminal has moved to the next line
	if more, ok := strings.CutSuffix(t.line, "\\"); ok {
		f.partial += more + "\n"
		f.out.prompt(continued)
		return
	}
	text := f.partial + t.line
	f.partial = ""
	f.enter(ctx, text)
}

// enter handles what the user entered.
func (f *Front) enter(ctx context.Context, text string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case f.Suggested() != nil:
		if n, err := strconv.Atoi(trimmed); err == nil && n >= 1 && n <= len(f.Suggested().Answers) {
			f.Respond(ctx, n-1)
			return
		}
		f.Enter(ctx, text)
	case f.Asking():
		f.reply(ctx, trimmed)
	case f.chooses(ctx, trimmed):
	default:
		f.Enter(ctx, text)
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
