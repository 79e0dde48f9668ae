package agent

import (
	"context"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// An inFlight is a response, with its calls, that is not in the history yet.
type inFlight struct {
	acc      *model.Accumulator
	batch    *batch
	recorded bool // the assistant message is in the history, its results are not
}

// The texts that record an interruption by the user. Clients recognize these two sentences.
const (
	InterruptedStream = "[Request interrupted by user]"
	InterruptedTools  = "[Request interrupted by user for tool use]"
)

// aborted records the response in flight and returns the turn's end.
func (r *run) aborted() *Ended {
	r.recordInFlight()
	if err := context.Cause(r.ctx); tool.IsFatal(err) {
		r.emit(Failed{Err: err})
		return &Ended{Reason: ModelError, Err: err}
	}
	return &Ended{Reason: AbortedStreaming, Detail: string(tool.AbortReason(r.ctx))}
}

// recordInFlight completes the history after an abort: it records the usable part of the answer, a
// result for each of its calls, and the notice that the user interrupted.
func (r *run) recordInFlight() {
	f := r.flight
	r.flight = inFlight{}
	r.together(func() {
		if f.batch == nil {
			r.recordInterruption()
			return
		}
		if !f.recorded {
			partial := f.acc.Partial()
			f.batch.addMissing(partial.Uses())
			if len(partial.Parts) > 0 {
				r.record(f.partialEntry(partial, r.state.Model.ID))
			}
		}
		r.recordCalls(f.batch)
	})
}

func (f inFlight) partialEntry(partial msg.Message, modelID string) msg.Entry {
	u, start := f.acc.Usage(), f.acc.Started()
	u.Estimated = true
	return msg.Entry{
		Message: partial, Aborted: true, Usage: &u,
		Model: modelID, ResponseID: start.ID, RequestID: start.RequestID,
	}
}

// recordCalls stops b's calls and records their results, or the notice if b has no calls.
func (r *run) recordCalls(b *batch) {
	b.abort(tool.AbortReason(r.ctx))
	if b.empty() {
		r.recordInterruption()
		return
	}
	<-b.done
	r.emitAll(b.take())
	r.recordResults(b)
}

// recordInterruption records a notice for the model that the user interrupted.
func (r *run) recordInterruption() {
	if tool.AbortReason(r.ctx) == tool.AbortUser {
		r.record(msg.Entry{Message: msg.UserText(InterruptedStream)})
	}
}
