package agentdef

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"adze/internal/msg"
	"adze/internal/permission/compat"
	"adze/internal/permission/mode"
	"adze/internal/platform/text/frontmatter"
	"adze/internal/platform/text/rank"
)

// MaxFile is the maximum size of an agent file, in bytes.
const MaxFile = 1 << 20

// Front matter limits, in bytes. A longer description is truncated.
const (
	maxHead  = 64 << 10
	maxText  = 4 << 10
	maxShort = 500
)

// Parse parses an agent file. Problems report invalid fields, which are ignored. It returns an
// error, itself a [Problem], if the file does not define an agent or its permissions can't be
// parsed.
func Parse(file string, data []byte, from Source) (*Definition, []Problem, error) {
	head, body, err := frontmatter.SplitFile(string(data), maxHead)
	if err != nil {
		return nil, nil, Problem{File: file, Text: err.Error()}
	}
	if head == "" {
		return nil, nil, Problem{File: file, Text: "not an agent: it has no front matter with name and description"}
	}
	fields, err := frontmatter.Parse(head)
	if err != nil {
		return nil, nil, Problem{File: file, Text: err.Error() + "; the agent is disabled"}
	}
	r := fieldReader{file: file, head: head, fields: fields, from: from}
	d := r.definition(r.text("name", maxShort))
	d.Prompt = strings.TrimSpace(msg.Neutralise(strings.ToValidUTF8(body, "\uFFFD")))
	return r.end(d)
}

// flagFile is the file name used in problems with definitions from the command line.
const flagFile = "--agents"

// ParseFlag parses the JSON definitions from the command line: an object of agents by name,
// each with the front matter fields and a prompt. After an error none is used.
func ParseFlag(data []byte) ([]*Definition, []Problem, error) {
	all, err := frontmatter.ParseJSON(data)
	if err != nil {
		return nil, nil, fmt.Errorf("expected a JSON object of agents by name: %w", err)
	}
	var list []*Definition
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Fields == nil {
			return nil, nil, fmt.Errorf("%s: expected an object with description and prompt", short(name))
		}
		r := fieldReader{file: flagFile, fields: all[name].Fields, from: Source{Kind: Flag}}
		d := r.definition(name)
		d.File, d.Prompt = "", strings.TrimSpace(msg.Neutralise(r.text("prompt", MaxFile)))
		d, wrong, err := r.end(d)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s", short(name), strings.TrimPrefix(err.Error(), flagFile+": "))
		}
		list, problems = append(list, d), append(problems, wrong...)
	}
	return list, problems, nil
}

// A fieldReader reads a definition's fields and records problems.
type fieldReader struct {
	file, head string
	fields     frontmatter.Fields
	from       Source
	problems   []Problem
	fatal      *Problem
}

// definition reads all fields except the prompt.
func (r *fieldReader) definition(name string) *Definition {
	d := &Definition{
		Name: name, Description: r.text("description", maxText),
		Model: r.text("model", maxShort), Effort: r.choice("effort", "low", "medium", "high", "xhigh", "max"),
		MaxTurns: r.number("maxTurns"), Memory: Memory(r.memory("memory")),
		Background: r.yes("background"), Worktree: r.choice("isolation", "worktree") != "",
		InitialPrompt: msg.Neutralise(r.text("initialPrompt", maxText)), Color: r.choice("color", Colors()...),
		OmitInstructions: r.yes("omitInstructions"), Source: r.from, File: r.file,
	}
	d.Tools, d.Disallowed = r.tools("tools"), r.tools("disallowedTools")
	d.Skills, d.Required = r.list("skills"), r.list("requiredMcpServers")
	if strings.EqualFold(d.Model, "inherit") {
		d.Model = ""
	}
	r.unknown()
	if r.from.Kind == Plugin {
		r.refuse("permissionMode", "hooks", "mcpServers")
		return d
	}
	d.Mode, d.Hooks, d.Servers = r.mode("permissionMode"), r.hooks("hooks"), r.servers("mcpServers")
	return d
}

// end returns the definition if it is usable.
func (r *fieldReader) end(d *Definition) (*Definition, []Problem, error) {
	switch {
	case d.Name == "":
		r.fatal = &Problem{File: r.file, Text: "not an agent: its front matter has no name"}
	case !ValidName(d.Name):
		r.fatal = r.problem("name", "an agent cannot be called %q: %s", short(d.Name), NameRule)
	case d.Description == "":
		r.fatal = &Problem{File: r.file, Text: "not an agent: its front matter has no description"}
	}
	if r.fatal != nil {
		return nil, r.problems, *r.fatal
	}
	return d, r.problems, nil
}

func (r *fieldReader) problem(field, format string, args ...any) *Problem {
	return &Problem{File: r.file, Line: frontmatter.Line(r.head, field), Field: field, Text: fmt.Sprintf(format, args...)}
}

// report records a problem with a field, which is then ignored.
func (r *fieldReader) report(field, format string, args ...any) {
	r.problems = append(r.problems, *r.problem(field, format, args...))
}

// fail records a problem that makes the agent unusable.
func (r *fieldReader) fail(field, format string, args ...any) {
	if r.fatal == nil {
		r.fatal = r.problem(field, format+"; the agent is disabled", args...)
	}
}

// known returns the supported front matter fields.
func known() []string {
	return []string{
		"name", "description", "tools", "disallowedTools", "model", "effort", "permissionMode", "maxTurns", "skills", "mcpServers",
		"requiredMcpServers", "hooks", "memory", "background", "isolation", "initialPrompt", "color", "omitInstructions",
	}
}

// unknown reports misspelled fields, because the limits they were meant to set do not apply.
func (r *fieldReader) unknown() {
	for _, field := range slices.Sorted(maps.Keys(r.fields)) {
		if slices.Contains(known(), field) || field == "prompt" && r.from.Kind == Flag {
			continue
		}
		plain := strings.NewReplacer("-", "", "_", "").Replace(field)
		if near := rank.Closest(plain, known(), 1); len(near) > 0 {
			r.report(field, "unknown field; did you mean %s?", near[0])
		}
	}
}

// refuse reports fields that plugins may not set.
func (r *fieldReader) refuse(fields ...string) {
	for _, field := range fields {
		if _, ok := r.fields[field]; ok {
			r.report(field, "agents of plugins may not set it; the field is ignored")
		}
	}
}

// empty reports whether a value is unset. An empty list is not, because the author meant a
// list.
func empty(v frontmatter.Value) bool { return isText(v) && v.Text == "" }

func isText(v frontmatter.Value) bool { return v.List == nil && v.Fields == nil }

// text returns a string field, truncated to limit bytes.
func (r *fieldReader) text(field string, limit int) string {
	v := r.fields[field]
	if !isText(v) {
		r.report(field, "expected a text; the field is ignored")
		return ""
	}
	text := strings.TrimSpace(v.Text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// choice returns a field whose value must be among words.
func (r *fieldReader) choice(field string, words ...string) string {
	v := r.fields[field]
	if empty(v) {
		return ""
	}
	if i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, v.Text) }); i >= 0 {
		return words[i]
	}
	r.report(field, "expected %s; the field is ignored", strings.Join(words, ", "))
	return ""
}

// yes returns a boolean field.
func (r *fieldReader) yes(field string) bool {
	v := r.fields[field]
	switch strings.ToLower(v.Text) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	if !empty(v) {
		r.report(field, "expected true or false; the field is ignored")
	}
	return false
}

// number returns a positive number field, or 0.
func (r *fieldReader) number(field string) int {
	v := r.fields[field]
	if empty(v) {
		return 0
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < 1 {
		r.report(field, "expected a number above 0; the field is ignored")
		return 0
	}
	return n
}

// list returns a field that is a list of strings or a comma-separated string.
func (r *fieldReader) list(field string) []string {
	items, ok := r.fields[field].Texts(splitList)
	if !ok {
		r.report(field, "expected a list of names; the field is ignored")
	}
	return items
}

// memory returns a memory scope field. An unknown value disables the agent, because it may mean
// a narrower scope.
func (r *fieldReader) memory(field string) string {
	v := r.fields[field]
	if known := []string{string(UserMemory), string(ProjectMemory), string(LocalMemory)}; !empty(v) && !slices.Contains(known, v.Text) {
		r.fail(field, "expected %s", strings.Join(known, ", "))
		return ""
	}
	return v.Text
}

// mode returns a permission mode field. An invalid value disables the agent, because it may be
// meant to be stricter.
func (r *fieldReader) mode(field string) string {
	v := r.fields[field]
	if empty(v) {
		return ""
	}
	m, err := mode.Parse(v.Text)
	if err != nil {
		r.fail(field, "%v", err)
	}
	return string(m)
}

// hooks returns a field with hooks. Hooks may block calls, so invalid ones disable the agent.
func (r *fieldReader) hooks(field string) json.RawMessage {
	hooks, err := frontmatter.Hooks(r.fields[field])
	if err != nil {
		r.fail(field, "%v", err)
	}
	return hooks
}

// tools returns a field that lists tools; nil if it is absent or lists all of them. An invalid
// value disables the agent, because it would have more tools than intended.
func (r *fieldReader) tools(field string) []string {
	v, there := r.fields[field]
	if !there {
		return nil
	}
	items, ok := v.Texts(splitTools)
	if !ok {
		r.fail(field, "expected names of tools, in a list or with commas")
		return nil
	}
	list := []string{}
	for _, item := range items {
		for _, one := range splitTools(item) {
			if one = strings.TrimSpace(one); one == "" {
				continue
			}
			if !r.checkTool(field, one) {
				return nil
			}
			list = append(list, one)
		}
	}
	if slices.Contains(list, "*") && field == "tools" {
		return r.withAgents(list)
	}
	if len(list) == 0 && field == "tools" && v.List == nil {
		r.report(field, "it names no tool, so that the agent has none; write * for all")
	}
	return list
}

// withAgents returns the list for all tools: nil, unless it also names the tool that launches
// agents, which "all" does not include.
func (r *fieldReader) withAgents(list []string) []string {
	if slices.ContainsFunc(list, launches) {
		return list
	}
	return nil
}

// checkTool checks an item of a tool list. It reports unknown tools, and returns false if the
// agent is disabled.
func (r *fieldReader) checkTool(field, item string) bool {
	name, content, limited := strings.Cut(item, "(")
	switch {
	case limited && (!strings.HasSuffix(content, ")") || strings.TrimSpace(strings.TrimSuffix(content, ")")) == ""):
		r.fail(field, "%q is not closed, or empty", short(item))
		return false
	case limited && (!launches(item) || field != "tools"):
		r.fail(field, "%q limits a tool to some of its calls, which only permission rules can do", short(item))
		return false
	case name == "*" || strings.HasPrefix(name, serverPrefix):
		return true
	case strings.Contains(name, "*"):
		r.fail(field, "%q is not a tool name", short(item))
		return false
	}
	if unknown := compat.Unknown(name); unknown != "" {
		r.report(field, "%s; the name is ignored", unknown)
	}
	return true
}

// servers returns a field that names or configures MCP servers: a list of names and objects
// keyed by name, or a single such object.
func (r *fieldReader) servers(field string) []Server {
	v := r.fields[field]
	items := v.List
	switch {
	case v.Fields != nil:
		items = []frontmatter.Value{v}
	case v.Text != "":
		for _, name := range splitList(v.Text) {
			items = append(items, frontmatter.Value{Text: strings.TrimSpace(name)})
		}
	}
	var list []Server
	for _, item := range items {
		switch {
		case isText(item) && item.Text != "":
			list = append(list, Server{Name: item.Text})
		case item.Fields != nil:
			list = append(list, r.inline(field, item.Fields)...)
		default:
			r.report(field, "expected names of servers, or objects that configure them; the item is ignored")
		}
	}
	return list
}

// inline returns servers configured in the definition.
func (r *fieldReader) inline(field string, fields frontmatter.Fields) []Server {
	var list []Server
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		config, err := json.Marshal(serverConfig(fields[name]))
		if fields[name].Fields == nil || err != nil {
			r.report(field, "%s: expected an object; the server is ignored", short(name))
			continue
		}
		list = append(list, Server{name, config})
	}
	return list
}

// serverConfig returns a server's configuration as JSON values: strings, except for fields that
// are numbers or booleans.
func serverConfig(v frontmatter.Value) map[string]any {
	config := map[string]any{}
	for name, item := range v.Fields {
		typing := frontmatter.AsTyped
		switch name {
		case "type", "command", "args", "env", "url", "headers", "cwd", "headersHelper":
			typing = frontmatter.AsTexts
		}
		config[name] = item.JSON(typing)
	}
	return config
}

func splitList(s string) []string { return strings.Split(s, ",") }

// splitTools splits a list of tools at commas and blanks outside parentheses.
func splitTools(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n')
	})
}

// short returns the beginning of a possibly long text.
func short(s string) string {
	const limit = 100
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
