package messages

import (
	"adze/internal/model/toolname"
	"adze/internal/msg"
)

// appendPart appends p as a content block. The log uses the same blocks as the dialect, except
// for tool input, which is sent as the model wrote it, or omitted if malformed. An [msg.Opaque]
// part is not sent.
func appendPart(dst []byte, p msg.Part) []byte {
	switch p := p.(type) {
	case *msg.ToolUse:
		dst = append(dst, `{"type":"tool_use","id":`...)
		dst = msg.AppendString(dst, callID(p.ID))
		dst = append(dst, `,"name":`...)
		dst = msg.AppendString(dst, p.Name)
		dst = append(dst, `,"input":`...)
		if len(p.Input) == 0 {
			dst = append(dst, '{', '}')
		}
		dst = append(dst, p.Input...)
	case *msg.ToolResult:
		dst = append(dst, `{"type":"tool_result","tool_use_id":`...)
		dst = msg.AppendString(dst, callID(p.ID))
		dst = append(dst, `,"content":[`...)
		dst = appendParts(dst, p.Parts)
		dst = append(dst, ']')
		if p.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
	default:
		return msg.AppendPart(dst, p)
	}
	return append(dst, '}')
}

// callID returns a call ID that the server accepts. IDs of other providers may be longer or
// have other characters.
func callID(id string) string {
	if validName(id) {
		return id
	}
	return toolname.Restrict(id)
}

// appendParts appends the sendable parts, comma-separated.
func appendParts(dst []byte, parts []msg.Part) []byte {
	sep := ""
	for _, p := range parts {
		if _, ok := p.(*msg.Opaque); ok {
			continue
		}
		dst = appendPart(append(dst, sep...), p)
		sep = ","
	}
	return dst
}
