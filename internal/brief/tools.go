package brief

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/texts"
)

//go:embed tools.chn.md
var chineseTools string

// A phrase is a line of a tool's description, or the description of a parameter, with gaps, in two languages.
type phrase struct{ from, to string }

// A phrasebook translates lines: those without gaps by looking them up.
type phrasebook struct {
	exact map[string]string
	gaps  []phrase
}

// phrasebooks returns those of the languages in which tools are not described anyway.
var phrasebooks = sync.OnceValue(func() map[texts.Language]*phrasebook {
	return map[texts.Language]*phrasebook{texts.Chinese: parsePhrases(chineseTools)}
})

// parsePhrases reads lines each followed by its translation, which begins with ">".
func parsePhrases(file string) *phrasebook {
	book := &phrasebook{exact: map[string]string{}}
	line := ""
	for next := range strings.SplitSeq(file, "\n") {
		to, ok := strings.CutPrefix(next, "> ")
		switch {
		case !ok:
			line = next
		case strings.Contains(line, "{}"):
			book.gaps = append(book.gaps, phrase{line, to})
		default:
			book.exact[line] = to
		}
	}
	return book
}

// translate returns a line in another language; false if it is not in the book.
func (b *phrasebook) translate(line string) (string, bool) {
	if to, ok := b.exact[line]; ok || line == "" {
		return to, true
	}
	for _, p := range b.gaps {
		if values, ok := match(p.from, line); ok {
			return texts.Fill(p.to, values...), true
		}
	}
	return "", false
}

// match returns what stands in the gaps of a pattern.
func match(pattern, line string) ([]string, bool) {
	parts := strings.Split(pattern, "{}")
	rest, ok := strings.CutPrefix(line, parts[0])
	if !ok {
		return nil, false
	}
	var values []string
	for i, part := range parts[1:] {
		at := strings.Index(rest, part)
		if i == len(parts)-2 {
			at = len(rest) - len(part)
		}
		if at < 0 || !strings.HasPrefix(rest[at:], part) {
			return nil, false
		}
		values = append(values, rest[:at])
		rest = rest[at+len(part):]
	}
	return values, rest == ""
}

// ToolTexts keeps the last translation of the tools of a conversation: they seldom change. The zero value is
// ready; it is safe for concurrent use.
type ToolTexts struct {
	mu       sync.Mutex
	language texts.Language
	from, to []msg.ToolSpec
}

// In returns specs as they are described in a language. They are known again by their address.
func (t *ToolTexts) In(l texts.Language, specs []msg.ToolSpec) []msg.ToolSpec {
	if l == texts.English || len(specs) == 0 {
		return specs
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.language != l || len(t.from) != len(specs) || &t.from[0] != &specs[0] {
		t.language, t.from, t.to = l, specs, Describe(l, specs)
	}
	return t.to
}

// Describe returns how tools and their parameters are described in a language. What nobody translated stays
// English. The specs themselves are not changed.
func Describe(l texts.Language, specs []msg.ToolSpec) []msg.ToolSpec {
	book := phrasebooks()[l]
	if book == nil {
		return specs
	}
	described := make([]msg.ToolSpec, len(specs))
	for i, s := range specs {
		s.Description, s.Schema, _ = book.describe(s)
		described[i] = s
	}
	return described
}

// Untranslated returns the lines of descriptions that a language lacks.
func Untranslated(l texts.Language, specs []msg.ToolSpec) []string {
	var all []string
	if book := phrasebooks()[l]; book != nil {
		for _, s := range specs {
			_, _, missing := book.describe(s)
			for _, line := range missing {
				all = append(all, s.Name+": "+line)
			}
		}
	}
	return all
}

// describe translates the description of a tool and those in its schema, as far as it can.
func (b *phrasebook) describe(s msg.ToolSpec) (description string, schema []byte, missing []string) {
	translate := func(line string) string {
		to, ok := b.translate(line)
		if !ok {
			missing = append(missing, line)
			return line
		}
		return to
	}
	lines := strings.Split(s.Description, "\n")
	for i, line := range lines {
		lines[i] = translate(line)
	}
	const key = `"description":` // a quote within a string is escaped, so this is a member wherever it stands
	rest := string(s.Schema)
	for {
		before, after, ok := strings.Cut(rest, key)
		schema = append(schema, before...)
		if !ok {
			return strings.Join(lines, "\n"), schema, missing
		}
		schema = append(schema, key...)
		rest = after
		var text string
		dec := json.NewDecoder(strings.NewReader(after))
		if dec.Decode(&text) != nil { // it is a parameter of that name
			continue
		}
		schema = msg.AppendString(schema, translate(text))
		rest = after[dec.InputOffset():]
	}
}
