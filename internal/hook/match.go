package hook

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adze/internal/platform/search/glob"
	"adze/internal/tool"
)

// A matcher selects events of a kind. The zero value matches all.
type matcher struct {
	text  string
	names []string       // exact names
	expr  *regexp.Regexp // otherwise a regular expression
	never bool
}

// never matches nothing.
var never = matcher{never: true}

// newMatcher parses a pattern: "" or "*" for all, names separated by '|' or ',', or otherwise a
// regular expression. The matcher of an invalid pattern never matches.
func newMatcher(text string) (matcher, error) {
	m := matcher{text: text}
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "" || trimmed == "*":
	case plainNames(trimmed):
		for name := range strings.FieldsFuncSeq(trimmed, func(r rune) bool { return r == '|' || r == ',' }) {
			if name = strings.TrimSpace(name); name != "" {
				m.names = append(m.names, name)
			}
		}
		m.never = len(m.names) == 0
	default:
		var err error
		if m.expr, err = regexp.Compile(text); err != nil {
			m.never = true
			return m, fmt.Errorf("the matcher %q is neither a list of names nor a regular expression: %w", text, err)
		}
	}
	return m, nil
}

// alternatives returns the expressions that a matcher joins with '|', or its single expression.
func (m matcher) alternatives() []*regexp.Regexp {
	var list []*regexp.Regexp
	for part := range strings.SplitSeq(m.text, "|") {
		expr, err := regexp.Compile(strings.TrimSpace(part))
		if err != nil || part == "" { // the bar is inside a group or class
			return []*regexp.Regexp{m.expr}
		}
		list = append(list, expr)
	}
	return list
}

func plainNames(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("_- ,|", r)
	})
}

// matches reports whether the matcher selects any of the names.
func (m matcher) matches(names []string) bool {
	switch {
	case m.never:
		return false
	case m.expr != nil:
		return slices.ContainsFunc(names, m.expr.MatchString)
	case m.names != nil:
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(m.names, n) })
	}
	return true
}

// A condition is a rule that a call must meet for a hook to run. All calls meet the zero value,
// and also an invalid condition: running a guard too often is safe.
type condition struct {
	text          string
	tool, content string
	broken        bool
}

// parseCondition parses "Tool" or "Tool(content)". In the content, a backslash escapes a
// parenthesis or backslash.
func parseCondition(text string) (condition, error) {
	c := condition{text: text}
	name, rest, content := strings.Cut(strings.TrimSpace(text), "(")
	c.tool = strings.TrimSpace(name)
	if content {
		inner, ok := strings.CutSuffix(rest, ")")
		if !ok || !balanced(inner) {
			c.broken = true
		}
		if inner != "*" {
			c.content = strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`).Replace(inner)
		}
	}
	if c.tool == "" || strings.ContainsAny(c.tool, ") \t") {
		c.broken = true
	}
	if c.broken {
		return c, fmt.Errorf("the condition %q is not a rule such as Bash(git push*)", text)
	}
	return c, nil
}

// balanced reports whether all unescaped parentheses are balanced.
func balanced(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// met reports whether the hook runs for the call. If that cannot be determined, it runs.
func (c condition) met(u *tool.Use, names []string, dir string) bool {
	if c.text == "" || c.broken || u == nil {
		return true
	}
	if !slices.ContainsFunc(names, c.names) {
		return false
	}
	if c.content == "" || u.Call == nil {
		return true
	}
	if _, ok := tool.As[tool.Matcher](u.Call); ok {
		matched, err := tool.Matches(u.Call, c.content)
		return matched || err != nil
	}
	if path, ok := tool.PathOf(u.Call); ok {
		matched, err := matchPath(c.content, path, dir)
		return matched || err != nil
	}
	return true
}

// names reports whether the condition names the tool or its server.
func (c condition) names(name string) bool {
	server := strings.TrimSuffix(c.tool, "__*")
	return name == c.tool || strings.HasPrefix(server, "mcp__") && strings.HasPrefix(name, server+"__")
}

// matchPath reports whether a pattern such as "src/**" or "*.go" matches a file. Both are
// relative to dir, unless the pattern begins with two slashes.
func matchPath(pattern, path, dir string) (bool, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rel, err := filepath.Rel(dir, path)
	switch {
	case strings.HasPrefix(pattern, "~"):
		return false, errors.New("a pattern below the home directory cannot be judged here")
	case strings.HasPrefix(pattern, "//"):
		pattern, rel = pattern[1:], strings.TrimPrefix(filepath.ToSlash(path), "/")
	case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		rel = filepath.Base(path) // only a name pattern can match elsewhere
		if strings.Contains(pattern, "/") {
			return false, nil
		}
	}
	g, err := glob.Compile(strings.TrimPrefix(pattern, "./"), glob.Options{})
	if err != nil {
		return false, err
	}
	return g.Match(filepath.ToSlash(rel)), nil
}
