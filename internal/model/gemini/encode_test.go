package gemini_test

import (
	. "adze/internal/model/gemini"
	"adze/internal/model/gemini/geminitest"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func encode(t interface{ Fatal(...any) }, d Dialect, req *model.Request, extra string) string {
	body, err := d.NewEncoder().EncodeBody(req, json.RawMessage(extra))
	if err != nil {
		t.Fatal(err)
	}
	return string(body.Bytes())
}

func use(id, name string) *msg.ToolUse { return msg.NewToolUse(id, name, `{"a": 1}`) }

func result(id string, parts ...msg.Part) *msg.ToolResult {
	return &msg.ToolResult{ID: id, Parts: parts}
}

func talk(parts ...[]msg.Part) (all []msg.Message) {
	for i, p := range parts {
		all = append(all, msg.Message{Role: [...]msg.Role{msg.User, msg.Assistant}[i%2], Parts: p})
	}
	return all
}

func text(s string) *msg.Text { return &msg.Text{Text: s} }

var png = &msg.Image{MediaType: "image/png", Data: []byte("picture")}

// TestEncodeGolden covers key order, options, tools and extra parameters.
//
// Proves PROV-31, PROV-13, PROV-40, PROV-62.
func TestEncodeGolden(t *testing.T) {
	hi := talk([]msg.Part{text("hi")})
	const contents = `,"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	tools := []msg.ToolSpec{{Name: "Read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","$schema":"x"}`)}, {Name: "mcp.a/b"}}
	for name, c := range map[string]struct {
		d     Dialect
		req   model.Request
		extra string
		want  string
	}{
		"plain": {req: model.Request{Messages: hi}, want: `{"generationConfig":{"maxOutputTokens":100}` + contents},
		"system and tools": {req: model.Request{System: []msg.Part{text("a"), text(""), text("b")}, Tools: tools, Messages: hi},
			want: `{"generationConfig":{"maxOutputTokens":100},"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]},` +
				`"tools":[{"functionDeclarations":[{"name":"Read","description":"Reads.","parametersJsonSchema":{"type":"object","$schema":"x"}},{"name":"mcp_a_b_6f3b4a602d1e37781bcd"}]}]` + contents},
		"open api": {d: Dialect{OpenAPI: true}, req: model.Request{Tools: []msg.ToolSpec{{Name: "A", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)}, {Name: "B", Schema: json.RawMessage(`{"type":"object"}`)}}, Messages: hi},
			want: `{"generationConfig":{"maxOutputTokens":100},"tools":[{"functionDeclarations":[{"name":"A","parameters":{"type":"object","properties":{"x":{"type":"string"}}}},{"name":"B"}]}]` + contents},
		"choice": {req: model.Request{Tools: tools[:1], Choice: model.ToolChoice{Name: "Read"}, Messages: hi},
			want: `{"generationConfig":{"maxOutputTokens":100},"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["Read"]}},` +
				`"tools":[{"functionDeclarations":[{"name":"Read","description":"Reads.","parametersJsonSchema":{"type":"object","$schema":"x"}}]}]` + contents},
		"format": {req: model.Request{Format: json.RawMessage(`{"type":"object"}`), Messages: hi},
			want: `{"generationConfig":{"maxOutputTokens":100,"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}` + contents},
		"format omitted": {req: model.Request{Format: json.RawMessage(`{"type":"object"}`), Omit: model.OmitFormat, Messages: hi},
			want: `{"generationConfig":{"maxOutputTokens":100}` + contents},
		"extra": {req: model.Request{Messages: hi}, extra: `{"generationConfig":{"temperature":0,"maxOutputTokens":7},"cachedContent":"x"}`,
			want: `{"generationConfig":{"maxOutputTokens":7,"temperature":0},"cachedContent":"x"` + contents},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.MaxTokens = 100
			got := encode(t, c.d, &c.req, c.extra)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if err := (geminitest.Server{}).Check(nil, []byte(got)); err != nil {
				t.Error(err)
			}
		})
	}
	for _, extra := range []string{`{"contents":[]}`, `{"tools":1}`, `{"systemInstruction":{}}`, `[1]`, `{`, `{"generationConfig":1}`} {
		if _, err := (Dialect{}).NewEncoder().EncodeBody(&model.Request{Messages: hi}, json.RawMessage(extra)); err == nil {
			t.Errorf("extra %s is taken", extra)
		}
	}
}

// TestThinkingModes checks that newer models get levels and older ones token budgets.
//
// Proves PROV-40.
func TestThinkingModes(t *testing.T) {
	for _, c := range []struct {
		model    string
		thinking model.Thinking
		effort   model.Effort
		omit     model.Omission
		want     string
	}{
		{model: "gemini-3.8-pro"},
		{model: "gemini-3.8-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, want: `{"includeThoughts":true}`},
		{model: "gemini-3.8-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, effort: model.EffortMedium, want: `{"thinkingLevel":"medium","includeThoughts":true}`},
		{model: "gemini-3.8-pro", effort: model.EffortMax, want: `{"thinkingLevel":"high"}`},
		{model: "gemini-3.8-pro", thinking: model.Thinking{Mode: model.ThinkingBudget, Budget: 2048}, want: `{"thinkingBudget":2048,"includeThoughts":true}`},
		{model: "gemini-3.8-flash", thinking: model.Thinking{Mode: model.ThinkingDisabled}, want: `{"thinkingBudget":0}`},
		{model: "gemini-3.8-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, effort: model.EffortLow, omit: model.OmitEffort, want: `{"includeThoughts":true}`},
		{model: "gemini-3.8-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, effort: model.EffortLow, omit: model.OmitDisplay, want: `{"thinkingLevel":"low"}`},
		{model: "gemini-3.8-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, effort: model.EffortLow, omit: model.OmitThinking},
		{model: "gemini-2.5-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, want: `{"thinkingBudget":-1,"includeThoughts":true}`},
		{model: "gemini-2.5-pro", thinking: model.Thinking{Mode: model.ThinkingAdaptive}, effort: model.EffortLow, want: `{"thinkingBudget":1024,"includeThoughts":true}`},
		{model: "google/gemini-2.5-pro", effort: model.EffortHigh, want: `{"thinkingBudget":16000}`},
	} {
		req := &model.Request{Model: c.model, Thinking: c.thinking, Effort: c.effort, Omit: c.omit, MaxTokens: 32_000, Messages: talk([]msg.Part{text("hi")})}
		if got := string(Thinking(req)); got != c.want {
			t.Errorf("%s, %+v, effort %q: %s, want %s", c.model, c.thinking, c.effort, got, c.want)
		}
		if err := (geminitest.Server{}).Check(nil, []byte(encode(t, Dialect{}, req, ""))); err != nil {
			t.Error(err)
		}
	}
}

// TestEncodeContents checks that signatures are sent back on the part they came with, and that
// reasoning of other dialects is omitted.
//
// Proves PROV-10, PROV-41.
func TestEncodeContents(t *testing.T) {
	const placeholder = `,"thoughtSignature":"skip_thought_signature_validator"`
	call := func(id, more string) string {
		return `{"functionCall":{"id":"` + id + `","name":"Read","args":{"a": 1}}` + more + `}`
	}
	answer := func(id, text string) string {
		return `{"functionResponse":{"id":"` + id + `","name":"Read","response":{"output":"` + text + `"}}}`
	}
	pdf := &msg.Document{MediaType: "application/pdf", Data: []byte("%PDF")}
	for name, c := range map[string]struct {
		d        Dialect
		model    string
		messages []msg.Message
		want     string // all contents but the first
	}{
		"signatures": {messages: talk([]msg.Part{text("go")},
			[]msg.Part{&msg.Thinking{Text: "Hm", Signature: "gemini:c2lnMQ=="}, use("c1", "Read"), use("c2", "Read")}, []msg.Part{result("c1", text("x")), result("c2", text("y"))},
			[]msg.Part{text("a"), &msg.Thinking{Signature: "gemini:c2lnMg=="}, use("c3", "Read")}, []msg.Part{result("c3", text("z")), text("and")},
			[]msg.Part{&msg.Thinking{Text: "T", Signature: "gemini:thought:c2lnMw=="}, text("b"), &msg.Thinking{Signature: "gemini:empty:c2lnNA=="}}, []msg.Part{text("end")}),
			want: `{"role":"model","parts":[` + call("c1", `,"thoughtSignature":"c2lnMQ=="`) + `,` + call("c2", "") + `]},{"role":"user","parts":[` + answer("c1", "x") + `,` + answer("c2", "y") + `]},` +
				`{"role":"model","parts":[{"text":"a"},` + call("c3", `,"thoughtSignature":"c2lnMg=="`) + `]},{"role":"user","parts":[` + answer("c3", "z") + `,{"text":"and"}]},` +
				`{"role":"model","parts":[{"thought":true,"text":"T","thoughtSignature":"c2lnMw=="},{"text":"b"},{"text":"","thoughtSignature":"c2lnNA=="}]},{"role":"user","parts":[{"text":"end"}]}`},
		"calls of another model": {messages: talk([]msg.Part{text("go")},
			[]msg.Part{&msg.Thinking{Text: "Hm", Signature: "raw"}, &msg.Redacted{Data: "x"}, &msg.Thinking{Text: "Hm", Signature: "chat:x"}, use("c1", "Read"), use("c2", "Read")}, []msg.Part{result("c1", text("x")), result("c2", text("y"))}),
			want: `{"role":"model","parts":[` + call("c1", placeholder) + `,` + call("c2", "") + `]},{"role":"user","parts":[` + answer("c1", "x") + `,` + answer("c2", "y") + `]}`},
		"calls of another model, for an older one": {model: "gemini-2.5-pro", messages: talk([]msg.Part{text("go")}, []msg.Part{use("c1", "Read")}, []msg.Part{result("c1", text("x"))}),
			want: `{"role":"model","parts":[` + call("c1", "") + `]},{"role":"user","parts":[` + answer("c1", "x") + `]}`},
		"nothing to send": {messages: talk([]msg.Part{text("go")}, []msg.Part{&msg.Thinking{Text: "Hm", Signature: "responses:x"}, &msg.Opaque{Raw: []byte(`{}`)}}, []msg.Part{text("on")}),
			want: `{"role":"model","parts":[{"text":"(nothing to show)"}]},{"role":"user","parts":[{"text":"on"}]}`},
		"no ids": {d: Dialect{NoCallIDs: true}, model: "gemini-2.5-pro", messages: talk([]msg.Part{text("go")}, []msg.Part{use("c1", "Read")}, []msg.Part{&msg.ToolResult{ID: "c1", IsError: true, Parts: []msg.Part{text("x")}}}),
			want: `{"role":"model","parts":[{"functionCall":{"name":"Read","args":{"a": 1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"error":"x"}}}]}`},
		"images in results": {messages: talk([]msg.Part{text("go")}, []msg.Part{use("c1", "Read")}, []msg.Part{result("c1", text("x"), png, pdf), png}),
			want: `{"role":"model","parts":[` + call("c1", placeholder) + `]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"Read","response":{"output":"x"},"parts":[` +
				`{"inlineData":{"mimeType":"image/png","data":"cGljdHVyZQ=="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}}]}},{"inlineData":{"mimeType":"image/png","data":"cGljdHVyZQ=="}}]}`},
		"images next to results": {model: "gemini-2.5-pro", messages: talk([]msg.Part{text("go")}, []msg.Part{use("c1", "Read"), use("c2", "Read")}, []msg.Part{result("c1", png), result("c2", text("y")), text("on")}),
			want: `{"role":"model","parts":[` + call("c1", "") + `,` + call("c2", "") + `]},{"role":"user","parts":[` + answer("c1", "(image/png follows the results)") + `,` + answer("c2", "y") +
				`,{"text":"image/png in the result of Read (call c1):"},{"inlineData":{"mimeType":"image/png","data":"cGljdHVyZQ=="}},{"text":"on"}]}`},
		"files that are not read": {messages: talk([]msg.Part{text("go")}, []msg.Part{text("a")}, []msg.Part{&msg.Image{MediaType: "image/gif", Data: []byte("x")}, &msg.Document{MediaType: "text/plain", Title: "T", Data: []byte("words")}, &msg.Document{MediaType: "application/zip", Data: []byte("x")}}),
			want: `{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"[An image of type image/gif is left out: the model cannot read it.]"},{"text":"T\n\nwords"},{"text":"[A document of type application/zip is left out: the model cannot read it.]"}]}`},
		"a result without a call": {messages: talk([]msg.Part{text("go")}, []msg.Part{text("a")}, []msg.Part{result("c9", text("lost?"))}),
			want: `{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"Result of the call c9:\nlost?"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.model == "" {
				c.model = "gemini-3.8-pro"
			}
			req := &model.Request{Model: c.model, MaxTokens: 100, Messages: c.messages, Effort: model.EffortLow}
			body := encode(t, c.d, req, "")
			_, got, _ := strings.Cut(body, `{"role":"user","parts":[{"text":"go"}]},`)
			if diff := cmp.Diff(c.want+"]}", got); diff != "" {
				t.Errorf("contents (-want +got):\n%s", diff)
			}
			if err := (geminitest.Server{}).Check(nil, []byte(body)); err != nil {
				t.Errorf("%v\n%s", err, body)
			}
		})
	}
}

// conversation draws a well-formed conversation that ends with the user.
func conversation() *rapid.Generator[[]msg.Message] {
	some := func(t *rapid.T) string { return "x" + rapid.String().Draw(t, "text") }
	return rapid.Custom(func(t *rapid.T) []msg.Message {
		var all []msg.Message
		var results []msg.Part
		ids := 0
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			all = append(all, msg.Message{Role: msg.User, Parts: append(results, text(some(t)), png)})
			results = nil
			var said []msg.Part
			sign := func() {
				if rapid.Bool().Draw(t, "signed") {
					said = append(said, &msg.Thinking{Signature: "gemini:c2lu"})
				}
			}
			if rapid.Bool().Draw(t, "foreign") {
				said = append(said, &msg.Thinking{Text: "Hm", Signature: rapid.SampledFrom([]string{"raw", "chat:x"}).Draw(t, "whose")})
			}
			sign()
			said = append(said, text(some(t)))
			for range rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "uses") {
				ids++
				id := fmt.Sprintf("call_%d", ids)
				in, _ := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
				sign()
				said = append(said, msg.NewToolUse(id, "Read", string(in)))
				r := &msg.ToolResult{ID: id, IsError: rapid.Bool().Draw(t, "error"), Parts: []msg.Part{text(some(t))}}
				if rapid.Bool().Draw(t, "picture") {
					r.Parts = append(r.Parts, png)
				}
				results = append(results, r)
			}
			if rapid.Bool().Draw(t, "ends signed") {
				said = append(said, &msg.Thinking{Signature: "gemini:empty:ZW5k"})
			}
			all = append(all, msg.Message{Role: msg.Assistant, Parts: said})
		}
		return append(all, msg.Message{Role: msg.User, Parts: append(results, text("end"))})
	})
}

// TestRoundTrip checks that a conversation survives the wire except for foreign reasoning, that
// every request is valid, and that each begins with the previous one.
//
// Proves PROV-10.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := conversation().Draw(t, "messages")
		e := Dialect{}.NewEncoder()
		before := ""
		for n := 1; n <= len(messages); n += 2 {
			req := &model.Request{Model: "gemini-3.8-pro", MaxTokens: 100, Messages: messages[:n]}
			pieces, err := e.EncodeBody(req, nil)
			if err != nil {
				t.Fatal(err)
			}
			body := string(pieces.Bytes())
			if err := (geminitest.Server{}).Check(nil, []byte(body)); err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			if !strings.HasPrefix(body, before) {
				t.Fatalf("%s\ndoes not begin with\n%s", body, before)
			}
			before = strings.TrimSuffix(body, "]}")
			if fresh := encode(t, Dialect{}, req, ""); fresh != body {
				t.Fatalf("encoded at once:\n%s\nand step by step:\n%s", fresh, body)
			}
			back, err := geminitest.Server{}.Read([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(known(messages[:n]), known(back.Messages)); diff != "" {
				t.Fatalf("messages (-sent +parsed):\n%s", diff)
			}
		}
	})
}

// known returns messages without foreign reasoning and placeholders.
func known(messages []msg.Message) (all []msg.Message) {
	for _, m := range messages {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p msg.Part) bool {
			data, ok := SignatureOf(p)
			return msg.IsThinking(p) && !ok || data == ForeignCall
		})
		all = append(all, m)
	}
	return all
}

// TestEncodeKeepsAndLends checks that sent messages are not encoded again and that returned
// bodies do not change.
func TestEncodeKeepsAndLends(t *testing.T) {
	messages := talk([]msg.Part{text("go")}, []msg.Part{use("c1", "Read")}, []msg.Part{result("c1", text("x"))})
	e := Dialect{}.NewEncoder()
	ask := func(name string, m []msg.Message) wire.Body {
		b, err := e.EncodeBody(&model.Request{Model: name, MaxTokens: 1, Messages: m}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := ask("gemini-3", messages)
	copied := string(first.Bytes())
	grown := append(slices.Clip(messages), talk([]msg.Part{text("?")}, []msg.Part{text("a")})[1], msg.UserText("on"))
	ask("gemini-3", grown)
	other := append(slices.Clip(messages), msg.Message{Role: msg.Assistant, Parts: []msg.Part{text("another")}}, msg.UserText("on"))
	ask("gemini-3", other)
	if b := ask("gemini-2.5-pro", messages); bytes.Contains(b.Bytes(), []byte(ForeignCall)) {
		t.Errorf("an encoding for a newer model is sent to an older one: %s", b.Bytes())
	}
	if string(first.Bytes()) != copied {
		t.Error("a body has changed")
	}
	if !e.Continues(&model.Request{Messages: messages}) || e.Continues(&model.Request{Messages: talk([]msg.Part{text("go")})}) {
		t.Error("the conversation is not recognised by its parts")
	}
}

// TestToolNames checks that tool names map back uniquely.
//
// Proves PROV-13.
func TestToolNames(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[-._0-9A-Za-z /ä]{1,80}`), rapid.String().Filter(func(s string) bool { return s != "" }))
		names := rapid.SliceOfNDistinct(name, 1, 6, rapid.ID[string]).Draw(t, "names")
		var tools []msg.ToolSpec
		for _, n := range names {
			tools = append(tools, msg.ToolSpec{Name: n})
		}
		for _, n := range names {
			short := WireName(n)
			if !valid.MatchString(short) {
				t.Fatalf("%q becomes %q", n, short)
			}
			if back := Original(tools, short); back != n {
				t.Fatalf("%q becomes %q and comes back as %q", n, short, back)
			}
		}
	})
}

// TestToolLeftOut checks that a tool whose schema cannot be expressed is omitted and reported
// once.
//
// Proves PROV-13.
func TestToolLeftOut(t *testing.T) {
	var notes []string
	c := wire.Config{APIKey: secret, Note: func(s string) { notes = append(notes, s) }, Transport: modeltest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "Loop") || !strings.Contains(string(body), "Read") {
			t.Errorf("body %s", body)
		}
		io.WriteString(w, sse(chunk(`{"text":"a"}`, stop)))
	}))}
	p, err := wire.New(service(Dialect{OpenAPI: true}), c)
	if err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Model: "m", MaxTokens: 1, Messages: talk([]msg.Part{text("hi")}), Tools: []msg.ToolSpec{
		{Name: "Read"}, {Name: "Loop", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}}}`)},
	}}
	for range 2 {
		if _, err := collect(p.Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "the tool Loop is left out: the schema refers to itself") {
		t.Errorf("notes %q", notes)
	}
}

// Proves PROV-13.
func TestOpenAPISchema(t *testing.T) {
	for in, want := range map[string]string{
		``: ``, `{}`: ``, `{"type":"object","properties":{}}`: ``,
		`{"$schema":"s","type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"integer","exclusiveMinimum":0,"minimum":1}}}`: `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1,"description":"(exclusiveMinimum: 0)"}}}`,
		`{"properties":{"a":{"type":["string","null"],"description":"A."},"b":{"type":["string","number"]}}}`:                                                  `{"type":"object","properties":{"a":{"nullable":true,"type":"string","description":"A."},"b":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/p","description":"Here."}},"$defs":{"p":{"type":"string","format":"uri","description":"P."}}}`:    `{"type":"object","properties":{"a":{"type":"string","description":"Here. (format: \"uri\")"}}}`,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]},"b":{"const":"x"},"c":{"const":7},"d":{"enum":[1,2]},"e":true}}`:     `{"type":"object","properties":{"a":{"nullable":true,"type":"string"},"b":{"enum":["x"],"type":"string"},"c":{"description":"(always 7)"},"d":{"description":"(enum: [1,2])"},"e":{}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"object","properties":{"z":{"type":"number"}}}]}}}}`:   `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"object","properties":{"z":{"type":"number"}}}]}}}}`,
		`{"type":"object","properties":{"a":{"type":"object","description":"Input."},"b":{"type":"array","items":{"type":"object","properties":{}}}}}`:         `{"type":"object","properties":{"a":{"type":"string","description":"Input. (a JSON object as text)"},"b":{"type":"array","items":{"type":"string","description":"(a JSON object as text)"}}}}`,
	} {
		got, err := Parameters([]byte(in), true)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n%s, %v; want\n%s", in, got, err, want)
		}
		if len(got) > 0 {
			body := `{"tools":[{"functionDeclarations":[{"name":"a","parameters":` + string(got) + `}]}],"contents":[{"parts":[{"text":"a"}]}]}`
			if err := (geminitest.Server{}).Check(nil, []byte(body)); err != nil {
				t.Errorf("%s: %v", in, err)
			}
		}
	}
	for _, in := range []string{`[]`, `{`, `{"type":"string"}`, `{"type":"object","properties":{"a":false}}`, `{"type":"object","properties":{"a":{"$ref":"#/other"}}}`, `{"type":"object","properties":[]}`,
		`{"type":"object","properties":{"a":{"type":7}}}`} {
		if got, err := Parameters([]byte(in), true); err == nil {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// Proves PROV-59.
func TestCount(t *testing.T) {
	req := &model.Request{Model: "gemini-3.8-pro", MaxTokens: 100, System: []msg.Part{text("s")}, Messages: talk([]msg.Part{text("hi")})}
	var asked []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.URL.Path+" "+string(body))
		w.Write(geminitest.Server{}.EncodeTokenCount(42))
	})
	const inner = `"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	for d, want := range map[*Dialect]string{
		{}: `/v1beta/models/gemini-3.8-pro:countTokens {"generateContentRequest":{"model":"models/gemini-3.8-pro",` + inner + `}`,
		{Models: "v1/projects/p/publishers/google/models/"}: `/v1/projects/p/publishers/google/models/gemini-3.8-pro:countTokens {` + inner,
	} {
		asked = nil
		p := provider(t, *d, h)
		for range 2 {
			if n, err := p.CountTokens(t.Context(), req); n != 42 || err != nil {
				t.Errorf("count %d, %v", n, err)
			}
		}
		if len(asked) != 1 || asked[0] != want || !json.Valid([]byte(asked[0][strings.Index(asked[0], "{"):])) {
			t.Errorf("asked %q, want once %s", asked, want)
		}
	}
	for _, body := range []string{`{}`, `x`, `{"totalTokens":-1}`, `{"totalTokens":"3"}`} {
		if n, err := (Dialect{}).DecodeCount([]byte(body)); err == nil {
			t.Errorf("%s counts %d", body, n)
		}
	}
}

// TestPathAndKey checks that the key is in a header and never in the URL, and that the model is
// in the path.
func TestPathAndKey(t *testing.T) {
	for name, want := range map[string]string{
		"gemini-3.8-pro":    "/v1beta/models/gemini-3.8-pro:streamGenerateContent?alt=sse",
		"models/gemini-3":   "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
		"tuned/../x?key=y#": "/v1beta/models/tuned%2F..%2Fx%3Fkey=y%23:streamGenerateContent?alt=sse",
	} {
		p := provider(t, Dialect{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.RequestURI != want || r.Header.Get("X-Goog-Api-Key") != secret || r.Header.Get("Authorization") != "" {
				t.Errorf("asked %s, want %s; headers %v", r.RequestURI, want, r.Header)
			}
			io.WriteString(w, sse(chunk(`{"text":"a"}`, stop)))
		}))
		if _, err := collect(p.Stream(t.Context(), &model.Request{Model: name, MaxTokens: 1, Messages: talk([]msg.Part{text("hi")})})); err != nil {
			t.Error(err)
		}
	}
}
