package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/jsonc"
	"adze/internal/platform/scope"
)

// managedOnly is the key that makes the rules of managed settings the only ones.
const managedOnly = "allowManagedPermissionRulesOnly"

// A Rule is a permission rule as a file has it. What it means is left to others.
type Rule struct {
	Behavior string // allow, ask or deny
	Text     string
	// Broken says that there is no text. Text is then the JSON that stands there instead.
	Broken       bool
	Scope        scope.Scope
	File         string
	Line, Column int
	Dir          string // what a path that begins with a slash is relative to

	delegated bool
}

// Where names the place of the rule.
func (r Rule) Where() string { return place(r.File, r.Line, r.Column) }

// Rules returns the rules in force: those of higher scopes first, of one file in order.
func (s *Settings) Rules() []Rule {
	rules := slices.Clone(s.rules)
	slices.SortStableFunc(rules, func(a, b Rule) int { return scope.Compare(a.Scope, b.Scope) })
	return rules
}

// behavior is what the rules of the key do.
func (k *Key) behavior() string { return k.Name[strings.LastIndexByte(k.Name, '.')+1:] }

// A Directory is a further directory to work in.
type Directory struct {
	Path         string // absolute
	Scope        scope.Scope
	File         string
	Line, Column int
}

// Directories returns the further directories, without repetition.
func (s *Settings) Directories() []Directory { return s.dirs }

// inside reports whether a directory exists and lies in root, wherever links lead.
func inside(root, dir string) bool {
	if root == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return false
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// takeRules takes over a list of rules. A rule that denies or asks is never lost, however it is written.
func (b *builder) takeRules(doc *document, m member, k *Key) {
	loosens := k.behavior() == "allow"
	items := m.node.Items
	if m.node.Kind != jsonc.Array {
		items = []*jsonc.Node{m.node}
		if !loosens || doc.grant != Untrusted {
			b.warn(doc.at(m.node.Start), "%s is set to %s, which is not a list of rules", k.Name, shortened(string(doc.raw(m.node))))
		}
	}
	switch {
	case loosens && doc.grant == Untrusted:
		return
	case loosens && doc.grant == Hosted:
		b.withheld += len(items)
		return
	case loosens && b.demote(doc, m.path, true):
		return
	}
	claims := doc.claims(k, m)
	for i, item := range items {
		if counts := b.counts(doc, claims[i]); !counts && loosens {
			continue
		}
		line, column := doc.position(item.Start)
		r := Rule{
			Behavior: k.behavior(), Text: jsonc.Text(doc.data, item), Scope: doc.scope,
			File: doc.file.Path, Line: line, Column: column, Dir: doc.file.Dir, delegated: doc.file.Text != "",
		}
		if item.Kind != jsonc.String {
			r.Text, r.Broken = string(doc.raw(item)), true
			if m.node.Kind == jsonc.Array {
				b.warn(r.Where(), "%s: %s is not a text", k.Name, shortened(r.Text))
			}
			if loosens {
				continue
			}
		}
		b.rules = append(b.rules, r)
	}
}

// takeDirs takes over a list of directories.
func (b *builder) takeDirs(doc *document, m member, k *Key) {
	if doc.grant == Hosted {
		b.withheld += len(m.node.Items)
		return
	}
	v, err := k.decode(doc.raw(m.node))
	if err != nil {
		b.warn(doc.at(m.node.Start), "%s", k.complaint(k.Name, string(doc.raw(m.node)), err))
		return
	}
	claims := doc.claims(k, m)
	for i, text := range v.([]string) {
		at := m.node.Items[i].Start
		line, column := doc.position(at)
		dir := Directory{b.src.absolute(doc, text), doc.scope, doc.file.Path, line, column}
		if doc.grant != Whole && !inside(b.src.Root, dir.Path) {
			if b.demote(doc, m.path, true) {
				continue
			}
			b.refuse(doc, at, m.path, fmt.Sprintf("%s: %s is not inside the workspace, and a project cannot add others; it is ignored", k.Name, quoted(text)))
			continue
		}
		if !b.counts(doc, claims[i]) {
			continue
		}
		if !slices.ContainsFunc(b.dirs, func(d Directory) bool { return d.Path == dir.Path }) {
			b.dirs = append(b.dirs, dir)
		}
	}
	paths := make([]string, len(b.dirs))
	for i, d := range b.dirs {
		paths[i] = d.Path
	}
	b.values[k.ID()] = value{paths, doc.at(m.node.Start), doc.scope, true}
}

// absolute returns the directory that a document means.
func (src *Sources) absolute(doc *document, path string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		if src.Home != "" {
			path = filepath.Join(src.Home, path[1:])
		}
	case !filepath.IsAbs(path):
		path = filepath.Join(doc.file.Dir, path)
	}
	return filepath.Clean(path)
}
