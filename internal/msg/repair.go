package msg

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NoOutput stands for the content of a result that has none: providers reject empty results.
const NoOutput = "(no output)"

// Lost stands for the prompt of an answer that nothing is before: its line of the transcript was damaged.
const Lost = "[The message that was answered here is missing from the transcript.]"

// Missing stands for the result of a use that never got one.
const Missing = "No result: the call did not finish. Whether it had an effect is unknown."

// A Problem is something a [Conversation] had to mend.
type Problem struct {
	Message int // index in the input
	Text    string
}

// Repair mends a whole list of messages; see [Conversation]. Tests use it; the loop adds messages to a
// Conversation as they come.
func Repair(in []Message) ([]Message, []Problem) {
	var c Conversation
	for _, m := range in {
		c.Add(m)
	}
	return c.Messages()
}

// A Conversation is a list of messages in the form that a provider accepts: it begins with the user, roles
// alternate, every tool use is answered by exactly one result at the head of the next message, in the
// order of the uses, and nothing empty, unsigned or unknown is left, nor a part that its role cannot have.
// A well-formed conversation keeps its own parts, so that encoders recognise them; repairs are reported.
//
// A Conversation is mended as it grows, so that a long one is not processed again for each request. It never
// looks ahead further than one message: adding a message changes nothing before it, except within the last
// message. The zero value is empty.
type Conversation struct {
	mended repairer
	// last is not mended yet: messages of one role in a row become one, and results may be spread over
	// several of them.
	last  Message
	added int
}

// Add appends m.
func (c *Conversation) Add(m Message) {
	c.added++
	if c.last.Role == m.Role {
		c.last.Parts = append(c.last.Parts[:len(c.last.Parts):len(c.last.Parts)], m.Parts...)
		return
	}
	c.mended.take(c.last)
	c.mended.at = c.added - 1
	c.last = m
}

// Messages returns the conversation as a provider accepts it, and what had to be mended.
func (c *Conversation) Messages() ([]Message, []Problem) {
	r := c.mended
	r.out = slices.Clone(r.out)
	r.problems = slices.Clip(r.problems)
	if c.last.Role == Assistant {
		r.seen = maps.Clone(r.seen)
	}
	r.take(c.last)
	r.answer(nil)
	return r.out, r.problems
}

// Uses reports whether a tool use before the last message has this id.
func (c *Conversation) Uses(id string) bool { return c.mended.seen[id] }

type repairer struct {
	out      []Message
	problems []Problem
	at       int
	seen     map[string]bool // ids of tool uses so far
	open     []openUse       // uses of the last message, which still wait for their results
}

// An openUse is a use as it is sent, and the id it had.
type openUse struct{ id, was string }

func (r *repairer) note(format string, args ...any) {
	r.problems = append(r.problems, Problem{r.at, fmt.Sprintf(format, args...)})
}

// take adds the messages of one speaker.
func (r *repairer) take(m Message) {
	if m.Role != "" {
		r.add(m.Role, r.usable(m))
	}
}

// usable returns the parts of m that can be sent.
func (r *repairer) usable(m Message) []Part {
	parts := sendableParts(m)
	if m.Role != Assistant {
		return parts
	}
	return r.thinkingFirst(parts)
}

// thinkingFirst returns the parts of an answer, without its thinking if it does not begin with it. Thinking that names
// its dialect stands where that wants it.
func (r *repairer) thinkingFirst(parts []Part) []Part {
	if len(parts) == 0 || IsThinking(parts[0]) || !slices.ContainsFunc(parts, opensAnswer) {
		return parts
	}
	r.note("the thinking of a message that did not begin with it was left out")
	return WithoutThinking(parts)
}

// WithoutThinking returns the parts that are not the reasoning of a model; the same slice if none is.
func WithoutThinking(parts []Part) []Part {
	if !slices.ContainsFunc(parts, IsThinking) {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), IsThinking)
}

// IsThinking reports whether a part is reasoning.
func IsThinking(p Part) bool {
	switch p.(type) {
	case *Thinking, *Redacted:
		return true
	}
	return false
}

// DialectOf returns the name of the wire dialect that reasoning is for, by the lower-case word and the colon that its
// signature or data begins with. Without them, and for every other part, it is empty.
func DialectOf(p Part) string {
	var bound string
	switch p := p.(type) {
	case *Thinking:
		bound = p.Signature
	case *Redacted:
		bound = p.Data
	}
	for i := range len(bound) {
		switch c := bound[i]; {
		case c == ':':
			return bound[:i]
		case c < 'a' || c > 'z':
			return ""
		}
	}
	return ""
}

// opensAnswer reports whether a part may stand in an answer only if that begins with such a part.
func opensAnswer(p Part) bool { return IsThinking(p) && DialectOf(p) == "" }

func sendableParts(m Message) []Part {
	parts := m.Parts
	if m.Role == Assistant {
		parts = parts[:len(parts)-trailingThinking(parts)]
	}
	for i, p := range parts {
		if q := sendable(p, m.Role); q != p {
			// Copy on the first part that must change; most messages are sent as they are.
			kept := append([]Part(nil), parts[:i]...)
			for _, p := range parts[i:] {
				if q := sendable(p, m.Role); q != nil {
					kept = append(kept, q)
				}
			}
			if m.Role == Assistant {
				kept = kept[:len(kept)-trailingThinking(kept)]
			}
			return kept
		}
	}
	return parts
}

// sendable returns p, or what a message of the given role sends in its place, or nil.
func sendable(p Part, role Role) Part {
	ok := false
	switch q := p.(type) {
	case *Text:
		ok = strings.TrimSpace(q.Text) != ""
	case *Thinking:
		ok = role == Assistant && q.Signature != ""
	case *Redacted:
		ok = role == Assistant && q.Data != ""
	case *ToolUse, *Server:
		ok = role == Assistant
	case *Image:
		ok = role == User && len(q.Data) > 0
	case *Document:
		ok = role == User && len(q.Data) > 0
	case *ToolResult:
		if role == User {
			return sendableResult(q)
		}
	}
	if !ok {
		return nil
	}
	return p
}

// sendableResult returns r, or a copy with those of its parts that can be sent.
func sendableResult(r *ToolResult) *ToolResult {
	if !slices.ContainsFunc(r.Parts, unfitForResult) {
		return nonEmpty(r)
	}
	kept := slices.DeleteFunc(slices.Clone(r.Parts), unfitForResult)
	return nonEmpty(&ToolResult{ID: r.ID, Parts: kept, IsError: r.IsError})
}

func unfitForResult(p Part) bool {
	_, nested := p.(*ToolResult)
	return nested || sendable(p, User) == nil
}

func nonEmpty(r *ToolResult) *ToolResult {
	if len(r.Parts) > 0 {
		return r
	}
	return &ToolResult{ID: r.ID, Parts: []Part{&Text{Text: NoOutput}}, IsError: r.IsError}
}

// trailingThinking counts the thinking parts at the end: a message may not end in them. Thinking that names its dialect
// may be the end of a message, but not all of it.
func trailingThinking(parts []Part) int {
	ends := func(may func(Part) bool) int {
		n := 0
		for i := len(parts) - 1; i >= 0; i-- {
			if _, opaque := parts[i].(*Opaque); !opaque && !may(parts[i]) {
				break
			}
			n++
		}
		return n
	}
	if n := ends(IsThinking); n == len(parts) {
		return n
	}
	return ends(opensAnswer)
}

func (r *repairer) add(role Role, parts []Part) {
	if role == Assistant {
		if len(parts) == 0 {
			return
		}
		if len(r.out) == 0 {
			r.note("the conversation began with the assistant; a placeholder stands for the message before it")
			r.append(User, []Part{&Text{Text: Lost}})
		}
		r.answer(nil)
		r.append(Assistant, r.claim(parts))
		return
	}
	if len(r.open) > 0 {
		parts = r.answer(parts)
	} else {
		parts = r.withoutResults(parts)
	}
	if len(parts) > 0 {
		r.append(User, parts)
	}
}

// claim records the uses among parts and mends those whose id or name cannot be sent.
func (r *repairer) claim(parts []Part) []Part {
	copied := false
	for i, p := range parts {
		u, ok := p.(*ToolUse)
		if !ok {
			continue
		}
		v := *u
		for n := 2; !ValidID(v.ID) || r.seen[v.ID]; n++ {
			v.ID = fmt.Sprintf("%s_%d", cleanID(u.ID), n)
		}
		if !ValidID(v.Name) {
			v.Name = cleanID(u.Name)
		}
		if r.seen == nil {
			r.seen = make(map[string]bool)
		}
		r.seen[v.ID] = true
		r.open = append(r.open, openUse{v.ID, u.ID})
		if v.ID == u.ID && v.Name == u.Name {
			continue
		}
		r.note("tool use %q of %q is unusable or taken; %q of %q was sent", u.ID, u.Name, v.ID, v.Name)
		if !copied {
			parts, copied = slices.Clone(parts), true
		}
		parts[i] = &v
	}
	return parts
}

// answer pairs the open uses with the results among parts, puts the results first and in order, and
// appends them as a message of their own if parts has nothing else. It returns what is left to send.
func (r *repairer) answer(parts []Part) []Part {
	if len(r.open) == 0 {
		return parts
	}
	open := r.open
	r.open = nil
	if inOrder(open, parts) {
		return parts
	}
	results := make(map[string]*ToolResult)
	var rest []Part
	for _, p := range parts {
		res, ok := p.(*ToolResult)
		switch {
		case !ok:
			rest = append(rest, p)
		case !slices.ContainsFunc(open, func(u openUse) bool { return u.was == res.ID }):
			r.note("result for unknown tool use %q was left out", res.ID)
		case results[res.ID] != nil:
			r.note("tool use %q had two results; the first was kept", res.ID)
		default:
			results[res.ID] = res
		}
	}
	out := make([]Part, 0, len(open)+len(rest))
	for _, u := range open {
		res := results[u.was]
		delete(results, u.was)
		switch {
		case res == nil:
			r.note("tool use %q had no result", u.was)
			res = &ToolResult{ID: u.id, Parts: []Part{&Text{Text: Missing}}, IsError: true}
		case u.id != u.was:
			res = &ToolResult{ID: u.id, Parts: res.Parts, IsError: res.IsError}
		}
		out = append(out, res)
	}
	out = append(out, rest...)
	if parts == nil {
		r.append(User, out)
		return nil
	}
	return out
}

// inOrder reports whether parts begin with exactly the results of open, and hold no others.
func inOrder(open []openUse, parts []Part) bool {
	if len(parts) < len(open) {
		return false
	}
	for i, p := range parts {
		res, ok := p.(*ToolResult)
		if i < len(open) {
			if !ok || res.ID != open[i].was || open[i].id != open[i].was {
				return false
			}
		} else if ok {
			return false
		}
	}
	return true
}

func (r *repairer) withoutResults(parts []Part) []Part {
	for i, p := range parts {
		if _, ok := p.(*ToolResult); !ok {
			continue
		}
		kept := append([]Part(nil), parts[:i]...)
		for _, p := range parts[i:] {
			if res, ok := p.(*ToolResult); ok {
				r.note("result for unknown tool use %q was left out", res.ID)
				continue
			}
			kept = append(kept, p)
		}
		return kept
	}
	return parts
}

// append adds a message, or its parts to the last one when that has the same role.
func (r *repairer) append(role Role, parts []Part) {
	if n := len(r.out); n > 0 && r.out[n-1].Role == role {
		last := r.out[n-1].Parts
		parts = append(last[:len(last):len(last)], parts...)
		if role == Assistant {
			parts = r.thinkingFirst(parts)
		}
		r.out[n-1].Parts = parts
		return
	}
	r.out = append(r.out, Message{Role: role, Parts: parts})
}

// ValidID reports whether id can name a tool use.
func ValidID(id string) bool { return id != "" && len(id) <= 128 && plainID(id) == id }

// cleanID returns a valid id made of id, with room for a suffix.
func cleanID(id string) string {
	id = plainID(id)
	if id == "" {
		return "use"
	}
	return id[:min(len(id), 100)]
}

func plainID(id string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, id)
}
