package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// request returns a request whose conversation has the given number of turns, each a prompt, a
// tool use, its result and an answer.
func request(turns int) *model.Request {
	r := &model.Request{
		Model: "m-1", MaxTokens: 4096,
		System: []msg.Part{&msg.Text{Text: "adze/1"}, &msg.Text{Text: "You are an agent."}},
		Tools: []msg.ToolSpec{
			{Name: "Read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "Edit", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`), Strict: true},
		},
		Cache: []model.Mark{{Place: model.InSystem, Index: 1}, {Place: model.InTools, Index: 1}, {Place: model.InMessages}},
	}
	r.Messages = append(r.Messages, msg.UserText("start"))
	for i := range turns {
		r.Messages = append(r.Messages, turn(i)...)
	}
	return r
}

func turn(i int) []msg.Message {
	id := fmt.Sprintf("toolu_%d", i)
	return []msg.Message{
		{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Thinking{Text: "hm", Signature: "sig"},
			msg.NewToolUse(id, "Read", `{ "path" : "a.go" }`),
		}},
		{Role: msg.User, Parts: []msg.Part{
			&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: strings.Repeat("package a\n", 400)}}},
			&msg.Text{Text: "go on"},
		}},
	}
}

// TestEncodeGolden covers key order, options, metadata, marks and extra parameters.
//
// Proves PROV-31, PROV-62, CTX-13.
func TestEncodeGolden(t *testing.T) {
	r := request(0)
	r.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: 2048}
	r.Effort = model.EffortHigh
	r.UserID = "device_1_session_2"
	r.Cache[0].Hour, r.Cache[0].Global = true, true

	const rest = `,"system":[{"type":"text","text":"adze/1"},` +
		`{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral","ttl":"1h","scope":"global"}}],` +
		`"tools":[{"name":"Read","description":"Reads.","input_schema":{"type":"object"}},` +
		`{"name":"Edit","input_schema":{"type":"object","additionalProperties":false},"strict":true,"cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"start","cache_control":{"type":"ephemeral"}}]}]}`
	tests := []struct {
		name   string
		change func(*model.Request)
		extra  string
		want   string
	}{
		{"all", func(*model.Request) {}, "",
			`{"model":"m-1","max_tokens":4096,"stream":true,"thinking":{"type":"enabled","budget_tokens":2048},` +
				`"output_config":{"effort":"high"},"metadata":{"user_id":"device_1_session_2"}` + rest},
		{"whole answer, adaptive", func(r *model.Request) {
			r.NoStream, r.UserID, r.Effort = true, "", ""
			r.Thinking = model.Thinking{Mode: model.ThinkingAdaptive}
		}, "", `{"model":"m-1","max_tokens":4096,"thinking":{"type":"adaptive"}` + rest},
		{"a forced tool leaves no room for thinking", func(r *model.Request) {
			r.Choice.Name = "Read"
		}, "", `{"model":"m-1","max_tokens":4096,"stream":true,"output_config":{"effort":"high"},` +
			`"metadata":{"user_id":"device_1_session_2"},"tool_choice":{"type":"tool","name":"Read"}` + rest},
		{"a form for the answer", func(r *model.Request) {
			r.UserID, r.Thinking, r.Format = "", model.Thinking{}, json.RawMessage(`{"type":"object"}`)
		}, "", `{"model":"m-1","max_tokens":4096,"stream":true,` +
			`"output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}}}` + rest},
		{"extra adds and replaces", func(r *model.Request) {
			r.UserID, r.Effort, r.Thinking = "", "", model.Thinking{}
		}, `{"temperature": 0.5, "max_tokens":7}`,
			`{"model":"m-1","max_tokens":7,"stream":true,"temperature":0.5` + rest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := *r
			tt.change(&req)
			var e Encoder
			for range 2 { // encoding is deterministic
				got, err := e.Encode(&req, json.RawMessage(tt.extra))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, string(got)); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestEncodeExtraErrors(t *testing.T) {
	for _, extra := range []string{`[]`, `{`, `{"messages":[]}`, `{"stream":false}`, `{} x`} {
		var e Encoder
		if body, err := e.Encode(request(0), json.RawMessage(extra)); err == nil {
			t.Errorf("extra %s gives %s, want an error", extra, body)
		}
	}
}

// unmarked removes the cache marks from a body.
func unmarked(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// prefix returns a body's system prompt, tools and messages without marks, up to the end of the
// last message.
func prefix(body []byte) []byte {
	body = unmarked(body)
	return bytes.TrimSuffix(body[bytes.Index(body, []byte(`"system":`)):], []byte("]}"))
}

// TestEncodePrefix checks that request n is a byte prefix of request n+1, even as the mark
// moves.
//
// Proves LOOP-11, CTX-15.
func TestEncodePrefix(t *testing.T) {
	var e Encoder
	full := request(8)
	var before []byte
	for n := 1; n <= len(full.Messages); n += 2 {
		r := *full
		r.Messages = full.Messages[:n]
		r.MaxTokens += n // options may change, the conversation may not
		body, err := e.Encode(&r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(body); err != nil {
			t.Errorf("request with %d messages: %v", n, err)
		}
		if got := bytes.Count(body, []byte("cache_control")); got != 3 {
			t.Errorf("request with %d messages has %d marks, want 3", n, got)
		}
		if !bytes.HasPrefix(prefix(body), before) {
			t.Errorf("request with %d messages does not begin with the one before", n)
		}
		before = prefix(body)

		var fresh Encoder
		again, _ := fresh.Encode(&r, nil)
		if !bytes.Equal(body, again) {
			t.Errorf("request with %d messages: kept and fresh encoding differ", n)
		}
	}
	if !bytes.Contains(before, []byte(`"input":{ "path" : "a.go" }`)) {
		t.Error("the input of a tool use is not the model's bytes")
	}
}

// TestEncodeNoticesChange checks that a changed message is noticed anywhere, and so is a
// shorter conversation.
func TestEncodeNoticesChange(t *testing.T) {
	var e Encoder
	r := request(3)
	if _, err := e.Encode(r, nil); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*model.Request){
		func(r *model.Request) { r.Messages[2] = msg.UserText("other") },
		func(r *model.Request) { r.Messages = r.Messages[:3] },
		func(r *model.Request) { r.Messages = request(5).Messages },
		func(r *model.Request) { r.Messages = nil },
	} {
		changed := *r
		changed.Messages = append([]msg.Message(nil), r.Messages...)
		change(&changed)
		var fresh Encoder
		want, _ := fresh.Encode(&changed, nil)
		got, err := e.Encode(&changed, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	if e.Continues(r) || e.Continues(&model.Request{}) {
		t.Error("an encoder without messages continues nothing")
	}
}

// TestEncodeMarks checks that there are at most four marks, that message marks are dropped
// first, and that thinking never carries a mark.
//
// Proves CTX-15.
func TestEncodeMarks(t *testing.T) {
	sys, tool, last := model.InSystem, model.InTools, model.InMessages
	tests := []struct {
		name  string
		cache []model.Mark
		want  string // system marks, tool marks, message marks
	}{
		{"none", nil, "0 0 0"},
		{"usual", []model.Mark{{Place: sys, Index: 1}, {Place: tool, Index: 1}, {Place: last}}, "1 1 1"},
		{"the message goes first", []model.Mark{{Place: last}, {Place: tool, Index: 0}, {Place: tool, Index: 1}, {Place: sys, Index: 0}, {Place: sys, Index: 1}}, "2 2 0"},
		{"then a tool", []model.Mark{{Place: last}, {Place: tool, Index: 0}, {Place: tool, Index: 1}, {Place: sys, Index: 0}, {Place: sys, Index: 1}, {Place: sys, Index: 3}}, "3 1 0"},
		{"doubles count once", []model.Mark{{Place: last, Index: 9}, {Place: last}, {Place: sys, Index: 1}, {Place: sys, Index: 1}}, "1 0 1"},
		{"nowhere", []model.Mark{{Place: sys, Index: 2}, {Place: sys, Index: 7}, {Place: sys, Index: -1}, {Place: tool, Index: 5}}, "0 0 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request(1)
			r.System = append(r.System, &msg.Text{}, &msg.Text{Text: "more"}) // empty texts are not sent
			r.Cache = tt.cache
			var e Encoder
			body, err := e.Encode(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(body); err != nil {
				t.Error(err)
			}
			var parts struct{ System, Tools, Messages json.RawMessage }
			if err := json.Unmarshal(body, &parts); err != nil {
				t.Fatal(err)
			}
			count := func(raw []byte) int { return bytes.Count(raw, []byte("cache_control")) }
			got := fmt.Sprint(count(parts.System), count(parts.Tools), count(parts.Messages))
			if got != tt.want {
				t.Errorf("marks %q, want %q\n%s", got, tt.want, body)
			}
		})
	}
}

// TestEncodeMarksReachBack checks that if a response had more calls than the 20 blocks a server
// looks back from a mark, the previous request's mark is kept, if there is one to spare.
//
// Proves CTX-15.
func TestEncodeMarksReachBack(t *testing.T) {
	for _, tt := range []struct {
		calls, others int // calls in the last response, marks elsewhere
		want          []int
	}{
		{1, 2, []int{2}}, {9, 2, []int{2}}, {10, 2, []int{2}}, {11, 2, []int{0, 2}}, {30, 2, []int{0, 2}}, {30, 3, []int{2}},
	} {
		r := request(0)
		uses, results := msg.Message{Role: msg.Assistant}, msg.Message{Role: msg.User}
		for i := range tt.calls {
			id := fmt.Sprint("toolu_", i)
			uses.Parts = append(uses.Parts, msg.NewToolUse(id, "Read", "{}"))
			results.Parts = append(results.Parts, &msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: "x"}}})
		}
		r.Messages = append(r.Messages, uses, results)
		r.Cache = []model.Mark{{Place: model.InMessages}, {Place: model.InSystem}, {Place: model.InTools}, {Place: model.InTools, Index: 1}}[:1+tt.others]
		var e Encoder
		body, err := e.Encode(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(body); err != nil {
			t.Error(err)
		}
		var sent struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		var got []int
		for i, m := range sent.Messages {
			if bytes.Contains(m, []byte("cache_control")) {
				got = append(got, i)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%d calls, %d other marks: %s", tt.calls, tt.others, diff)
		}
	}
}

// TestEncodeMarksBranch checks that conversations that continue from the same results are
// marked before the text that distinguishes them, and at the usual place in later requests.
//
// Proves AGENT-03.
func TestEncodeMarksBranch(t *testing.T) {
	text := func(s string) msg.Part { return &msg.Text{Text: s} }
	result := func(id, s string) msg.Part { return &msg.ToolResult{ID: id, Parts: []msg.Part{text(s)}} }
	user := func(parts ...msg.Part) msg.Message { return msg.Message{Role: msg.User, Parts: parts} }
	uses := func(id string) msg.Message {
		return msg.Message{Role: msg.Assistant, Parts: []msg.Part{msg.NewToolUse(id, "Read", "{}")}}
	}
	for _, tt := range []struct {
		name     string
		messages []msg.Message
		want     string // content of the marked block
	}{
		{"the first request", []msg.Message{user(text("a")), uses("t1"), user(result("t1", "pending"), text("part one"))}, "pending"},
		{"a later one", []msg.Message{user(text("a")), uses("t1"), user(result("t1", "pending"), text("part one")), uses("t2"), user(result("t2", "found"))}, "found"},
		{"no results", []msg.Message{user(text("a"), text("b"))}, "b"},
	} {
		r := request(0)
		r.Messages, r.Cache = tt.messages, []model.Mark{{Place: model.InMessages, Branch: true}}
		body, err := new(Encoder).Encode(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(body); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		before, _, found := strings.Cut(string(body), `,"cache_control":{"type":"ephemeral"}`)
		if marked := before[max(0, len(before)-60):]; !found || bytes.Count(body, []byte("cache_control")) != 1 || !strings.Contains(marked, `"`+tt.want+`"`) {
			t.Errorf("%s: the mark is behind %s", tt.name, marked)
		}
	}
}

// TestEncodeMarkBeforeWhatPasses checks that a side question has its mark where the
// conversation's last request had it.
//
// Proves CTX-15.
func TestEncodeMarkBeforeWhatPasses(t *testing.T) {
	text := func(s string) msg.Part { return &msg.Text{Text: s} }
	foreign := &msg.Opaque{Raw: json.RawMessage(`{"type":"hologram"}`)}
	user := func(parts ...msg.Part) msg.Message { return msg.Message{Role: msg.User, Parts: parts} }
	answer := msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Thinking{Text: "Hm.", Signature: "s"}, text("answer")}}
	for _, tt := range []struct {
		name     string
		messages []msg.Message
		passing  int
		want     string // marked text
	}{
		{"nothing passes", []msg.Message{user(text("a"), text("b"))}, 0, "b"},
		{"behind a message", []msg.Message{user(text("a"), text("b"), text("why?"))}, 1, "b"},
		{"after an omitted part", []msg.Message{user(text("a"), foreign, text("why?"))}, 1, "a"},
		{"after an answer", []msg.Message{user(text("a")), answer, user(text("why?"))}, 3, "a"},
		{"after an answer that was sent", []msg.Message{user(text("a")), answer, user(text("why?"))}, 1, "a"},
		{"after more", []msg.Message{user(text("a")), answer, user(text("b")), answer, user(text("c"), text("why?"))}, 4, "b"},
		{"all", []msg.Message{user(text("a"), text("why?"))}, 2, ""},
		{"more than all", []msg.Message{user(text("why?"))}, 9, ""},
	} {
		r := request(0)
		r.Messages, r.Passing, r.Cache = tt.messages, tt.passing, []model.Mark{{Place: model.InMessages}}
		body, err := new(Encoder).Encode(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(body); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		const mark = `","cache_control":{"type":"ephemeral"}}`
		before, _, _ := strings.Cut(string(body), mark)
		if got := before[strings.LastIndex(before, `"`)+1:]; bytes.Count(body, []byte(mark)) > 1 || (got == tt.want) == (tt.want == "") {
			t.Errorf("%s: %q is marked in\n%s", tt.name, got, body)
		}
	}
}

func TestEncodeMarkSkipsThinking(t *testing.T) {
	r := request(0)
	r.Messages = append(r.Messages, msg.Message{Role: msg.Assistant, Parts: []msg.Part{
		&msg.Text{Text: "said"}, &msg.Thinking{Text: "x", Signature: "s"}, &msg.Redacted{Data: "d"},
	}})
	var e Encoder
	body, _ := e.Encode(r, nil)
	if want := `{"type":"text","text":"said","cache_control":{"type":"ephemeral"}},{"type":"thinking"`; !bytes.Contains(body, []byte(want)) {
		t.Errorf("want %s in\n%s", want, body)
	}
	// If the last message has only thinking, the mark stays on the one before.
	r.Messages[1].Parts = r.Messages[1].Parts[1:]
	body, _ = e.Encode(r, nil)
	if want := `"text":"start","cache_control"`; !bytes.Contains(body, []byte(want)) {
		t.Errorf("want %s in\n%s", want, body)
	}
}

// TestEncodeForeignBlocks checks that unknown blocks are not sent back and that server tool
// blocks are, byte for byte.
//
// Proves PROV-10.
func TestEncodeForeignBlocks(t *testing.T) {
	r := request(0)
	r.Cache = []model.Mark{{Place: model.InMessages}}
	server := `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{ "query": "x" }}`
	r.Messages = append(r.Messages,
		msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Opaque{Raw: json.RawMessage(`{"type":"hologram"}`)}}},
		msg.UserText("and"),
		msg.Message{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Opaque{Raw: json.RawMessage(`{"type":"hologram"}`)},
			&msg.Thinking{Text: "of another", Signature: "gemini:hologram"},
			&msg.Redacted{Data: "responses:hologram"},
			&msg.Server{Raw: json.RawMessage(server)},
		}},
		msg.UserText("more"),
		msg.Message{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Text{Text: "so"}, &msg.Thinking{Text: "hologram", Signature: "chat:x"}, &msg.Redacted{Data: "chat:hologram"},
		}},
		msg.UserText("end"),
	)
	var e Encoder
	body, err := e.Encode(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(body); err != nil {
		t.Error(err)
	}
	if bytes.Contains(body, []byte("hologram")) {
		t.Errorf("an unknown block is sent: %s", body)
	}
	if !bytes.Contains(unmarked(body), []byte(server)) {
		t.Errorf("a server tool use is not sent as it came: %s", body)
	}
}

func benchmarkEncodeTurn(b *testing.B, turns int) {
	r := request(turns)
	var e Encoder
	short := *r
	short.Messages = r.Messages[:len(r.Messages)-2]
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range []*model.Request{&short, r} {
			if _, err := e.Encode(r, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkEncodeTurn10(b *testing.B)  { benchmarkEncodeTurn(b, 10) }
func BenchmarkEncodeTurn100(b *testing.B) { benchmarkEncodeTurn(b, 100) }

// TestBodiesDoNotChange checks that a body in flight does not change when the next request is
// encoded.
func TestBodiesDoNotChange(t *testing.T) {
	request := func(texts ...string) *model.Request {
		r := &model.Request{Model: "m", MaxTokens: 1, Cache: []model.Mark{{Place: model.InMessages}}}
		for i, text := range texts {
			r.Messages = append(r.Messages, msg.Message{Role: []msg.Role{msg.User, msg.Assistant}[i%2], Parts: []msg.Part{&msg.Text{Text: text}}})
		}
		return r
	}
	long := request("one", "two", "three", "four", "five")
	other := request("one", "another", "line")
	other.Messages[0] = long.Messages[0]
	var e Encoder
	var bodies []wire.Body
	var want []string
	for _, r := range []*model.Request{
		long, other, long, {Model: "m", Messages: long.Messages[:3]}, {Model: "m", Messages: append(long.Messages[:3:3], other.Messages[1])},
	} {
		b, err := e.EncodeBody(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		var fresh Encoder
		whole, err := fresh.Encode(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		bodies, want = append(bodies, b), append(want, string(whole))
	}
	for i, b := range bodies {
		if got := string(b.Bytes()); got != want[i] || b.Len() != int64(len(got)) {
			t.Errorf("body %d is now %s\nand was      %s", i, got, want[i])
		}
	}
}
