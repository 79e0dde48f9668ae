package structured

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// maxCached is the maximum number of schemas in a cache.
const maxCached = 64

// A Cache compiles each schema once; the key order of a schema does not matter. It keeps the
// most recently used ones, including invalid ones. The zero value is ready to use. It is safe
// for concurrent use.
type Cache struct {
	mu       sync.Mutex
	order    list.List // *cacheEntry elements, most recently used first
	byKey    map[[sha256.Size]byte]*list.Element
	compiled int
}

type cacheEntry struct {
	key    [sha256.Size]byte
	schema *Schema
	err    error
}

// Compile is like [Compile], but cached.
func (c *Cache) Compile(source json.RawMessage) (*Schema, error) {
	key := sha256.Sum256(canonical(source))
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byKey[key]; ok {
		c.order.MoveToFront(el)
		known := el.Value.(*cacheEntry)
		return known.schema, known.err
	}
	c.compiled++
	made := &cacheEntry{key: key}
	made.schema, made.err = Compile(source)
	if c.byKey == nil {
		c.byKey = map[[sha256.Size]byte]*list.Element{}
	}
	c.byKey[key] = c.order.PushFront(made)
	if c.order.Len() > maxCached {
		oldest := c.order.Back()
		delete(c.byKey, c.order.Remove(oldest).(*cacheEntry).key)
	}
	return made.schema, made.err
}

// canonical returns the same bytes for schemas that differ only in the order of keys and in
// whitespace. Invalid JSON is returned unchanged.
func canonical(source json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return source
	}
	data, err := json.Marshal(v)
	if err != nil {
		return source
	}
	return data
}
