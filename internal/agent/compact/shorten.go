package compact

import (
	"slices"
	"unicode/utf8"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// Shorten returns j's conversation without its oldest messages, so that the request has at most
// budget tokens, without asking a model. It drops whole turns first, then truncates the last
// turn's results, then drops its oldest calls. The last user message is never truncated. It
// returns false if it cannot get below budget, or if nothing has to be removed.
func (c *Compactor) Shorten(j Job, budget int) (*Segment, bool) {
	return c.shorten(j, budget, shortener{})
}

func (c *Compactor) shorten(j Job, budget int, s shortener) (*Segment, bool) {
	g := c.Gauge(j.Model)
	fixed := j.fixed(g)
	s.c, s.g, s.limits, s.budget = c, g, j.Limits, budget-fixed
	if len(j.Entries) == 0 || sum(g, j.Entries) <= s.budget {
		return nil, false
	}
	seg := s.shorten(j.Entries)
	if seg == nil { // retry with fewer of the user's earlier messages
		s.dropEarlier = true
		seg = s.shorten(j.Entries)
	}
	if seg == nil {
		return nil, false
	}
	seg.Before, seg.After = fixed+sum(g, j.Entries), fixed+sum(g, seg.Entries())
	return seg, seg.After < seg.Before
}

// A shortener drops a conversation's oldest messages.
type shortener struct {
	c      *Compactor
	g      *tokens.Estimator
	limits Limits
	budget int
	prior  string   // summary at the start of the conversation
	said   []string // user's messages quoted in prior
	// If read is true, the conversation is only read, not continued, so the user's texts may be
	// truncated.
	readOnly bool
	// If scant is true, earlier user messages may be dropped to make room.
	dropEarlier bool
}

func (s *shortener) shorten(entries []msg.Entry) *Segment {
	all := entries
	if isSummary(entries[0]) {
		s.prior, s.said = read(entries[0].Message.Parts[0].(*msg.Text).Text)
		entries = entries[1:]
	}
	ok := cuts(entries)
	last, size := 0, sum(s.g, entries)
	for i := range entries {
		if ok[i] && (i == 0 || isUserMessage(entries[i])) {
			last = i
			if size <= s.budget {
				if seg := s.fit(entries[:i], entries[i:], nil); seg != nil && len(seg.Kept) < len(all) {
					return seg
				}
			}
		}
		size -= s.g.Messages(entries[i].Message)
	}
	return s.lastTurn(entries[:last], entries[last:])
}

// lastTurn shortens a turn that does not fit by itself.
func (s *shortener) lastTurn(gone, turn []msg.Entry) *Segment {
	if len(turn) == 0 {
		return s.fit(gone, nil, nil)
	}
	var cut []msg.Entry
	for _, limit := range []int{8000, 2000, 400} {
		cut = cutResults(turn, limit, s.c.text)
		same := 0
		for same < len(turn) && cut[same].ID != "" {
			same++
		}
		if seg := s.fit(gone, turn[:same], cut[same:]); seg != nil {
			return seg
		}
	}
	head := 0
	for head < len(turn) && isUserMessage(turn[head]) {
		head++
	}
	// The remaining size is updated incrementally while calls are dropped, since a turn may be
	// long.
	ok := cuts(turn)
	size := sum(s.g, cut[head:])
	for i := head; i <= len(turn); i++ {
		if ok[i] && size <= s.budget {
			if seg := s.fit(slices.Concat(gone, turn[head:i]), turn[:head], cut[i:]); seg != nil {
				return seg
			}
		}
		if i < len(turn) {
			size -= s.g.Messages(cut[i].Message)
		}
	}
	bare := make([]msg.Entry, head)
	for i, e := range turn[:head] {
		bare[i] = recastAs(e, markMedia(e.Message.Parts, s.c.text))
	}
	if s.readOnly {
		s.cutWords(bare)
	}
	return s.fit(slices.Concat(gone, turn[head:]), nil, bare)
}

// cutWords truncates each text in entries to an equal share of half the budget.
func (s *shortener) cutWords(entries []msg.Entry) {
	share := s.budget / 2 / max(1, len(entries))
	for i := range entries {
		if text := entries[i].Message.Text(); s.g.Text(text) > share {
			entries[i].Message.Parts = []msg.Part{&msg.Text{Text: cutTo(text, share, s.g) + s.c.text.cut()}}
		}
	}
}

// fit returns the segment with kept and recast after a marker for the entries in gone, or nil
// if it does not fit.
func (s *shortener) fit(gone, kept, recast []msg.Entry) *Segment {
	size := sum(s.g, kept) + sum(s.g, recast)
	if size > s.budget {
		return nil
	}
	marker, ok := s.markerIn(gone, s.budget-size)
	if !ok {
		return nil
	}
	seg := &Segment{Summary: marker, Kept: slices.Clip(kept)}
	for _, e := range recast {
		e = recastAs(e, e.Message.Parts)
		e.ID, e.Time = s.c.cfg.NewID(), s.c.cfg.Now()
		seg.Recast = append(seg.Recast, e)
	}
	seg.link()
	return seg
}

// markerIn returns a marker for the entries in gone with at most room tokens.
func (s *shortener) markerIn(gone []msg.Entry, room int) (msg.Entry, bool) {
	if !s.dropEarlier {
		m := s.marker(gone, s.budget/8, s.budget/2)
		return m, s.g.Messages(m.Message) <= room
	}
	for share := wordsShare; share <= 4096; share *= 8 {
		budget := min(room/2, s.budget/share)
		if m := s.marker(gone, min(2*budget, s.budget/4), budget); s.g.Messages(m.Message) <= room {
			return m, true
		}
	}
	return msg.Entry{}, false
}

// marker returns an entry that replaces dropped messages: the earlier summary and the user's
// messages, each within a budget.
func (s *shortener) marker(gone []msg.Entry, told, budget int) msg.Entry {
	t := s.c.text
	prior := cutTo(s.prior, told, s.g)
	if prior != "" && len(prior) < len(s.prior) {
		prior += t.cut()
	}
	said := newest(slices.Concat(s.said, userMessages(gone)), min(budget, wordsBudget(s.limits)), s.g, t.cut())
	return s.c.entry(t.dropped(prior, said, s.c.transcript()))
}

// link sets the parents of the new entries so that they form a chain.
func (s *Segment) link() {
	last := s.Summary.ID
	if n := len(s.Kept); n > 0 {
		last = s.Kept[n-1].ID
	}
	for i := range s.Recast {
		s.Recast[i].Parent = last
		last = s.Recast[i].ID
	}
}

// entry returns the entry that replaces dropped messages.
func (c *Compactor) entry(text string) msg.Entry {
	return msg.Entry{ID: c.cfg.NewID(), Time: c.cfg.Now(), Message: msg.UserText(text), Hidden: true}
}

// recastAs returns e with other parts, as a new entry without usage or response data.
func recastAs(e msg.Entry, parts []msg.Part) msg.Entry {
	return msg.Entry{Message: msg.Message{Role: e.Message.Role, Parts: parts}, Hidden: e.Hidden, Aborted: e.Aborted, Model: e.Model, Stop: e.Stop}
}

// cutResults returns entries with result texts truncated to limit and without pictures in
// results. From the first changed entry on, all are recast and have no ID.
func cutResults(entries []msg.Entry, limit int, t phrases) []msg.Entry {
	out := slices.Clone(entries)
	changed := false
	for i, e := range entries {
		parts := e.Message.Parts
		for k, p := range parts {
			res, ok := p.(*msg.ToolResult)
			if !ok {
				continue
			}
			if short := cutResult(res, limit, t); short != res {
				if &parts[0] == &e.Message.Parts[0] {
					parts = slices.Clone(parts)
				}
				parts[k] = short
				changed = true
			}
		}
		if changed {
			out[i] = recastAs(e, parts)
		}
	}
	return out
}

func cutResult(r *msg.ToolResult, limit int, t phrases) *msg.ToolResult {
	parts := markMedia(r.Parts, t)
	same := len(parts) == len(r.Parts) && (len(parts) == 0 || &parts[0] == &r.Parts[0])
	for i, p := range parts {
		text, ok := p.(*msg.Text)
		if !ok || len(text.Text) <= limit {
			continue
		}
		if same {
			parts, same = slices.Clone(parts), false
		}
		n := limit
		for n > 0 && !utf8.RuneStart(text.Text[n]) {
			n--
		}
		parts[i] = &msg.Text{Text: text.Text[:n] + t.cut()}
	}
	if same {
		return r
	}
	return &msg.ToolResult{ID: r.ID, Parts: parts, IsError: r.IsError}
}

// markMedia returns parts with a text in place of each picture and document, including in
// results. If nothing changes, it returns the same slice.
func markMedia(parts []msg.Part, t phrases) []msg.Part {
	out := parts
	for i, p := range parts {
		q := p
		switch p := p.(type) {
		case *msg.Image:
			q = &msg.Text{Text: t.say("image")}
		case *msg.Document:
			q = &msg.Text{Text: t.say("document")}
		case *msg.ToolResult:
			if inner := markMedia(p.Parts, t); len(inner) > 0 && &inner[0] != &p.Parts[0] {
				q = &msg.ToolResult{ID: p.ID, Parts: inner, IsError: p.IsError}
			}
		}
		if q != p {
			if &out[0] == &parts[0] {
				out = slices.Clone(parts)
			}
			out[i] = q
		}
	}
	return out
}
