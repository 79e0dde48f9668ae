package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"adze/internal/msg"
)

// timeForm is RFC 3339 with milliseconds, in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// appendRecord appends e as a line. It uses field names that other readers of session files
// know; they ignore fields specific to adze.
func appendRecord(dst []byte, e msg.Entry, opt *Options) []byte {
	field := func(name, value string) { dst = appendField(dst, name, value) }
	dst = append(dst, `{"type":"`...)
	dst = append(dst, e.Message.Role...)
	dst = append(dst, '"')
	field("uuid", e.ID)
	if e.Parent == "" {
		dst = append(dst, `,"parentUuid":null`...)
	} else {
		field("parentUuid", e.Parent)
	}
	dst = append(dst, `,"isSidechain":false`...)
	field("sessionId", opt.Session)
	if opt.Agent != "" {
		field("agentId", opt.Agent)
	}
	field("timestamp", e.Time.UTC().Format(timeForm))
	field("cwd", opt.Dir)
	field("version", opt.Version)
	if opt.Branch != "" {
		field("gitBranch", opt.Branch)
	}
	if e.RequestID != "" {
		field("requestId", e.RequestID)
	}
	if e.Hidden {
		dst = append(dst, `,"isMeta":true`...)
	}
	if e.Aborted {
		dst = append(dst, `,"aborted":true`...)
	}
	for i, s := range e.Pasted {
		dst = append(dst, [...]string{`,"pasted":[`, `,`}[min(i, 1)]...)
		dst = fmt.Appendf(dst, `[%d,%d]`, s.From, s.To)
	}
	if len(e.Pasted) > 0 {
		dst = append(dst, ']')
	}
	dst = append(dst, `,"message":`...)
	if e.Message.Role == msg.Assistant {
		dst = appendAnswer(dst, e)
	} else {
		dst = msg.AppendMessage(dst, e.Message)
	}
	dst = appendStructured(dst, e)
	return append(dst, '}', '\n')
}

// appendAnswer appends the message of e in the provider's format.
func appendAnswer(dst []byte, e msg.Entry) []byte {
	dst = append(dst, `{"id":`...)
	dst = msg.AppendString(dst, e.ResponseID)
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	dst = msg.AppendString(dst, e.Model)
	dst = append(dst, `,"content":`...)
	dst = msg.AppendParts(dst, e.Message.Parts)
	dst = append(dst, `,"stop_reason":`...)
	if e.Stop == "" {
		dst = append(dst, "null"...)
	} else {
		dst = msg.AppendString(dst, e.Stop)
	}
	dst = append(dst, `,"stop_sequence":null`...)
	if e.Usage != nil {
		dst = append(dst, `,"usage":`...)
		dst = appendUsage(dst, e.Usage)
	}
	return append(dst, '}')
}

func appendUsage(dst []byte, u *msg.Usage) []byte {
	number := func(before string, n int) {
		dst = append(dst, before...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	number(`{"input_tokens":`, u.Input)
	number(`,"output_tokens":`, u.Output)
	number(`,"cache_creation_input_tokens":`, u.CacheWrite)
	number(`,"cache_read_input_tokens":`, u.CacheRead)
	if u.CacheWrite1h != 0 {
		number(`,"cache_creation":{"ephemeral_5m_input_tokens":`, u.CacheWrite-u.CacheWrite1h)
		number(`,"ephemeral_1h_input_tokens":`, u.CacheWrite1h)
		dst = append(dst, '}')
	}
	if u.WebSearches != 0 {
		number(`,"server_tool_use":{"web_search_requests":`, u.WebSearches)
		dst = append(dst, '}')
	}
	if u.Estimated {
		dst = append(dst, `,"estimated":true`...)
	}
	return append(dst, '}')
}

// appendStructured appends the structured results: the value itself if the message holds a
// single result, as readers expect, otherwise an object of values by tool-use ID.
func appendStructured(dst []byte, e msg.Entry) []byte {
	results := resultIDs(e.Message)
	if len(results) == 1 {
		if value, ok := e.Structured[results[0]]; ok {
			dst = append(dst, `,"toolUseResult":`...)
			dst = appendJSON(dst, value)
		}
		return dst
	}
	first := true
	for _, id := range results {
		value, ok := e.Structured[id]
		if !ok {
			continue
		}
		if first {
			dst = append(dst, `,"toolUseResult":{`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = msg.AppendString(dst, id)
		dst = append(dst, ':')
		dst = appendJSON(dst, value)
	}
	if !first {
		dst = append(dst, '}')
	}
	return dst
}

// appendJSON appends value on one line, or null if it is invalid, so that it cannot break the
// record.
func appendJSON(dst []byte, value json.RawMessage) []byte {
	buf := bytes.NewBuffer(dst)
	if err := json.Compact(buf, value); err != nil {
		return append(dst, "null"...)
	}
	return buf.Bytes()
}

func resultIDs(m msg.Message) []string {
	var ids []string
	for _, p := range m.Parts {
		if r, ok := p.(*msg.ToolResult); ok {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// structured reverses appendStructured.
func structured(m msg.Message, value json.RawMessage) map[string]json.RawMessage {
	results := resultIDs(m)
	switch {
	case len(value) == 0 || len(results) == 0:
		return nil
	case len(results) == 1:
		return map[string]json.RawMessage{results[0]: value}
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(value, &all) != nil {
		return nil // another program's single value for several results
	}
	return all
}
