package msg

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NoOutput replaces the content of an empty result, because providers reject empty results.
const NoOutput = "(no output)"

// MissingPrompt replaces an answer's prompt that is missing because its transcript line was damaged.
const MissingPrompt = "[The message that was answered here is missing from the transcript.]"

// MissingResult is the result for a tool use that never got one.
const MissingResult = "No result: the call did not finish. Whether it had an effect is unknown."

// A Problem is a defect that a [Conversation] repaired.
type Problem struct {
	Message int // index in the input
	Text    string
}

// Repair repairs a complete list of messages; see [Conversation]. Only tests use it; the loop
// adds messages to a Conversation as they arrive.
func Repair(in []Message) ([]Message, []Problem) {
	var c Conversation
	for _, m := range in {
		c.Add(m)
	}
	return c.Messages()
}

// A Conversation is a list of messages in the form that providers accept: it begins with the
// user, roles alternate, every tool use is answered by exactly one result at the head of the
// next message, in the order of the uses, and it contains no empty, unsigned or unknown parts
// and no parts that their role cannot have. A well-formed conversation keeps its own parts, so
// that encoders recognize them; repairs are reported.
//
// A Conversation is repaired incrementally, so that a long one is not processed again for each
// request. It never looks ahead further than one message: adding a message changes nothing
// before the last message. The zero value is empty.
type Conversation struct {
	mended repairer
	// last is not repaired yet: consecutive messages of one role are merged, and results may be
	// spread over several of them.
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

// Messages returns the repaired conversation and the problems found.
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

// Uses reports whether a tool use before the last message has this ID.
func (c *Conversation) Uses(id string) bool { return c.mended.seen[id] }

type repairer struct {
	out      []Message
	problems []Problem
	at       int
	seen     map[string]bool // tool-use IDs so far
	open     []openUse       // uses in the last message that still need results
}

// An openUse holds a tool use's ID as sent and its original ID.
type openUse struct{ id, was string }

func (r *repairer) note(format string, args ...any) {
	r.problems = append(r.problems, Problem{r.at, fmt.Sprintf(format, args...)})
}

// take adds the merged messages of one role.
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

// thinkingFirst drops the thinking parts of an answer that does not begin with thinking.
// Thinking that names its dialect is kept in place.
func (r *repairer) thinkingFirst(parts []Part) []Part {
	if len(parts) == 0 || IsThinking(parts[0]) || !slices.ContainsFunc(parts, opensAnswer) {
		return parts
	}
	r.note("the thinking of a message that did not begin with it was left out")
	return WithoutThinking(parts)
}

// WithoutThinking returns parts without the model's reasoning, or the same slice if it has
// none.
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

// DialectOf returns the name of the wire dialect that a reasoning part belongs to: the
// lower-case word before the colon at the start of its signature or data. It returns "" if the
// word is missing, and for all other parts.
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

// opensAnswer reports whether p is allowed only in answers that begin with such a part.
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

// sendable returns p, its replacement in a message with the given role, or nil.
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

// sendableResult returns r, or a copy with only the parts that can be sent.
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

// trailingThinking counts the thinking parts at the end, where they are not allowed. Thinking
// that names its dialect may end a message, but not be all of it.
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
			r.append(User, []Part{&Text{Text: MissingPrompt}})
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

// claim records the tool uses in parts and repairs invalid IDs and names.
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

// answer pairs the open uses with the results in parts and puts the results first, in order. It
// returns the parts to send. If parts is nil, it appends the results as a separate message and
// returns nil.
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
			res = &ToolResult{ID: u.id, Parts: []Part{&Text{Text: MissingResult}}, IsError: true}
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

// inOrder reports whether parts begins with exactly the results for open and has no others.
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

// append adds a message, or merges its parts into the last one if the roles match.
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

// ValidID reports whether id is a valid tool-use ID.
func ValidID(id string) bool { return id != "" && len(id) <= 128 && plainID(id) == id }

// cleanID derives a valid ID from id, leaving room for a suffix.
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
