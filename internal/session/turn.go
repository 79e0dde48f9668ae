package session

import (
	"context"
	"slices"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// work does the jobs, one after the other, until none is left.
func (s *Session) work() {
	for {
		ctx, j, ok := s.take()
		if !ok {
			return
		}
		s.do(ctx, j)
	}
}

// take returns the next job and the context to do it in. What was said too late for the turn it was
// meant for makes one of its own. When there is none the session is idle.
func (s *Session) take() (context.Context, job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var j job
	switch {
	case s.life.Err() == nil && len(s.jobs) > 0:
		j, s.jobs = s.jobs[0], s.jobs[1:]
		if j.kept != "" {
			s.note(store.Queue{Op: store.Dequeue})
		}
	case s.life.Err() == nil && (s.inbox.Waiting() || s.wake && s.inbox.Noted()):
		s.wake = false
	default:
		s.jobs, s.busy = nil, false
		close(s.idle)
		return nil, j, false
	}
	ctx, stop := context.WithCancelCause(s.life)
	s.stop = stop
	if j.stopped != "" {
		stop(j.stopped)
	}
	return ctx, j, true
}

// done says that the job that was taken is done.
func (s *Session) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop(nil)
	s.stop = nil
}

// do carries out one job, from its first entry to its last.
func (s *Session) do(ctx context.Context, j job) {
	defer s.done()
	if j.ID == "" || s.hist.has(j.ID) {
		j.ID = s.newID()
	}
	began := s.now()
	end := Finished{Before: s.ledger.Totals()}
	s.feed.add(ctx, Started{Prompt: j.ID, Note: j.note, Chore: j.tells()}, false)
	if j.local != nil {
		end.Local, end.Ended = local(ctx, j.local)
	} else {
		s.run(ctx, j, func(ev agent.Event) {
			if ended, ok := ev.(agent.Ended); ok {
				end.Ended = ended
				return
			}
			s.feed.add(ctx, Loop{ev}, live(ev))
		})
		if s.cfg.Listeners.Ended != nil {
			s.cfg.Listeners.Ended(ctx, end.Ended)
		}
	}
	end.After, end.Denials, end.Took = s.ledger.Totals(), s.Denials(), s.now().Sub(began)
	if !j.note || j.chore != nil {
		s.note(store.Cost(end.After))
		if s.cfg.Listeners.Spent != nil {
			s.cfg.Listeners.Spent(end.After)
		}
	}
	s.feed.add(ctx, end, false)
}

// run runs one turn and tells its events, the last of which is [agent.Ended].
func (s *Session) run(ctx context.Context, j job, tell func(agent.Event)) {
	if j.chore != nil {
		j.chore.run(ctx, tell)
		return
	}
	m, fallback, err := s.resolve()
	if err != nil {
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
		return
	}
	said, before := j.Prompt, s.hist.Entries()
	if !j.heard && !j.note && len(j.Parts) > 0 {
		heard := s.heard(ctx, j.Prompt)
		if heard.Blocked != "" {
			tell(agent.Ended{Reason: agent.HookStopped, Detail: heard.Blocked})
			return
		}
		if len(heard.Context) > 0 {
			j.Parts = slices.Concat(j.Parts, heard.Context)
		}
	}
	// Log the prompt before doing anything else.
	parts := j.Parts
	if !j.note {
		parts = slices.Concat(parts, s.inbox.Take())
	}
	e := msg.Entry{ID: j.ID, Time: s.now(), Parent: s.hist.last(), Message: msg.Message{Role: msg.User, Parts: parts}}
	s.hist.Append(ctx, e) // ok: a history in memory takes everything
	tell(agent.Appended{Entry: e})
	if j.note {
		tell(agent.Ended{Reason: agent.Completed})
		return
	}
	if s.cfg.Records.Files != nil {
		s.cfg.Records.Files.Begin(e.ID)
		defer s.syncFiles()
	}
	why := agent.Completed
	a := s.agent(ctx, m, fallback)
	room := s.window.Turn(m, a.Preamble)
	room.Wire(a)
	if s.cfg.Prefetch != nil {
		a.Prefetch = s.cfg.Prefetch(said, before)
	}
	for ev := range a.Run(ctx, s.hist) {
		switch ev := ev.(type) {
		case agent.Ended:
			why = ev.Reason
		case agent.ToolDone:
			s.ledger.AddTool(ev.Elapsed)
			for _, d := range tool.Diffs(ev.Display) {
				if !ev.Result.IsError {
					s.ledger.AddLines(d.Added, d.Removed)
				}
			}
		case agent.Appended:
			if s.cfg.Records.Files != nil && ev.Entry.Message.Role == msg.Assistant {
				s.cfg.Records.Files.Alias(ev.Entry.ID)
			}
		}
		if text := s.hist.warning(); text != "" {
			tell(agent.Notice{Text: text})
		}
		tell(ev)
	}
	room.End(why)
}

func (s *Session) syncFiles() {
	if err := s.cfg.Records.Files.Sync(); err != nil && s.cfg.Debug != nil {
		s.cfg.Debug.Error("syncing the file history failed", "err", err)
	}
}
