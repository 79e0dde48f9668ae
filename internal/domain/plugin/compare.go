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

	"adze/internal/platform/text/frontmatter"
	"adze/internal/platform/text/jsonscan"
)

// A Difference lists the additions and changes between two versions of a plugin.
type Difference struct{ Changes []Change }

// Asks reports whether the user must approve the difference: something newly runs or is newly
// allowed, or a file that could be run differs.
func (d Difference) Asks() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Asks })
}

// A Change is one difference.
type Change struct {
	Part Part
	Name string
	// Old and New are one-line values; empty if absent.
	Old, New string
	// If Asks is true, the user must approve the change.
	Asks bool
}

// A Part is a kind of plugin component.
type Part string

// The parts.
const (
	Hook           Part = "hook"
	Server         Part = "MCP server"
	LanguageServer Part = "language server"
	Rule           Part = "allowed-tools" // skill or command permission
	SkillHooks     Part = "hooks of a skill"
	Embedded       Part = "embedded commands" // run when the skill or command is used
	Program        Part = "file"              // any other file; hooks and servers can run it
	Skill          Part = "skill"
	Command        Part = "command"
	Agent          Part = "agent"
	Style          Part = "output style"
	Setting        Part = "option"
)

// Compare returns how a plugin differs from its previous version, reading the files of both. If
// old is nil, everything is new. Unreadable files count as changed.
func Compare(old, new *Plugin) Difference {
	var d Difference
	before, after := contents(old), contents(new)
	runs := false // anything allowed or run can use any file
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

// wider reports whether the new rules allow something that the old ones do not.
func wider(old, new string) bool {
	before := map[string]bool{}
	for _, rule := range frontmatter.SplitList(old) {
		before[strings.TrimSpace(rule)] = true
	}
	return slices.ContainsFunc(frontmatter.SplitList(new), func(rule string) bool { return !before[strings.TrimSpace(rule)] })
}

// A contentKey identifies one component of a plugin.
type contentKey struct {
	part Part
	name string
}

// A content is a plugin component: text to show and a hash of the rest.
type content struct {
	text string
	sum  string
}

func union(a, b map[contentKey]content) map[contentKey]content {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// contents returns all components of a plugin; nil has none.
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

// flatHooks returns the hooks, one line each, keyed by event, matcher and hook.
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

// add adds a hook under a key that includes the hook itself, so that reordering hooks is not a
// change.
func add(all map[string]string, name, hook string) {
	key := name + ": " + hook
	all[key] = hook
}

// oneLine returns compact JSON.
func oneLine(value []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

// files adds the plugin's files, and the permissions and embedded commands of its skills and
// commands.
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
				return // its parsed content is compared
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
	head, body, _ := frontmatter.Split(string(data)) // ok: an unterminated header counts as no header
	fields, err := frontmatter.Parse(head)
	description := shorten(fields["description"].String())
	if description == "" {
		description = "without a description"
	}
	all[contentKey{part, f.name}] = content{description, sum}
	if part != Skill && part != Command {
		return
	}
	if err != nil { // other parsers may interpret it differently
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

// partOf returns the part a file belongs to, or "" for any other file.
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
