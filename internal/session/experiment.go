package session

import (
	"context"

	"adze/internal/agent"
	"adze/internal/agent/collapse"
	"adze/internal/agent/snip"
	"adze/internal/session/store"
)

// The kinds of the notes that say which steps are left out of what is sent, under "steps", and what
// stands for parts of the conversation, under "folds".
const (
	SnippedKind = "snipped-steps"
	FoldedKind  = "conversation-folds"
)

// snip leaves out what the model has called stale.
func (t *turnRoom) snip(_ context.Context, v agent.View) (agent.View, error) {
	out := t.cfg.Snip.Snip(v.Messages, t.gauge().Messages, snip.IfWorth)
	v.Messages = out.Messages
	if out.Executed {
		t.s.note(store.Other{Kind: SnippedKind, Fields: map[string]any{"steps": out.Boundary}})
	}
	return v, nil
}

// fold puts the folds that are committed in place of what they stand for. Those that are staged are
// committed when the view would have to be summed up otherwise.
func (t *turnRoom) fold(_ context.Context, v agent.View) (agent.View, error) {
	whole, g := v.Messages, t.gauge()
	v.Messages = t.cfg.Folds.Project(whole)
	if !t.cfg.Off && !t.cfg.Reactive && g.Correct(t.count(v.Messages)) > t.limits().Auto() && t.drain() {
		v.Messages = t.cfg.Folds.Project(whole)
	}
	t.cfg.Folds.Stage(collapse.Moment{
		Model: t.model.ID, System: t.system, Messages: whole, Size: g.Messages, Limit: t.limits().Auto(),
	})
	return v, nil
}

// drain commits the folds that are staged, and reports whether there were any.
func (t *turnRoom) drain() bool {
	if t.cfg.Folds == nil || !t.cfg.Folds.Drain() {
		return false
	}
	t.s.note(store.Other{Kind: FoldedKind, Fields: map[string]any{"folds": t.cfg.Folds.Committed()}})
	return true
}

// restartSteps says that the conversation begins anew.
func (t *turnRoom) restartSteps() {
	if t.cfg.Snip != nil && t.cfg.Snip.Restart() {
		t.s.note(store.Other{Kind: SnippedKind, Fields: map[string]any{"steps": []int{}}})
	}
	if t.cfg.Folds != nil && t.cfg.Folds.Restart() {
		t.s.note(store.Other{Kind: FoldedKind, Fields: map[string]any{"folds": []collapse.Fold{}}})
	}
}
