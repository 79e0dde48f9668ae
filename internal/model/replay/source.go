package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// A source is the text of a script. It yields lines and parses their arguments.
type source struct {
	name  string
	lines []string
	line  int // number of the last line read
}

func newSource(name string, text []byte) *source {
	return &source{name: name, lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
}

// next returns the next line, without a trailing carriage return.
func (src *source) next() (string, bool) {
	if src.line == len(src.lines) {
		return "", false
	}
	src.line++
	return strings.TrimSuffix(src.lines[src.line-1], "\r"), true
}

func (src *source) errorf(format string, args ...any) error {
	return src.errorAt(src.line, format, args...)
}

func (src *source) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", src.name, line, fmt.Sprintf(format, args...))
}

// heredoc returns the lines up to the closing word, if rest opens a heredoc with <<. The line
// break before the closing word is not part of the text.
func (src *source) heredoc(rest string) (text string, ok bool, err error) {
	end, ok := strings.CutPrefix(strings.Trim(rest, " \t"), "<<")
	if !ok || !isName(end) {
		return "", false, nil
	}
	opened := src.line
	for {
		line, more := src.next()
		switch {
		case !more:
			return "", true, src.errorAt(opened, "the text that starts here has no closing line %q", end)
		case line == end:
			return strings.Join(trimReturns(src.lines[opened:src.line-1]), "\n"), true, nil
		}
	}
}

func trimReturns(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSuffix(l, "\r")
	}
	return out
}

// prose returns the text of a heredoc, or rest unchanged.
func (src *source) prose(rest string) (string, error) {
	text, ok, err := src.heredoc(rest)
	if ok || err != nil {
		return text, err
	}
	return rest, nil
}

// exact parses a quoted string or a heredoc.
func (src *source) exact(rest string) (string, error) {
	text, ok, err := src.heredoc(rest)
	if ok || err != nil {
		return text, err
	}
	text, ok = quoted(rest)
	if !ok {
		return "", src.errorf("expected a quoted string or <<END, found %q", rest)
	}
	return text, nil
}

// quoted parses a JSON string.
func quoted(s string) (text string, ok bool) {
	err := json.Unmarshal([]byte(s), &text)
	return text, err == nil && strings.HasPrefix(strings.TrimSpace(s), `"`)
}

// options parses leading words of the form key=value in rest, for the given keys.
func options(rest string, keys ...string) (values map[string]string, remaining string) {
	for {
		trimmed := strings.TrimLeft(rest, " \t")
		word, after := trimmed, ""
		if i := strings.IndexAny(trimmed, " \t"); i >= 0 {
			word, after = trimmed[:i], trimmed[i+1:]
		}
		key, value, ok := strings.Cut(word, "=")
		if !ok || !slices.Contains(keys, key) {
			return values, rest
		}
		if values == nil {
			values = make(map[string]string)
		}
		values[key], rest = value, after
	}
}

// isName reports whether s is a valid tool name or closing word of a heredoc.
func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 128
}

func (src *source) noArgument(word, rest string) error {
	if rest = strings.TrimSpace(rest); rest != "" {
		return src.errorf("%s stands alone, found %q after it", word, rest)
	}
	return nil
}

func (src *source) duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, src.errorf("expected a duration, such as 200ms, found %q", s)
	}
	return d, nil
}

func (src *source) kind(name string) (model.Kind, error) {
	kind, ok := model.ParseKind(name)
	if !ok {
		var names []string
		for k := model.Unknown; k <= model.Invalid; k++ {
			names = append(names, k.String())
		}
		return 0, src.errorf("expected a kind of error, one of %s; found %q", strings.Join(names, ", "), name)
	}
	return kind, nil
}

func (src *source) statusCode(code string) (int, error) {
	n, err := strconv.Atoi(code)
	if err != nil || n < 200 || n > 599 {
		return 0, src.errorf("expected an HTTP status from 200 to 599, found %q", code)
	}
	return n, nil
}

// tokens parses counts such as "input=10 output=20", or "none".
func (src *source) tokens(arg string) (t tokens, err error) {
	if arg == "none" {
		t.none = true
		return t, nil
	}
	if arg == "" {
		return t, src.errorf("expected token counts, such as \"input=10 output=20\", or \"none\"")
	}
next:
	for field := range strings.FieldsSeq(arg) {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		for c, known := range counterNames {
			if name == known && err == nil {
				t.put(wire.Counter(c), n)
				continue next
			}
		}
		return t, src.errorf("expected NAME=NUMBER with one of %s, found %q", strings.Join(counterNames[:], ", "), field)
	}
	return t, nil
}
