package responses_test

import (
	. "adze/internal/model/responses"
	"adze/internal/model/responses/responsestest"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// request returns a request whose conversation has the given number of turns, each a tool use
// and its result.
func request(turns int) *model.Request {
	r := &model.Request{
		Model: "m-1", MaxTokens: 4096,
		System: []msg.Part{&msg.Text{Text: "adze/1"}, &msg.Text{}, &msg.Text{Text: "You are an agent."}},
		Tools: []msg.ToolSpec{
			{Name: "Read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), Strict: true},
			{Name: "Edit", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`), Strict: true},
		},
	}
	r.Messages = append(r.Messages, msg.UserText("start"))
	for i := range turns {
		id := fmt.Sprintf("call_%d", i)
		r.Messages = append(r.Messages, msg.Message{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Thinking{Text: "hm", Signature: sealedAs(id)}, msg.NewToolUse(id, "Read", `{ "path" : "a.go" }`),
		}}, msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: strings.Repeat("package a\n", 400)}}}, &msg.Text{Text: "go on"},
		}})
	}
	return r
}

// sealedAs returns the signature of reasoning with the given content.
func sealedAs(content string) string {
	return `responses:{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":` + string(msg.AppendString(nil, content)) + `}`
}

func encode(t testing.TB, e wire.Encoder, r *model.Request, extra string) string {
	t.Helper()
	body, err := e.EncodeBody(r, json.RawMessage(extra))
	if err != nil {
		t.Fatal(err)
	}
	return string(body.Bytes())
}

func check(t testing.TB, body string) {
	t.Helper()
	if err := (responsestest.Server{}).Check(nil, []byte(body)); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
}

// TestEncodeGolden covers key order, options, and extra parameters.
//
// Proves PROV-30, PROV-31, PROV-40, PROV-62, PROV-13.
func TestEncodeGolden(t *testing.T) {
	const rest = `,"tools":[{"type":"function","name":"Read","description":"Reads.","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false},` +
		`{"type":"function","name":"Edit","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":true}],` +
		`"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"adze/1"},{"type":"input_text","text":"You are an agent."}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"start"}]}]}`
	const plain = `{"model":"m-1","max_output_tokens":4096,"store":false,"stream":true`
	const include = `,"include":["reasoning.encrypted_content"]`
	tests := []struct {
		name    string
		dialect Dialect
		change  func(*model.Request)
		extra   string
		want    string
	}{
		{"plain", Dialect{}, func(*model.Request) {}, "", plain + rest},
		{"all", Dialect{}, func(r *model.Request) {
			r.Thinking = model.Thinking{Mode: model.ThinkingAdaptive, Display: model.DisplaySummary}
			r.Effort, r.UserID, r.CacheKey, r.Choice.Name = model.EffortHigh, "session_2", "k1", "Read"
		}, "", plain + include + `,"reasoning":{"effort":"high","summary":"auto"},"safety_identifier":"session_2","prompt_cache_key":"k1",` +
			`"tool_choice":{"type":"function","name":"Read"}` + rest},
		{"whole answer, short", Dialect{}, func(r *model.Request) { r.NoStream, r.MaxTokens = true, 1 }, "",
			`{"model":"m-1","max_output_tokens":16,"store":false` + rest},
		{"highest effort", Dialect{}, func(r *model.Request) { r.Effort = model.EffortMax }, "", plain + `,"reasoning":{"effort":"max"}` + rest},
		{"small budget", Dialect{}, func(r *model.Request) { r.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: 1024} }, "",
			plain + include + `,"reasoning":{"effort":"low","summary":"auto"}` + rest},
		{"budget", Dialect{}, func(r *model.Request) { r.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: 8000} }, "",
			plain + include + `,"reasoning":{"effort":"medium","summary":"auto"}` + rest},
		{"large budget", Dialect{}, func(r *model.Request) { r.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: 32000} }, "",
			plain + include + `,"reasoning":{"effort":"high","summary":"auto"}` + rest},
		{"no summary", Dialect{NoSummary: true}, func(r *model.Request) { r.Thinking.Mode, r.Effort = model.ThinkingAdaptive, model.EffortHigh }, "",
			plain + include + `,"reasoning":{"effort":"high"}` + rest},
		{"no thinking", Dialect{}, func(r *model.Request) { r.Thinking.Mode = model.ThinkingDisabled }, "", plain + `,"reasoning":{"effort":"none"}` + rest},
		{"left out", Dialect{}, func(r *model.Request) {
			r.Thinking = model.Thinking{Mode: model.ThinkingAdaptive, Display: model.DisplaySummary}
			r.Effort, r.UserID, r.CacheKey, r.Format = model.EffortHigh, "session_2", "k1", json.RawMessage(`{}`)
			r.Omit = model.OmitThinking | model.OmitUserID | model.OmitCache | model.OmitFormat
		}, "", plain + rest},
		{"form", Dialect{}, func(r *model.Request) {
			r.Format = json.RawMessage(`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`)
		}, "", plain + `,"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false},"strict":true}}` + rest},
		{"loose form", Dialect{}, func(r *model.Request) { r.Format = json.RawMessage(`{"type":"object"}`) }, "",
			plain + `,"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"},"strict":false}}` + rest},
		{"strict is not taken", Dialect{}, func(r *model.Request) { r.Omit = model.OmitStrict }, "", plain + strings.ReplaceAll(rest, `"strict":true`, `"strict":false`)},
		{"another service", Dialect{SystemRole: "system", UserMember: "user"}, func(r *model.Request) { r.UserID = "u" }, "",
			plain + `,"user":"u"` + strings.ReplaceAll(rest, "developer", "system")},
		{"search", Dialect{}, func(r *model.Request) {
			r.Search = &model.Search{Most: 8, Allowed: []string{"a.org", "b.org"}, Must: true}
		}, "", plain + `,"include":["web_search_call.action.sources"],"max_tool_calls":8,"tool_choice":{"type":"web_search"}` +
			strings.Replace(rest, `"strict":true}]`, `"strict":true},{"type":"web_search","filters":{"allowed_domains":["a.org","b.org"]}}]`, 1)},
		{"extra adds and replaces", Dialect{}, func(r *model.Request) {}, `{"temperature": 0.5, "max_output_tokens":77}`,
			`{"model":"m-1","max_output_tokens":77,"store":false,"stream":true,"temperature":0.5` + rest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := request(0)
			tt.change(req)
			e := tt.dialect.NewEncoder()
			for range 2 { // encoding is deterministic
				got := encode(t, e, req, tt.extra)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
				check(t, got)
			}
		})
	}
	for _, extra := range []string{`[]`, `{`, `{"input":[]}`, `{"stream":false}`, `{"store":true}`, `{} x`} {
		if body, err := (Dialect{}).NewEncoder().EncodeBody(request(0), json.RawMessage(extra)); err == nil {
			t.Errorf("extra %s gives %s, want an error", extra, body)
		}
	}
}

// TestEncodePrefix checks that request n is a byte prefix of request n+1, and that a changed
// conversation is noticed wherever it changed.
//
// Proves LOOP-11.
func TestEncodePrefix(t *testing.T) {
	e := Dialect{}.NewEncoder()
	full := request(8)
	prefix := func(body string) string { return strings.TrimSuffix(body[strings.Index(body, `"tools":`):], "]}") }
	before := ""
	var lent []wire.Body
	var was []string
	for n := 1; n <= len(full.Messages); n += 2 {
		r := *full
		r.Messages = full.Messages[:n]
		r.MaxTokens += n // options may change, the conversation may not
		b, err := e.EncodeBody(&r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body := string(b.Bytes())
		lent, was = append(lent, b), append(was, body)
		check(t, body)
		if !strings.HasPrefix(prefix(body), before) {
			t.Errorf("request with %d messages does not begin with the one before", n)
		}
		before = prefix(body)
		if fresh := encode(t, Dialect{}.NewEncoder(), &r, ""); fresh != body {
			t.Errorf("request with %d messages: kept and fresh encoding differ", n)
		}
	}
	for _, change := range []func(*model.Request){
		func(r *model.Request) { r.Messages[2] = msg.UserText("other") },
		func(r *model.Request) { r.Messages = r.Messages[:3] },
		func(r *model.Request) { r.Messages = request(5).Messages },
		func(r *model.Request) { r.Messages = nil },
	} {
		changed := *full
		changed.Messages = slices.Clone(full.Messages)
		change(&changed)
		if got, want := encode(t, e, &changed, ""), encode(t, Dialect{}.NewEncoder(), &changed, ""); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if e.Continues(full) || e.Continues(&model.Request{}) {
		t.Error("an encoder without messages continues nothing")
	}
	for i, b := range lent {
		if string(b.Bytes()) != was[i] {
			t.Errorf("body %d has changed since", i)
		}
	}
}

// TestEncodeDegrades checks that content the wire cannot express is degraded and that no result
// is lost.
//
// Proves PROV-10, PROV-13, PROV-41.
func TestEncodeDegrades(t *testing.T) {
	png := &msg.Image{MediaType: "image/png", Data: []byte("p")}
	long := strings.Repeat("n", 100)
	user := func(parts ...msg.Part) msg.Message { return msg.Message{Role: msg.User, Parts: parts} }
	says := func(parts ...msg.Part) msg.Message { return msg.Message{Role: msg.Assistant, Parts: parts} }
	tests := []struct {
		name     string
		dialect  Dialect
		messages []msg.Message
		want     string // input after the first message
	}{
		{"reasoning precedes its output", Dialect{}, []msg.Message{says(&msg.Thinking{Text: "hm", Signature: sealedAs("x")}, &msg.Text{Text: "a"})},
			`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`},
		{"of others, or that led to nothing", Dialect{}, []msg.Message{says(&msg.Thinking{Text: "a", Signature: "chat:x"}, &msg.Thinking{Text: "b", Signature: "sig"}, &msg.Redacted{Data: "c"},
			&msg.Thinking{Signature: "responses:{broken"}, &msg.Text{Text: "a"}, &msg.Thinking{Text: "hm", Signature: sealedAs("x")}, &msg.Opaque{Raw: []byte(`{"type":"hologram"}`)})},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`},
		{"a phase belongs to the following text", Dialect{}, []msg.Message{says(&msg.Thinking{Signature: `responses:{"phase":"commentary"}`}, &msg.Thinking{Text: "hm", Signature: sealedAs("x")}, &msg.Text{Text: "a"}, &msg.Text{Text: "b"})},
			`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]},` +
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}`},
		{"failed call", Dialect{}, []msg.Message{says(msg.NewToolUse("c1", "Read", "")), user(&msg.ToolResult{ID: "c1", IsError: true, Parts: []msg.Part{&msg.Text{Text: "no such file"}}})},
			`{"type":"function_call","call_id":"c1","name":"Read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"The call failed:\nno such file"}`},
		{"result with an image", Dialect{}, []msg.Message{says(msg.NewToolUse("c1", "Read", "")), user(&msg.ToolResult{ID: "c1", Parts: []msg.Part{&msg.Text{Text: "a"}, png}}, &msg.Text{Text: "and"})},
			`{"type":"function_call","call_id":"c1","name":"Read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cA=="}]},` +
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"and"}]}`},
		{"results of text alone", Dialect{TextResults: true}, []msg.Message{says(msg.NewToolUse("c1", "Read", "")), user(&msg.ToolResult{ID: "c1", Parts: []msg.Part{&msg.Text{Text: "a"}, png}}, &msg.Text{Text: "and"})},
			`{"type":"function_call","call_id":"c1","name":"Read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a\n[An attachment of this result follows in the next message.]"},` +
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"[Attachment of the result of call c1:]"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cA=="},{"type":"input_text","text":"and"}]}`},
		{"documents", Dialect{}, []msg.Message{user(&msg.Document{MediaType: "application/pdf", Data: []byte("p")}, &msg.Document{MediaType: "text/plain", Title: "t.txt", Data: []byte("x")},
			&msg.Document{MediaType: "application/zip", Data: []byte("z")}, &msg.Image{MediaType: "image/bmp", Data: []byte("b")})},
			`{"type":"message","role":"user","content":[{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,cA=="},{"type":"input_text","text":"t.txt:\nx"},` +
				`{"type":"input_text","text":"[A document of type application/zip is left out: the model cannot read it.]"},{"type":"input_text","text":"[An image of type image/bmp is left out: the model cannot read it.]"}]}`},
		{"long names and ids, malformed input", Dialect{}, []msg.Message{says(&msg.ToolUse{ID: long, Name: long, Input: []byte("{}"), Malformed: `{"a`}), user(&msg.ToolResult{ID: long})},
			`{"type":"function_call","call_id":"` + toolname.Restrict(long) + `","name":"` + toolname.Restrict(long) + `","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"` + toolname.Restrict(long) + `","output":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &model.Request{Model: "m", MaxTokens: 100, Messages: append([]msg.Message{msg.UserText("go")}, tt.messages...)}
			body := encode(t, tt.dialect.NewEncoder(), r, "")
			check(t, body)
			_, got, _ := strings.Cut(body, `"text":"go"}]},`)
			if diff := cmp.Diff(tt.want, strings.TrimSuffix(got, "]}")); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
	body := encode(t, Dialect{}.NewEncoder(), &model.Request{Model: "m", Messages: []msg.Message{{Role: msg.User, Parts: []msg.Part{&msg.Opaque{Raw: []byte(`{}`)}}}}}, "")
	check(t, body)
}

// TestObjectSchema checks that schemas a server would reject are converted to accepted ones
// without losing information.
//
// Proves PROV-13.
func TestObjectSchema(t *testing.T) {
	for in, want := range map[string][2]string{
		`{"type":"object","properties":{}}`: {`{"type":"object","properties":{}}`, ""},
		`{"type":"object"}`:                 {`{"properties":{},"type":"object"}`, ""},
		``:                                  {`{"type":"object","properties":{}}`, ""},
		`nonsense`:                          {`{"type":"object","properties":{}}`, ""},
		`{"properties":{"a":{}},"anyOf":[{"required":["a"]}]}`:        {`{"type":"object","properties":{"a":{}}}`, "\n\nThe input also fits the JSON Schema \"anyOf\": [{\"required\":[\"a\"]}]"},
		`{"type":["object","null"],"properties":{},"title":"\u00e9"}`: {`{"type":"object","properties":{},"title":"\u00e9"}`, ""},
	} {
		got, note := ObjectSchema(json.RawMessage(in))
		if string(got) != want[0] || note != want[1] {
			t.Errorf("%s is %s and %q, want %q", in, got, note, want)
		}
		check(t, `{"model":"m","input":"a","tools":[{"type":"function","name":"x","strict":false,"parameters":`+string(got)+`}]}`)
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
			var said []msg.Part
			if rapid.Bool().Draw(t, "thinks") {
				said = append(said, &msg.Thinking{Text: "hm", Signature: sealedAs(text.Draw(t, "sealed"))})
			}
			if rapid.Bool().Draw(t, "phased") {
				said = append(said, &msg.Thinking{Signature: `responses:{"phase":"commentary"}`})
			}
			said = append(said, &msg.Text{Text: text.Draw(t, "said")})
			for range rapid.IntRange(0, 3).Draw(t, "uses") {
				ids++
				id := fmt.Sprintf("call_%d", ids)
				in, _ := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
				said = append(said, msg.NewToolUse(id, "Read", string(in)))
				results = append(results, &msg.ToolResult{
					ID: id, IsError: rapid.Bool().Draw(t, "error"), Parts: rapid.SliceOfN(media, 1, 3).Draw(t, "result"),
				})
			}
			all = append(all, msg.Message{Role: msg.Assistant, Parts: said})
		}
		return append(all, msg.Message{Role: msg.User, Parts: append(results, &msg.Text{Text: "end"})})
	})
}

// TestRoundTrip checks that a conversation survives the wire and that every request is valid.
//
// Proves PROV-10.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request(0)
		r.Messages = conversation().Draw(t, "messages")
		body, err := Dialect{}.NewEncoder().EncodeBody(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := (responsestest.Server{}).Check(nil, body.Bytes()); err != nil {
			t.Fatalf("%v\n%s", err, body.Bytes())
		}
		back, err := responsestest.Server{}.Read(body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Messages, back.Messages); diff != "" {
			t.Fatalf("messages (-sent +read):\n%s", diff)
		}
	})
}

// TestCheck checks that Check is as strict as the server.
func TestCheck(t *testing.T) {
	const user = `{"role":"user","content":"hi"}`
	body := func(input, more string) string {
		return `{"model":"m","store":false` + more + `,"input":[` + input + `]}`
	}
	tool := func(t string) string { return `,"tools":[` + t + `]` }
	for in, want := range map[string]string{
		`{`:                                        "end of JSON",
		`{"model":"m","input":"hi"}`:               "",
		`{"model":"m"}`:                            "'input'",
		`{"input":"hi"}`:                           "'model'",
		`{"model":"m","input":"hi","n":1}`:         "Unknown parameter: 'n'",
		`{"model":"m","model":"m","input":"hi"}`:   "Duplicate",
		body(user, `,"max_output_tokens":15`):      "max_output_tokens",
		body(user, `,"reasoning":{"effort":"x"}`):  "reasoning.effort",
		body(user, `,"reasoning":{"summary":"x"}`): "reasoning.summary",
		body(user, `,"include":["x"]`):             "include",
		body(user, `,"text":{"format":{"type":"json_schema","name":"a b"}}`):                                                                 "text.format.name",
		body(user, `,"text":{"format":{"type":"json_schema","name":"a","strict":true,"schema":{"type":"object"}}}`):                          "additionalProperties",
		body(user, tool(`{"type":"function","name":"a b","parameters":{}}`)):                                                                 "tools[0].name",
		body(user, tool(`{"type":"function","name":"a","parameters":{"type":"string"}}`)):                                                    "JSON Schema of",
		body(user, tool(`{"type":"function","name":"a","parameters":{"type":"object"},"strict":false}`)):                                     "missing properties",
		body(user, tool(`{"type":"function","name":"a","parameters":{"type":"object","properties":{"b":{}}}}`)):                              "additionalProperties",
		body(user, tool(`{"type":"function","name":"a","parameters":{"type":"object","properties":{"b":{}},"additionalProperties":false}}`)): "Missing 'b'",
		body(user, tool(`{"type":"function","name":"a","parameters":{"type":"object","properties":{},"anyOf":[]},"strict":false}`)):          "at the top level",
		body(user, tool(`{"type":"telepathy"}`)):                                                                                             "tools[0].type",
		body(user, `,"tool_choice":{"type":"function","name":"a"}`):                                                                          "not found in 'tools'",
		body(`{"type":"hologram"}`, ""):                                                                                      "input[0].type",
		body(`{"role":"bot","content":"x"}`, ""):                                                                             "input[0].role",
		body(`{"role":"user","phase":"commentary","content":"x"}`, ""):                                                       "input[0].phase",
		body(`{"role":"assistant","phase":"x","content":"x"}`, ""):                                                           "input[0].phase",
		body(`{"role":"user","content":[]}`, ""):                                                                             "input[0].content",
		body(`{"role":"user","content":[{"type":"output_text"}]}`, ""):                                                       "output_text",
		body(`{"role":"assistant","content":[{"type":"input_text"}]}`, ""):                                                   "input_text",
		body(`{"role":"user","content":[{"type":"input_image","image_url":"https://x"}]}`, ""):                               "data URL",
		body(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/bmp;base64,eA=="}]}`, ""):              "image/bmp",
		body(`{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,eA=="}]}`, ""):         "filename",
		body(user+`,{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}`, ""):                                 "No tool output found",
		body(user+`,{"type":"function_call_output","call_id":"c","output":"x"}`, ""):                                         "No tool call found",
		body(user+`,{"type":"function_call","call_id":"`+strings.Repeat("c", 65)+`","name":"a","arguments":"{}"}`, ""):       "call_id",
		body(user+`,{"type":"reasoning","summary":[],"encrypted_content":"x"}`, ""):                                          "required following item",
		body(user+`,{"type":"reasoning","summary":[],"encrypted_content":"x"},`+user, ""):                                    "required following item",
		body(user+`,{"type":"reasoning","summary":[]},{"role":"assistant","content":"x"},`+user, ""):                         "not persisted",
		body(user+`,{"type":"reasoning","encrypted_content":"x"},{"role":"assistant","content":"x"},`+user, ""):              "summary",
		body(user+`,{"type":"reasoning","summary":[],"encrypted_content":"x"},{"role":"assistant","content":"x"},`+user, ""): "",
	} {
		err := responsestest.Server{}.Check(nil, []byte(in))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func BenchmarkEncodeTurn100(b *testing.B) {
	r := request(100)
	short := *r
	short.Messages = r.Messages[:len(r.Messages)-2]
	e := Dialect{}.NewEncoder()
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range []*model.Request{&short, r} {
			if _, err := e.EncodeBody(r, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
