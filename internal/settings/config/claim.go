package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/jsonc"
)

// An Effect classifies how a setting in a project affects the user's permissions. It determines
// when a trusted workspace's setting takes effect.
type Effect uint8

// Effects. A key without one is treated like [Shifts].
const (
	unclassified Effect = iota
	// Neutral settings take effect immediately. They don't change permissions, don't run
	// programs and don't send data anywhere.
	Neutral
	// Tightens is for settings that can only forbid. They take effect immediately and, when
	// removed, stay in effect until the user approves the removal.
	Tightens
	// Widens is for settings that allow more or send data elsewhere. They take effect once the
	// user has approved them.
	Widens
	// Shifts is for settings that forbid one thing and allow another. Adding and removing them
	// needs approval.
	Shifts
	// Runs is for settings that specify programs. Each program is approved separately before it
	// runs.
	Runs
)

// needsApproval reports whether a setting only takes effect once approved.
func (e Effect) needsApproval() bool { return e == unclassified || e == Widens || e == Shifts }

// outlivesRemoval reports whether a removed setting stays in effect until the user approves the removal.
func (e Effect) outlivesRemoval() bool { return e == Tightens || e == Shifts }

// A Claim is a single thing that a workspace file sets: a rule, a directory, a variable, a list
// item, an object member or any other value.
type Claim struct {
	Key    string          // name of the setting; for a variable or member, followed by a dot and its name
	Value  json.RawMessage // canonical JSON
	Effect Effect
	File   string
	Dir    string // base directory for relative paths
	Own    bool   // set in a local file that the user owns
}

// Same reports whether two claims have the same content, regardless of which of a directory's
// files they are in.
func (c Claim) Same(d Claim) bool {
	return c.Key == d.Key && c.Dir == d.Dir && bytes.Equal(c.Value, d.Value)
}

// String describes the claim on one line.
func (c Claim) String() string {
	text := string(c.Value)
	if s := ""; json.Unmarshal(c.Value, &s) == nil {
		text = s
	}
	if strings.HasPrefix(c.Key, "env.") { // the value may be a secret
		return c.Key
	}
	return c.Key + " " + shortened(text)
}

// Claims returns the claims of workspace files, except neutral ones and programs. For local
// files that the user owns, it returns only restrictions.
func (s *Settings) Claims() []Claim { return s.claims }

// Waiting returns the claims that are not in effect because the user has not approved them.
func (s *Settings) Waiting() []Claim { return s.waiting }

// Retained returns the claims that remain in effect although they were removed from all files.
// See [Sources].
func (s *Settings) Retained() []Claim { return s.retained }

// claims returns the claims in a member of the document.
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

// counts records a document's claim and reports whether it takes effect.
func (b *builder) counts(doc *document, c Claim) bool {
	if doc.grant == Whole && doc.file.Own != nil && c.Effect.outlivesRemoval() {
		b.Settings.claims = append(b.Settings.claims, c)
	}
	if doc.grant == Whole || doc.retained {
		return true
	}
	if doc.grant != Untrusted {
		b.Settings.claims = append(b.Settings.claims, c)
	}
	switch {
	case !c.Effect.needsApproval(), b.src.Approved != nil && b.src.Approved(c):
		return true
	case !b.demote(doc, c.Key, true):
		b.waiting = append(b.waiting, c)
	}
	return false
}

// approved returns the effective part of a member that a document may set, and whether there is
// any.
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
			json.Unmarshal(c.Value, &texts[i]) // ok: the values are strings
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

// retain adds documents for the [Sources.Limits] that are missing from all files. They have
// lower precedence than all other workspace settings.
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
			if k, ok := b.keys[m.path]; ok && k.Effect.outlivesRemoval() {
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
		if !ok || !k.Effect.outlivesRemoval() || slices.ContainsFunc(have, c.Same) {
			continue
		}
		if v, err := k.decode(c.Value); len(k.Tighten) > 0 && (err != nil || !holds(k.Tighten, v)) {
			continue // restricts nothing
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

// ClaimsIn returns the claims in the text of a workspace settings file. It returns nil if the
// text is invalid.
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
