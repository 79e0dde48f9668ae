package webfetch

import (
	"container/list"
	"sync"
	"time"
)

// Bounds of the cache.
const (
	cacheTime  = 15 * time.Minute
	cacheBytes = 50 << 20
)

// A document is a page that was fetched, as text.
type document struct {
	url         string // after redirects
	status      int
	contentType string
	bytes       int // of its body
	title, text string
	cut         bool
	// markdown says that the server sent Markdown; file is where a file that is no text was saved.
	markdown bool
	file     string
}

// A cache keeps the documents that were used last. It is safe for concurrent use.
type cache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*list.Element
	order   list.List // of *cached, the one that was used last first
	size    int
}

type cached struct {
	key  string
	doc  *document
	till time.Time
}

func (c *cached) size() int { return len(c.doc.text) + len(c.key) }

// get returns the document of a URL, or nil.
func (c *cache) get(key string) *document {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil
	}
	entry := e.Value.(*cached)
	if !c.now().Before(entry.till) {
		c.drop(e)
		return nil
	}
	c.order.MoveToFront(e)
	return entry.doc
}

// put keeps a document, and drops others until there is room for it.
func (c *cache) put(key string, d *document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := &cached{key, d, c.now().Add(cacheTime)}
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	if entry.size() > cacheBytes {
		return
	}
	for c.size+entry.size() > cacheBytes {
		c.drop(c.order.Back())
	}
	if c.entries == nil {
		c.entries = map[string]*list.Element{}
	}
	c.entries[key] = c.order.PushFront(entry)
	c.size += entry.size()
}

func (c *cache) drop(e *list.Element) {
	entry := e.Value.(*cached)
	c.order.Remove(e)
	delete(c.entries, entry.key)
	c.size -= entry.size()
}
