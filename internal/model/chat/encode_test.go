package chat_test

import (
	. "adze/internal/model/chat"
	"adze/internal/model/chat/chattest"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// request returns a conversation with the given number of calls.
func request(turns int) *model.Request {
	r := &model.Request{
		Model: "m-1", MaxTokens: 4096, System: []msg.Part{&msg.Text{Text: "adze/1"}, &msg.Text{}, &msg.Text{Text: "You are an agent."}},
		Tools:    []msg.ToolSpec{{Name: "Read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "Edit", Strict: true}},
		Messages: []msg.Message{msg.UserText("start")},
		Cache:    []model.Mark{{Place: model.InSystem, Index: 2}, {Place: model.InMessages}},
	}
	for i := range turns {
		id := fmt.Sprint("call_", i)
		r.Messages = append(r.Messages,
			msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Thinking{Text: "hm", Signature: "chat:"}, msg.NewToolUse(id, "Read", `{ "path" : "a.go" }`)}},
			msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: "package a"}}}, &msg.Text{Text: "go on"}}})
	}
	return r
}

func encoded(t interface{ Fatal(...any) }, d Dialect, r *model.Request, extra string) string {
	body, err := d.NewEncoder().EncodeBody(r, json.RawMessage(extra))
	if err != nil {
		t.Fatal(err)
	}
	if err := (chattest.Server{Dialect: d}).Check(nil, body.Bytes()); err != nil {
		t.Fatal(err, string(body.Bytes()))
	}
	return string(body.Bytes())
}

// TestEncodeOptions covers options, quirks and extra parameters.
//
// Proves PROV-30, PROV-31, PROV-40, PROV-62.
func TestEncodeOptions(t *testing.T) {
	const rest = `,"tools":[{"type":"function","function":{"name":"Read","description":"Reads.","parameters":{"type":"object"}}},` +
		`{"type":"function","function":{"name":"Edit","parameters":{"type":"object","properties":{}},"strict":true}}],` +
		`"messages":[{"role":"system","content":"adze/1\n\nYou are an agent."},{"role":"user","content":"start"}]}`
	const stream = `,"stream":true,"stream_options":{"include_usage":true}`
	maker := Dialect{Developer: true, CompletionLimit: true, CacheKey: true, Parallel: true, NoThinking: "none"}
	for _, tt := range []struct {
		name   string
		d      Dialect
		change func(*model.Request)
		extra  string
		want   string
	}{
		{"plain", Dialect{}, func(r *model.Request) { r.UserID = "device_1" }, "", `{"model":"m-1","max_tokens":4096` + stream + rest},
		{"whole", Dialect{}, func(r *model.Request) { r.NoStream = true }, "", `{"model":"m-1","max_tokens":4096` + rest},
		{"the maker's", maker, func(r *model.Request) { r.CacheKey, r.Effort = "session_1", model.EffortHigh }, "",
			`{"model":"m-1","max_completion_tokens":4096` + stream + `,"reasoning_effort":"high","prompt_cache_key":"session_1","parallel_tool_calls":true` + strings.Replace(rest, `"system"`, `"developer"`, 1)},
		{"no cache, no key", maker, func(r *model.Request) { r.CacheKey, r.Omit = "session_1", model.OmitCache }, "", `{"model":"m-1","max_completion_tokens":4096` + stream + `,"parallel_tool_calls":true` + strings.Replace(rest, `"system"`, `"developer"`, 1)},
		{"not to think", maker, func(r *model.Request) { r.Thinking.Mode, r.Tools = model.ThinkingDisabled, nil }, "",
			`{"model":"m-1","max_completion_tokens":4096` + stream + `,"reasoning_effort":"none","messages":` + strings.Replace(rest, `"system"`, `"developer"`, 1)[strings.Index(rest, `[{"role"`):]},
		{"the most", Dialect{}, func(r *model.Request) { r.Effort = model.EffortMax }, "", `{"model":"m-1","max_tokens":4096` + stream + `,"reasoning_effort":"max"` + rest},
		{"a budget", Dialect{}, func(r *model.Request) {
			r.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: 8000}
		}, "", `{"model":"m-1","max_tokens":4096` + stream + `,"reasoning_effort":"medium"` + rest},
		{"a form, and a tool", Dialect{}, func(r *model.Request) {
			r.Format, r.Choice.Name = json.RawMessage(`{"type":"object"}`), "Read"
		}, "", `{"model":"m-1","max_tokens":4096` + stream + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}},"tool_choice":{"type":"function","function":{"name":"Read"}}` + rest},
		{"without unsupported parts", maker, func(r *model.Request) {
			r.CacheKey, r.Effort, r.Format = "session_1", model.EffortLow, json.RawMessage(`{"type":"object"}`)
			r.Omit = model.OmitLimit | model.OmitUsage | model.OmitParallel | model.OmitEffort | model.OmitFormat | model.OmitCache | model.OmitStrict
		}, "", `{"model":"m-1","max_tokens":4096,"stream":true` + strings.NewReplacer(`"system"`, `"developer"`, `,"strict":true`, "").Replace(rest)},
		{"extra adds and replaces", Dialect{}, func(*model.Request) {}, `{"temperature": 0.5, "max_tokens":7}`, `{"model":"m-1","max_tokens":7` + stream + `,"temperature":0.5` + rest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := request(0)
			tt.change(r)
			if diff := cmp.Diff(tt.want, encoded(t, tt.d, r, tt.extra)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
	for _, extra := range []string{`[]`, `{`, `{"messages":[]}`, `{"stream":false}`} {
		if body, err := (Dialect{}).NewEncoder().EncodeBody(request(0), json.RawMessage(extra)); err == nil {
			t.Errorf("extra %s gives %s, want an error", extra, body.Bytes())
		}
	}
}

// TestEncodeMessages checks that content the wire cannot express is degraded by fixed rules.
//
// Proves PROV-10, PROV-13, PROV-30.
func TestEncodeMessages(t *testing.T) {
	image := &msg.Image{MediaType: "image/png", Data: []byte("p")}
	pdf := &msg.Document{MediaType: "application/pdf", Title: "a.pdf", Data: []byte("d")}
	use := msg.NewToolUse("c1", "Read", `{ "a":1}`)
	answer := func(parts ...msg.Part) []msg.Message {
		return []msg.Message{msg.UserText("q"), {Role: msg.Assistant, Parts: parts}}
	}
	result := func(r *msg.ToolResult, more ...msg.Part) []msg.Message {
		return append(answer(use), msg.Message{Role: msg.User, Parts: append([]msg.Part{r}, more...)})
	}
	const q, called = `{"role":"user","content":"q"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{ \"a\":1}"}}]}`
	const picture = `{"type":"image_url","image_url":{"url":"data:image/png;base64,cA=="}}`
	long := strings.Repeat("n", 100)
	for _, tt := range []struct {
		name string
		d    Dialect
		in   []msg.Message
		want string
	}{
		{"parts", Dialect{}, []msg.Message{{Role: msg.User, Parts: []msg.Part{&msg.Text{Text: "look"}, image}}}, `{"role":"user","content":[{"type":"text","text":"look"},` + picture + `]}`},
		{"a document", Dialect{Documents: true}, []msg.Message{{Role: msg.User, Parts: []msg.Part{pdf}}}, `{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,ZA=="}}]}`},
		{"a document that is not taken", Dialect{}, []msg.Message{{Role: msg.User, Parts: []msg.Part{pdf}}}, `{"role":"user","content":"[a.pdf (application/pdf) was left out: this provider does not support such documents. If you need it, tell the user.]"}`},
		{"a document of text", Dialect{}, []msg.Message{{Role: msg.User, Parts: []msg.Part{&msg.Document{MediaType: "text/plain", Title: "a.txt", Data: []byte("words")}}}}, `{"role":"user","content":"a.txt:\nwords"}`},
		{"text and a call", Dialect{}, result(&msg.ToolResult{ID: "c1", Parts: []msg.Part{&msg.Text{Text: "one"}, &msg.Text{Text: "two"}}}), q + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":"one\ntwo"}`},
		{"a failure", Dialect{}, result(&msg.ToolResult{ID: "c1", IsError: true, Parts: []msg.Part{&msg.Text{Text: "no"}}}, &msg.Text{Text: "and"}), q + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":"Error: no"},{"role":"user","content":"and"}`},
		{"a picture in a result", Dialect{}, result(&msg.ToolResult{ID: "c1", Parts: []msg.Part{image}}, &msg.Text{Text: "and"}), q + `,` + called +
			`,{"role":"tool","tool_call_id":"c1","content":"(attachment 1 of this result follows in the next message)"},{"role":"user","content":[{"type":"text","text":"Attachment 1 of the result of the tool call c1:"},` + picture + `,{"type":"text","text":"and"}]}`},
		{"an empty result", Dialect{}, result(&msg.ToolResult{ID: "c1"}), q + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":"(no output)"}`},
		{"reasoning of other providers", Dialect{}, answer(&msg.Thinking{Text: "x", Signature: "sig"}, &msg.Redacted{Data: "x"}, &msg.Server{Raw: []byte(`{}`)}, &msg.Opaque{Raw: []byte(`{}`)}), q + `,{"role":"assistant","content":"(nothing to show)"}`},
		{"reasoning of others", Dialect{Replay: ReplayContent}, answer(&msg.Thinking{Text: "x", Signature: "sig"}, &msg.Thinking{Text: "y", Signature: "gemini:z"}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","content":"So."}`},
		{"reasoning_content", Dialect{Replay: ReplayContent}, answer(&msg.Thinking{Text: "Hm.", Signature: "chat:"}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","reasoning_content":"Hm.","content":"So."}`},
		{"reasoning", Dialect{Replay: ReplayText}, answer(&msg.Thinking{Text: "Hm.", Signature: `chat:[{"a":1}]`}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","reasoning":"Hm.","content":"So."}`},
		{"the same member", Dialect{Replay: ReplaySame}, answer(&msg.Thinking{Text: "Hm.", Signature: "chat:reasoning"}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","reasoning":"Hm.","content":"So."}`},
		{"the same details", Dialect{Replay: ReplaySame}, answer(&msg.Thinking{Text: "Hm.", Signature: `chat:[{"a":1}]`}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","reasoning_details":[{"a":1}],"content":"So."}`},
		{"the same text", Dialect{Replay: ReplaySame}, answer(&msg.Thinking{Text: "Hm.", Signature: "chat:"}, &msg.Thinking{Text: "x", Signature: "chat:content"}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","content":"So."}`},
		{"a member and no details", Dialect{Replay: ReplayDetails}, answer(&msg.Thinking{Text: "Hm.", Signature: "chat:reasoning"}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","content":"So."}`},
		{"reasoning_details", Dialect{Replay: ReplayDetails}, answer(&msg.Thinking{Text: "Hm.", Signature: `chat:[{"a":1}]`}, &msg.Text{Text: "So."}, &msg.Thinking{Signature: `chat:[{"b":2}]`}), q + `,{"role":"assistant","reasoning_details":[{"a":1},{"b":2}],"content":"So."}`},
		{"reasoning that stays", Dialect{}, answer(&msg.Thinking{Text: "Hm.", Signature: "chat:"}, &msg.Text{Text: "So."}), q + `,{"role":"assistant","content":"So."}`},
		{"malformed", Dialect{}, append(answer(msg.NewToolUse("c1", "Read", `{"a`)), msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "c1", Parts: []msg.Part{&msg.Text{Text: "x"}}}}}),
			q + `,{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}`},
		{"long names and ids", Dialect{}, append(answer(msg.NewToolUse(long, long, "")), msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: long, Parts: []msg.Part{&msg.Text{Text: "x"}}}}}),
			q + `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_` + longID + `","type":"function","function":{"name":"` + long[:43] + `_` + longID[:20] + `","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_` + longID + `","content":"x"}`},
		{"calls as text", Dialect{TextTools: true}, append(answer(&msg.Text{Text: "So."}, use), msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "c1", IsError: true, Parts: []msg.Part{&msg.Text{Text: "x"}}}, &msg.Text{Text: "and"}}}),
			q + `,{"role":"assistant","content":"So.\n<tool_call>\n{\"name\": \"Read\", \"arguments\": { \"a\":1}}\n</tool_call>"},{"role":"user","content":[{"type":"text","text":"<tool_response>\nError: x\n</tool_response>"},{"type":"text","text":"and"}]}`},
		{"marks", Dialect{Marks: true}, result(&msg.ToolResult{ID: "c1", Parts: []msg.Part{&msg.Text{Text: "x"}}}), `{"role":"user","content":[{"type":"text","text":"q"}]},` + called +
			`,{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &model.Request{Model: "m", MaxTokens: 1, Messages: tt.in, Cache: []model.Mark{{Place: model.InMessages}}}
			got := encoded(t, tt.d, r, "")
			_, got, _ = strings.Cut(strings.TrimSuffix(got, "]}"), `"messages":[`)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
	short := Dialect{ShortIDs: true}
	if id := short.CallID("toolu_1"); len(id) != 9 || id == short.CallID("toolu_2") || short.CallID(id) != id {
		t.Errorf("short id %q", id)
	}
}

// longID is the call ID for an ID of a hundred n's.
var longID = strings.TrimPrefix(Dialect{}.CallID(strings.Repeat("n", 100)), "call_")

// TestTextToolsAreDescribed checks that for a model without native tools, the system prompt
// describes them and its answers contain the calls.
func TestTextToolsAreDescribed(t *testing.T) {
	r := request(0)
	r.Choice.Name = "Read"
	got := encoded(t, Dialect{TextTools: true}, r, "")
	for _, want := range []string{"You are an agent.\\n\\n# Tools", "## Read\\n\\nReads.", `{\"type\":\"object\"}`, "with a call of Read"} {
		if !strings.Contains(got, want) || strings.Contains(got, `"tools"`) || strings.Contains(got, "tool_choice") {
			t.Errorf("want %s, and no tools, in\n%s", want, got)
		}
	}
}

// TestEncodeMarks checks that the system prompt is marked as the request specifies, and the
// messages before the passing ones.
//
// Proves PROV-30.
func TestEncodeMarks(t *testing.T) {
	d := Dialect{Marks: true}
	r := request(1)
	got := encoded(t, d, r, "")
	for _, want := range []string{`[{"type":"text","text":"adze/1"},{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}}]`, `"go on","cache_control"`} {
		if !strings.Contains(got, want) || strings.Count(got, "cache_control") != 2 {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
	r.Passing = 2
	if got := encoded(t, d, r, ""); !strings.Contains(got, `"start","cache_control"`) && strings.Contains(got, `"go on","cache_control"`) {
		t.Errorf("the mark is on what passes:\n%s", got)
	}
	r.Omit = model.OmitCache
	if got := encoded(t, d, r, ""); strings.Contains(got, "cache_control") {
		t.Errorf("a mark that is not taken is in\n%s", got)
	}
}

// TestEncodePrefix checks that request n is a byte prefix of request n+1, that cached and fresh
// encoding agree, and that bodies in flight do not change.
//
// Proves LOOP-11.
func TestEncodePrefix(t *testing.T) {
	for _, d := range []Dialect{{}, {Replay: ReplayContent, Developer: true}, {TextTools: true}} {
		e := d.NewEncoder()
		full := request(8)
		tail := func(body []byte) []byte {
			return bytes.TrimSuffix(body[bytes.Index(body, []byte(`"messages":`)):], []byte("]}"))
		}
		var before []byte
		var bodies []wire.Body
		var fresh []string
		for _, n := range []int{1, 3, 5, 7, 9, 11, 3, 5} {
			r := *full
			r.Messages = full.Messages[:n]
			body, err := e.EncodeBody(&r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n > 3 && len(bodies) < 6 && !bytes.HasPrefix(tail(body.Bytes()), before) {
				t.Errorf("request with %d messages does not begin with the one before", n)
			}
			before = tail(body.Bytes())
			bodies, fresh = append(bodies, body), append(fresh, encoded(t, d, &r, ""))
			if !e.Continues(full) {
				t.Error("the conversation is not recognised")
			}
		}
		for i, b := range bodies {
			if got := string(b.Bytes()); got != fresh[i] {
				t.Errorf("body %d is now %s\nand was      %s", i, got, fresh[i])
			}
		}
	}
}

// conversation draws a well-formed conversation that ends with the user.
func conversation() *rapid.Generator[[]msg.Message] {
	text := rapid.Custom(func(t *rapid.T) string { return "x" + rapid.String().Draw(t, "text") })
	media := rapid.Custom(func(t *rapid.T) msg.Part {
		data := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "data")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return &msg.Image{MediaType: "image/png", Data: data}
		case 1:
			return &msg.Document{MediaType: "application/pdf", Title: text.Draw(t, "title"), Data: data}
		}
		return &msg.Text{Text: text.Draw(t, "text")}
	})
	return rapid.Custom(func(t *rapid.T) []msg.Message {
		var results []msg.Part
		var all []msg.Message
		ids := 0
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			all = append(all, msg.Message{Role: msg.User, Parts: append(results, media.Draw(t, "prompt"))})
			results = nil
			said := []msg.Part{&msg.Text{Text: text.Draw(t, "said")}}
			for range rapid.IntRange(0, 3).Draw(t, "uses") {
				ids++
				id := fmt.Sprint("call_", ids)
				in, _ := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
				said = append(said, msg.NewToolUse(id, "Read", string(in)))
				results = append(results, &msg.ToolResult{ID: id, IsError: rapid.Bool().Draw(t, "error"), Parts: rapid.SliceOfN(media, 1, 3).Draw(t, "result")})
			}
			all = append(all, msg.Message{Role: msg.Assistant, Parts: said})
		}
		return append(all, msg.Message{Role: msg.User, Parts: append(results, &msg.Text{Text: "end"})})
	})
}

// TestRoundTrip checks that a conversation survives the wire: every request is valid, no result
// is lost, and content a result cannot hold comes right after the results.
//
// Proves PROV-10.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request(0)
		r.Messages = conversation().Draw(t, "messages")
		d := Dialect{Documents: true, Marks: rapid.Bool().Draw(t, "marks")}
		back, err := chattest.Server{Dialect: d}.Read([]byte(encoded(t, d, r, "")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected(d, r.Messages), back.Messages); diff != "" {
			t.Fatalf("messages (-want +got):\n%s", diff)
		}
	})
}

// expected returns msgs as expressed on the wire.
func expected(d Dialect, msgs []msg.Message) (out []msg.Message) {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	for _, m := range msgs {
		var parts, rest []msg.Part
		for _, p := range m.Parts {
			r, ok := p.(*msg.ToolResult)
			if !ok {
				rest = append(rest, p)
				continue
			}
			var lines []string
			var moved []msg.Part
			for _, p := range r.Parts {
				if text, ok := p.(*msg.Text); ok {
					lines = append(lines, text.Text)
					continue
				}
				n := len(moved)/2 + 1
				lines = append(lines, fmt.Sprintf("(attachment %d of this result follows in the next message)", n))
				moved = append(moved, &msg.Text{Text: fmt.Sprintf("Attachment %d of the result of the tool call %s:", n, r.ID)}, p)
			}
			parts = append(parts, &msg.ToolResult{ID: r.ID, IsError: r.IsError, Parts: []msg.Part{&msg.Text{Text: valid(strings.Join(lines, "\n"))}}})
			rest = append(moved, rest...)
		}
		out = append(out, msg.Message{Role: m.Role, Parts: append(parts, ordered(rest)...)})
	}
	return out
}

// ordered returns the parts after the results, with the first result's attachments first.
func ordered(rest []msg.Part) []msg.Part {
	groups := map[string][]msg.Part{}
	var names []string
	var plain []msg.Part
	for i := 0; i < len(rest); i++ {
		if t, ok := rest[i].(*msg.Text); ok && strings.HasPrefix(t.Text, "Attachment ") {
			_, id, _ := strings.Cut(t.Text, "call ")
			if groups[id] == nil {
				names = append([]string{id}, names...)
			}
			groups[id] = append(groups[id], rest[i], rest[i+1])
			i++
			continue
		}
		plain = append(plain, rest[i])
	}
	var out []msg.Part
	for _, n := range names {
		out = append(out, groups[n]...)
	}
	return append(out, plain...)
}
