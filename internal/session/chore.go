package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/session/window"
)

// Turns returns the user's messages since the last compaction, newest first. [Compact] can
// split the conversation at these messages.
func (s *Session) Turns() []compact.Turn { return compact.Turns(s.hist.Entries()) }

// divide finds the part of a conversation with these turns that op applies to.
func divide(turns []compact.Turn, op Compact) (side compact.Side, at int, err error) {
	id, side := op.UpTo, compact.Front
	switch {
	case op.From != "" && op.UpTo != "":
		return side, 0, errors.New("only one side of a conversation can be summarised at a time")
	case op.From != "":
		id, side = op.From, compact.Back
	case op.UpTo == "":
		return compact.Whole, 0, nil
	}
	for _, t := range turns {
		if t.ID == id {
			return side, t.At, nil
		}
	}
	return side, 0, fmt.Errorf("nothing that you said since the last compaction has the id %s", id)
}

// A chore is work done in place of a turn. It returns an event that reports the result.
type chore func(ctx context.Context) (agent.Event, error)

// run executes the chore and reports its outcome.
func (c chore) run(ctx context.Context, tell func(agent.Event)) {
	ev, err := c(ctx)
	switch {
	case ctx.Err() != nil:
		tell(agent.Ended{Reason: agent.AbortedStreaming})
	case err != nil:
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
	default:
		tell(ev)
		tell(agent.Ended{Reason: agent.Completed})
	}
}

// local executes [Local].
func local(ctx context.Context, do func(context.Context) (string, error)) (*Outcome, agent.Ended) {
	text, err := do(ctx)
	if ctx.Err() != nil {
		return &Outcome{}, agent.Ended{Reason: agent.AbortedStreaming}
	}
	return &Outcome{Text: text, Err: err}, agent.Ended{Reason: agent.Completed}
}

// compact returns the chore for [Compact].
func (s *Session) compact(op Compact) chore {
	return func(ctx context.Context) (agent.Event, error) {
		m, _, err := s.cfg.Models.resolve(s.Model())
		if err == nil && s.window == nil {
			err = errors.New("this session is not compacted")
		}
		side, at, wrong := divide(s.Turns(), op)
		if err = cmp.Or(err, wrong); err != nil {
			return nil, err
		}
		done, err := sideWindow(ctx, s, m).Summarise(ctx, op.Focus, side, at)
		var blocked *compact.BlockedError
		if errors.Is(err, compact.ErrNothing) || errors.Is(err, compact.ErrShort) || errors.As(err, &blocked) {
			return agent.Notice{Text: upper(err.Error()) + "."}, nil
		}
		return done, err
	}
}

// rewind executes [Rewind].
func (s *Session) rewind(op Rewind) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		_, at, err := divide(s.Turns(), Compact{From: op.To})
		if err != nil {
			return "", err
		}
		var said []string
		if op.Files != nil {
			text, err := op.Files(ctx)
			if err != nil {
				return "", err
			}
			said = append(said, text)
		}
		switch {
		case op.Undo && s.hist.restore():
			said = slices.Insert(said, 0, "Rewind undone.")
		case op.To != "":
			s.hist.rewind(at)
			said = slices.Insert(said, 0, "Back to before that message.")
		default:
			return strings.Join(said, "\n"), nil
		}
		s.window.Rewound()
		s.cfg.Listeners.rewound()
		s.cfg.Listeners.unseen()
		return strings.Join(said, "\n"), nil
	}
}

// sideWindow returns the window for requests outside of turns.
func sideWindow(ctx context.Context, s *Session, m agent.Model) *window.Turn {
	_, options := s.prefs.get()
	return s.window.Turn(m, options, s.cfg.Preamble.make(ctx, m, s.ToolSpecs, s.hist.unbind(&s.memo.Withheld)))
}

// askAside executes [Aside].
func (s *Session) askAside(text string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		m, _, err := s.cfg.Models.resolve(s.Model())
		if err == nil && s.window == nil {
			err = errors.New("no model to ask in this session")
		}
		if err != nil {
			return "", err
		}
		return sideWindow(ctx, s, m).Question(ctx, text)
	}
}

// writeNotes is the chore for [Notes].
func (s *Session) writeNotes(ctx context.Context) (agent.Event, error) {
	m, _, err := s.cfg.Models.resolve(s.Model())
	if err == nil && s.window == nil {
		err = window.ErrNoNotes
	}
	if err != nil {
		return nil, err
	}
	text, err := sideWindow(ctx, s, m).Notes(ctx)
	if text == "" {
		text = "There is nothing to take notes of yet."
	}
	return agent.Notice{Text: text}, err
}

// clear is the chore for [Clear].
func (s *Session) clear(ctx context.Context) (agent.Event, error) {
	m, _, err := s.cfg.Models.resolve(s.Model())
	if err == nil && s.window == nil {
		err = errors.New("this session cannot be cleared")
	}
	if err != nil {
		return nil, err
	}
	if len(s.hist.Entries()) == 0 {
		return agent.Notice{Text: "There is nothing to clear."}, nil
	}
	return sideWindow(ctx, s, m).Clear(), nil
}

// snip is the chore for [Snip].
func (s *Session) snip(context.Context) (agent.Event, error) {
	text := "Nothing is cut out of conversations here; the setting snip.enabled switches it on."
	if n, ok := s.window.Force(); ok {
		switch n {
		case 0:
			text = "The model has named nothing that could be cut out."
		case 1:
			text = "1 step will be omitted from requests, from the next one on."
		default:
			text = fmt.Sprintf("%d steps will be omitted from requests, from the next one on.", n)
		}
	}
	return agent.Notice{Text: text}, nil
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
