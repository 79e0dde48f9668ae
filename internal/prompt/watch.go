package prompt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/model"
	"adze/internal/msg"
)

// A Watch detects when a provider loses its cache of a conversation, and which part of the
// requests changed. The zero value is ready to use; it is safe for concurrent use.
//
// Requests are compared, not hashed: parts are immutable, so the last request's parts are
// recognized by address, and the history is not traversed.
type Watch struct {
	mu       sync.Mutex
	requests int
	last     model.Request // Messages is a copy
	usage    msg.Usage     // response usage
	cached   int           // tokens after the last request
	stale    bool          // the last request no longer reflects the conversation
	breaks   []Break
}

// A Break is one loss of a cache.
type Break struct {
	// Request is the number of the request, from 1.
	Request int
	// Changed lists the differences from the previous request: model, thinking, tools, system
	// or messages. It is empty if the provider lost or expired the cache by itself.
	Changed []string
	// Message is the number of the first changed message, from 1; 0 means none.
	Message int
	// Lost is the number of cached tokens that had to be read again.
	Lost int
}

// String returns a message for the user.
func (b Break) String() string {
	why := "nothing changed; it may have expired"
	if len(b.Changed) > 0 {
		why = "changed: " + strings.Join(b.Changed, ", ")
	}
	if b.Message > 0 {
		why += fmt.Sprintf(" (from %d on)", b.Message)
	}
	return fmt.Sprintf("request %d read %d tokens again; %s", b.Request, b.Lost, why)
}

const (
	// leastCached is the minimum cache size worth reporting, in tokens.
	leastCached = 1024
	// maxBreaks is the maximum number of breaks kept.
	maxBreaks = 20
)

// Answered records a request and the usage reported for it, and returns the cache loss, if any.
// A new conversation counts as a change like any other.
func (w *Watch) Answered(req *model.Request, u msg.Usage) (Break, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	w.stale = false
	b := Break{Request: w.requests, Lost: w.cached - u.CacheRead}
	b.Changed, b.Message = w.compare(req)
	w.usage = u
	if u.Estimated { // the cache state is unknown
		return b, false
	}
	before := w.cached
	w.cached = u.CacheRead + u.CacheWrite
	if before < leastCached || u.CacheRead > before/2 {
		return b, false
	}
	if w.breaks = append(w.breaks, b); len(w.breaks) > maxBreaks {
		w.breaks = slices.Delete(w.breaks, 0, 1)
	}
	return b, true
}

// Last returns the cacheable part of the last answered request and its response's usage, or
// nil.
func (w *Watch) Last() (*model.Request, msg.Usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.requests == 0 || w.stale {
		return nil, msg.Usage{}
	}
	req := w.last
	req.Messages = slices.Clone(req.Messages)
	return &req, w.usage
}

// Rewound handles a rewind: the last request no longer reflects the conversation.
func (w *Watch) Rewound() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stale = true
}

// Breaks returns the last breaks, oldest first.
func (w *Watch) Breaks() []Break {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.breaks)
}

// compare returns the differences between req and the previous request, and stores req.
func (w *Watch) compare(req *model.Request) (changed []string, message int) {
	if w.requests > 1 {
		for _, part := range []struct {
			name string
			same bool
		}{
			{"model", w.last.Model == req.Model},
			{"thinking", w.last.Thinking == req.Thinking},
			{"tools", slices.EqualFunc(w.last.Tools, req.Tools, sameTool)},
			{"system", sameParts(w.last.System, req.System)},
		} {
			if !part.same {
				changed = append(changed, part.name)
			}
		}
	}
	kept := w.last.Messages
	n := 0
	for n < len(kept) && n < len(req.Messages) && kept[n].Role == req.Messages[n].Role && sameParts(kept[n].Parts, req.Messages[n].Parts) {
		n++
	}
	if n < len(kept) {
		changed, message = append(changed, "messages"), n+1
		clear(kept[n:]) // release the parts
	}
	w.last = model.Request{Model: req.Model, Thinking: req.Thinking, Tools: req.Tools, System: req.System, Messages: append(kept[:n], req.Messages[n:]...)}
	return changed, message
}

// sameParts reports whether parts are sent as the same bytes.
func sameParts(a, b []msg.Part) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return slices.EqualFunc(a, b, func(p, q msg.Part) bool {
		return p == q || bytes.Equal(msg.AppendPart(nil, p), msg.AppendPart(nil, q))
	})
}
