// Package rule parses permission rules and finds the rules that apply to a call. A [Rule] is a
// line such as "Bash(go test:*)" with a behavior and a scope; a [Table] indexes rules by
// command, path, host or tool. A rule that cannot be parsed denies and asks more than it says,
// and allows nothing.
package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/shell"
	"adze/internal/tool"
)

// A Behavior is a rule's effect, and the outcome of a decision.
type Behavior string

// The behaviors.
const (
	Allow Behavior = "allow"
	Ask   Behavior = "ask"
	Deny  Behavior = "deny"
)

// A Rule names a tool, or all of a server's tools, and optionally selects some of the calls.
type Rule struct {
	Tool    string // such as "Bash" or "mcp__db"; empty if unreadable
	Content string // such as "go test:*", without escapes; empty means every call

	Behavior Behavior
	Scope    scope.Scope
	File     string // file containing the rule; empty if none
	Line     int    // line in File; 0 if unknown
	// Base is the directory for paths that begin with a single slash: the settings file's.
	// Empty means the working directory.
	Base string

	text string // original text
	note error  // a remark for the user about a working rule
	// command is the parsed content of a command rule.
	command shell.Pattern
	broken  error // parse error: the rule denies and asks more than it says, and allows nothing
	flaw    error // why no call can match it
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

// Text returns the rule's original text.
func (r Rule) Text() string {
	if r.text == "" {
		return r.String()
	}
	return r.text
}

// Where describes the rule's location to the user.
func (r Rule) Where() string {
	switch {
	case r.File != "" && r.Line > 0:
		return fmt.Sprintf("%s:%d", r.File, r.Line)
	case r.File != "":
		return r.File
	}
	return r.Scope.Text()
}

// Quoted returns the rule's original text and location.
func (r Rule) Quoted() string { return fmt.Sprintf("%q from %s", r.Text(), r.Where()) }

// record is the encoding of a rule for another process.
type record struct {
	Text     string      `json:"rule"`
	Behavior Behavior    `json:"behavior"`
	Scope    scope.Scope `json:"scope"`
	File     string      `json:"file,omitempty"`
	Line     int         `json:"line,omitempty"`
	Base     string      `json:"base,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (r Rule) MarshalJSON() ([]byte, error) {
	return json.Marshal(record{r.Text(), r.Behavior, r.Scope, r.File, r.Line, r.Base})
}

// UnmarshalJSON implements [json.Unmarshaler]. A rule that cannot be parsed fails safe; see
// [Parse].
func (r *Rule) UnmarshalJSON(data []byte) error {
	var rec record
	if err := json.Unmarshal(data, &rec); err != nil {
		return err
	}
	*r, _ = Parse(rec.Text) // ok: a broken rule denies more, and allows nothing
	r.Behavior, r.Scope, r.File, r.Line, r.Base = rec.Behavior, rec.Scope, rec.File, rec.Line, rec.Base
	return nil
}

// kind returns the kind of the rule's content.
func (r *Rule) kind() compat.Kind { return compat.KindOf(r.Tool) }

// OfPaths reports whether the rule selects calls by path.
func (r *Rule) OfPaths() bool { return r.Content != "" && r.kind().Paths() }

// Broken returns the parse error, or nil.
func (r *Rule) Broken() error { return r.broken }

// Flaw returns the reason that no call can match the rule, or nil.
func (r *Rule) Flaw() error { return r.flaw }

// Exact reports whether the rule quotes one command.
func (r *Rule) Exact() bool { return r.command.Exact() }

// problem returns an error with the rule's parse error, location and effect.
func (r *Rule) problem() error {
	effect := "it allows nothing"
	switch {
	case r.Behavior == Allow:
	case r.Tool == "":
		effect = "until it is corrected, adze asks before every call that may change something"
	case r.Behavior == Deny:
		effect = fmt.Sprintf("until it is corrected, every %s call is denied", r.Tool)
	default:
		effect = fmt.Sprintf("until it is corrected, adze asks before every %s call", r.Tool)
	}
	return fmt.Errorf("%s rule %q in %s: %w; %s", r.Behavior, r.Text(), r.Where(), r.broken, effect)
}

// remark returns an error with the note on a working rule.
func (r *Rule) remark() error {
	return fmt.Errorf("%s rule %q in %s: %w", r.Behavior, r.Text(), r.Where(), r.note)
}

// warning returns an error explaining why the rule has no effect.
func (r *Rule) warning() error {
	effect := "it denies nothing"
	switch r.Behavior {
	case Allow:
		effect = "it allows nothing"
	case Ask:
		effect = "it never causes a prompt"
	}
	return fmt.Errorf("%s rule %q in %s: %w; %s", r.Behavior, r.Text(), r.Where(), r.flaw, effect)
}

// Parse parses a rule: a tool name, optionally followed by content in parentheses. No content,
// () and (*) mean the whole tool; mcp__server and mcp__server__* mean all of a server's tools.
// On error it still returns the rule as far as it could be parsed; that rule denies more than
// it says, not less.
func Parse(text string) (Rule, error) {
	r := Rule{text: text}
	r.broken = r.parse()
	return r, r.broken
}

// Check returns a rule's syntax errors: in its name or its parentheses. [Parse], which takes
// longer, also checks whether the tool accepts the content.
func Check(text string) error {
	r := Rule{text: text}
	_, err := r.read()
	return err
}

// Unreadable returns a broken rule for a setting that is not a string.
func Unreadable(text string) Rule {
	return Rule{text: text, broken: errors.New("a rule is a string, such as \"Bash(go test:*)\"")}
}

func (r *Rule) parse() error {
	content, err := r.read()
	if err != nil || content == "*" || content == "" {
		return err
	}
	r.Content = content
	return r.check()
}

// read parses the tool name and returns the content.
func (r *Rule) read() (content string, err error) {
	name, rest, hasContent := strings.Cut(strings.TrimSpace(r.text), "(")
	name = strings.TrimSpace(name)
	prefix, server := strings.CutSuffix(name, "__*")
	if server = server && strings.HasPrefix(prefix, "mcp__"); server {
		name = prefix
	}
	if name == "" {
		return "", errors.New("it does not name a tool; write Tool or Tool(content)")
	}
	if err := tool.CheckName(name); err != nil {
		return "", err
	}
	r.Tool = name
	if server && strings.Contains(name[len("mcp__"):], "__") {
		r.Tool += "__*" // a server whose name looks like a tool name
	}
	if !hasContent {
		return "", nil
	}
	return unescape(rest)
}

// check reports content that the tool does not accept.
func (r *Rule) check() error {
	switch {
	case strings.HasPrefix(r.Tool, "mcp__"):
		return fmt.Errorf("the tools of a server take no content; write %s", r.Tool)
	case r.kind().Paths():
		_, err := parsePathPattern(r.Content)
		return err
	case r.kind() == compat.Shell:
		var err error
		r.command, err = shell.ParsePattern(r.Content)
		return err
	case r.kind() == compat.Host:
		var err error
		_, r.note, err = parseDomain(r.Content)
		return err
	case compat.Unknown(r.Tool) == "" && !compat.TakesContent(r.Tool):
		return fmt.Errorf("rules for %[1]s take no content; write %[1]s", r.Tool)
	}
	return nil
}

// unescape parses content up to the closing parenthesis, which must be the last character.
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

// Split splits a list of rules at commas and blanks outside parentheses.
func Split(list string) []string {
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

// servers yields the rule names that match the named tool: its own, and its server's. It does
// not allocate for an ordinary server tool.
func servers(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(name) {
			return
		}
		rest, ok := strings.CutPrefix(name, "mcp__")
		if !ok {
			return
		}
		for i := 0; ; i++ {
			j := strings.Index(rest[i:], "__")
			if j < 0 {
				return
			}
			i += j
			server := name[:len("mcp__")+i]
			if strings.Contains(rest[:i], "__") { // a server whose name looks like a tool name
				server += "__*"
			}
			if !yield(server) {
				return
			}
		}
	}
}
