package compact

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// Micro says when old results are cleared from requests; sizes are in tokens.
type Micro struct {
	// Keep is how many of the newest are never cleared.
	Keep int
	// When a request exceeds Total, the oldest are cleared, if that frees at least Gain. Zero means half and a
	// tenth of what a request may have.
	Total, Gain int
	// After a pause of Idle, all but the newest are cleared: the provider's cache has expired anyway.
	Idle time.Duration
}

// DefaultMicro is the default.
var DefaultMicro = Micro{Keep: 5, Idle: time.Hour}

func (m Micro) valid() bool {
	return m.Keep >= 1 && m.Total >= 0 && m.Gain >= 0 && (m.Gain <= m.Total || m.Total == 0) && m.Idle > 0
}

// A Need says why old results would be cleared from a request.
type Need struct {
	// Idle is how long ago the model answered last.
	Idle time.Duration
	// Usable is how many tokens a request may have, and Used returns how many this one has.
	Usable int
	Used   func() int
	// Bound says that the provider refuses reasoning once what was said before it is sent otherwise. Then
	// results are cleared only after a pause, unless [Micro.Total] is set.
	Bound bool
}

// presses reports whether the request has become long enough, and returns what has to be freed.
func (n Need) presses(m Micro, most int) (gain int, ok bool) {
	total := m.Total
	if total == 0 {
		total = n.Usable / 2
	}
	if gain = m.Gain; gain == 0 {
		gain = max(1, min(n.Usable, 2*total)/10)
	}
	return gain, (!n.Bound || m.Total > 0) && most >= gain && n.Used() > total
}

const (
	// minText is the size from which a result is cleared, in characters.
	minText = 2000
	// minMedia is the size from which a picture or document is cleared as a result is, in tokens.
	minMedia = 2000
)

// Limits on pictures and documents in a request, whatever their tokens; providers refuse more.
const (
	maxMediaParts = 95
	maxMediaBytes = 20 << 20
)

// A Clearer clears old results from requests. What it has cleared stays cleared, so that requests keep the same
// prefix. It is for one goroutine at a time.
type Clearer struct {
	Micro Micro
	// Clearable reports whether the result of a call may be cleared.
	Clearable func(use *msg.ToolUse) bool

	cleared  map[string]msg.Part // what is sent instead, by key
	restored bool                // by another process, which has not told of it

	// scan covers the messages so far, so that they are not scanned again for each request.
	scan scan
	work []item        // the memory of what a call finds
	seen []msg.Message // as they were given
	view []msg.Message // as they are sent; nil after something was cleared
	// shown counts the media outside of results in view.
	shown int
}

// A scan is the result of scanning the beginning of a conversation.
type scan struct {
	items []item
	uses  map[string]*msg.ToolUse
	media int // outside of results
	count int // messages
}

// Keys returns what was cleared, for [Clearer.Restore] in a later process.
func (c *Clearer) Keys() []string { return slices.Sorted(maps.Keys(c.cleared)) }

// Restore sets what was cleared in an earlier process.
func (c *Clearer) Restore(keys []string) {
	c.cleared, c.restored = make(map[string]msg.Part, len(keys)), len(keys) > 0
	for _, k := range keys {
		c.cleared[k] = nil
	}
}

// Restart resets the clearer for a conversation that starts over as seg. Kept results stay cleared.
func (c *Clearer) Restart(seg *Segment) {
	old := c.cleared
	*c = Clearer{Micro: c.Micro, Clearable: c.Clearable}
	pictures := 0 // outside of results
	for _, e := range seg.Kept {
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case *msg.ToolResult:
				c.keep(old, p.ID)
				for i := range p.Parts {
					c.keep(old, fmt.Sprintf("%s#%d", p.ID, i))
				}
			case *msg.Image, *msg.Document:
				if seg.Last { // otherwise they are counted again
					c.keep(old, fmt.Sprintf("#%d", pictures))
				}
				pictures++
			}
		}
	}
}

func (c *Clearer) keep(old map[string]msg.Part, key string) {
	if p, ok := old[key]; ok {
		c.clear(item{key: key})
		c.cleared[key] = p
	}
}

// An item can be cleared: a result, or a picture or document. Its key is the id of the result, with
// the index in it, or the number of the picture in the conversation: none of them changes as the
// conversation grows.
type item struct {
	key   string
	size  int // in tokens; 0 for a picture too small to count
	bytes int // of media
	media int
	at    int          // the message that it is in
	use   *msg.ToolUse // nil if it is no result
}

// A Clearing is what was newly cleared from a request.
type Clearing struct {
	Freed int // tokens
	// First is the number of the first message that is sent otherwise from now on.
	First int
	// Uses are the calls whose results were cleared, also those that an earlier process has cleared.
	Uses []*msg.ToolUse
}

func (c *Clearing) add(it item) {
	if c.Freed == 0 || it.at < c.First {
		c.First = it.at
	}
	c.Freed += max(1, it.size)
	c.tell(it)
}

func (c *Clearing) tell(it item) {
	if it.use != nil {
		c.Uses = append(c.Uses, it.use)
	}
}

// Clear returns messages with old results cleared, and what it has newly cleared. It changes the list that it
// is given.
func (c *Clearer) Clear(messages []msg.Message, need Need, g *tokens.Gauge) (view []msg.Message, done Clearing) {
	had := len(c.cleared)
	items := c.read(messages, g)
	if c.restored {
		for _, it := range items {
			if c.has(it.key) {
				done.tell(it)
			}
		}
		c.restored = false
	}
	c.choose(items, need, &done)
	c.chooseMedia(items, &done)
	if len(c.cleared) == 0 {
		return messages, done
	}
	if len(c.cleared) > had {
		c.view = nil
	}
	settled := len(c.seen)
	if len(c.view) < settled || c.view == nil {
		c.shown = 0
		c.view = slices.Clone(messages[:settled])
		c.replace(c.view, &c.shown)
	}
	copy(messages, c.view[:settled])
	n := c.shown
	c.replace(messages[settled:], &n)
	return messages, done
}

// read returns what can be cleared. All messages but the last, which may still grow, are remembered.
func (c *Clearer) read(messages []msg.Message, g *tokens.Gauge) []item {
	if n := len(c.seen); n > len(messages)-1 || !slices.EqualFunc(messages[:n], c.seen, same) {
		c.scan, c.seen, c.view, c.shown = scan{}, nil, nil, 0
	}
	if len(messages) == 0 {
		return nil
	}
	if c.scan.uses == nil {
		c.scan.uses = map[string]*msg.ToolUse{}
	}
	if news := messages[len(c.seen) : len(messages)-1]; len(news) > 0 {
		c.collect(&c.scan, news, g)
		if settled := len(c.seen); len(c.view) == settled && c.view != nil {
			c.view = append(c.view, news...)
			c.replace(c.view[settled:], &c.shown)
		}
		c.seen = append(c.seen, news...)
	}
	all := c.scan
	all.items = append(c.work[:0], all.items...)
	c.collect(&all, messages[len(messages)-1:], g)
	c.work = all.items
	return all.items
}

func same(a, b msg.Message) bool {
	return len(a.Parts) == len(b.Parts) && (len(a.Parts) == 0 || &a.Parts[0] == &b.Parts[0])
}

// replace makes messages what is sent. The number n counts the media outside of results.
func (c *Clearer) replace(messages []msg.Message, n *int) {
	for i := range messages {
		messages[i].Parts = c.replaceParts(messages[i].Parts, "", n)
	}
}

// choose clears old results.
func (c *Clearer) choose(items []item, need Need, done *Clearing) {
	m := c.Micro
	if !m.valid() {
		m = DefaultMicro
	}
	last, kept := len(items), 0 // those from last on are kept
	for last > 0 && kept < m.Keep {
		if last--; items[last].size > 0 {
			kept++
		}
	}
	most := 0
	for _, it := range items[:last] {
		if !c.has(it.key) {
			most += it.size
		}
	}
	gain := most
	if need.Idle <= m.Idle {
		var presses bool
		if gain, presses = need.presses(m, most); !presses {
			return
		}
	}
	for _, it := range items[:last] {
		if done.Freed >= gain {
			return
		}
		if it.size > 0 && !c.has(it.key) {
			c.clear(it)
			done.add(it)
		}
	}
}

// chooseMedia clears the oldest pictures and documents beyond the limits of a request.
func (c *Clearer) chooseMedia(items []item, done *Clearing) {
	count, size := 0, 0
	for _, it := range items {
		if it.media > 0 && !c.has(it.key) {
			count += it.media
			size += it.bytes
		}
	}
	for _, it := range items {
		if count <= maxMediaParts && size <= maxMediaBytes {
			break
		}
		if it.media > 0 && !c.has(it.key) {
			count -= it.media
			size -= it.bytes
			c.clear(it)
			done.add(it)
		}
	}
}

func (c *Clearer) has(key string) bool { _, ok := c.cleared[key]; return ok }

func (c *Clearer) clear(it item) {
	if c.cleared == nil {
		c.cleared = map[string]msg.Part{}
	}
	c.cleared[it.key] = nil
}

// collect adds what can be cleared in messages, oldest first.
func (c *Clearer) collect(s *scan, messages []msg.Message, g *tokens.Gauge) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *msg.ToolUse:
				s.uses[p.ID] = p
			case *msg.ToolResult:
				use := s.uses[p.ID]
				if !p.IsError && use != nil && c.Clearable != nil && c.Clearable(use) {
					count, bytes := media(p.Parts)
					if size := g.Parts(p); long(p.Parts) || count > 0 && size >= minMedia {
						s.items = append(s.items, item{key: p.ID, size: size, media: count, bytes: bytes, at: s.count, use: use})
						continue
					}
				}
				for i, q := range p.Parts {
					s.addMedia(p.ID, i, q, use, g)
				}
			case *msg.Image, *msg.Document:
				s.addMedia("", s.media, p, nil, g)
				s.media++
			}
		}
		s.count++
	}
}

// long reports whether the text of a result is worth clearing.
func long(parts []msg.Part) bool {
	n := 0
	for _, p := range parts {
		if t, ok := p.(*msg.Text); ok {
			if n += utf8.RuneCountInString(t.Text); n >= minText {
				return true
			}
		}
	}
	return false
}

func (s *scan) addMedia(in string, n int, p msg.Part, use *msg.ToolUse, g *tokens.Gauge) {
	count, bytes := media([]msg.Part{p})
	if count == 0 {
		return
	}
	size := g.Parts(p)
	if size < minMedia {
		size = 0
	}
	s.items = append(s.items, item{key: fmt.Sprintf("%s#%d", in, n), size: size, media: count, bytes: bytes, at: s.count, use: use})
}

func media(parts []msg.Part) (count, bytes int) {
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Image:
			count++
			bytes += len(p.Data)
		case *msg.Document:
			count++
			bytes += len(p.Data)
		}
	}
	return count, bytes
}

// replaceParts returns parts with what was cleared replaced; the same slice if nothing was. The number n counts
// the media outside of results.
func (c *Clearer) replaceParts(parts []msg.Part, in string, n *int) []msg.Part {
	out := parts
	put := func(i int, p msg.Part) {
		if &out[0] == &parts[0] {
			out = slices.Clone(parts)
		}
		out[i] = p
	}
	for i, p := range parts {
		switch p := p.(type) {
		case *msg.ToolResult:
			if c.has(p.ID) {
				put(i, c.instead(p.ID, func() msg.Part {
					return &msg.ToolResult{ID: p.ID, Parts: []msg.Part{&msg.Text{Text: Cleared}}, IsError: p.IsError}
				}))
			} else if inner := c.replaceParts(p.Parts, p.ID, n); len(inner) > 0 && &inner[0] != &p.Parts[0] {
				put(i, c.instead(p.ID+"#", func() msg.Part { return &msg.ToolResult{ID: p.ID, Parts: inner, IsError: p.IsError} }))
			}
		case *msg.Image, *msg.Document:
			key := fmt.Sprintf("%s#%d", in, i)
			if in == "" {
				key = fmt.Sprintf("#%d", *n)
				*n++
			}
			if c.has(key) {
				put(i, c.instead(key, func() msg.Part { return &msg.Text{Text: clearedMedia(p)} }))
			}
		}
	}
	return out
}

// instead returns the replacement for a key. It is made once, so that encoders recognise it.
func (c *Clearer) instead(key string, make func() msg.Part) msg.Part {
	if p := c.cleared[key]; p != nil {
		return p
	}
	p := make()
	if c.has(key) {
		c.cleared[key] = p
	}
	return p
}

func clearedMedia(p msg.Part) string {
	if _, ok := p.(*msg.Document); ok {
		return "[An old document was cleared to save room.]"
	}
	return "[An old image was cleared to save room.]"
}
