package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/tool"
)

// An eventSink yields events to the caller of [Agent.Run].
type eventSink struct {
	yield func(Event) bool
	leave func() // called when the caller breaks off
	gone  bool   // the caller broke off; nothing more may be yielded
	// While holding, events are buffered in held.
	holding bool
	held    []Event
}

func (o *eventSink) emit(e Event) {
	if o.gone {
		return
	}
	if o.holding {
		o.held = append(o.held, e)
		return
	}
	// Mark the caller as gone while it handles the event, so that cleanup after its panic does
	// not yield to it again.
	o.gone = true
	o.gone = !o.yield(e)
	if o.gone {
		o.leave()
	}
}

func (o *eventSink) emitAll(events []Event) {
	for _, e := range events {
		o.emit(e)
	}
}

// together holds back the events that f emits until f has returned, so that the history is
// complete even if the caller panics on an event.
func (o *eventSink) together(f func()) {
	o.holding = true
	f()
	held := o.held
	o.holding, o.held = false, nil
	o.emitAll(held)
}

// A recorder appends to the history and emits [Appended].
type recorder struct {
	eventSink
	h     History
	ctx   context.Context // survives the turn's cancellation
	fail  context.CancelCauseFunc
	newID func() string
	now   func() time.Time
	log   *slog.Logger
}

func (r *recorder) record(e msg.Entry) {
	e.ID, e.Time = r.newID(), r.now()
	if entries := r.h.Entries(); len(entries) > 0 {
		e.Parent = entries[len(entries)-1].ID
	}
	if err := r.h.Append(r.ctx, e); err != nil {
		r.log.Error("appending to the history failed", "err", err)
		r.emit(Notice{Text: fmt.Sprintf("The conversation could not be recorded: %v", err)})
		r.fail(tool.Fatal(err))
		return
	}
	r.emit(Appended{Entry: e})
}

// remind records a text for the model that the user did not write and does not see.
func (r *recorder) remind(text string) {
	r.record(msg.Entry{Message: msg.Message{Role: msg.User, Parts: []msg.Part{msg.Reminder(text)}}, Hidden: true})
}

// keeper returns a function that stores a result for a call in the last entry, or nil if the
// history doesn't support it.
func (r *recorder) keeper() func(exec.Outcome) {
	k, ok := r.h.(Keeper)
	if !ok {
		return nil
	}
	entries := r.h.Entries()
	if len(entries) == 0 { // the entry could not be recorded
		return nil
	}
	parent := entries[len(entries)-1].ID
	return func(o exec.Outcome) {
		e := msg.Entry{Parent: parent, Time: r.now(), Message: msg.Message{Role: msg.User, Parts: append([]msg.Part{o.Result}, o.Context...)}}
		if o.Structured != nil {
			e.Structured = map[string]json.RawMessage{o.Result.ID: o.Structured}
		}
		if err := k.Keep(e); err != nil {
			r.log.Error("keeping a result failed", "err", err)
		}
	}
}

// sync flushes the history to stable storage.
func (r *recorder) sync() {
	if s, ok := r.h.(Syncer); ok {
		if err := s.Sync(); err != nil {
			r.log.Error("syncing the history failed", "err", err)
		}
	}
}
