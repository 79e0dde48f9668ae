package mcpresource

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

// Limits on tracked resources.
const (
	maxWatched = 100
	maxNamed   = 5
)

// subscribeTime is the time limit for a subscription request.
const subscribeTime = 10 * time.Second

// Updates tracks which resources the model has read in a conversation, and which have changed
// since. The zero value is empty. It is safe for concurrent use.
type Updates struct {
	// Subscribe subscribes to changes of a resource. After an error there will be no
	// notifications. It must be set before use; may be nil.
	Subscribe func(ctx context.Context, server, uri string) error

	mu      sync.Mutex
	watched map[resource]bool // true if changed
	changed []resource        // ordered by time of change
}

type resource struct{ server, uri string }

// Read records that the model has read the current state of a resource.
func (u *Updates) Read(server, uri string) {
	r := resource{server, uri}
	u.mu.Lock()
	_, known := u.watched[r]
	if known {
		u.watched[r] = false
	}
	full := len(u.watched) >= maxWatched
	if !known && !full {
		if u.watched == nil {
			u.watched = map[resource]bool{}
		}
		u.watched[r] = false
	}
	u.mu.Unlock()
	if known || full || u.Subscribe == nil {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), subscribeTime)
		defer cancel()
		u.Subscribe(ctx, server, uri) // ok: many servers do not support it; then changes are not reported
	}()
}

// Updated records that a resource has changed.
func (u *Updates) Updated(server, uri string) {
	r := resource{server, uri}
	u.mu.Lock()
	defer u.mu.Unlock()
	if changed, known := u.watched[r]; !known || changed {
		return
	}
	u.watched[r] = true
	u.changed = append(u.changed, r)
}

// News returns a line for the model about resources that have changed since they were read, or
// "". Each change is reported once.
func (u *Updates) News() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var named []string
	n := 0
	for _, r := range u.changed {
		if !u.watched[r] {
			continue // read again since
		}
		u.watched[r] = false
		if n++; n <= maxNamed {
			named = append(named, tool.OneLine(r.uri, 200)+" of server "+r.server)
		}
	}
	u.changed = nil
	if n == 0 {
		return ""
	}
	text := strings.Join(named, ", ")
	if n > maxNamed {
		text += fmt.Sprintf(" and %s", amount.Of(n-maxNamed, "other", "others"))
	}
	return "Resources that you read have changed since: " + text + ". Read them again with " + ReadName + " if they matter."
}
