package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// takeVars adds the variables that a document sets for programs that adze starts.
func (b *builder) takeVars(doc *document) {
	if doc.grant == Untrusted {
		return
	}
	for _, m := range doc.members(b.branch) {
		k, ok := b.keys[m.path]
		if !ok || k.Kind != Vars {
			continue
		}
		warn := func(at int, format string, args ...any) {
			b.warn(doc.at(at), "%s: %s; it is not set", m.path, fmt.Sprintf(format, args...))
		}
		vars := m.node.Members
		if vars == nil && string(doc.raw(m.node)) != "{}" {
			warn(m.node.Start, "%s is not an object of texts", shortened(string(doc.raw(m.node))))
		}
		line, column := doc.position(m.node.Start)
		b.parts[m.path] = append(b.parts[m.path], Part{doc.scope, doc.file.Path, doc.file.Dir, line, column, doc.raw(m.node)})
		claims := doc.claims(k, m)
		for i, v := range vars {
			text, err := varText(doc.raw(v.Value))
			switch {
			case err != nil:
				warn(v.Value.Start, "%s %v", v.Name, err)
			case !validName(v.Name):
				warn(v.Value.Start, "%q is not a variable name", v.Name)
			case doc.grant != Whole && (Redirects(v.Name) || b.guards(v.Name)):
				if b.demote(doc, m.path+"."+v.Name, true) {
					continue
				}
				name := m.path + "." + v.Name
				b.refuse(doc, v.Value.Start, name, name+" cannot be set by a project, since it can redirect programs or make them run code; it is not set")
			case b.counts(doc, claims[i]):
				b.setVar(Var{v.Name, text, doc.scope, doc.at(v.Value.Start), doc.grant == Whole})
			}
		}
	}
}

// guards reports whether a variable belongs to a key for an address.
func (b *builder) guards(variable string) bool {
	for _, k := range b.keys {
		if k.Endpoint && slices.Contains(k.Env, variable) {
			return true
		}
	}
	return false
}

func (b *builder) setVar(v Var) {
	i, found := slices.BinarySearchFunc(b.vars, v, func(a, b Var) int { return strings.Compare(a.Name, b.Name) })
	if found {
		b.vars[i] = v
		return
	}
	b.vars = slices.Insert(b.vars, i, v)
}

// varText returns a variable's value. Numbers and booleans are kept as written.
func varText(raw json.RawMessage) (string, error) {
	switch raw[0] {
	case '"':
		text := ""
		if err := json.Unmarshal(raw, &text); err != nil || strings.ContainsRune(text, 0) {
			return "", fmt.Errorf("has a null character")
		}
		return text, nil
	case '{', '[', 'n':
		return "", fmt.Errorf("is set to %s, which is not a text", shortened(string(raw)))
	}
	return string(raw), nil
}

func validName(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
