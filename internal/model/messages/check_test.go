package messages

import (
	"encoding/json"
	"strings"
	"testing"
)

// body wraps messages, given as the inside of the list, in an otherwise correct request.
func body(messages string) string {
	return `{"model":"m","max_tokens":2000,"messages":[` + messages + `]}`
}

const (
	hi      = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	use1    = `{"type":"tool_use","id":"t1","name":"Read","input":{}}`
	use2    = `{"type":"tool_use","id":"t2","name":"Read","input":{}}`
	result1 = `{"type":"tool_result","tool_use_id":"t1","content":"ok"}`
	result2 = `{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"ok"}]}`
	thought = `{"type":"thinking","thinking":"x","signature":"s"}`
	said    = `{"type":"text","text":"said"}`
	png     = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`
)

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func assistant(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func talk(messages ...string) string { return body(strings.Join(messages, ",")) }

// tools returns a request with the given inside of the tool list and further members.
func tools(list, more string) string {
	return `{"model":"m","max_tokens":2000,"tools":[` + list + `]` + more + `,"messages":[` + hi + `]}`
}

func TestCheckAccepts(t *testing.T) {
	tests := map[string]string{
		"text":                   talk(hi),
		"content string":         talk(`{"role":"user","content":"hi"}`),
		"tools and images":       talk(hi, assistant(thought, said, use1, use2), user(result1, result2, png, said)),
		"results in other order": talk(hi, assistant(use1, use2), user(result2, result1)),
		"empty result":           talk(hi, assistant(use1), user(`{"type":"tool_result","tool_use_id":"t1","content":[]}`)),
		"no result content":      talk(hi, assistant(use1), user(`{"type":"tool_result","tool_use_id":"t1"}`)),
		"paused":                 talk(hi, assistant(said, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`)),
		"earlier thinking last":  talk(hi, assistant(thought), user(said), assistant(said), user(said)),
		"server tool":            tools(`{"type":"web_search_20250305","name":"web_search"}`, ""),
		"choice":                 tools(`{"name":"A","input_schema":{"type":"object"}}`, `,"tool_choice":{"type":"tool","name":"A"}`),
		"adaptive":               `{"model":"m","max_tokens":1,"thinking":{"type":"adaptive"},"messages":[` + hi + `]}`,
		"thinking off":           `{"model":"m","max_tokens":1,"thinking":{"type":"disabled"},"messages":[` + hi + `]}`,
		"options":                `{"model":"m","max_tokens":1,"temperature":1,"stop_sequences":["x"],"system":"s","messages":[` + hi + `]}`,
	}
	for name, body := range tests {
		if err := Check([]byte(body)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, body)
		}
	}
}

func TestCheckRejects(t *testing.T) {
	mark := `,"cache_control":{"type":"ephemeral"}}`
	marked := func(block string) string { return strings.TrimSuffix(block, "}") + mark }
	hour := strings.TrimSuffix(said, "}") + `,"cache_control":{"type":"ephemeral","ttl":"1h"}}`
	long := strings.Repeat("a", 129)
	tests := []struct{ name, body, says string }{
		{"not JSON", `{"model":`, "not valid JSON"},
		{"not an object", `[]`, "not a JSON object"},
		{"wrong type", `{"model":7,"max_tokens":1,"messages":[` + hi + `]}`, "wrong type"},
		{"unknown member", `{"model":"m","max_tokens":1,"verbosity":1,"messages":[` + hi + `]}`, "verbosity: extra inputs"},
		{"member twice", `{"model":"m","model":"n","max_tokens":1,"messages":[` + hi + `]}`, "model: given twice"},
		{"too large", body(`{"role":"user","content":"` + strings.Repeat("x", 32<<20) + `"}`), "32 MB"},

		{"no model", `{"max_tokens":1,"messages":[` + hi + `]}`, "model:"},
		{"no max_tokens", `{"model":"m","messages":[` + hi + `]}`, "max_tokens:"},
		{"max_tokens zero", `{"model":"m","max_tokens":0,"messages":[` + hi + `]}`, "max_tokens:"},
		{"max_tokens broken", `{"model":"m","max_tokens":1.5,"messages":[` + hi + `]}`, "max_tokens:"},
		{"thinking budget small", `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1023},"messages":[` + hi + `]}`, "at least 1024"},
		{"thinking budget large", `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[` + hi + `]}`, "above thinking.budget_tokens"},
		{"thinking type", `{"model":"m","max_tokens":2000,"thinking":{"type":"loud"},"messages":[` + hi + `]}`, "thinking.type"},
		{"thinking and forced tool", tools(`{"name":"A","input_schema":{"type":"object"}}`, `,"thinking":{"type":"adaptive"},"tool_choice":{"type":"tool","name":"A"}`), "thinking: may not"},

		{"tool name", tools(`{"name":"a b","input_schema":{"type":"object"}}`, ""), "tools.0.name"},
		{"tool name long", tools(`{"name":"`+long+`","input_schema":{"type":"object"}}`, ""), "tools.0.name"},
		{"tool name empty", tools(`{"name":"","input_schema":{"type":"object"}}`, ""), "tools.0.name"},
		{"tool twice", tools(`{"name":"A","input_schema":{"type":"object"}},{"name":"A","input_schema":{"type":"object"}}`, ""), "tools.1.name: \"A\" is not unique"},
		{"tool schema", tools(`{"name":"A","input_schema":{"type":"string"}}`, ""), "tools.0.input_schema.type"},
		{"tool without schema", tools(`{"name":"A"}`, ""), "tools.0.input_schema.type"},
		{"choice of no tool", tools(`{"name":"A","input_schema":{"type":"object"}}`, `,"tool_choice":{"type":"tool","name":"B"}`), "tool_choice.name"},
		{"system empty", tools(``, `,"system":[{"type":"text","text":""}]`), "system.0: text"},
		{"system image", tools(``, `,"system":[`+png+`]`), "system.0.type"},

		{"no messages", talk(), "at least one"},
		{"assistant first", talk(assistant(said)), "first message"},
		{"unknown role", talk(`{"role":"system","content":"x"}`), "neither user nor assistant"},
		{"same role twice", talk(hi, hi), "roles must alternate"},
		{"empty content", talk(user()), "messages.0.content: must not be empty"},
		{"no content", talk(`{"role":"user"}`), "messages.0.content: must not be empty"},
		{"assistant last", talk(hi, assistant(said)), "last message must be the user's"},

		{"empty text", talk(user(`{"type":"text","text":""}`)), "messages.0.content.0: text must not be empty"},
		{"white space", talk(user(`{"type":"text","text":" \n\t"}`)), "messages.0.content.0: text must not be empty"},
		{"empty string", talk(`{"role":"user","content":""}`), "text must not be empty"},
		{"empty text in a result", talk(hi, assistant(use1), user(`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":""}]}`)), "messages.2.content.0.content.0: text"},
		{"unknown block", talk(user(`{"type":"hologram"}`)), `"hologram" is not allowed here`},
		{"tool use of the user", talk(user(use1)), `"tool_use" is not allowed here`},
		{"result of the assistant", talk(hi, assistant(result1), hi), `"tool_result" is not allowed here`},
		{"thinking in a result", talk(hi, assistant(use1), user(`{"type":"tool_result","tool_use_id":"t1","content":[`+thought+`]}`)), `"thinking" is not allowed here`},

		{"use without result", talk(hi, assistant(use1), user(said)), `tool use "t1" has no result`},
		{"use at the end", talk(hi, assistant(use1, `{"type":"server_tool_use","id":"s","name":"x","input":{}}`)), `tool use "t1" has no result`},
		{"one of two results", talk(hi, assistant(use1, use2), user(result1)), `tool use "t2" has no result`},
		{"result twice", talk(hi, assistant(use1), user(result1, result1)), `second result for "t1"`},
		{"result of nothing", talk(user(result1)), `which the message before does not use`},
		{"result too late", talk(hi, assistant(use1), user(result1), assistant(said), user(result1)), `which the message before does not use`},
		{"result after text", talk(hi, assistant(use1), user(said, result1)), "must come first"},
		{"use id twice", talk(hi, assistant(use1), user(result1), assistant(use1), user(result1)), "not unique"},
		{"use id", talk(hi, assistant(`{"type":"tool_use","id":"t 1","name":"Read","input":{}}`), hi), "messages.1.content.0.id"},
		{"use name", talk(hi, assistant(`{"type":"tool_use","id":"t1","name":"Re.ad","input":{}}`), hi), "messages.1.content.0.name"},
		{"use input", talk(hi, assistant(`{"type":"tool_use","id":"t1","name":"Read","input":"x"}`), hi), "messages.1.content.0.input"},

		{"thinking unsigned", talk(hi, assistant(`{"type":"thinking","thinking":"x","signature":""}`, said), hi), "signature: must not be empty"},
		{"redacted empty", talk(hi, assistant(`{"type":"redacted_thinking","data":""}`, said), hi), "data: must not be empty"},
		{"thinking later", talk(hi, assistant(said, thought, said), hi), "must start with it"},
		{"thinking last", talk(hi, assistant(thought), hi), "may not end in thinking"},

		{"five marks", talk(user(marked(said), marked(said), marked(said), marked(said), marked(said))), "more than 4"},
		{"mark on thinking", talk(hi, assistant(marked(thought), said), hi), "thinking may not carry"},
		{"mark type", talk(user(strings.Replace(marked(said), "ephemeral", "eternal", 1))), "must be ephemeral"},
		{"mark lifetime", talk(user(strings.Replace(hour, "1h", "2h", 1))), "neither 5m nor 1h"},
		{"long after short", talk(user(marked(said), hour)), "1h may not come after 5m"},
		{"long after short in tools", tools(`{"name":"A","input_schema":{"type":"object"}`+mark, `,"system":[`+hour+`]`), "1h may not come after 5m"},

		{"image type", talk(user(strings.Replace(png, "png", "tiff", 1))), "media_type"},
		{"image data", talk(user(strings.Replace(png, "aGk=", "a*", 1))), "source.data"},
		{"image empty", talk(user(strings.Replace(png, "aGk=", "", 1))), "source.data"},
		{"image without source", talk(user(`{"type":"image"}`)), "source: is required"},
		{"many images", talk(user(strings.Split(strings.Repeat(png+"\n", 101), "\n")[:101]...)), "101 images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Check([]byte(tt.body))
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

// Check never panics, and never accepts what is not JSON.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(talk(hi, assistant(thought, said, use1), user(result1, png))))
	f.Add([]byte(`{"model":"m","max_tokens":1,"messages":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := Check(body); err == nil && !json.Valid(body) {
			t.Errorf("accepted %q", body)
		}
	})
}
