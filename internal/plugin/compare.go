package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/frontmatter"
	"adze/internal/platform/jsonscan"
)

// A Difference is what a version of a plugin brings that the one before does not.
type Difference struct{ Changes []Change }

// Asks reports whether the user has to agree: something runs, or is allowed, that was not before, or a file differs that
// something could run.
func (d Difference) Asks() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Asks })
}

// A Change is one difference.
type Change struct {
	Part Part
	Name string
	// Old and New are what stands there, in one line; empty if nothing does.
	Old, New string
	// Asks says that the user has to agree to it.
	Asks bool
}

// A Part is a kind of thing that a plugin brings.
type Part string

// The parts.
const (
	Hook           Part = "hook"
	Server         Part = "MCP server"
	LanguageServer Part = "language server"
	Rule           Part = "allowed-tools" // of a skill or command
	SkillHooks     Part = "hooks of a skill"
	Embedded       Part = "embedded commands" // of a skill or command, which run when it is used
	Program        Part = "file"              // any other file, which hooks and servers can run
	Skill          Part = "skill"
	Command        Part = "command"
	Agent          Part = "agent"
	Style          Part = "output style"
	Setting        Part = "option"
)

// Compare returns how a plugin differs from the one before, which may be nil: then all that it brings is new. It reads the
// files of both. What cannot be read counts as changed.
func Compare(old, new *Plugin) Difference {
	var d Difference
	before, after := contents(old), contents(new)
	runs := false // what is allowed and what runs can use any file
	for key, c := range after {
		switch key.part {
		case Hook, Server, LanguageServer, SkillHooks, Embedded, Rule:
			runs = true
		case Program:
			runs = runs || c.text == "exec"
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(union(before, after)), func(a, b contentKey) int {
		return strings.Compare(string(a.part)+"\x00"+a.name, string(b.part)+"\x00"+b.name)
	}) {
		o, n := before[key], after[key]
		if o == n {
			continue
		}
		c := Change{Part: key.part, Name: key.name, Old: o.text, New: n.text, Asks: runs}
		switch key.part {
		case Hook, Server, LanguageServer, SkillHooks, Embedded:
			c.Asks = n.text != ""
		case Rule:
			c.Asks = wider(o.text, n.text)
		}
		d.Changes = append(d.Changes, c)
	}
	return d
}

// wider reports whether rules allow something that others do not.
func wider(old, new string) bool {
	before := map[string]bool{}
	for _, rule := range frontmatter.SplitList(old) {
		before[strings.TrimSpace(rule)] = true
	}
	return slices.ContainsFunc(frontmatter.SplitList(new), func(rule string) bool { return !before[strings.TrimSpace(rule)] })
}

// A contentKey names something that a plugin brings.
type contentKey struct {
	part Part
	name string
}

// A content is what a plugin brings under a key: a text to show, and a hash of what is not shown.
type content struct {
	text string
	sum  string
}

func union(a, b map[contentKey]content) map[contentKey]content {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// contents returns all that a plugin brings; nothing if it is nil.
func contents(p *Plugin) map[contentKey]content {
	all := map[contentKey]content{}
	if p == nil {
		return all
	}
	for name, hook := range flatHooks(p.Hooks) {
		all[contentKey{Hook, name}] = content{text: hook}
	}
	for part, servers := range map[Part]json.RawMessage{Server: p.Servers, LanguageServer: p.Languages} {
		_ = jsonscan.Object(servers, func(name, value []byte) error { // ok: it was encoded by us
			all[contentKey{part, string(name)}] = content{text: oneLine(value)}
			return nil
		})
	}
	for _, o := range p.Options {
		all[contentKey{Setting, o.Name}] = content{text: fmt.Sprintf("%s, required: %t, secret: %t, default: %s", o.Type, o.Required, o.Secret, o.Default)}
	}
	files(p, all)
	return all
}

// flatHooks returns the hooks in one line each, by the event with its matcher and a number.
func flatHooks(hooks json.RawMessage) map[string]string {
	all := map[string]string{}
	var events map[string][]json.RawMessage
	if len(hooks) == 0 {
		return all
	}
	if err := json.Unmarshal(hooks, &events); err != nil {
		return map[string]string{"all": oneLine(hooks)}
	}
	for event, groups := range events {
		for _, g := range groups {
			var group struct {
				Matcher string            `json:"matcher"`
				Hooks   []json.RawMessage `json:"hooks"`
			}
			if err := json.Unmarshal(g, &group); err != nil || len(group.Hooks) == 0 {
				add(all, event, oneLine(g))
				continue
			}
			name := event
			if group.Matcher != "" {
				name += " " + group.Matcher
			}
			for _, h := range group.Hooks {
				add(all, name, oneLine(h))
			}
		}
	}
	return all
}

// add adds a hook under a name that is free. Hooks are told apart by what they do, so that another order is no change.
func add(all map[string]string, name, hook string) {
	key := name + ": " + hook
	all[key] = hook
}

// oneLine returns JSON without space between its parts.
func oneLine(value []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

// files adds the files of a plugin, and what skills and commands are allowed and run.
func files(p *Plugin, all map[contentKey]content) {
	root, err := os.OpenRoot(p.Dir)
	if err == nil {
		defer root.Close()
		var t *tree
		if t, err = scan(root, p.ID); err == nil {
			r := &reader{bundle: &bundle{dir: p.Dir, slow: root}}
			for _, f := range t.files {
				r.content(p, f, all)
			}
		}
	}
	if err != nil {
		all[contentKey{Program, "all files"}] = content{text: fmt.Sprintf("they cannot be read: %v", err)}
	}
}

// content adds one file.
func (r *reader) content(p *Plugin, f treeFile, all map[contentKey]content) {
	sum := fmt.Sprintf("%s %x", f.kind, f.sum)
	part := r.partOf(p, f.name)
	if part == "" {
		for _, u := range manifestNames {
			if f.name == u {
				return // what it says is compared
			}
		}
		if f.name == "hooks/hooks.json" || f.name == ".mcp.json" || f.name == ".lsp.json" {
			return
		}
		all[contentKey{Program, f.name}] = content{f.kind, sum}
		return
	}
	data, err := r.file(f.name, MaxFile)
	if err != nil {
		all[contentKey{part, f.name}] = content{fmt.Sprintf("it cannot be read: %v", err), sum}
		all[contentKey{Rule, f.name}] = content{fmt.Sprintf("it cannot be read: %v", err), sum}
		return
	}
	head, body, _ := frontmatter.Split(string(data)) // ok: without an end there is no head
	fields, err := frontmatter.Parse(head)
	description := shorten(fields["description"].String())
	if description == "" {
		description = "without a description"
	}
	all[contentKey{part, f.name}] = content{description, sum}
	if part != Skill && part != Command {
		return
	}
	if err != nil { // what others make of it is not known
		all[contentKey{Rule, f.name}] = content{head, sum}
	} else if allowed := fields["allowed-tools"].String(); allowed != "" {
		all[contentKey{Rule, f.name}] = content{text: allowed}
	}
	if fields["hooks"].Fields != nil || fields["hooks"].String() != "" {
		all[contentKey{SkillHooks, f.name}] = content{text: head}
	}
	if strings.Contains(body, "!`") || strings.Contains(body, "```!") {
		all[contentKey{Embedded, f.name}] = content{"it runs commands when it is used", sum}
	}
}

// partOf returns what a file is part of, or "" if it is any other file.
func (r *reader) partOf(p *Plugin, name string) Part {
	if path.Ext(name) != ".md" {
		return ""
	}
	full := filepath.Join(r.dir, filepath.FromSlash(name))
	for _, l := range []struct {
		part  Part
		paths []string
	}{{Skill, p.Skills}, {Command, p.Commands}, {Agent, p.Agents}, {Style, p.Styles}} {
		for _, dir := range l.paths {
			if l.part == Skill && path.Base(name) != "SKILL.md" {
				continue
			}
			if full == dir || strings.HasPrefix(full, dir+string(filepath.Separator)) {
				return l.part
			}
		}
	}
	return ""
}
