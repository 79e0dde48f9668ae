package window

import (
	"context"
	"errors"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model"
)

// TooLong implements [agent.Shortener]. The limit of the provider that rejected the request
// overrides the gauge.
func (t *Turn) TooLong(err error) {
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.OverWindow && e.Input > 0 {
		t.gauge.Report(t.size, e.Input)
		return
	}
	t.gauge.AtLeast(t.size, t.limits.Usable())
}

// Drain implements [agent.Shortener].
func (t *Turn) Drain(context.Context) (bool, error) { return t.drain(), nil }

// Compact implements [agent.Shortener].
func (t *Turn) Compact(ctx context.Context) (agent.Compacted, error) {
	seg, err := t.compact.Compact(ctx, t.job(compact.Auto, ""))
	if err != nil {
		t.report(err)
		return agent.Compacted{}, err
	}
	return *t.attempt(seg), nil
}

// Truncate implements [agent.Shortener]. It keeps about half of the conversation, or more if
// required: the provider knows better than the estimate how much fits.
func (t *Turn) Truncate(ctx context.Context) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	j := t.job(compact.Auto, "")
	fixed := t.compact.Fixed(j)
	said := t.compact.Size(j) - fixed
	for _, part := range []int{min(t.limits.Auto()-fixed, said/2), said * 3 / 4, said * 19 / 20} {
		if seg, ok := t.compact.Shorten(j, fixed+part); ok {
			t.conv.Tell(*t.attempt(seg))
			return true, nil
		}
	}
	return false, nil
}
