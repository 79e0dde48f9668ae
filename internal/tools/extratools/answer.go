package extratools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/tool"
)

// Limits on an answer's text, in bytes.
const (
	maxText    = 20_000 // total
	maxSchemas = 8_000  // schemas in a keyword search
	maxExtra   = 8_000  // server instructions, and the end
	wholes     = 3      // tools shown with schemas in a keyword search
	maxLine    = 160    // a tool's one-line description
)

// An answer is the result of a search.
type answer struct {
	query        string
	pool         *tool.Pool
	deferred     int
	found        []tool.Tool
	more         int // further tools with that name prefix
	loaded       []string
	missing      []string
	pending      []string
	advice       string
	whole        bool // show tools with their schemas
	browse       bool // the same, without recording the tools
	instructions func(server string) string
}

// Output is the structured result.
type Output struct {
	Query          string   `json:"query"`
	Matches        []string `json:"matches"`
	TotalDeferred  int      `json:"totalDeferred"`
	AlreadyLoaded  []string `json:"alreadyLoaded"`
	Missing        []string `json:"missing"`
	PendingServers []string `json:"pendingServers"`
}

func (a *answer) matches() []string {
	names := make([]string, len(a.found))
	for i, t := range a.found {
		names[i] = t.Spec().Name
	}
	return names
}

func (a *answer) result() tool.Result {
	result := tool.Text(a.text())
	result.Structured = Output{
		Query: a.query, Matches: a.matches(), TotalDeferred: a.deferred, AlreadyLoaded: some(a.loaded),
		Missing: some(a.missing), PendingServers: some(a.pending),
	}
	result.Display = tool.Plain{Text: a.summary()}
	return result
}

// some returns a non-nil copy of list.
func some(list []string) []string { return append([]string{}, list...) }

// summary describes the result for the user.
func (a *answer) summary() string {
	if len(a.found)+len(a.loaded) == 0 {
		return fmt.Sprintf("No tool found among %d", a.deferred)
	}
	return strings.Join(append(a.matches(), a.loaded...), "\n")
}

// text describes the result and the next steps for the model.
func (a *answer) text() string {
	var b strings.Builder
	a.tools(&b)
	if len(a.loaded) > 0 {
		fmt.Fprintf(&b, "Already in your list, call directly and not through %s: %s\n", ExecuteName, strings.Join(a.loaded, ", "))
	}
	for _, name := range a.missing {
		fmt.Fprintf(&b, "Unknown tool %s.%s\n", quoted(name), a.near(name))
	}
	if len(a.found)+len(a.loaded)+len(a.missing) == 0 {
		a.nothing(&b)
	}
	if len(a.pending) > 0 && (len(a.missing) > 0 || len(a.found)+len(a.loaded) < 1) {
		fmt.Fprintf(&b, "Servers that are still connecting, whose tools are not known yet: %s. Search again in a moment.\n", listed(a.pending))
	}
	a.words(&b)
	if len(a.found) > 0 {
		fmt.Fprintf(&b, "Next: %s {\"tool_name\": \"%s\", \"params\": {…}}\n", ExecuteName, a.found[0].Spec().Name)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// nothing writes a message about an empty result.
func (a *answer) nothing(b *strings.Builder) {
	fmt.Fprintf(b, "No tool matches %s, among %d that are not in your list. ", quoted(a.query), a.deferred)
	switch {
	case a.advice != "":
		b.WriteString(a.advice)
	case a.deferred == 0:
		b.WriteString("Work with the tools in your list.")
	case a.browse:
		b.WriteString("Try other words.")
	default:
		b.WriteString("Try other words, or discover: with fewer of them.")
	}
	b.WriteByte('\n')
}

// near suggests tools with a similar name.
func (a *answer) near(name string) string {
	if near := a.pool.Closest(name); len(near) > 0 {
		return " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}

// tools writes the tools found: in full while there is room, then on a line each.
func (a *answer) tools(b *strings.Builder) {
	room := maxText
	if !a.whole && !a.browse {
		room = maxSchemas
	}
	for i, t := range a.found {
		full := a.full(t)
		if (a.whole || a.browse || i < wholes) && len(full) <= room {
			b.WriteString(full)
			room -= len(full)
			continue
		}
		spec := t.Spec()
		short := spec.Name
		if said := line(spec.Description); said != "" && b.Len()+len(said) < maxText {
			short += ": " + said
		}
		b.WriteString(short + "\n")
	}
	if a.more > 0 {
		fmt.Fprintf(b, "(and %d more whose names begin like that; add words, or raise max_results)\n", a.more)
	}
	if len(a.found) > 0 {
		b.WriteByte('\n')
	}
}

// full returns the complete description of a tool, indented, and its schema.
func (a *answer) full(t tool.Tool) string {
	spec := t.Spec()
	var b strings.Builder
	b.WriteString(spec.Name + "\n")
	for said := range strings.Lines(strings.TrimSpace(spec.Description)) {
		if said = strings.TrimRight(said, " \t\r\n"); said != "" {
			b.WriteString("  " + said + "\n")
		}
	}
	b.WriteString("  params: " + compact(spec.Schema) + "\n")
	return b.String()
}

// compact returns JSON on one line.
func compact(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return "{}"
	}
	return b.String()
}

// words writes the usage instructions of the servers whose tools were found, once.
func (a *answer) words(b *strings.Builder) {
	if a.instructions == nil || a.browse {
		return
	}
	var asked []string
	for _, t := range a.found {
		server, ok := strings.CutPrefix(t.Traits().Origin, mcpOrigin)
		if !ok || slices.Contains(asked, server) {
			continue
		}
		asked = append(asked, server)
		said := a.instructions(server)
		if said == "" || len(asked) > wholes {
			continue
		}
		fmt.Fprintf(b, "Instructions of server %s:\n", server)
		for said := range strings.Lines(said) {
			b.WriteString("  " + strings.TrimRight(said, " \t\r\n") + "\n")
		}
		b.WriteByte('\n')
	}
}

// line returns the first sentence of a description, shortened to a line.
func line(description string) string {
	said := strings.Join(strings.Fields(clip(description, 4*maxLine)), " ")
	if i := strings.Index(said, ". "); i > 0 {
		said = said[:i]
	}
	return strings.TrimSuffix(tool.OneLine(said, maxLine), ".")
}

// clip returns at most n bytes of s without splitting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// quoted returns the model's text quoted and shortened.
func quoted(s string) string { return fmt.Sprintf("%q", clip(s, 200)) }

// listed joins names, up to a limit.
func listed(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
