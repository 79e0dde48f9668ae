package chat

import (
	"bytes"
	"encoding/json"
	"slices"

	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A detail is a fragment of reasoning in the form in which it is sent back. Its members are
// kept as received, except for texts sent in fragments, which are joined.
type detail struct {
	members []wire.Member
	kind    string
	index   string
}

// grows lists the members whose fragments are joined.
var grows = [...]string{"text", "summary", "data"}

// details adds fragments of reasoning. shown is true if their text is not also sent as
// reasoning and must be shown.
func (r *reply) details(raw []byte, shown bool) {
	if len(raw) <= len("[]") || raw[0] != '[' {
		return
	}
	var list []json.RawMessage
	json.Unmarshal(raw, &list) // ok: valid JSON
	for _, one := range list {
		ms, err := wire.Members(one)
		if err != nil {
			continue
		}
		piece := detail{members: ms, kind: textOf(ms, "type"), index: textOf(ms, "index")}
		if shown {
			r.think([]byte(textOf(ms, "text") + textOf(ms, "summary")))
		}
		if r.dialect.Replay != ReplayDetails && r.dialect.Replay != ReplaySame {
			continue
		}
		b := r.continued(thinkingBlock)
		b.join(piece)
	}
}

// join adds a fragment to the detail that it continues, or as a new detail.
func (b *block) join(p detail) {
	if n := len(b.details); n > 0 && b.details[n-1].kind == p.kind && b.details[n-1].index == p.index {
		last := &b.details[n-1]
		for _, m := range p.members {
			last.set(m)
		}
		return
	}
	b.details = append(b.details, p)
}

// set merges a member from a later fragment. Null values are ignored.
func (d *detail) set(m wire.Member) {
	i := slices.IndexFunc(d.members, func(was wire.Member) bool { return was.Name == m.Name })
	switch {
	case string(m.Value) == "null":
	case i < 0:
		d.members = append(d.members, m)
	case slices.Contains(grows[:], m.Name):
		d.members[i].Value = msg.AppendString(nil, unquote(d.members[i].Value)+unquote(m.Value))
	default:
		d.members[i].Value = m.Value
	}
}

// textOf returns a member as text: a string's value, or the raw JSON of any other value.
func textOf(ms []wire.Member, name string) string {
	i := slices.IndexFunc(ms, func(m wire.Member) bool { return m.Name == name })
	if i < 0 || string(ms[i].Value) == "null" {
		return ""
	}
	return unquote(ms[i].Value)
}

func unquote(raw json.RawMessage) string {
	if !bytes.HasPrefix(raw, []byte(`"`)) {
		if string(raw) == "null" {
			return ""
		}
		return string(raw)
	}
	var s string
	json.Unmarshal(raw, &s) // ok: valid JSON
	return s
}

// appendDetails appends a list of details, or nothing if it is empty.
func appendDetails(dst []byte, list []detail) []byte {
	for i, d := range list {
		dst = append(dst, "[,"[min(i, 1)])
		for j, m := range d.members {
			dst = append(dst, "{,"[min(j, 1)])
			dst = msg.AppendString(dst, m.Name)
			dst = append(dst, ':')
			dst = append(dst, m.Value...)
		}
		if len(d.members) == 0 {
			dst = append(dst, '{')
		}
		dst = append(dst, '}')
	}
	if len(list) > 0 {
		dst = append(dst, ']')
	}
	return dst
}
