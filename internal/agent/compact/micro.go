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

// ClearPolicy controls when old results are cleared from requests; sizes are in tokens.
type ClearPolicy struct {
	// KeepPolicy is the number of newest results that are never cleared.
	Keep int
	// When a request exceeds Total, the oldest results are cleared, if that frees at least
	// Gain. Zero means half and a tenth of the usable window.
	Total, Gain int
	// After a pause of Idle, all but the newest are cleared, because the provider's cache has
	// expired anyway.
	Idle time.Duration
}

// DefaultMicro is the default ClearPolicy.
var DefaultMicro = ClearPolicy{Keep: 5, Idle: time.Hour}

func (m ClearPolicy) valid() bool {
	return m.Keep >= 1 && m.Total >= 0 && m.Gain >= 0 && (m.Gain <= m.Total || m.Total == 0) && m.Idle > 0
}

// A ClearConditions describes the conditions for clearing old results from a request.
type ClearConditions struct {
	// Idle is the time since the model's last answer.
	Idle time.Duration
	// Usable is the maximum request size in tokens, and Used returns this request's size.
	Usable int
	Used   func() int
	// Bound is true if the provider rejects reasoning once the content before it has changed.
	// Results are then cleared only after a pause, unless [ClearPolicy.Total] is set.
	Bound bool
}

// shouldClear reports whether the request is long enough to clear results, and returns the minimum
// number of tokens to free.
func (n ClearConditions) shouldClear(m ClearPolicy, most int) (gain int, ok bool) {
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
	// minText is the minimum size of a result to clear, in characters.
	minText = 2000
	// minMedia is the minimum size of a picture or document to clear like a result, in tokens.
	minMedia = 2000
)

// Limits on pictures and documents in a request, regardless of their tokens; providers reject
// more.
const (
	maxMediaParts = 95
	maxMediaBytes = 20 << 20
)

// A Clearer clears old results from requests. Cleared results stay cleared, so that requests
// keep the same prefix. It is not safe for concurrent use.
type Clearer struct {
	Micro ClearPolicy
	// Clearable reports whether a call's result may be cleared.
	Clearable func(use *msg.ToolUse) bool

	cleared  map[string]msg.Part // replacements by key
	restored bool                // keys were restored and their uses are not reported yet

	// scan covers the messages so far, so that they are not scanned again for each request.
	scan scan
	work []item        // scratch buffer for read
	seen []msg.Message // messages as given
	view []msg.Message // messages as sent; nil after something was cleared
	// shown counts the media outside results in view.
	shown int
}

// A scan is the result of scanning a conversation's beginning.
type scan struct {
	items []item
	uses  map[string]*msg.ToolUse
	media int // media outside results
	count int // number of messages
}

// Keys returns the keys of the cleared items, for [Clearer.Restore] in a later process.
func (c *Clearer) Keys() []string { return slices.Sorted(maps.Keys(c.cleared)) }

// Restore sets the items that an earlier process cleared.
func (c *Clearer) Restore(keys []string) {
	c.cleared, c.restored = make(map[string]msg.Part, len(keys)), len(keys) > 0
	for _, k := range keys {
		c.cleared[k] = nil
	}
}

// Restart resets the clearer for a conversation that starts over as seg. Kept results stay
// cleared.
func (c *Clearer) Restart(seg *Segment) {
	old := c.cleared
	*c = Clearer{Micro: c.Micro, Clearable: c.Clearable}
	pictures := 0 // pictures outside results
	for _, e := range seg.Kept {
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case *msg.ToolResult:
				c.keep(old, p.ID)
				for i := range p.Parts {
					c.keep(old, fmt.Sprintf("%s#%d", p.ID, i))
				}
			case *msg.Image, *msg.Document:
				if seg.Last { // otherwise they are renumbered
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

// An item is a result, picture or document that can be cleared. Its key is the result's ID,
// plus the part's index for media in a result, or the picture's number in the conversation;
// keys don't change as the conversation grows.
type item struct {
	key   string
	size  int // tokens; 0 for a picture too small to count
	bytes int // media bytes
	media int
	at    int          // message index
	use   *msg.ToolUse // nil if not a result
}

// A ClearResult describes the items newly cleared from a request.
type ClearResult struct {
	Freed int // tokens
	// First is the index of the first message that changes.
	First int
	// Uses are the calls whose results were cleared, including results cleared by an earlier
	// process.
	Uses []*msg.ToolUse
}

func (c *ClearResult) add(it item) {
	if c.Freed == 0 || it.at < c.First {
		c.First = it.at
	}
	c.Freed += max(1, it.size)
	c.tell(it)
}

func (c *ClearResult) tell(it item) {
	if it.use != nil {
		c.Uses = append(c.Uses, it.use)
	}
}

// Clear returns messages with old results cleared and a description of the newly cleared items.
// It modifies messages.
func (c *Clearer) Clear(messages []msg.Message, need ClearConditions, g *tokens.Estimator) (view []msg.Message, done ClearResult) {
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

// readOnly returns the items that can be cleared. It remembers all messages but the last, which may
// still grow.
func (c *Clearer) read(messages []msg.Message, g *tokens.Estimator) []item {
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

// replace replaces the cleared items in messages. n counts the media outside results.
func (c *Clearer) replace(messages []msg.Message, n *int) {
	for i := range messages {
		messages[i].Parts = c.replaceParts(messages[i].Parts, "", n)
	}
}

// choose clears old results.
func (c *Clearer) choose(items []item, need ClearConditions, done *ClearResult) {
	m := c.Micro
	if !m.valid() {
		m = DefaultMicro
	}
	last, kept := len(items), 0 // items from last on are kept
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
		if gain, presses = need.shouldClear(m, most); !presses {
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

// chooseMedia clears the oldest pictures and documents beyond a request's limits.
func (c *Clearer) chooseMedia(items []item, done *ClearResult) {
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

// collect adds the clearable items in messages, oldest first.
func (c *Clearer) collect(s *scan, messages []msg.Message, g *tokens.Estimator) {
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

// long reports whether a result's text is worth clearing.
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

func (s *scan) addMedia(in string, n int, p msg.Part, use *msg.ToolUse, g *tokens.Estimator) {
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

// replaceParts returns parts with cleared items replaced, or the same slice if none were
// cleared. n counts the media outside results.
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

// instead returns the replacement for a key. It is created once, so that encoders recognize it.
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
