package compact

import (
	"context"
	"slices"
)

// Notes is a session summary that is kept up to date while the session runs.
type Notes interface {
	// Summary returns the notes and the ID of the last entry they cover, or "". It may wait
	// briefly for notes that are being written.
	Summary(ctx context.Context) (text, last string)
}

// fromNotes returns a segment that begins with the notes, or nil if they cannot be used.
func (c *Compactor) fromNotes(ctx context.Context, j Job) (*Segment, error) {
	if c.cfg.Notes == nil || j.Focus != "" || j.Side != Whole {
		return nil, nil
	}
	text, last := c.cfg.Notes.Summary(ctx)
	if text == "" {
		return nil, nil
	}
	g := c.Gauge(j.Model)
	floor := len(j.Entries) - len(withoutSummary(j.Entries))
	told := floor
	for i, e := range j.Entries {
		if e.ID == last {
			told = max(told, i+1)
		}
	}
	from := Window(j.Entries, floor, told, c.cfg.Keep, g)
	if from <= floor {
		return nil, nil
	}
	said := userMessagesWithin(j.Entries[:from], wordsBudget(j.Limits), g, c.text.cut())
	seg := &Segment{Text: text, Kept: slices.Clip(j.Entries[from:])}
	seg.Summary = c.entry(c.text.summary(text, said, c.transcript(), j))
	if err := c.finish(j, seg); err != nil {
		return nil, err
	}
	c.attach(ctx, j, seg, g)
	return seg, nil
}
