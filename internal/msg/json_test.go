package msg_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/toolname"
	"adze/internal/msg"
)

func TestAppendString(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"plain", "a<b>&c", `"a<b>&c"`},
		{"quotes", `say "a\b"`, `"say \"a\\b\""`},
		{"line breaks", "a\nb\r\tc", `"a\nb\r\tc"`},
		{"control", "\x00\x1b\x7f", `"\u0000\u001b\u007f"`},
		{"separators", "a\u2028b\u2029", `"a\u2028b\u2029"`},
		{"unicode", "häß 漢 🙂", `"häß 漢 🙂"`},
		{"not UTF-8", "a\xffb\xc3", `"a\ufffdb\ufffd"`},
		{"the replacement character itself", "\uFFFD", "\"\uFFFD\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(msg.AppendString([]byte("x"), tt.in)); got != "x"+tt.want {
				t.Errorf("got %s, want x%s", got, tt.want)
			}
		})
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\nb\r\t\"\\", "\x00\x1f\x7f", "\u2028\u2029", "\xff\xc3", "🙂"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := msg.AppendString(nil, s)
		if bytes.ContainsAny(got, "\n\r\u2028\u2029") {
			t.Errorf("a raw line break in %q", got)
		}
		theirs, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%v in %q", err, got)
		}
		if err := json.Unmarshal(theirs, &b); err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("%q means %q, want %q", got, a, b)
		}
	})
}

func TestAppendPart(t *testing.T) {
	png := []byte{1, 2, 3}
	tests := []struct {
		name string
		part msg.Part
		want string
	}{
		{"text", &msg.Text{Text: "hi\n"}, `{"type":"text","text":"hi\n"}`},
		{"thinking", &msg.Thinking{Text: "hm", Signature: "s"}, `{"type":"thinking","thinking":"hm","signature":"s"}`},
		{"redacted", &msg.Redacted{Data: "x"}, `{"type":"redacted_thinking","data":"x"}`},
		{"use", msg.NewToolUse("t1", "Read", `{"a": 1}`), `{"type":"tool_use","id":"t1","name":"Read","input":{"a": 1}}`},
		{"use without input", &msg.ToolUse{ID: "t1", Name: "Read"}, `{"type":"tool_use","id":"t1","name":"Read","input":{}}`},
		{
			"use with line breaks", msg.NewToolUse("t1", "Read", "{\n\"a\": 1}"),
			`{"type":"tool_use","id":"t1","name":"Read","input":{"a":1},"input_text":"{\n\"a\": 1}"}`,
		},
		{
			"use with white space around", msg.NewToolUse("t1", "Read", ` {"a":1}`),
			`{"type":"tool_use","id":"t1","name":"Read","input": {"a":1},"input_text":" {\"a\":1}"}`,
		},
		{
			"malformed use", msg.NewToolUse("t1", "Read", `{"a`),
			`{"type":"tool_use","id":"t1","name":"Read","input":{},"malformed_input":"{\"a"}`,
		},
		{
			"result", &msg.ToolResult{ID: "t1", Parts: []msg.Part{&msg.Text{Text: "x"}}, IsError: true},
			`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}],"is_error":true}`,
		},
		{"image", &msg.Image{MediaType: "image/png", Data: png}, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}`},
		{
			"document", &msg.Document{MediaType: "application/pdf", Title: "a", Data: png},
			`{"type":"document","title":"a","source":{"type":"base64","media_type":"application/pdf","data":"AQID"}}`,
		},
		{"server", &msg.Server{Raw: json.RawMessage("{\"type\":\"server_tool_use\",\n\"id\":\"s\"}")}, `{"type":"server_tool_use","id":"s"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(msg.AppendPart(nil, tt.part))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// sent returns m as encoded in a request.
func sent(t interface{ Fatal(...any) }, m msg.Message) string {
	body, err := new(messages.Encoder).Encode(&model.Request{Messages: []msg.Message{m}}, nil)
	var request struct{ Messages []json.RawMessage }
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(request.Messages[0])
}

// Proves PROV-10.
func TestUnknownBlockIsKeptAndNotSent(t *testing.T) {
	tests := []struct{ name, raw, log string }{
		{"plain", `{"type":"future_block","x":[1,2]}`, ""},
		{"with line breaks", "{\"type\":\"future_block\",\r\n \"x\": 1}", `{"type":"future_block","x":1}`},
		{"our names for other types", `{"type":"search_result","source":"https://example.org","text":{"a":1},"id":5}`, ""},
		{"image by reference", `{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}`, ""},
		{"image that is not base64", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := msg.ParsePart(json.RawMessage(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(msg.Part(&msg.Opaque{Raw: json.RawMessage(tt.raw)}), p); diff != "" {
				t.Fatalf("parsed (-want +got):\n%s", diff)
			}
			if tt.log == "" {
				tt.log = tt.raw
			}
			m := msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "a"}, p, &msg.Text{Text: "b"}}}
			if want := `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`; sent(t, m) != want {
				t.Errorf("sent as %s, want %s", sent(t, m), want)
			}
			log := string(msg.AppendMessage(nil, m))
			if want := `{"role":"assistant","content":[{"type":"text","text":"a"},` + tt.log + `,{"type":"text","text":"b"}]}`; log != want {
				t.Errorf("log form is %s, want %s", log, want)
			}
		})
	}
}

func TestParsePartRefuses(t *testing.T) {
	for _, raw := range []string{``, `{`, `null`, `5`, `[]`, `{}`, `{"type":5}`, `{"type":"text","text":5}`, `{"type":"tool_result","content":5}`, `{"type":"tool_result","content":[{}]}`} {
		if p, err := msg.ParsePart(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was read as %T", raw, p)
		}
	}
}

func TestParseMessage(t *testing.T) {
	tests := []struct {
		name, in string
		want     msg.Message
		err      string
	}{
		{name: "string", in: `{"role":"user","content":"hi"}`, want: msg.UserText("hi")},
		{name: "blocks", in: `{"role":"user","content":[{"type":"text","text":"hi"}]}`, want: msg.UserText("hi")},
		{name: "null", in: `{"role":"assistant","content":null}`, want: msg.Message{Role: msg.Assistant}},
		{name: "nothing", in: `{"role":"assistant"}`, want: msg.Message{Role: msg.Assistant}},
		{name: "other role", in: `{"role":"system","content":"x"}`, err: "neither user nor assistant"},
		{name: "number", in: `{"role":"user","content":5}`, err: "neither a string nor a list"},
		{name: "bad block", in: `{"role":"user","content":[{"type":"text"},{}]}`, err: "content block 1: block without a type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got msg.Message
			err := json.Unmarshal([]byte(tt.in), &got)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewToolUse checks that input that is not an object is kept for the error message and that
// a request built from the use stays valid.
//
// Proves LOOP-12.
func TestNewToolUse(t *testing.T) {
	tests := []struct{ name, in, input, malformed string }{
		{"object", `{"a":1}`, `{"a":1}`, ""},
		{"nothing", ``, `{}`, ""},
		{"white space kept", " {}\n", " {}\n", ""},
		{"cut off", `{"a":`, `{}`, `{"a":`},
		{"array", `[1]`, `{}`, `[1]`},
		{"null", `null`, `{}`, `null`},
		{"two objects", `{}{}`, `{}`, `{}{}`},
		{"blank", `  `, `{}`, `  `},
		{"prose", `the file a.txt`, `{}`, `the file a.txt`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := msg.NewToolUse("t1", "Read", tt.in)
			want := &msg.ToolUse{ID: "t1", Name: "Read", Input: json.RawMessage(tt.input), Malformed: tt.malformed}
			if diff := cmp.Diff(want, u); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if line := msg.AppendPart(nil, u); !json.Valid(line) {
				t.Errorf("not JSON: %s", line)
			}
		})
	}
}

// jsonObject draws an object as a model might write it, with white space anywhere.
func jsonObject() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", " ", "\n", "\r\n\t"})
	return rapid.Custom(func(t *rapid.T) string {
		key := string(msg.AppendString(nil, rapid.String().Draw(t, "key")))
		value := string(msg.AppendString(nil, rapid.String().Draw(t, "value")))
		return strings.Join([]string{"", "{", key, ":", value, "}", ""}, space.Draw(t, "space"))
	})
}

// somePart draws a part of any kind. Parts inside results are restricted to the kinds results
// may hold.
func somePart() *rapid.Generator[msg.Part] {
	return rapid.Custom(func(t *rapid.T) msg.Part {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return &msg.Thinking{Text: rapid.String().Draw(t, "thought"), Signature: rapid.String().Draw(t, "signature")}
		case 1:
			return &msg.Redacted{Data: rapid.String().Draw(t, "data")}
		case 2:
			input := rapid.OneOf(jsonObject(), rapid.String()).Draw(t, "input")
			return msg.NewToolUse(rapid.String().Draw(t, "id"), rapid.String().Draw(t, "name"), input)
		case 3:
			return &msg.ToolResult{
				ID: rapid.String().Draw(t, "id"), IsError: rapid.Bool().Draw(t, "error"),
				Parts: rapid.SliceOfN(resultPart(), 0, 3).Draw(t, "parts"),
			}
		case 4:
			return &msg.Server{Raw: json.RawMessage(`{"type":"server_tool_use","input":` + strings.TrimSpace(jsonObject().Draw(t, "raw")) + `}`)}
		case 5:
			return &msg.Opaque{Raw: json.RawMessage(`{"type":"future_block","text":` + strings.TrimSpace(jsonObject().Draw(t, "raw")) + `}`)}
		}
		return resultPart().Draw(t, "part")
	})
}

func resultPart() *rapid.Generator[msg.Part] {
	return rapid.Custom(func(t *rapid.T) msg.Part {
		data := rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "data")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return &msg.Image{MediaType: "image/png", Data: data}
		case 1:
			return &msg.Document{MediaType: "application/pdf", Title: rapid.String().Draw(t, "title"), Data: data}
		}
		return &msg.Text{Text: rapid.String().Draw(t, "text")}
	})
}

// compact returns p as read back from the log: verbatim blocks with line breaks lose the white
// space between tokens.
func compact(p msg.Part) msg.Part {
	one := func(raw json.RawMessage) json.RawMessage {
		if !bytes.ContainsAny(raw, "\r\n") {
			return raw
		}
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			panic(err)
		}
		return b.Bytes()
	}
	switch p := p.(type) {
	case *msg.Server:
		return &msg.Server{Raw: one(p.Raw)}
	case *msg.Opaque:
		return &msg.Opaque{Raw: one(p.Raw)}
	}
	return p
}

func TestEveryPartSurvivesTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := somePart().Draw(t, "part")
		line := msg.AppendPart(nil, p)
		if bytes.ContainsAny(line, "\r\n") {
			t.Fatalf("a record is more than a line: %q", line)
		}
		back, err := msg.ParsePart(line)
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if diff := cmp.Diff(compact(p), back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if again := msg.AppendPart(nil, back); !bytes.Equal(line, again) {
			t.Fatalf("written again: %s\nbefore:        %s", again, line)
		}
	})
}

// idSent returns the ID sent for a call, which differs from id if the server would reject it.
func idSent(id string) string {
	if regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(id) {
		return id
	}
	return toolname.Restrict(id)
}

// Proves PROV-10.
func TestEveryPartSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := msg.Message{Role: msg.Assistant, Parts: rapid.SliceOfN(somePart(), 0, 6).Draw(t, "parts")}
		body := sent(t, m)
		var back msg.Message
		if err := json.Unmarshal([]byte(body), &back); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		var want []msg.Part
		for _, p := range m.Parts {
			if msg.DialectOf(p) != "" {
				continue // reasoning for another dialect
			}
			switch q := p.(type) {
			case *msg.Opaque:
				continue
			case *msg.ToolUse: // malformed input is never sent
				p = msg.NewToolUse(idSent(q.ID), q.Name, strings.TrimSpace(string(q.Input)))
			case *msg.ToolResult:
				p = &msg.ToolResult{ID: idSent(q.ID), Parts: q.Parts, IsError: q.IsError}
			}
			want = append(want, compact(p))
		}
		if len(want) == 0 {
			return // a placeholder text replaces an empty message
		}
		if diff := cmp.Diff(want, back.Parts, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzParsePart(f *testing.F) {
	for _, s := range []string{
		`{"type":"text","text":"hi"}`, `{"type":"thinking","thinking":"a","signature":"b"}`, `{"type":"redacted_thinking","data":"x"}`,
		`{"type":"tool_use","id":"t","name":"Read","input":{"a":1}}`, "{\"type\":\"tool_use\",\"input\":{\n}}", `{"type":"tool_use","input":[1]}`,
		`{"type":"tool_use","input":{},"input_text":"{\n}","malformed_input":"x"}`,
		`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}],"is_error":true}`, `{"type":"tool_result","content":"x"}`,
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}`, `{"type":"image","source":{"type":"url"}}`,
		`{"type":"document","title":"a","source":{"type":"base64","data":""}}`, "{\"type\":\n\"server_tool_use\"}", `{"type":"new","text":5}`, `{"type":""}`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := msg.ParsePart(data)
		if err != nil {
			return
		}
		line := msg.AppendPart(nil, p)
		if bytes.ContainsRune(line, '\n') {
			t.Fatalf("a record is more than a line: %q", line)
		}
		back, err := msg.ParsePart(line)
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		// A JSON string cannot hold invalid UTF-8; once replaced, the bytes are stable.
		if !utf8.Valid(data) {
			p = back
			line = msg.AppendPart(nil, p)
			if back, err = msg.ParsePart(line); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(compact(p), back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
