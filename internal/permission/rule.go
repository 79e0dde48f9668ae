package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/tool"
)

// A Rule names a tool, or all tools of a server, and possibly which of its calls.
type Rule struct {
	Tool    string // such as "Bash" or "mcp__db"; empty if it cannot be read
	Content string // such as "go test", without escapes; empty means every call
	Source  string // where the rule comes from

	text   string // as it was written
	broken bool   // it could not be read: it denies, and allows nothing
}

// String returns the rule in its canonical form.
func (r Rule) String() string {
	if r.Content == "" {
		return r.Tool
	}
	return r.Tool + "(" + escape(r.Content) + ")"
}

func escape(content string) string {
	return strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(content)
}

// quoted returns the rule as it was written and where.
func (r Rule) quoted() string { return fmt.Sprintf("%q from %s", r.text, r.Source) }

// ParseRule reads a rule: a tool's name, alone or followed by content in parentheses. No content and
// (*) mean the whole tool, mcp__server and mcp__server__* all tools of a server. With an error it
// still returns the rule as far as it could be read, which then denies more than it says, not less.
func ParseRule(text string) (Rule, error) {
	r := Rule{text: text}
	name, rest, hasContent := strings.Cut(strings.TrimSpace(text), "(")
	name = strings.TrimSpace(name)
	prefix, server := strings.CutSuffix(name, "__*")
	if server = server && strings.HasPrefix(prefix, "mcp__"); server {
		name = prefix
	}
	if err := tool.CheckName(name); err != nil {
		r.broken = true
		if name == "" {
			return r, errors.New("it does not name a tool")
		}
		return r, err
	}
	r.Tool = name
	if server && strings.Contains(name[len("mcp__"):], "__") {
		r.Tool += "__*" // a server whose name looks like a tool's
	}
	if !hasContent {
		return r, nil
	}
	content, err := unescape(rest)
	if err != nil {
		r.broken = true
		return r, err
	}
	if content != "*" {
		r.Content = content
	}
	return r, nil
}

// unescape reads content up to the closing parenthesis, which must be the last character.
func unescape(rest string) (string, error) {
	var b strings.Builder
	depth := 1
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '\\':
			if i+1 < len(rest) && strings.IndexByte(`()\`, rest[i+1]) >= 0 {
				i++
			}
			b.WriteByte(rest[i])
			continue
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			if strings.TrimSpace(rest[i+1:]) != "" {
				return "", fmt.Errorf("%q follows the closing parenthesis", rest[i+1:])
			}
			return strings.TrimSpace(b.String()), nil
		}
		b.WriteByte(rest[i])
	}
	return "", errors.New("its parentheses are not balanced; write \\( for one that is meant literally")
}

// SplitRules splits a list of rules at commas and blanks outside parentheses.
func SplitRules(list string) []string {
	var rules []string
	depth, start := 0, 0
	flush := func(end int) {
		if text := strings.TrimSpace(list[start:end]); text != "" {
			rules = append(rules, text)
		}
	}
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\':
			i++
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n'):
			flush(i)
			start = i + 1
		}
	}
	flush(len(list))
	return rules
}

// names reports whether r speaks of a tool with one of the names.
func (r Rule) names(names []string) bool {
	return r.Tool != "" && slices.ContainsFunc(names, func(name string) bool {
		return name == r.Tool || r.server() != "" && strings.HasPrefix(name, r.server()+"__")
	})
}

// server returns the beginning of the names of a server's tools, if r names a server.
func (r Rule) server() string {
	if prefix, ok := strings.CutSuffix(r.Tool, "__*"); ok {
		return prefix
	}
	if rest, ok := strings.CutPrefix(r.Tool, "mcp__"); ok && !strings.Contains(rest, "__") {
		return r.Tool
	}
	return ""
}
