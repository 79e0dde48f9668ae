package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/platform/jsonc"
	"adze/internal/platform/scope"
)

// An Effect is what a setting does to the user's rights if a project sets it. It decides when the setting of a trusted
// workspace counts.
type Effect uint8

// The effects. A key without one is treated like [Shifts].
const (
	unclassified Effect = iota
	// Neutral settings count at once: they change neither what is allowed, nor what runs, nor who gets data.
	Neutral
	// Tightens is for settings that can only forbid. They count at once, and stay after they are removed until the user
	// approves of that.
	Tightens
	// Widens is for settings that allow more, or send data elsewhere. They count once the user has approved them.
	Widens
	// Shifts is for settings that forbid something and allow something else: they need approval to come and to go.
	Shifts
	// Runs is for settings with programs. Each program is approved by itself before it runs.
	Runs
)

// waits reports whether a setting counts only once it is approved.
func (e Effect) waits() bool { return e == unclassified || e == Widens || e == Shifts }

// stays reports whether a setting that is removed stays until the user approves of that.
func (e Effect) stays() bool { return e == Tightens || e == Shifts }

// A Claim is one thing that a file of a workspace sets: a rule, a directory, a variable, an item of a list, a member of
// an object, or any other value.
type Claim struct {
	Key    string          // the name of its setting; of a variable or a member with its name after a dot
	Value  json.RawMessage // canonical
	Effect Effect
	File   string
	Dir    string // what paths in it are relative to
	Own    bool   // it is in a local file that is the user's own
}

// Same reports whether two claims say the same, in whichever file of a directory.
func (c Claim) Same(d Claim) bool {
	return c.Key == d.Key && c.Dir == d.Dir && bytes.Equal(c.Value, d.Value)
}

// String describes the claim in one line.
func (c Claim) String() string {
	text := string(c.Value)
	if s := ""; json.Unmarshal(c.Value, &s) == nil {
		text = s
	}
	if strings.HasPrefix(c.Key, "env.") { // its value may be a secret
		return c.Key
	}
	return c.Key + " " + shortened(text)
}

// Claims returns what files of the workspace set, apart from what is neutral or runs programs. Of local files that are the
// user's own, it returns what forbids something.
func (s *Settings) Claims() []Claim { return s.claims }

// Waiting returns the claims that do not count because the user has not approved them.
func (s *Settings) Waiting() []Claim { return s.waiting }

// Retained returns the claims that count although no file has them any more. See [Sources].
func (s *Settings) Retained() []Claim { return s.retained }

// claims returns the claims of a member of a document.
func (d *document) claims(k *Key, m member) (list []Claim) {
	add := func(key string, n *jsonc.Node) {
		list = append(list, Claim{key, jsonc.Canonical(d.raw(n)), k.Effect, d.file.Path, d.file.Dir, d.grant == Whole})
	}
	switch {
	case k.Effect == Neutral || k.Effect == Runs:
	case (k.Kind == List || k.Kind == Rules || k.Kind == Dirs) && m.node.Kind == jsonc.Array:
		for _, item := range m.node.Items {
			add(k.Name, item)
		}
	case (k.Kind == Object || k.Kind == Vars) && m.node.Kind == jsonc.Object:
		for _, x := range m.node.Members {
			add(k.Name+"."+x.Name, x.Value)
		}
	default:
		add(k.Name, m.node)
	}
	return list
}

// counts reports whether a claim of a document counts, and notes it.
func (b *builder) counts(doc *document, c Claim) bool {
	if doc.grant == Whole && doc.file.Own != nil && c.Effect.stays() {
		b.Settings.claims = append(b.Settings.claims, c)
	}
	if doc.grant == Whole || doc.retained {
		return true
	}
	if doc.grant != Untrusted {
		b.Settings.claims = append(b.Settings.claims, c)
	}
	switch {
	case !c.Effect.waits(), b.src.Approved != nil && b.src.Approved(c):
		return true
	case !b.demote(doc, c.Key, true):
		b.waiting = append(b.waiting, c)
	}
	return false
}

// approved returns what counts of a member that a document may set, and whether anything does.
func (b *builder) approved(doc *document, k *Key, m member, v any, raw json.RawMessage) (any, json.RawMessage, bool) {
	if doc.grant == Whole && doc.file.Own == nil || k.Effect == Neutral || k.Effect == Runs {
		return v, raw, true
	}
	claims := doc.claims(k, m)
	kept := slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return !b.counts(doc, c) })
	switch {
	case len(kept) == len(claims):
		return v, raw, true
	case len(kept) == 0:
		return nil, nil, false
	case k.Kind == List:
		texts := make([]string, len(kept))
		for i, c := range kept {
			json.Unmarshal(c.Value, &texts[i]) // ok: they are texts
		}
		return texts, marshal(texts), true
	}
	object := map[string]json.RawMessage{}
	for _, c := range kept {
		object[strings.TrimPrefix(c.Key, k.Name+".")] = c.Value
	}
	raw = marshal(object)
	return raw, raw, true
}

// retain returns the documents with those of [Sources.Limits] that no document has any more, below all other settings of
// the workspace.
func (b *builder) retain(docs []*document) []*document {
	if len(b.src.Limits) == 0 {
		return docs
	}
	var have []Claim
	for _, doc := range docs {
		if doc.grant == Whole && doc.file.Own == nil || doc.grant == Untrusted {
			continue
		}
		for _, m := range doc.members(b.branch) {
			if k, ok := b.keys[m.path]; ok && k.Effect.stays() {
				have = append(have, doc.claims(k, m)...)
			}
		}
	}
	at := slices.IndexFunc(docs, func(d *document) bool { return d.file.Scope != scope.User })
	if at < 0 {
		at = len(docs)
	}
	for _, c := range b.src.Limits {
		k, ok := b.keys[c.Key]
		if !ok || !k.Effect.stays() || slices.ContainsFunc(have, c.Same) {
			continue
		}
		if v, err := k.decode(c.Value); len(k.Tighten) > 0 && (err != nil || !holds(k.Tighten, v)) {
			continue // it forbids nothing
		}
		value := c.Value
		if k.Kind == List || k.Kind == Rules {
			value = slices.Concat([]byte("["), value, []byte("]"))
		}
		doc := &document{file: File{Scope: scope.Project, Path: c.File + " (as approved)", Dir: c.Dir}, scope: scope.Project, grant: Workspace, retained: true}
		if doc.parse(slices.Concat([]byte("{"), marshal(c.Key), []byte(":"), value, []byte("}"))) != nil {
			continue
		}
		b.retained = append(b.retained, c)
		docs = slices.Insert(docs, at, doc)
	}
	return docs
}

// ClaimsIn returns what the text of a settings file of a workspace claims. A text that cannot be read claims nothing.
func ClaimsIn(file, dir string, data []byte, keys []Key) (list []Claim) {
	b := &builder{Settings: &Settings{keys: make(map[string]*Key, len(keys))}}
	b.index(keys)
	doc := &document{file: File{Scope: scope.Project, Path: file, Dir: dir}, grant: Workspace}
	if doc.parse(data) != nil {
		return nil
	}
	for _, m := range doc.members(b.branch) {
		if k, ok := b.keys[m.path]; ok {
			list = append(list, doc.claims(k, m)...)
		}
	}
	return list
}
