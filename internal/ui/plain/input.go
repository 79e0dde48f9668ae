package plain

import (
	"context"
	"strconv"
	"strings"

	"adze/internal/ui/controller"
)

// An input is a line entered by the user, or the end of input.
type input struct {
	line string
	end  bool
}

// continued is the prompt of the second and further lines of an entry.
const continued = ". "

// read handles input and continues reading only when it has been handled, because a program
// started by a command may read the same input. A read from an input that stays open cannot be
// interrupted, so nothing waits for this goroutine.
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

// hand passes input to the main loop and waits until it has been handled.
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

// take handles a line or the end of input.
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

// enter handles an entry of the user.
func (f *Front) enter(ctx context.Context, text string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case f.Suggested() != nil:
		if n, err := strconv.Atoi(trimmed); err == nil && n >= 1 && n <= len(f.Suggested().Answers) {
			f.Respond(ctx, n-1)
			return
		}
		f.send(ctx, text)
	case f.Asking():
		f.reply(ctx, trimmed)
	case f.chooses(ctx, trimmed):
	default:
		f.send(ctx, text)
	}
}

// send passes an entry that does not answer anything to the driver.
func (f *Front) send(ctx context.Context, text string) {
	f.remember(text)
	f.Enter(ctx, controller.Input{Text: text})
}

// remember stores an entry for later sessions.
func (f *Front) remember(text string) {
	if f.cfg.Remember != nil && strings.TrimSpace(text) != "" {
		f.cfg.Remember(text, true)
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
