package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"adze/internal/agent"
	"adze/internal/agent/compact"
)

// Turns returns what the person said since the last compaction, the newest first: the messages at which
// [Compact] can divide the conversation.
func (s *Session) Turns() []compact.Turn { return compact.Turns(s.hist.Entries()) }

// divide finds the part of the conversation that op is about.
func (s *Session) divide(op Compact) (side compact.Side, at int, err error) {
	id, side := op.UpTo, compact.Front
	switch {
	case op.From != "" && op.UpTo != "":
		return side, 0, errors.New("only one side of a conversation can be summed up at a time")
	case op.From != "":
		id, side = op.From, compact.Back
	case op.UpTo == "":
		return compact.Whole, 0, nil
	}
	for _, t := range s.Turns() {
		if t.ID == id {
			return side, t.At, nil
		}
	}
	return side, 0, fmt.Errorf("nothing that you said since the last compaction has the id %s", id)
}

// compactNow carries out [Compact].
func (s *Session) compactNow(ctx context.Context, op Compact, tell func(agent.Event)) {
	m, _, err := s.resolve()
	if err == nil && s.room == nil {
		err = errors.New("this session is not compacted")
	}
	side, at, wrong := s.divide(op)
	if err = cmp.Or(err, wrong); err != nil {
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
		return
	}
	t := &turnRoom{room: s.room, model: m}
	p := s.preamble(ctx, m)
	t.before, t.system = p.Context, p.System
	j := t.job(compact.Manual, op.Focus)
	j.Side, j.At = side, at
	seg, err := t.compact.Compact(ctx, j)
	var blocked *compact.BlockedError
	switch {
	case ctx.Err() != nil:
		tell(agent.Ended{Reason: agent.AbortedStreaming})
	case errors.Is(err, compact.ErrNothing), errors.As(err, &blocked):
		tell(agent.Notice{Text: upper(err.Error()) + "."})
		tell(agent.Ended{Reason: agent.Completed})
	case err != nil:
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
	default:
		tell(*t.apply(seg, compact.Manual, op.Focus))
		tell(agent.Ended{Reason: agent.Completed})
	}
}

// notesNow carries out [Notes].
func (s *Session) notesNow(ctx context.Context, tell func(agent.Event)) {
	m, _, err := s.resolve()
	text := ""
	if err == nil {
		if s.room == nil || s.room.cfg.Notes == nil {
			err = errors.New("no notes are kept of this session")
		} else {
			t := &turnRoom{room: s.room, model: m}
			t.system = s.preamble(ctx, m).System
			clearer := compact.Clearer{Micro: s.room.cfg.Micro, Clearable: s.room.clearable}
			clearer.Restore(s.room.clearer.Keys())
			view, _ := clearer.Clear(conversation(s.hist.Entries()), 0, t.gauge())
			t.see(view)
			t.size = t.count(view)
			if moment, ok := t.moment(); ok {
				text, err = s.room.cfg.Notes.Update(ctx, moment)
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		tell(agent.Ended{Reason: agent.AbortedStreaming})
	case err != nil:
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
	default:
		tell(agent.Notice{Text: text})
		tell(agent.Ended{Reason: agent.Completed})
	}
}

// snipNow carries out [Snip].
func (s *Session) snipNow(_ context.Context, tell func(agent.Event)) {
	text := "Nothing is cut out of conversations here; the setting snip.enabled switches it on."
	if s.room != nil && s.room.cfg.Snip != nil {
		switch n := s.room.cfg.Snip.Force(); n {
		case 0:
			text = "The model has named nothing that could be cut out."
		case 1:
			text = "1 step will be cut out of what the model sees with the next request."
		default:
			text = fmt.Sprintf("%d steps will be cut out of what the model sees with the next request.", n)
		}
	}
	tell(agent.Notice{Text: text})
	tell(agent.Ended{Reason: agent.Completed})
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
