package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// A condition is a test on a request: the argument of expect and when.
type condition struct {
	line    int
	source  string // source text
	negated bool
	subject string
	arg     string // name, ID, path or substring, depending on the subject
	sub     string // substring after an ID
	number  int
	value   any // required value at a JSON path
	exists  bool
}

// condition parses "[no-]SUBJECT ARGUMENTS".
func (src *source) condition(source string) (*condition, error) {
	c := &condition{line: src.line, source: source}
	subject, rest, _ := strings.Cut(source, " ")
	rest = strings.TrimSpace(rest)
	c.subject, c.negated = strings.CutPrefix(subject, "no-")
	var err error
	switch c.subject {
	case "text", "last", "system":
		c.arg, err = src.substring(rest)
	case "tool", "model":
		c.arg = rest
		if rest == "" || strings.ContainsAny(rest, " \t") {
			err = src.errorf("expected a name, found %q", rest)
		}
	case "result", "error-result":
		c.arg, rest, _ = strings.Cut(rest, " ")
		if c.arg == "" {
			return nil, src.errorf("expected the id of a tool use")
		}
		if rest != "" {
			c.sub, err = src.substring(rest)
		}
	case "max_tokens", "messages":
		if c.number, err = strconv.Atoi(rest); err != nil {
			err = src.errorf("expected a number, found %q", rest)
		}
	case "json":
		err = src.path(c, rest)
	case "stream", "nostream":
		err = src.noArgument(subject, rest)
	default:
		err = src.errorf("expected a condition (%s, optionally with the prefix no-); found %q", subjects, subject)
	}
	return c, err
}

const subjects = "text, last, system, tool, result, error-result, model, max_tokens, messages, json, stream, nostream"

func (src *source) substring(s string) (string, error) {
	text, ok := quoted(s)
	if !ok {
		return "", src.errorf("expected a quoted string, found %q", s)
	}
	return text, nil
}

// path parses "messages.0.role VALUE"; without a value the path only has to exist.
func (src *source) path(c *condition, rest string) error {
	path, value, _ := strings.Cut(rest, " ")
	if path == "" {
		return src.errorf("expected a path, such as messages.0.role")
	}
	c.arg, c.exists = path, value == ""
	if c.exists {
		return nil
	}
	if err := json.Unmarshal([]byte(value), &c.value); err != nil {
		return src.errorf("expected a JSON value after %s: %v", path, err)
	}
	return nil
}

// check returns an error with the script location and the request's actual value if the
// condition does not hold.
func (c *condition) check(script string, q *query, t *turn) error {
	ok, had := c.holds(q, t)
	if ok {
		return nil
	}
	return fmt.Errorf("%s:%d: expected %s, but %s", script, c.line, c.source, had)
}

// holds reports whether q meets the condition, and returns q's actual value.
func (c *condition) holds(q *query, t *turn) (ok bool, had string) {
	ok, had = c.test(q, t)
	return ok != c.negated, had
}

func (c *condition) test(q *query, t *turn) (ok bool, had string) {
	v, err := q.view()
	if err != nil {
		return c.negated, fmt.Sprintf("the request cannot be read: %v", err)
	}
	arg, sub := t.expand(c.arg, q), t.expand(c.sub, q)
	switch c.subject {
	case "text":
		return strings.Contains(v.texts(0), arg), "the texts are " + clip(v.texts(0))
	case "last":
		last := v.texts(len(v.Messages) - 1)
		return strings.Contains(last, arg), "the last message is " + clip(last)
	case "system":
		system := textOf(v.System)
		return strings.Contains(system, arg), "the system prompt is " + clip(system)
	case "tool":
		return v.hasTool(arg), "the tools are " + v.toolNames()
	case "result", "error-result":
		r := v.result(arg)
		switch {
		case r == nil:
			return false, "no result for " + arg
		case c.subject == "error-result" && !r.IsError:
			return false, "the result is not an error: " + clip(textOf(r.Parts))
		}
		text := textOf(r.Parts)
		return strings.Contains(text, sub), "the result is " + clip(text)
	case "model":
		return q.Model == arg, "the model is " + q.Model
	case "max_tokens":
		return v.MaxTokens == c.number, fmt.Sprintf("max_tokens is %d", v.MaxTokens)
	case "messages":
		return len(v.Messages) == c.number, fmt.Sprintf("there are %d messages", len(v.Messages))
	case "json":
		return c.testPath(q, arg)
	case "stream":
		return q.Stream, fmt.Sprintf("stream is %t", q.Stream)
	default: // nostream
		return !q.Stream, fmt.Sprintf("stream is %t", q.Stream)
	}
}

func (c *condition) testPath(q *query, path string) (ok bool, had string) {
	got, found := q.lookup(path)
	if !found {
		return false, path + " is not there"
	}
	text, _ := json.Marshal(got) // ok: was JSON
	return c.exists || reflect.DeepEqual(got, c.value), path + " is " + clipTo(string(text), 400)
}

// clip returns s quoted, with the middle omitted if it is long.
func clip(s string) string { return strconv.Quote(clipTo(s, 400)) }

func clipTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n/2], "") + " … " + strings.ToValidUTF8(s[len(s)-n/2:], "")
}
