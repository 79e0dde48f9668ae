package skill

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"adze/internal/permission/rule"
	"adze/internal/platform/text/frontmatter"
)

// MaxFile is the maximum size of a skill file.
const MaxFile = 1 << 20

// Front matter limits, in bytes. A longer description is truncated; the model sees less than
// that anyway.
const (
	maxHead  = 16 << 10
	maxText  = 4 << 10
	maxShort = 500
)

// Parse parses a skill file into its front matter and prompt. Problems report invalid fields,
// which are ignored. If the error, itself a [Problem], is not nil, the skill must not be used:
// its front matter can't be parsed, or its rules or hooks can't.
func Parse(file string, data []byte) (h Head, body string, problems []Problem, err error) {
	head, rest, broken := frontmatter.SplitFile(string(data), maxHead)
	if broken != nil {
		return Head{}, "", nil, Problem{File: file, Text: broken.Error()}
	}
	h, problems, err = parseHead(file, head)
	if err != nil {
		return Head{}, "", problems, err
	}
	body = strings.ToValidUTF8(strings.TrimSpace(rest), "\uFFFD")
	if h.Description == "" {
		h.Description = firstParagraph(body)
	}
	return h, body, problems, nil
}

// ParseHead parses the front matter at the beginning of a file. The caller may modify beginning
// afterwards. whole reports whether the result is the same as for the whole file: the front
// matter ends within beginning and has a description.
func ParseHead(file string, beginning []byte) (h Head, problems []Problem, err error, whole bool) {
	head, _, broken := frontmatter.SplitFile(unsafe.String(unsafe.SliceData(beginning), len(beginning)), maxHead)
	if broken != nil || head == "" {
		return Head{}, nil, nil, false
	}
	h, problems, err = parseHead(file, strings.Clone(head))
	return h, problems, err, err != nil || h.Description != ""
}

// parseHead parses front matter.
func parseHead(file, head string) (Head, []Problem, error) {
	r := headReader{file: file}
	var broken error
	if r.fields, broken = frontmatter.Parse(head); broken != nil {
		return Head{}, nil, Problem{File: file, Text: broken.Error()}
	}
	h := Head{
		Title: r.text("name", maxShort), Description: r.text("description", maxText), When: r.text("when_to_use", maxText),
		Hint: r.hint("argument-hint"), Arguments: r.names("arguments"),
		Model: r.text("model", maxShort), Effort: r.text("effort", maxShort),
		Fork: r.choice("context", "inline", "fork") == "fork", As: r.text("agent", maxShort),
		Hidden: !r.yes("user-invocable", true), Manual: r.yes("disable-model-invocation", false),
		Version: r.text("version", maxShort), Paths: r.patterns("paths"), Shell: r.choice("shell", "bash", "powershell"),
	}
	h.Allowed = r.rules("allowed-tools")
	h.Hooks = r.hooks("hooks")
	if r.fatal != nil {
		return Head{}, r.problems, r.fatal
	}
	return h, r.problems, nil
}

// A headReader reads fields and records problems.
type headReader struct {
	file     string
	fields   frontmatter.Fields
	problems []Problem
	fatal    error
}

func (r *headReader) report(field, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, field, fmt.Sprintf(format, args...)})
}

// fail records a problem that makes the skill unusable.
func (r *headReader) fail(field, format string, args ...any) {
	if r.fatal == nil {
		r.fatal = Problem{r.file, field, fmt.Sprintf(format, args...) + "; the skill is disabled"}
	}
}

// get returns a field, spelled with dashes or underscores, and reports whether it is present.
func (r *headReader) get(field string) (frontmatter.Value, bool) {
	v, ok := r.fields[field]
	other := otherSpelling(field)
	w, too := r.fields[other]
	switch {
	case !too || other == "":
		return v, ok
	case !ok:
		return w, true
	case field == "allowed-tools":
		r.fail(field, "it is there as %s too", other)
	default:
		r.report(field, "it is there as %s too, which does not count", other)
	}
	return v, ok
}

// otherSpelling returns the alternative spelling of a field with dashes or underscores, or "".
func otherSpelling(field string) string {
	switch field {
	case "when_to_use":
		return "when-to-use"
	case "allowed-tools":
		return "allowed_tools"
	case "argument-hint":
		return "argument_hint"
	case "user-invocable":
		return "user_invocable"
	case "disable-model-invocation":
		return "disable_model_invocation"
	}
	return ""
}

// text returns a string field, truncated to limit bytes. Numbers are returned as written.
func (r *headReader) text(field string, limit int) string {
	v, _ := r.get(field)
	if v.List != nil || v.Fields != nil {
		r.report(field, "expected a text; the field is ignored")
		return ""
	}
	return cut(strings.TrimSpace(v.Text), limit)
}

// hint returns a string field in which brackets, a list in YAML, are taken literally.
func (r *headReader) hint(field string) string {
	v, _ := r.get(field)
	if v.List == nil {
		return r.text(field, maxShort)
	}
	if slices.ContainsFunc(v.List, notText) {
		r.report(field, "expected a text; the field is ignored")
		return ""
	}
	return cut("["+v.String()+"]", maxShort)
}

// yes returns a boolean field.
func (r *headReader) yes(field string, otherwise bool) bool {
	v, ok := r.get(field)
	switch {
	case !ok || v.Text == "" && v.List == nil && v.Fields == nil:
		return otherwise
	case strings.EqualFold(v.Text, "true") || strings.EqualFold(v.Text, "yes") || strings.EqualFold(v.Text, "on"):
		return true
	case strings.EqualFold(v.Text, "false") || strings.EqualFold(v.Text, "no") || strings.EqualFold(v.Text, "off"):
		return false
	}
	r.report(field, "expected true or false; the field is ignored")
	return otherwise
}

// choice returns a field whose value must be among words, alone or in a list of length one.
func (r *headReader) choice(field string, words ...string) string {
	v, _ := r.get(field)
	if len(v.List) == 1 {
		v = v.List[0]
	}
	if v.List == nil && v.Fields == nil {
		if v.Text == "" {
			return ""
		}
		if i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, v.Text) }); i >= 0 {
			return words[i]
		}
	}
	r.report(field, "expected %s; the field is ignored", strings.Join(words, " or "))
	return ""
}

// names returns a field with argument names: a list, or a string separated by blanks or commas.
func (r *headReader) names(field string) []string {
	v, _ := r.get(field)
	items, ok := v.Texts(func(s string) []string {
		return strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	})
	if !ok {
		r.report(field, "expected names; the field is ignored")
		return nil
	}
	for _, name := range items {
		if !isIdentifier(name) {
			r.report(field, "%q is not a name: use letters, digits, _ and -, and a letter first; the field is ignored", cut(name, 100))
			return nil
		}
	}
	return items
}

// patterns returns a field with path patterns: a list, or a comma-separated string.
func (r *headReader) patterns(field string) []string {
	v, _ := r.get(field)
	items, ok := v.Texts(frontmatter.SplitList)
	if !ok {
		r.report(field, "expected patterns; the field is ignored")
		return nil
	}
	if _, err := compile(items); err != nil {
		r.report(field, "%v; the skill is never activated", err)
	}
	return items
}

// hooks returns a field with hooks. Hooks run programs, so invalid ones disable the skill.
func (r *headReader) hooks(field string) json.RawMessage {
	v, _ := r.get(field)
	hooks, err := frontmatter.Hooks(v)
	if err != nil {
		r.fail(field, "%v", err)
	}
	return hooks
}

// rules returns a field with rules: a list, or a string separated by commas or blanks. Rules
// grant permissions, so an invalid one disables the skill.
func (r *headReader) rules(field string) []string {
	v, _ := r.get(field)
	items, ok := v.Texts(rule.Split)
	if !ok {
		r.fail(field, "expected rules, such as Bash(git status), in a list or with commas")
		return nil
	}
	var rules []string
	for _, item := range items {
		rules = append(rules, rule.Split(item)...)
	}
	for _, text := range rules {
		if err := rule.Check(text); err != nil {
			r.fail(field, "%q is not a rule: %v", cut(text, 100), err)
			return nil
		}
	}
	return rules
}

func notText(v frontmatter.Value) bool { return v.List != nil || v.Fields != nil }

// isIdentifier reports whether $s can refer to an argument in a prompt.
func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'; !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// cut returns at most the first limit bytes of a text.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// firstParagraph returns the first paragraph of a text that is not a heading, on one line; or
// else the first heading.
func firstParagraph(text string) string {
	heading := ""
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var words []string
		for line := range strings.Lines(paragraph) {
			if title := strings.TrimLeft(line, "#"); title != line && len(words) == 0 {
				if heading == "" {
					heading = strings.TrimSpace(title)
				}
				continue
			}
			words = append(words, strings.Fields(line)...)
		}
		if len(words) > 0 {
			return cut(strings.Join(words, " "), maxText)
		}
	}
	return cut(heading, maxText)
}
