package webfetch

import (
	"container/list"
	"sync"
	"time"
)

// Limits of the cache.
const (
	cacheTime  = 15 * time.Minute
	cacheBytes = 50 << 20
)

// A document is a fetched page, as text.
type document struct {
	url         string // after redirects
	status      int
	contentType string
	bytes       int // size of its body
	title, text string
	cut         bool
	// markdown is true if the server sent Markdown. The field file is the path of a saved file
	// that is not text.
	markdown bool
	file     string
}

// A cache holds the most recently used documents. It is safe for concurrent use.
type cache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*list.Element
	order   list.List // *cached elements, most recently used first
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

// put adds a document, and evicts others to make room.
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
