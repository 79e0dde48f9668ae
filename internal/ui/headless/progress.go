package headless

import (
	"slices"
	"sync"
	"time"

	"adze/internal/msg"
)

// progressEvery is how often a host hears of a call that takes long.
const progressEvery = 5 * time.Second

// running are the calls that have begun and not ended.
type running struct {
	mu    sync.Mutex
	calls []runningCall
}

type runningCall struct {
	use   *msg.ToolUse
	since time.Time
}

func (r *running) add(use *msg.ToolUse, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, runningCall{use, now})
}

func (r *running) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = slices.DeleteFunc(r.calls, func(c runningCall) bool { return c.use.ID == id })
}

func (r *running) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// watch tells of long calls until everything is printed, or over is closed.
func (p *streamPrinter) watch(printed, over <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-printed:
			return
		case <-over:
			return
		case <-t.C:
			p.progress()
		}
	}
}

// progress holds up the end of calls while it tells of them: nothing is said of a call after its result.
func (p *streamPrinter) progress() {
	r := &p.running
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		elapsed := p.f.cfg.Now().Sub(c.since)
		if elapsed < progressEvery {
			continue
		}
		o := &object{}
		o.str("type", "tool_progress")
		o.str("tool_use_id", c.use.ID)
		o.str("tool_name", c.use.Name)
		o.null("parent_tool_use_id")
		o.float("elapsed_time_seconds", elapsed.Round(100*time.Millisecond).Seconds())
		p.f.emit(o)
	}
}
