package streamjson

import (
	"slices"
	"sync"
	"time"

	"adze/internal/msg"
)

// progressEvery is the interval between progress lines of a long call.
const progressEvery = 5 * time.Second

// openCalls tracks the running calls. It is safe for concurrent use.
type openCalls struct {
	mu    sync.Mutex
	calls []openCall
}

type openCall struct {
	use   *msg.ToolUse
	since time.Time
}

func (r *openCalls) add(use *msg.ToolUse, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, openCall{use, now})
}

func (r *openCalls) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = slices.DeleteFunc(r.calls, func(c openCall) bool { return c.use.ID == id })
}

func (r *openCalls) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// Watch prints the progress of long calls until printed or stopped is closed.
func (p *Printer) Watch(printed, stopped <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-printed:
			return
		case <-stopped:
			return
		case <-t.C:
			p.progress()
		}
	}
}

// progress prints the long-running calls. It holds the lock, so that no progress of a call
// follows its result.
func (p *Printer) progress() {
	r := &p.running
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		elapsed := p.cfg.Now().Sub(c.since)
		if elapsed < progressEvery {
			continue
		}
		o := &Object{}
		o.Str("type", "tool_progress")
		o.Str("tool_use_id", c.use.ID)
		o.Str("tool_name", c.use.Name)
		o.Null("parent_tool_use_id")
		o.Float("elapsed_time_seconds", elapsed.Round(100*time.Millisecond).Seconds())
		p.emit(o)
	}
}
