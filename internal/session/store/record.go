package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"adze/internal/msg"
)

// timeForm is RFC 3339 with milliseconds, in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// appendRecord appends e as one line. The names of the fields are those that readers of session
// files know; they ignore the ones that are adze's own.
func appendRecord(dst []byte, e msg.Entry, opt *Options) []byte {
	field := func(name, value string) {
		dst = append(dst, `,"`...)
		dst = append(dst, name...)
		dst = append(dst, `":`...)
		dst = msg.AppendString(dst, value)
	}
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
	dst = append(dst, `,"message":`...)
	if e.Message.Role == msg.Assistant {
		dst = appendAnswer(dst, e)
	} else {
		dst = msg.AppendMessage(dst, e.Message, msg.Log)
	}
	dst = appendStructured(dst, e)
	return append(dst, '}', '\n')
}

// appendAnswer appends the message of e as the provider would have sent it.
func appendAnswer(dst []byte, e msg.Entry) []byte {
	dst = append(dst, `{"id":`...)
	dst = msg.AppendString(dst, e.ResponseID)
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	dst = msg.AppendString(dst, e.Model)
	dst = append(dst, `,"content":`...)
	dst = msg.AppendParts(dst, e.Message.Parts, msg.Log)
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

// appendStructured appends the structured results: the value itself when the message holds one
// result, as readers expect, and else an object of values by tool use id.
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

// appendJSON appends value on one line. What is not JSON must not break the record it is part of.
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

// A record is a line as it is read. The message is kept apart: most lines of a foreign log may have
// one of a form that is none of our business.
type record struct {
	Type        string          `json:"type"`
	UUID        string          `json:"uuid"`
	ParentUUID  string          `json:"parentUuid"`
	IsSidechain bool            `json:"isSidechain"`
	Timestamp   string          `json:"timestamp"`
	RequestID   string          `json:"requestId"`
	IsMeta      bool            `json:"isMeta"`
	Aborted     bool            `json:"aborted"`
	Message     json.RawMessage `json:"message"`
	Result      json.RawMessage `json:"toolUseResult"`
}

type answer struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      *usage          `json:"usage"`
}

type usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Lifetimes  struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Server struct {
		WebSearches int `json:"web_search_requests"`
	} `json:"server_tool_use"`
	Estimated bool `json:"estimated"`
}

// entry returns what the record says, and whether its id or its time had to be made up.
func (r *record) entry() (_ msg.Entry, made bool, err error) {
	var a answer
	if err := json.Unmarshal(r.Message, &a); err != nil {
		return msg.Entry{}, false, fmt.Errorf("message: %w", err)
	}
	parts, err := msg.ParseParts(a.Content)
	if err != nil {
		return msg.Entry{}, false, fmt.Errorf("message: %w", err)
	}
	e := msg.Entry{
		ID: r.UUID, Parent: r.ParentUUID, Hidden: r.IsMeta, Aborted: r.Aborted,
		Message: msg.Message{Role: msg.Role(r.Type), Parts: parts},
	}
	if e.Message.Role == msg.Assistant {
		e.Model, e.ResponseID, e.RequestID, e.Stop = a.Model, a.ID, r.RequestID, a.StopReason
		e.Usage = a.Usage.usage()
	}
	e.Structured = structured(e.Message, r.Result)
	if e.ID == "" {
		e.ID, made = msg.NewID(), true
	}
	if e.Time, err = time.Parse(time.RFC3339Nano, r.Timestamp); err != nil {
		e.Time, made = time.Now(), true
	}
	e.Time = e.Time.UTC()
	return e, made, nil
}

func (u *usage) usage() *msg.Usage {
	if u == nil {
		return nil
	}
	return &msg.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWrite1h: u.Lifetimes.Hour, WebSearches: u.Server.WebSearches, Estimated: u.Estimated,
	}
}

// structured is the reverse of appendStructured.
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
		return nil // of another program, which has one value for several results
	}
	return all
}
