package replay

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A query is a request being answered.
type query struct {
	wire.RequestInfo
	server wire.Server
	header http.Header // nil if the request was made in process
	body   []byte
	number int // request number within the player, from 1
	// reasons is true if the answer begins with thinking.
	reasons bool

	decoded *view
	err     error
}

// view parses the body, once; only turns with conditions need it.
func (q *query) view() (*view, error) {
	if q.decoded == nil && q.err == nil {
		var req *model.Request
		req, q.err = q.server.Read(q.body)
		q.decoded = &view{req}
	}
	return q.decoded, q.err
}

// lookup resolves a dotted path of member names and indexes in the body.
func (q *query) lookup(path string) (value any, found bool) {
	if json.Unmarshal(q.body, &value) != nil {
		return nil, false
	}
	for name := range strings.SplitSeq(path, ".") {
		switch in := value.(type) {
		case map[string]any:
			if value, found = in[name]; !found {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			value = in[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// find returns a pattern's first match in the request's texts, the system prompt first: the
// content of its group, or "".
func (q *query) find(pattern *regexp.Regexp) string {
	v, err := q.view()
	if err != nil {
		return ""
	}
	if m := pattern.FindStringSubmatch(textOf(v.System) + v.texts(0)); m != nil {
		return m[1]
	}
	return ""
}

// A view is a request as seen by conditions.
type view struct{ *model.Request }

// texts returns all text in the messages from the given one on, each followed by a line break.
func (v *view) texts(from int) string {
	var b strings.Builder
	for i := max(from, 0); i < len(v.Messages); i++ {
		writeTexts(&b, v.Messages[i].Parts)
	}
	return b.String()
}

func (v *view) hasTool(name string) bool {
	for _, t := range v.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (v *view) toolNames() string {
	var names []string
	for _, t := range v.Tools {
		names = append(names, t.Name)
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// result returns the result of the tool use with the given ID, or nil.
func (v *view) result(id string) *msg.ToolResult {
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(*msg.ToolResult); ok && r.ID == id {
				return r
			}
		}
	}
	return nil
}

func textOf(parts []msg.Part) string {
	var b strings.Builder
	writeTexts(&b, parts)
	return b.String()
}

func writeTexts(b *strings.Builder, parts []msg.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text:
			b.WriteString(p.Text)
			b.WriteByte('\n')
		case *msg.ToolResult:
			writeTexts(b, p.Parts)
		}
	}
}
