package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"adze/internal/permission/compat"
	"adze/internal/platform/text/rank"
)

// parse parses a source's hooks. Unusable entries are omitted and reported; an entry with a
// minor mistake is kept with the cautious interpretation.
func parse(src *Source) ([]*spec, []Problem) {
	p := &parser{src: src}
	events, ok := p.object("", src.JSON)
	if !ok {
		return nil, p.problems
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		k, ok := kindOf(Name(name))
		if !ok {
			p.unknownEvent(name)
			continue
		}
		p.groups(k, events[name])
	}
	return p.specs, p.problems
}

type parser struct {
	src      *Source
	specs    []*spec
	problems []Problem
}

func (p *parser) report(path, format string, args ...any) {
	p.problems = append(p.problems, Problem{p.src.Name, p.src.File, path, fmt.Sprintf(format, args...)})
}

func (p *parser) object(path string, data json.RawMessage) (map[string]json.RawMessage, bool) {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil || v == nil {
		p.report(path, "expected an object, found %s; it is left out", glimpse(data))
		return nil, false
	}
	return v, true
}

func (p *parser) list(path string, data json.RawMessage) []json.RawMessage {
	var v []json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil || v == nil {
		p.report(path, "expected a list, found %s; it is left out", glimpse(data))
	}
	return v
}

func (p *parser) unknownEvent(name string) {
	known := make([]string, len(kinds))
	for i, k := range kinds {
		known[i] = string(k.name)
	}
	if near := rank.Closest(name, known, 1); len(near) > 0 {
		p.report(name, "unknown event; did you mean %s?", near[0])
		return
	}
	p.report(name, "unknown event")
}

// groups parses the hooks of an event: each group is a matcher with hooks.
func (p *parser) groups(k kind, data json.RawMessage) {
	for i, group := range p.list(string(k.name), data) {
		path := fmt.Sprintf("%s[%d]", k.name, i)
		fields, ok := p.object(path, group)
		if !ok {
			continue
		}
		m := p.matcher(k, path+".matcher", fields["matcher"])
		if k.tool {
			p.tools(path+".matcher", m)
		}
		for j, entry := range p.list(path+".hooks", fields["hooks"]) {
			at := fmt.Sprintf("%s.hooks[%d]", path, j)
			if s := p.entry(k, at, entry); s != nil {
				s.event, s.matcher, s.source, s.raw = k.name, m, p.src, entry
				p.specs = append(p.specs, s)
			}
		}
	}
}

// matcher parses a pattern, or an object with the pattern under its field's name.
func (p *parser) matcher(k kind, path string, data json.RawMessage) matcher {
	if absent(data) {
		return matcher{}
	}
	var text string
	if json.Unmarshal(data, &text) != nil {
		fields, ok := p.object(path, data)
		if !ok {
			return never
		}
		value, ok := fields[k.matches]
		if !ok || len(fields) != 1 || json.Unmarshal(value, &text) != nil {
			p.report(path, "expected a text, or an object with the one field %q; the hooks never run", k.matches)
			return never
		}
	}
	m, err := newMatcher(text)
	if err != nil {
		p.report(path, "%v; the hooks never run", err)
	}
	return m
}

// tools reports names in a matcher that no tool has: the hooks never run for them.
func (p *parser) tools(path string, m matcher) {
	for _, name := range m.names {
		if unknown := compat.Unknown(name); unknown != "" {
			p.report(path, "%s; for this name the hooks never run", unknown)
		}
	}
	if m.expr == nil {
		return
	}
	for _, part := range m.alternatives() {
		if part.MatchString("mcp__server__tool") || strings.Contains(part.String(), "mcp") || slices.ContainsFunc(compat.Names(), part.MatchString) {
			continue
		}
		name, _, content := strings.Cut(part.String(), "(")
		if content && compat.Unknown(name) == "" {
			p.report(path, "no tool is called %s, so the hooks never run for it; write %q as the matcher, and \"if\": %q in the hook", part, name, part)
		} else {
			p.report(path, "no tool is called %s, so the hooks never run for it", part)
		}
	}
}

// An entry is a hook in the settings format.
type entry struct {
	Type           string            `json:"type"`
	Command        json.RawMessage   `json:"command"`
	Args           []string          `json:"args"`
	Shell          string            `json:"shell"`
	Prompt         string            `json:"prompt"`
	Model          string            `json:"model"`
	URL            string            `json:"url"`
	Headers        map[string]string `json:"headers"`
	AllowedEnvVars []string          `json:"allowedEnvVars"`
	Server         string            `json:"server"`
	Tool           string            `json:"tool"`
	Input          json.RawMessage   `json:"input"`
	If             string            `json:"if"`
	Timeout        json.RawMessage   `json:"timeout"`
	StatusMessage  string            `json:"statusMessage"`
	OnFailure      json.RawMessage   `json:"onFailure"`
	Once           bool              `json:"once"`
	Async          bool              `json:"async"`
	AsyncRewake    bool              `json:"asyncRewake"`
	AsksUser       bool              `json:"asksUser"`
}

func (p *parser) entry(k kind, path string, data json.RawMessage) *spec {
	var e entry
	if err := json.Unmarshal(data, &e); err != nil {
		p.report(path+fieldOf(err), "%s; the hook is left out", mistake(err, data))
		return nil
	}
	s := &spec{
		handler: handler{typ: Type(e.Type), shell: e.Shell, prompt: e.Prompt, model: e.Model, url: e.URL, headers: e.Headers, allowed: e.AllowedEnvVars},
		status:  e.StatusMessage, once: e.Once, async: e.Async, asyncRewake: e.AsyncRewake,
	}
	if !p.payload(s, path, e) {
		return nil
	}
	s.timeout = p.timeout(path+".timeout", e.Timeout)
	s.onFailure = p.onFailure(path+".onFailure", e.OnFailure)
	s.cond = p.condition(k, path+".if", e.If)
	s.asks = e.AsksUser && p.mayAsk(k, s, path+".asksUser")
	return s
}

// mayAsk reports whether the hook can ask the user, and reports a problem if it cannot.
func (p *parser) mayAsk(k kind, s *spec, path string) bool {
	switch {
	case s.typ != TypeCommand:
		p.report(path, "only hooks of type %s can ask the user; it has no effect", TypeCommand)
	case s.async || s.asyncRewake:
		p.report(path, "%v; it has no effect", errBackground)
	case k.alone:
		p.report(path, "%v; it has no effect", errNoOneWaits)
	default:
		return true
	}
	return false
}

// payload parses the hook's content, and reports whether it is complete.
func (p *parser) payload(s *spec, path string, e entry) bool {
	missing := func(name string) bool {
		p.report(path, "a hook of type %s needs a %s; the hook is left out", s.typ, name)
		return false
	}
	switch s.typ {
	case TypeCommand:
		if !p.command(s, e) {
			return missing("command: a text, or a list of words")
		}
	case TypePrompt, TypeAgent:
		if strings.TrimSpace(s.prompt) == "" {
			return missing("prompt")
		}
	case TypeHTTP:
		if s.url == "" {
			return missing("url")
		}
	case TypeTool:
		switch {
		case e.Server == "":
			return missing("server")
		case e.Tool == "":
			return missing("tool")
		case !absent(e.Input) && !bytes.HasPrefix(bytes.TrimSpace(e.Input), []byte("{")):
			p.report(path+".input", "expected an object, found %s; the hook is left out", glimpse(e.Input))
			return false
		}
		s.server, s.tool, s.input = e.Server, e.Tool, e.Input
	default:
		p.report(path+".type", "unknown hook type %q (want %s, %s, %s, %s or %s); the hook is left out", e.Type, TypeCommand, TypePrompt, TypeAgent, TypeHTTP, TypeTool)
		return false
	}
	return true
}

// command parses a command for a shell, or words that run without one.
func (p *parser) command(s *spec, e entry) bool {
	if json.Unmarshal(e.Command, &s.command) == nil {
		if len(e.Args) > 0 {
			s.words = append([]string{s.command}, e.Args...)
		}
	} else if json.Unmarshal(e.Command, &s.words) != nil || len(s.words) == 0 || s.words[0] == "" {
		return false
	}
	if len(s.words) > 0 {
		s.command = strings.Join(s.words, " ")
	}
	return strings.TrimSpace(s.command) != ""
}

func (p *parser) timeout(path string, data json.RawMessage) time.Duration {
	if absent(data) {
		return 0
	}
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil || seconds <= 0 || seconds > math.MaxInt32 {
		p.report(path, "expected a number of seconds above 0, found %s; the default is used", glimpse(data))
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

func (p *parser) onFailure(path string, data json.RawMessage) failure {
	if absent(data) {
		return failAsks
	}
	switch string(bytes.TrimSpace(data)) {
	case `"continue"`:
		return failContinues
	case `"block"`:
		return failBlocks
	}
	p.report(path, `expected "continue" or "block", found %s; "block" is used`, glimpse(data))
	return failBlocks
}

func (p *parser) condition(k kind, path, text string) condition {
	switch {
	case text == "":
		return condition{}
	case !k.tool:
		p.report(path, "%s is not about a call, so it cannot have a condition; the hook runs without it", k.name)
		return condition{}
	}
	c, err := parseCondition(text)
	if err != nil {
		p.report(path, "%v; the hook always runs", err)
	} else if unknown := compat.Unknown(c.tool); unknown != "" {
		p.report(path, "%s; the hook never runs", unknown)
	}
	return c
}

func absent(data json.RawMessage) bool { return len(data) == 0 || string(data) == "null" }

// fieldOf returns the member an error is about, as a path suffix.
func fieldOf(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok && e.Field != "" {
		return "." + e.Field
	}
	return ""
}

// mistake describes an error in data to the user.
func mistake(err error, data json.RawMessage) string {
	e, ok := err.(*json.UnmarshalTypeError)
	switch {
	case !ok:
		return fmt.Sprintf("it cannot be read: %v", err)
	case e.Field == "":
		return "expected an object, found " + glimpse(data)
	}
	return "unexpected " + e.Value
}

// glimpse returns the start of a value.
func glimpse(data json.RawMessage) string {
	if len(bytes.TrimSpace(data)) == 0 {
		return "nothing"
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(data), "�")), " ")
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}
