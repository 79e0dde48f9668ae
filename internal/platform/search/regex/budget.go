package regex

import "context"

// pollEvery is the amount of work between two checks of the context: some milliseconds.
const pollEvery = 1 << 19

// A budget checks for cancellation in loops too tight to poll a context.
type budget struct {
	ctx   context.Context
	spent int
	err   error // error of the context, once seen
}

func (b *budget) begin(ctx context.Context) { b.ctx, b.err = ctx, nil }

// spend counts n steps of work and reports whether to continue.
func (b *budget) spend(n int) bool {
	if b.spent += n; b.spent >= pollEvery {
		b.spent = 0
		if b.ctx != nil && b.err == nil {
			b.err = b.ctx.Err()
		}
	}
	return b.err == nil
}
