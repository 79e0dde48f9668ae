package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A Member is a name and value in a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of a JSON object in order.
func Members(raw []byte) (ms []Member, err error) {
	err = jsonscan.Object(raw, func(name, value []byte) error {
		ms = append(ms, Member{string(name), value})
		return nil
	})
	return ms, err
}

// SetMember returns ms with the member name set to value, in place if it exists, otherwise at
// the end.
func SetMember(ms []Member, name string, value json.RawMessage) []Member {
	if i := slices.IndexFunc(ms, func(m Member) bool { return m.Name == name }); i >= 0 {
		ms[i].Value = value
		return ms
	}
	return append(ms, Member{name, value})
}

// AddExtra returns a request's options with the members of extra, which may be empty, replacing
// options of the same name. Members named in fixed, which make up the conversation, are
// rejected.
func AddExtra(options []Member, extra json.RawMessage, fixed ...string) ([]Member, error) {
	if len(extra) == 0 {
		return options, nil
	}
	more, err := Members(extra)
	if err != nil {
		return nil, fmt.Errorf("reading extra body parameters: %w", err)
	}
	for _, m := range more {
		if slices.Contains(fixed, m.Name) {
			return nil, fmt.Errorf("extra body parameters may not set %q", m.Name)
		}
		options = SetMember(options, m.Name, m.Value)
	}
	return options, nil
}

// roomForOptions is larger than most requests' options.
const roomForOptions = 512

// Options returns ms as a JSON object without its closing brace: the beginning of a body.
func Options(ms []Member) []byte {
	dst := append(make([]byte, 0, roomForOptions), '{')
	for i, m := range ms {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = msg.AppendString(dst, m.Name)
		dst = append(dst, ':')
		dst = append(dst, m.Value...)
	}
	return dst
}

// SameTools reports whether a and b are the same slice; a tool list never changes.
func SameTools(a, b []msg.ToolSpec) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
