package signin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
)

const (
	// cacheLife is how long a server that required a sign-in is not contacted again.
	cacheLife = 15 * time.Minute
	maxCache  = 1 << 20
)

// A Cache remembers which servers require a sign-in and with which challenge, across processes.
// An unreadable cache file counts as empty.
type Cache struct {
	home string
	now  func() time.Time
	mu   sync.Mutex
}

// A want is one server's sign-in requirement.
type want struct {
	At time.Time `json:"at"`
	// Metadata and Scope come from the challenge, if the server sent one.
	Metadata string `json:"resourceMetadata,omitempty"`
	Scope    string `json:"scope,omitempty"`
}

// Needed reports whether a server recently required a sign-in.
func (c *Cache) Needed(e *roster.Entry) bool {
	_, ok := c.challenge(e)
	return ok
}

// challenge returns a server's recent challenge.
func (c *Cache) challenge(e *roster.Entry) (challenge, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.read()[keyOf(e)]
	return challenge{metadata: w.Metadata, scope: w.Scope}, ok && c.fresh(w.At)
}

// fresh reports whether a time is within the cache lifetime and not in the future.
func (c *Cache) fresh(at time.Time) bool {
	age := c.now().Sub(at)
	return age >= -time.Minute && age < cacheLife
}

// Note records that a server requires a sign-in.
func (c *Cache) Note(e *roster.Entry) { c.note(e, nil) }

// note also records the challenge, unless it is nil.
func (c *Cache) note(e *roster.Entry, said *challenge) {
	c.change(func(m map[string]want) bool {
		w := m[keyOf(e)]
		if w.At = c.now().UTC(); said != nil {
			w.Metadata, w.Scope = said.metadata, said.scope
		}
		m[keyOf(e)] = w
		return true
	})
}

// Clear removes a server's sign-in requirement.
func (c *Cache) Clear(e *roster.Entry) {
	c.change(func(m map[string]want) bool {
		_, ok := m[keyOf(e)]
		delete(m, keyOf(e))
		return ok
	})
}

func (c *Cache) path() string { return filepath.Join(c.home, "mcp-needs-auth-cache.json") }

func (c *Cache) read() map[string]want {
	m := map[string]want{}
	if c.home == "" {
		return m
	}
	info, err := os.Lstat(c.path())
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCache {
		return m
	}
	data, err := os.ReadFile(c.path())
	if err != nil || json.Unmarshal(data, &m) != nil || m == nil {
		return map[string]want{}
	}
	return m
}

// change rewrites the file if edit returns true. A concurrent write by another process may be
// lost; its server is then contacted again.
func (c *Cache) change(edit func(map[string]want) bool) {
	if c.home == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.read()
	for key, w := range m {
		if !c.fresh(w.At) {
			delete(m, key)
		}
	}
	if !edit(m) {
		return
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err == nil && fsys.MkdirPrivate(c.home) == nil {
		replace.WriteFile(c.path(), append(data, '\n'), 0o600) // ok: the server is then contacted again
	}
}
