package session

import (
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
)

// A PartialLog is a [Log] that saves an answer while it arrives, and then the results of its
// calls, so that they survive the end of the process.
type PartialLog interface {
	// SavePartial saves the answer so far, replacing an earlier save.
	SavePartial(e msg.Entry) error
	// AddPartial saves the result of a call after earlier ones.
	AddPartial(e msg.Entry) error
	// DropPartial drops the partial answer and results.
	DropPartial() error
}

// saveAfter is how long text may be shown before it is saved.
const saveAfter = time.Second

// A partialAnswer is an answer that is being streamed. It is saved about once a second until it is
// in the history; an answer that arrives faster is never saved separately. A nil arriving saves
// nothing.
type partialAnswer struct {
	log   PartialLog
	newID func() string
	now   func() time.Time

	mu    sync.Mutex
	acc   *model.Accumulator // nil if nothing is arriving
	entry msg.Entry          // its message is empty
	timer *time.Timer        // runs while there is unsaved text
	saved bool               // a file may exist

	writing sync.Mutex // held while writing or removing the file
}

// runPromptHooks handles an event of the turn. Last returns the ID of the last entry of the history.
func (a *partialAnswer) hear(ev agent.Event, last func() string) {
	if a == nil {
		return
	}
	switch ev := ev.(type) {
	case agent.Requesting:
		a.end()
		a.mu.Lock()
		a.acc, a.entry = &model.Accumulator{}, msg.Entry{ID: a.newID(), Parent: last(), Model: ev.Model, Aborted: true}
		a.mu.Unlock()
	case agent.Delta:
		a.add(ev.Event)
	case agent.Withdrawn:
		a.end()
	case agent.Appended:
		if ev.Entry.Message.Role == msg.Assistant {
			a.end()
		}
	}
}

// add handles a piece of the answer.
func (a *partialAnswer) add(ev model.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.acc == nil {
		return
	}
	a.acc.Add(ev)
	if _, text := ev.(model.TextDelta); text && a.timer == nil {
		a.timer = time.AfterFunc(saveAfter, a.save)
	}
}

// save writes the answer so far, unless it has ended.
func (a *partialAnswer) save() {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.mu.Lock()
	a.timer = nil
	if a.acc == nil {
		a.mu.Unlock()
		return
	}
	e := a.entry
	e.Message = a.acc.Partial()
	e.Message.Parts = slices.DeleteFunc(e.Message.Parts, func(p msg.Part) bool { _, use := p.(*msg.ToolUse); return use })
	start, usage := a.acc.Started(), a.acc.Usage()
	a.mu.Unlock()
	if strings.TrimSpace(e.Message.Text()) == "" {
		return
	}
	usage.Estimated = true
	e.Time, e.ResponseID, e.RequestID, e.Usage = a.now(), start.ID, start.RequestID, &usage
	a.saved = true
	a.log.SavePartial(e) // ok: retried with more of the answer
}

// end drops the answer and removes its file.
func (a *partialAnswer) end() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.acc = nil
	if a.timer != nil && a.timer.Stop() {
		a.timer = nil
	}
	a.mu.Unlock()
	a.writing.Lock()
	defer a.writing.Unlock()
	if a.saved {
		a.saved = a.log.DropPartial() != nil // ok: a leftover file no longer follows the last message
	}
}
