package regex

import "context"

// pollEvery is how much work is done between two looks at the context: some milliseconds.
const pollEvery = 1 << 19

// A budget notices, in loops too tight to ask a context, that it is done.
type budget struct {
	ctx   context.Context
	spent int
	err   error // of the context, once seen
}

func (b *budget) begin(ctx context.Context) { b.ctx, b.err = ctx, nil }

// spend counts n steps of work and reports whether to go on.
func (b *budget) spend(n int) bool {
	if b.spent += n; b.spent >= pollEvery {
		b.spent = 0
		if b.ctx != nil && b.err == nil {
			b.err = b.ctx.Err()
		}
	}
	return b.err == nil
}
