package mcpresource

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/amount"
	"adze/internal/tool"
)

// Bounds of what is kept of resources.
const (
	maxWatched = 100
	maxNamed   = 5
)

// subscribeTime bounds the request for news of a resource.
const subscribeTime = 10 * time.Second

// Updates know which resources the model has read in a conversation, and which of them have changed since. The zero
// value knows none. It is safe for concurrent use.
type Updates struct {
	// Subscribe asks a server for news of a resource. Its error says that there will be none. It is set before use; may be nil.
	Subscribe func(ctx context.Context, server, uri string) error

	mu      sync.Mutex
	watched map[resource]bool // and whether they changed
	changed []resource        // in the order in which they did
}

type resource struct{ server, uri string }

// Read says that the model has read a resource: its state is known.
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
		u.Subscribe(ctx, server, uri) // ok: many servers cannot; then nothing is said of changes
	}()
}

// Updated says that a resource has changed.
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

// News returns one line for the model about what has changed since it was read, or nothing. Each change is told once.
func (u *Updates) News() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var named []string
	n := 0
	for _, r := range u.changed {
		if !u.watched[r] {
			continue // it was read again
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
