// Package config finds, merges and decodes settings, writes changes back, and follows the files. It
// knows how a setting is declared, not which ones there are: the composition root declares the keys,
// reads the values, and hands each part of the program its own. It does not decide whom to trust: that
// is said with each file. A wrong value never stops the program: it is reported, and the next best
// source counts. What to do about a file that cannot be read at all is left to the caller.
package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/scope"
)

// Sources are where settings come from.
type Sources struct {
	// Files are in order of precedence within their scope, lowest first.
	Files []File
	// Extra is another file of the scope Flag, or settings themselves as a JSON object; see --settings.
	Extra string
	// Getenv returns the value of a variable; an empty one counts as not set. Variables win over all
	// files but managed ones.
	Getenv func(name string) string
	// Home is the person's home directory and Root the workspace, both absolute or empty.
	Home, Root string

	// Closest returns up to n words of among that may have been meant by word. It may be nil.
	Closest func(word string, among []string, n int) []string
}

// files returns all files, lowest first.
func (src *Sources) files() []File {
	files := slices.Clone(src.Files)
	if src.Extra != "" {
		files = append(files, TextOrFile(scope.Flag, "--settings", src.Extra))
	}
	slices.SortStableFunc(files, func(a, b File) int { return scope.Compare(b.Scope, a.Scope) })
	return files
}

// TextOrFile returns what a flag says: settings themselves as a JSON object, or the name of a file.
func TextOrFile(from scope.Scope, flag, value string) File {
	if isObject(value) {
		return File{Scope: from, Path: flag, Text: value}
	}
	return File{Scope: from, Path: value, Required: true}
}

// A Warning says what is wrong with the settings, in a line for a person.
type Warning struct {
	Where string // file:line:column, a variable, or --settings
	Text  string
}

// String returns the line.
func (w Warning) String() string { return w.Where + ": " + w.Text }

// Settings are the values in force. It does not change and may be used from any goroutine.
type Settings struct {
	keys   map[string]*Key // by name, other names included
	values map[string]value
	parts  map[string][]Part
	rules  []Rule // lowest first
	dirs   []Directory
	vars   []Var

	withheld int
	invalid  []*InvalidFile
	src      Sources
}

type value struct {
	v      any
	origin string // empty for the default
	scope  scope.Scope
	file   bool // the origin is a file, of that scope
}

// Load reads the sources and returns the value of every key, and what is wrong. It panics on keys
// that are declared wrongly. See [Settings.Invalid] for files that count for nothing.
func Load(src Sources, keys []Key) (*Settings, []Warning) {
	var docs []*document
	var invalid []*InvalidFile
	for _, f := range src.files() {
		doc, err := readDocument(f)
		if err != nil {
			invalid = append(invalid, err.(*InvalidFile))
			continue
		}
		docs = append(docs, doc)
	}
	s, warnings := merge(src, docs, keys)
	s.invalid = invalid
	return s, warnings
}

// merge makes settings of documents, which are in order.
func merge(src Sources, docs []*document, keys []Key) (s *Settings, warnings []Warning) {
	s = &Settings{keys: make(map[string]*Key, len(keys)), values: make(map[string]value, len(keys)), parts: map[string][]Part{}, src: src}
	for i := range keys {
		k := &keys[i]
		s.keys[k.ID()] = k
		for _, name := range k.Aliases {
			s.keys[name] = k
		}
		s.values[k.ID()] = value{v: k.mustDefault()}
	}
	managed := slices.IndexFunc(docs, func(d *document) bool { return d.scope == scope.Managed })
	if managed < 0 {
		managed = len(docs)
	}
	for _, doc := range docs {
		warnings = append(warnings, s.takeVars(doc)...)
	}
	for _, doc := range docs[:managed] {
		warnings = append(warnings, s.take(doc)...)
	}
	warnings = append(warnings, s.takeEnv(keys)...)
	for _, doc := range docs[managed:] {
		warnings = append(warnings, s.take(doc)...)
	}
	s.settle(keys)
	return s, warnings
}

// take takes over the settings of a document.
func (s *Settings) take(doc *document) (warnings []Warning) {
	warn := func(m member, format string, args ...any) {
		if doc.grant != Untrusted {
			warnings = append(warnings, Warning{doc.at(m.node.Start), fmt.Sprintf(format, args...)})
		}
	}
	for _, m := range doc.members(s.branch) {
		k, known := s.keys[m.path]
		switch {
		case m.path == "$schema": // for editors
			continue
		case known && k.Kind == Vars:
			continue // taken already
		case known && k.Kind == Rules:
			warnings = append(warnings, s.takeRules(doc, m, k)...)
			continue
		case doc.grant == Untrusted:
			continue
		case known && k.Kind == Dirs:
			warnings = append(warnings, s.takeDirs(doc, m, k)...)
			continue
		}
		raw := doc.raw(m.node)
		line, column := doc.position(m.node.Start)
		part := Part{Scope: doc.scope, File: doc.file.Path, Dir: doc.file.Dir, Line: line, Column: column, JSON: raw}
		if !known {
			s.parts[m.path] = append(s.parts[m.path], part)
			switch {
			case s.branch(m.path):
				warn(m, "%s is set to %s, which is not an object; the value is ignored", m.path, shortened(string(raw)))
			case !doc.file.Foreign:
				warn(m, "there is no setting %s%s", m.path, s.suggestion(m.path))
			}
			continue
		}
		v, err := k.decode(raw)
		if err != nil {
			warn(m, "%s", k.complaint(m.path, string(raw), err))
			continue
		}
		if err := k.permit(doc, v); err != nil {
			warn(m, "%v; the value is ignored", err)
			continue
		}
		s.parts[k.Name] = append(s.parts[k.Name], part)
		s.values[k.ID()] = value{k.join(s.values[k.ID()], v), doc.at(m.node.Start), doc.scope, true}
	}
	return warnings
}

// join returns the value of a key that a further file sets: lists grow, objects are merged, and other
// values are replaced.
func (k *Key) join(old value, v any) any {
	if old.origin == "" {
		return v
	}
	switch k.Kind {
	case List:
		list := slices.Clone(old.v.([]string))
		for _, item := range v.([]string) {
			if !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
		return list
	case Object:
		return mergeObjects(old.v.(json.RawMessage), v.(json.RawMessage))
	}
	return v
}

// mergeObjects returns b with what only a has. Anything but objects is not merged.
func mergeObjects(a, b json.RawMessage) json.RawMessage {
	var left, right map[string]json.RawMessage
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil || left == nil || right == nil {
		return b
	}
	for name, v := range right {
		if old, ok := left[name]; ok {
			v = mergeObjects(old, v)
		}
		left[name] = v
	}
	out, err := json.Marshal(left)
	if err != nil {
		return b
	}
	return out
}

// branch reports whether settings lie below path, so that an object there is not a value.
func (s *Settings) branch(path string) bool {
	for name := range s.keys {
		if strings.HasPrefix(name, path) && strings.HasPrefix(name[len(path):], ".") {
			return true
		}
	}
	return false
}

func (s *Settings) suggestion(path string) string {
	const kept = "; it is kept but has no effect"
	if s.src.Closest == nil {
		return kept
	}
	var names []string
	for _, k := range s.keys {
		if k.Name != "" {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	if near := s.src.Closest(path, slices.Compact(names), 1); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return kept
}

// takeEnv takes over the environment: of each key the first variable that is set.
func (s *Settings) takeEnv(keys []Key) (warnings []Warning) {
	for i := range keys {
		k := &keys[i]
		for _, name := range k.Env {
			text, from := s.getenv(name)
			if text == "" {
				continue
			}
			v, err := k.parse(text)
			if err != nil {
				warnings = append(warnings, Warning{from, k.complaint(name, text, err)})
				continue
			}
			s.values[k.ID()] = value{v: v, origin: from}
			break
		}
	}
	return warnings
}

// getenv returns the value of a variable, from the environment or from the setting for variables, and
// where that is.
func (s *Settings) getenv(name string) (text, from string) {
	if s.src.Getenv != nil {
		if text := s.src.Getenv(name); text != "" {
			return text, name
		}
	}
	for _, v := range s.vars {
		if v.Name == name && v.own {
			return v.Value, v.where
		}
	}
	return "", ""
}

// settle applies what managed settings say about the others.
func (s *Settings) settle(keys []Key) {
	if only, ok := s.values[managedOnly]; ok && only.v == true {
		byFlag := strings.HasPrefix(only.origin, "--")
		s.rules = slices.DeleteFunc(s.rules, func(r Rule) bool { return r.Scope != scope.Managed || r.delegated && !byFlag && r.Behavior == "allow" })
	}
	for i := range keys {
		k := &keys[i]
		if k.Kind != Rules {
			continue
		}
		var texts []string
		at := value{}
		for _, r := range s.rules {
			if r.Behavior == k.behavior() {
				texts, at = append(texts, r.Text), value{origin: r.Where(), scope: r.Scope, file: true}
			}
		}
		at.v = texts
		s.values[k.ID()] = at
	}
}

// Invalid returns the files that cannot be used.
func (s *Settings) Invalid() []*InvalidFile { return s.invalid }

// Withheld returns how many rules and directories of the workspace do not count before the person
// trusts it, although the rest of its settings does.
func (s *Settings) Withheld() int { return s.withheld }
