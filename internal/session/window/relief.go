package window

import (
	"context"
	"errors"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model"
)

// shortener makes room when the provider rejects a request as too long. It implements
// [agent.Shortener].
type shortener struct{ *Turn }

// TooLong implements [agent.Shortener]. The provider's limit overrides the gauge.
func (r shortener) TooLong(err error) {
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.OverWindow && e.Input > 0 {
		r.gauge.Report(r.size, e.Input)
		return
	}
	r.gauge.AtLeast(r.size, r.limits.Usable())
}

// Drain implements [agent.Shortener].
func (r shortener) Drain(context.Context) (bool, error) { return r.drain(), nil }

// Compact implements [agent.Shortener].
func (r shortener) Compact(ctx context.Context) (agent.Compacted, error) {
	seg, err := r.compact.Compact(ctx, r.job(compact.Auto, ""))
	if err != nil {
		r.report(err)
		return agent.Compacted{}, err
	}
	return *r.attempt(seg), nil
}

// Truncate implements [agent.Shortener]. It keeps about half of the conversation, or more if
// required: the provider knows better than the estimate how much fits.
func (r shortener) Truncate(ctx context.Context) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	j := r.job(compact.Auto, "")
	fixed := r.compact.Fixed(j)
	said := r.compact.Size(j) - fixed
	for _, part := range []int{min(r.limits.Auto()-fixed, said/2), said * 3 / 4, said * 19 / 20} {
		if seg, ok := r.compact.Shorten(j, fixed+part); ok {
			r.conv.Tell(*r.attempt(seg))
			return true, nil
		}
	}
	return false, nil
}
