package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/jsonc"
)

// managedOnly is the key that disables all rules outside managed settings.
const managedOnly = "allowManagedPermissionRulesOnly"

// A Rule is an unparsed permission rule from a file.
type Rule struct {
	Behavior string // allow, ask or deny
	Text     string
	// Broken means that the rule is not a string. Text is then its JSON.
	Broken       bool
	Scope        scope.Scope
	File         string
	Line, Column int
	Dir          string // base directory for paths that begin with a slash

	delegated bool
}

// Where returns the rule's location.
func (r Rule) Where() string { return place(r.File, r.Line, r.Column) }

// Rules returns the effective rules, highest scope first and in file order.
func (s *Settings) Rules() []Rule {
	rules := slices.Clone(s.rules)
	slices.SortStableFunc(rules, func(a, b Rule) int { return scope.Compare(a.Scope, b.Scope) })
	return rules
}

// behavior returns the behavior of the key's rules.
func (k *Key) behavior() string { return k.Name[strings.LastIndexByte(k.Name, '.')+1:] }

// A Directory is an additional working directory.
type Directory struct {
	Path         string // absolute
	Scope        scope.Scope
	File         string
	Line, Column int
}

// Directories returns the additional directories without duplicates.
func (s *Settings) Directories() []Directory { return s.dirs }

// inside reports whether a directory exists and is inside root after resolving symlinks.
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

// takeRules adds a list of rules. A deny or ask rule is never dropped, even if malformed.
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

// takeDirs adds a list of directories.
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

// absolute resolves a directory named in a document.
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
