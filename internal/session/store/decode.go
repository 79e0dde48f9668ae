package store

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A Record is the metadata of a log line.
type Record struct {
	// Type is user or assistant for messages, otherwise the kind of the record.
	Type, Subtype string
	ID, Parent    string
	// Root is true if the record explicitly has a null parent.
	Root      bool
	Sidechain bool
	Session   string
	Time      string
	// Dir, Branch and Version are the values when the record was written.
	Dir, Branch, Version string
	// Line is the complete record without the newline.
	Line []byte
}

// ParseRecord reads the metadata of line. The record refers to line.
func ParseRecord(line []byte) (Record, error) {
	r := Record{Line: line}
	c := jsonscan.Lazy(line)
	for key := range c.Members {
		switch string(key) {
		case "type":
			r.Type = c.String()
		case "subtype":
			r.Subtype = c.String()
		case "uuid":
			r.ID = c.String()
		case "parentUuid":
			r.Root = c.Kind() == 'n'
			r.Parent = c.String()
		case "isSidechain":
			r.Sidechain = c.Bool()
		case "sessionId":
			r.Session = c.String()
		case "timestamp":
			r.Time = c.String()
		case "cwd":
			r.Dir = c.String()
		case "gitBranch":
			r.Branch = c.String()
		case "version":
			r.Version = c.String()
		default:
			c.Skip()
		}
	}
	if err := c.End(); err != nil {
		return Record{}, err
	}
	return r, nil
}

// Message reports whether the record is a message of the main conversation.
func (r *Record) Message() bool {
	return !r.Sidechain && (r.Type == string(msg.User) || r.Type == string(msg.Assistant))
}

// Entry returns the message, with its structured results.
func (r *Record) Entry() (msg.Entry, error) {
	e, _, err := decodeEntry(r.Line, true)
	return e, err
}

var errNoMessage = errors.New("the record has no message")

// decodeEntry decodes a message in a single pass, and reports whether its ID or its time had to
// be generated.
func decodeEntry(line []byte, withStructured bool) (e msg.Entry, made bool, err error) {
	var d decoder
	c := jsonscan.Lazy(line)
	for key := range c.Members {
		d.field(&c, string(key), withStructured)
	}
	switch {
	case d.err != nil:
		return msg.Entry{}, false, d.err
	case c.End() != nil:
		return msg.Entry{}, false, c.End()
	case !d.message:
		return msg.Entry{}, false, errNoMessage
	}
	return d.entry()
}

// A decoder collects the fields of a message.
type decoder struct {
	e          msg.Entry
	time       string
	structured json.RawMessage
	message    bool
	err        error
}

func (d *decoder) field(c *jsonscan.Scanner, key string, withStructured bool) {
	e := &d.e
	switch key {
	case "type":
		e.Message.Role = role(c.String())
	case "uuid":
		e.ID = c.String()
	case "parentUuid":
		e.Parent = c.String()
	case "timestamp":
		d.time = c.String()
	case "requestId":
		e.RequestID = c.String()
	case "isMeta":
		e.Hidden = c.Bool()
	case "aborted":
		e.Aborted = c.Bool()
	case "pasted":
		for c.Array(); c.Element(); {
			s, n := [2]int{}, 0
			for c.Array(); c.Element(); n++ {
				s[min(n, 1)] = c.Int()
			}
			e.Pasted = append(e.Pasted, msg.Span{From: s[0], To: s[1]})
		}
	case "message":
		d.message = true
		d.readMessage(c)
	case "toolUseResult":
		if withStructured {
			d.structured = c.Value()
			return
		}
		c.Skip()
	default:
		c.Skip()
	}
}

// role returns a constant instead of a copy of s.
func role(s string) msg.Role {
	if s == string(msg.Assistant) {
		return msg.Assistant
	}
	return msg.User
}

func (d *decoder) readMessage(c *jsonscan.Scanner) {
	for key := range c.Members {
		switch string(key) {
		case "content":
			d.e.Message.Parts, d.err = decodeParts(c)
			if d.err != nil {
				return
			}
		case "id":
			d.e.ResponseID = c.String()
		case "model":
			d.e.Model = c.String()
		case "stop_reason":
			d.e.Stop = c.String()
		case "usage":
			d.e.Usage = decodeUsage(c)
		default:
			c.Skip()
		}
	}
}

// entry assembles the decoded entry.
func (d *decoder) entry() (_ msg.Entry, made bool, err error) {
	e := d.e
	if e.Message.Role == msg.User {
		e.Model, e.ResponseID, e.RequestID, e.Stop, e.Usage = "", "", "", "", nil
	}
	e.Structured = structured(e.Message, d.structured)
	if e.ID == "" {
		e.ID, made = msg.NewID(), true
	}
	if e.Time, err = time.Parse(time.RFC3339Nano, d.time); err != nil {
		e.Time, made = time.Now(), true
	}
	e.Time = e.Time.UTC()
	return e, made, nil
}

func decodeParts(c *jsonscan.Scanner) ([]msg.Part, error) {
	switch c.Kind() {
	case '"':
		return []msg.Part{&msg.Text{Text: c.String()}}, nil
	case 'n':
		c.Skip()
		return nil, nil
	}
	var parts []msg.Part
	for c.Array(); c.Element(); {
		before := *c
		p, ok := decodePart(c)
		if !ok || c.Err() != nil {
			// Not in the form that adze writes: use the general decoder.
			*c = before
			raw := c.Skip()
			if c.Err() != nil {
				break
			}
			var err error
			if p, err = msg.ParsePart(raw); err != nil {
				return nil, err
			}
		}
		parts = append(parts, p)
	}
	return parts, c.Err()
}

// decodePart decodes a common kind of part if its type comes first.
func decodePart(c *jsonscan.Scanner) (msg.Part, bool) {
	if c.Kind() != '{' || !c.Object() {
		return nil, false
	}
	if key, ok := c.Member(); !ok || string(key) != "type" || c.Kind() != '"' {
		return nil, false
	}
	switch c.String() {
	case "text":
		p := &msg.Text{}
		return p, fields(c, func(key string) *string {
			if key == "text" {
				return &p.Text
			}
			return nil
		})
	case "thinking":
		p := &msg.Thinking{}
		return p, fields(c, func(key string) *string {
			switch key {
			case "thinking":
				return &p.Text
			case "signature":
				return &p.Signature
			}
			return nil
		})
	case "tool_use":
		return decodeUse(c)
	case "tool_result":
		return decodeResult(c)
	case "image":
		return decodeImage(c)
	}
	return nil, false
}

// fields reads the strings of an object that have a place, and skips the rest.
func fields(c *jsonscan.Scanner, place func(key string) *string) bool {
	for key := range c.Remaining {
		if p := place(string(key)); p != nil {
			*p = c.String()
		} else {
			c.Skip()
		}
	}
	return c.Err() == nil
}

func decodeUse(c *jsonscan.Scanner) (msg.Part, bool) {
	var id, name, text, malformed string
	var input []byte
	for key := range c.Remaining {
		switch string(key) {
		case "id":
			id = c.String()
		case "name":
			name = c.String()
		case "input":
			input = c.Skip()
		case "input_text":
			text = c.String()
		case "malformed_input":
			malformed = c.String()
		default:
			c.Skip()
		}
	}
	if c.Err() != nil {
		return nil, false
	}
	if text == "" {
		text = string(input)
	}
	u := msg.NewToolUse(id, name, text)
	if u.Malformed == "" {
		u.Malformed = malformed
	}
	return u, true
}

func decodeResult(c *jsonscan.Scanner) (msg.Part, bool) {
	p := &msg.ToolResult{}
	for key := range c.Remaining {
		switch string(key) {
		case "tool_use_id":
			p.ID = c.String()
		case "is_error":
			p.IsError = c.Bool()
		case "content":
			var err error
			if p.Parts, err = decodeParts(c); err != nil {
				return nil, false
			}
		default:
			c.Skip()
		}
	}
	return p, c.Err() == nil
}

func decodeImage(c *jsonscan.Scanner) (msg.Part, bool) {
	p := &msg.Image{}
	found := false
	for key := range c.Remaining {
		if string(key) != "source" {
			c.Skip()
			continue
		}
		var kind string
		for key := range c.Members {
			switch string(key) {
			case "type":
				kind = c.String()
			case "media_type":
				p.MediaType = c.String()
			case "data":
				p.Data, found = decodeBase64(c)
			default:
				c.Skip()
			}
		}
		found = found && kind == "base64"
	}
	return p, found && c.Err() == nil
}

// decodeBase64 decodes data in place, because pictures are large.
func decodeBase64(c *jsonscan.Scanner) ([]byte, bool) {
	if c.Kind() != '"' {
		return nil, false
	}
	raw := c.Skip()
	if len(raw) < 2 {
		return nil, false
	}
	data, err := base64.StdEncoding.AppendDecode(make([]byte, 0, len(raw)*3/4), raw[1:len(raw)-1])
	return data, err == nil
}

func decodeUsage(c *jsonscan.Scanner) *msg.Usage {
	if c.Kind() != '{' {
		c.Skip()
		return nil
	}
	u := &msg.Usage{}
	inside := func(name string, n *int) {
		if c.Kind() != '{' {
			c.Skip()
			return
		}
		for key := range c.Members {
			if string(key) == name {
				*n = c.Int()
			} else {
				c.Skip()
			}
		}
	}
	for key := range c.Members {
		switch string(key) {
		case "input_tokens":
			u.Input = c.Int()
		case "output_tokens":
			u.Output = c.Int()
		case "cache_creation_input_tokens":
			u.CacheWrite = c.Int()
		case "cache_read_input_tokens":
			u.CacheRead = c.Int()
		case "cache_creation":
			inside("ephemeral_1h_input_tokens", &u.CacheWrite1h)
		case "server_tool_use":
			inside("web_search_requests", &u.WebSearches)
		case "estimated":
			u.Estimated = c.Bool()
		default:
			c.Skip()
		}
	}
	return u
}
