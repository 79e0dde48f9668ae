package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/fs/scope"
)

// A builder merges documents and the environment into settings.
type builder struct {
	*Settings
	warnings []Warning
	refused  []refusedKey
}

// A refusedKey is a setting that a project cannot set, found in a file shared with another
// program.
type refusedKey struct {
	file, name string
	Warning
}

func (b *builder) warn(where, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{where, fmt.Sprintf(format, args...)})
}

// refuse warns about a setting that a project cannot set. Settings in a file shared with
// another program are reported together: they are valid for that program, so the user need not
// change them.
func (b *builder) refuse(doc *document, at int, name, text string) {
	w := Warning{doc.at(at), text}
	if !doc.file.Foreign {
		b.warnings = append(b.warnings, w)
		return
	}
	b.refused = append(b.refused, refusedKey{doc.file.Path, name, w})
}

// reportRefused warns about refused settings, with one line per file.
func (b *builder) reportRefused() {
	for rest := b.refused; len(rest) > 0; {
		var names []string
		first := rest[0]
		rest = slices.DeleteFunc(rest, func(r refusedKey) bool {
			if r.file == first.file && !slices.Contains(names, r.name) {
				names = append(names, r.name)
			}
			return r.file == first.file
		})
		if len(names) == 1 {
			b.warnings = append(b.warnings, first.Warning)
			continue
		}
		b.warn(first.file, "a project cannot set %s; ignored. Set them in your user settings if you want them", strings.Join(names, ", "))
	}
}

// merge merges documents, which are in order of precedence.
func merge(src Sources, docs []*document, keys []Key) (*Settings, []Warning) {
	b := &builder{Settings: &Settings{
		keys: make(map[string]*Key, len(keys)), values: make(map[string]value, len(keys)), parts: map[string][]Part{}, src: src,
	}}
	b.index(keys)
	for i := range keys {
		b.values[keys[i].ID()] = value{v: keys[i].mustDefault()}
	}
	docs = b.retain(docs)
	managed := slices.IndexFunc(docs, func(d *document) bool { return d.scope == scope.Managed })
	if managed < 0 {
		managed = len(docs)
	}
	for _, doc := range docs {
		if doc.file.Own != nil && doc.root != nil && doc.grant != Whole {
			b.local = append(b.local, doc.file.Path)
		}
		b.takeVars(doc)
	}
	for _, doc := range docs[:managed] {
		b.take(doc)
	}
	b.takeEnv(keys)
	for _, doc := range docs[managed:] {
		b.take(doc)
	}
	b.reportRefused()
	b.settle(keys)
	return b.Settings, b.warnings
}

// index registers the keys by name and alias.
func (b *builder) index(keys []Key) {
	for i := range keys {
		k := &keys[i]
		b.keys[k.ID()] = k
		for _, name := range k.Aliases {
			b.keys[name] = k
		}
	}
}

// take adds a document's settings.
func (b *builder) take(doc *document) {
	warn := func(m member, format string, args ...any) {
		if doc.grant != Untrusted {
			b.warn(doc.at(m.node.Start), format, args...)
		}
	}
	for _, m := range doc.members(b.branch) {
		k, known := b.keys[m.path]
		switch {
		case m.path == "$schema": // used by editors
			continue
		case known && k.Kind == Vars:
			continue // already taken
		case known && k.Kind == Rules:
			b.takeRules(doc, m, k)
			continue
		case doc.grant == Untrusted:
			continue
		case known && k.Kind == Dirs:
			b.takeDirs(doc, m, k)
			continue
		}
		raw := doc.raw(m.node)
		line, column := doc.position(m.node.Start)
		part := Part{Scope: doc.scope, File: doc.file.Path, Dir: doc.file.Dir, Line: line, Column: column, JSON: raw}
		if !known {
			b.parts[m.path] = append(b.parts[m.path], part)
			switch {
			case b.branch(m.path):
				warn(m, "%s is set to %s, which is not an object; the value is ignored", m.path, shortened(string(raw)))
			case !doc.file.Foreign:
				warn(m, "unknown setting %s%s", m.path, b.suggestion(m.path))
			}
			continue
		}
		v, err := k.decode(raw)
		if err != nil {
			warn(m, "%s", k.complaint(m.path, string(raw), err))
			continue
		}
		if err := k.permit(doc, v); err != nil {
			if !b.demote(doc, m.path, k.permit(doc.asOwn(), v) == nil) {
				b.refuse(doc, m.node.Start, m.path, err.Error()+"; the value is ignored")
			}
			continue
		}
		var counts bool
		if v, part.JSON, counts = b.approved(doc, k, m, v, raw); !counts {
			continue
		}
		b.parts[k.Name] = append(b.parts[k.Name], part)
		b.values[k.ID()] = value{k.join(b.values[k.ID()], v), doc.at(m.node.Start), doc.scope, true}
	}
}

// demote records that a local file's setting is ignored because the file is not the user's own,
// and reports whether that is the reason. It is not the reason if the setting would be ignored
// in the user's own file, too.
func (b *builder) demote(doc *document, name string, otherwise bool) bool {
	if doc.file.Own == nil || doc.grant == Whole || !otherwise {
		return false
	}
	i := slices.IndexFunc(b.demoted, func(d Demoted) bool { return d.File == doc.file.Path })
	if i < 0 {
		i, b.demoted = len(b.demoted), append(b.demoted, Demoted{File: doc.file.Path})
	}
	if d := &b.demoted[i]; !slices.Contains(d.Names, name) {
		d.Names = append(d.Names, name)
	}
	return true
}

// join combines a key's value with one from another file: lists are concatenated, objects
// merged and other values replaced.
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

// mergeObjects returns b with the members that only a has. If either is not an object, it
// returns b.
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

// branch reports whether there are keys below path, so that an object there is not a value.
func (b *builder) branch(path string) bool {
	for name := range b.keys {
		if strings.HasPrefix(name, path) && strings.HasPrefix(name[len(path):], ".") {
			return true
		}
	}
	return false
}

// suggestion describes the consequence of an unknown setting and suggests similar names.
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

// takeEnv adds settings from the environment. For each key it uses the first variable that is
// set and valid.
func (b *builder) takeEnv(keys []Key) {
	for i := range keys {
		k := &keys[i]
		used, value := "", ""
		for _, name := range k.Env {
			text, at := b.getenv(name)
			switch {
			case text == "":
				continue
			case used != "":
				if text != value {
					b.outdone = append(b.outdone, used+" is used, and not "+name)
				}
				continue
			}
			v, err := k.parse(text)
			if err != nil {
				b.warn(at.origin, "%s", k.complaint(name, text, err))
				continue
			}
			at.v = v
			b.values[k.ID()] = at
			used, value = name, text
		}
	}
}

// getenv returns the value of a variable from the environment or the env setting, and its
// origin.
func (b *builder) getenv(name string) (text string, at value) {
	if b.src.Getenv != nil {
		if text := b.src.Getenv(name); text != "" {
			return text, value{origin: name}
		}
	}
	for _, v := range b.vars {
		if v.Name == name && v.own {
			return v.Value, value{origin: v.where, scope: v.Scope, file: true}
		}
	}
	return "", value{}
}

// settle applies the restrictions that managed settings place on other settings.
func (b *builder) settle(keys []Key) {
	if only, ok := b.values[managedOnly]; ok && only.v == true {
		byFlag := strings.HasPrefix(only.origin, "--")
		b.rules = slices.DeleteFunc(b.rules, func(r Rule) bool { return r.Scope != scope.Managed || r.delegated && !byFlag && r.Behavior == "allow" })
	}
	for i := range keys {
		k := &keys[i]
		if k.Kind != Rules {
			continue
		}
		var texts []string
		at := value{}
		for _, r := range b.rules {
			if r.Behavior == k.behavior() {
				texts, at = append(texts, r.Text), value{origin: r.Where(), scope: r.Scope, file: true}
			}
		}
		at.v = texts
		b.values[k.ID()] = at
	}
}
