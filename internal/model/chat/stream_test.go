package chat_test

import (
	. "adze/internal/model/chat"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// chunk returns a chunk with a delta.
func chunk(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func ended(reason string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func say(text string) string { return chunk(`{"content":` + string(msg.AppendString(nil, text)) + `}`) }

// call returns a chunk with call fragments.
func call(pieces ...string) string {
	return chunk(`{"tool_calls":[` + strings.Join(pieces, ",") + `]}`)
}

const (
	role  = `{"id":"c1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}`
	usage = `{"id":"c1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	done  = `[DONE]`
)

func sse(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("data: " + l + "\n\n")
	}
	return b.String()
}

// tools are the tools offered in the tests.
var tools = []msg.ToolSpec{{Name: "Read"}, {Name: "Edit"}, {Name: "Bash"}, {Name: "mcp__" + strings.Repeat("long", 30)}}

// read decodes a stream and returns a short rendering of the parts, the end and the usage.
func read(d Dialect, stream io.Reader) (string, error) {
	var a model.Accumulator
	typed := map[int]string{}
	seq := wire.ReadStream(context.Background(), d.For(&model.Request{Tools: tools}), io.NopCloser(stream), wire.StreamOptions{RequestID: "req_1"})
	var err error
	var out []string
	for e, fault := range seq {
		if fault != nil {
			err = fault
			break
		}
		switch e := e.(type) {
		case model.TextDelta:
			typed[e.Block] += e.Text
		case model.ThinkingDelta:
			typed[e.Block] += e.Text
		case model.InputDelta:
			typed[e.Block] += e.JSON
		case model.BlockDone:
			out = append(out, show(e.Part))
			if u, ok := e.Part.(*msg.ToolUse); ok && typed[e.Block] != "" && typed[e.Block] != string(u.Input) && typed[e.Block] != u.Malformed {
				out = append(out, fmt.Sprintf("but typed was %q", typed[e.Block]))
			}
		}
		a.Add(e)
	}
	if reason, ok := a.Stop(); ok {
		out = append(out, string(reason))
	}
	u := a.Usage()
	out = append(out, fmt.Sprintf("%d+%d", u.Input+u.CacheRead+u.CacheWrite, u.Output))
	if u.Estimated {
		out[len(out)-1] = "estimated"
	}
	return strings.Join(out, " | "), err
}

var made = regexp.MustCompile(`call_[0-9a-f]{16}`)

func show(p msg.Part) string {
	switch p := p.(type) {
	case *msg.Text:
		return p.Text
	case *msg.Thinking:
		return "(" + p.Text + ")" + p.Signature
	case *msg.ToolUse:
		if p.Malformed != "" {
			return fmt.Sprintf("%s %s malformed %s", made.ReplaceAllString(p.ID, "made"), p.Name, p.Malformed)
		}
		return fmt.Sprintf("%s %s %s", made.ReplaceAllString(p.ID, "made"), p.Name, p.Input)
	}
	return fmt.Sprintf("%T", p)
}

// streams are servers' answers, covering their many differences, with the expected results.
var streams = []struct {
	name string
	d    Dialect
	in   string
	want string
}{
	{"text", Dialect{}, sse(role, say("Hel"), say("lo"), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"no usage", Dialect{}, sse(role, say("Hello"), ended("stop"), done), "Hello | end_turn | estimated"},
	{"usage of null", Dialect{}, sse(role, say("Hello"), strings.Replace(ended("stop"), `{"id"`, `{"usage":null,"id"`, 1), done), "Hello | end_turn | estimated"},
	{"usage in every chunk", Dialect{}, sse(role, strings.Replace(say("Hel"), `{"id"`, `{"usage":{"prompt_tokens":10,"completion_tokens":1},"id"`, 1),
		strings.Replace(say("lo"), `{"id"`, `{"usage":{"prompt_tokens":10,"completion_tokens":2},"id"`, 1), ended("stop"), done), "Hello | end_turn | 10+2"},
	{"usage in the choice", Dialect{}, sse(say("Hello"), `{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":4}}]}`, done), "Hello | end_turn | 3+4"},
	{"usage of a vendor", Dialect{}, sse(say("Hello"), `{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":4}}}`, done), "Hello | end_turn | 3+4"},
	{"empty choices first", Dialect{}, sse(`{"id":"","model":"","choices":[],"prompt_filter_results":[{}]}`, say("Hello"), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"choices of null", Dialect{}, sse(`{"choices":null}`, say("Hello"), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"role repeated", Dialect{}, sse(chunk(`{"role":"assistant","content":"Hel"}`), chunk(`{"role":"assistant","content":"lo"}`), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"no done", Dialect{}, sse(say("Hello"), ended("stop"), usage), "Hello | end_turn | 10+5"},
	{"no done and no blank line", Dialect{}, strings.TrimSpace(sse(say("Hello"), usage, ended("stop"))), "Hello | end_turn | 10+5"},
	{"done twice", Dialect{}, sse(say("Hello"), ended("stop"), usage, done, done), "Hello | end_turn | 10+5"},
	{"no finish reason", Dialect{}, sse(say("Hello"), usage, done), "Hello | end_turn | 10+5"},
	{"unknown finish reason", Dialect{}, sse(say("Hello"), ended("whatever"), usage, done), "Hello | end_turn | 10+5"},
	{"length", Dialect{}, sse(say("Hello"), ended("length"), usage, done), "Hello | max_tokens | 10+5"},
	{"content filter", Dialect{}, sse(say("Hello"), ended("content_filter"), usage, done), "Hello | refusal | 10+5"},
	{"refusal", Dialect{}, sse(chunk(`{"refusal":"I can"}`), chunk(`{"refusal":"not."}`), ended("stop"), usage, done), "I cannot. | refusal | 10+5"},
	{"refusal of null", Dialect{}, sse(chunk(`{"content":"Hello","refusal":null,"tool_calls":null,"function_call":null,"reasoning":null}`), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"comments and CRLF", Dialect{}, ": OPENROUTER PROCESSING\r\n\r\n" + strings.ReplaceAll(sse(say("Hello"), ended("stop"), usage, done), "\n", "\r\n"), "Hello | end_turn | 10+5"},
	{"event names and ids", Dialect{}, strings.ReplaceAll(sse(say("Hello"), ended("stop"), usage, done), "data: ", "event: message\nid: 7\ndata:"), "Hello | end_turn | 10+5"},
	{"content in parts", Dialect{}, sse(chunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Hello"}]}`), ended("stop"), usage, done), "(Hm.) | Hello | end_turn | 10+5"},
	{"content of another type", Dialect{}, sse(chunk(`{"content":7}`), chunk(`{"content":{"a":1}}`), say("Hello"), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"a whole message in a stream", Dialect{}, sse(`{"id":"c1","choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, done), "Hello | end_turn | 10+5"},
	{"other choices", Dialect{}, sse(`{"choices":[{"index":0,"delta":{"content":"Hello"}},{"index":1,"delta":{"content":"Bye"}}]}`, ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"events of another kind", Dialect{}, sse(`{"type":"weather"}`, `{}`, say("Hello"), ended("stop"), usage, done), "Hello | end_turn | 10+5"},

	{"reasoning_content", Dialect{}, sse(chunk(`{"content":"","reasoning_content":"H"}`), chunk(`{"content":null,"reasoning_content":"m."}`), say("So."), ended("stop"), usage, done), "(Hm.) | So. | end_turn | 10+5"},
	{"reasoning", Dialect{Replay: ReplayText}, sse(chunk(`{"content":"","reasoning":"Hm."}`), say("So."), ended("stop"), usage, done), "(Hm.)chat: | So. | end_turn | 10+5"},
	{"reasoning by two names", Dialect{}, sse(chunk(`{"reasoning_content":"Hm.","reasoning":"Hm."}`), say("So."), ended("stop"), usage, done), "(Hm.) | So. | end_turn | 10+5"},
	{"reasoning_details", Dialect{Replay: ReplayDetails}, sse(
		chunk(`{"content":"","reasoning":"H","reasoning_details":[{"type":"reasoning.text","text":"H","index":0,"format":"f"}]}`),
		chunk(`{"content":"","reasoning":"m.","reasoning_details":[{"type":"reasoning.text","text":"m.","index":0,"signature":null}]}`),
		chunk(`{"content":"","reasoning_details":[{"type":"reasoning.text","signature":"sig","index":0}]}`),
		chunk(`{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","index":1}]}`), say("So."), ended("stop"), usage, done),
		`(Hm.)chat:[{"type":"reasoning.text","text":"Hm.","index":0,"format":"f","signature":"sig"},{"type":"reasoning.encrypted","data":"xyz","index":1}] | So. | end_turn | 10+5`},
	{"reasoning_details alone", Dialect{}, sse(chunk(`{"reasoning_details":[{"type":"reasoning.summary","summary":"Hm."},null,7]}`), say("So."), ended("stop"), usage, done), "(Hm.) | So. | end_turn | 10+5"},

	{"reasoning in tags", Dialect{}, sse(say("<think>"), say("H"), say("m.</thi"), say("nk>\n\nSo."), ended("stop"), usage, done), "(Hm.) | So. | end_turn | 10+5"},
	{"reasoning in tags, in one piece", Dialect{}, sse(say("\n<think>\nHm.\n</think>\n\nSo. <think>no</think>"), ended("stop"), usage, done), "(\nHm.\n) | So. <think>no</think> | end_turn | 10+5"},
	{"reasoning without an end", Dialect{}, sse(say("<think>Hm.</"), ended("length"), usage, done), "(Hm.</) | max_tokens | 10+5"},
	{"half a tag", Dialect{}, sse(say(" <th"), ended("stop"), usage, done), " <th | end_turn | 10+5"},
	{"another tag", Dialect{}, sse(say("<th"), say("e>"), ended("stop"), usage, done), "<the> | end_turn | 10+5"},
	{"reasoning in tags before a call in tags", Dialect{TextTools: true}, sse(say("<think>Hm.</think><tool_call>{\"name\":\"Read\",\"arguments\":{}}</tool_call>"), ended("stop"), usage, done), "(Hm.) | made Read {} | tool_use | 10+5"},

	{"a call in fragments", Dialect{}, sse(role, call(`{"index":0,"id":"a","type":"function","function":{"name":"Read","arguments":""}}`),
		call(`{"index":0,"function":{"arguments":"{\"pa"}}`), call(`{"index":0,"function":{"arguments":"th\":1}"}}`), ended("tool_calls"), usage, done), `a Read {"path":1} | tool_use | 10+5`},
	{"stop instead of tool_calls", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}`), ended("stop"), usage, done), `a Read {} | tool_use | 10+5`},
	{"tool_calls without calls", Dialect{}, sse(say("Hello"), ended("tool_calls"), usage, done), "Hello | end_turn | 10+5"},
	{"parallel calls", Dialect{}, sse(say("Both."), call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":"}}`), call(`{"index":0,"function":{"arguments":"1}"}}`),
		call(`{"index":1,"id":"b","function":{"name":"Edit","arguments":""}}`), call(`{"index":1,"function":{"arguments":"{\"b\":2}"}}`), ended("tool_calls"), usage, done),
		`Both. | a Read {"a":1} | b Edit {"b":2} | tool_use | 10+5`},
	{"calls that take turns", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":"}}`, `{"index":1,"id":"b","function":{"name":"Edit","arguments":"{\"b\":"}}`),
		call(`{"index":1,"function":{"arguments":"2}"}}`, `{"index":0,"function":{"arguments":"1}"}}`), ended("tool_calls"), usage, done), `a Read {"a":1} | b Edit {"b":2} | tool_use | 10+5`},
	{"no ids", Dialect{}, sse(call(`{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}`), call(`{"index":1,"function":{"name":"Read","arguments":"{\"a\":2}"}}`), ended("stop"), usage, done),
		`made Read {"a":1} | made Read {"a":2} | tool_use | 10+5`},
	{"no index", Dialect{}, sse(call(`{"id":"a","function":{"name":"Read","arguments":"{\"a\":"}}`), call(`{"function":{"arguments":"1}"}}`), call(`{"id":"b","function":{"name":"Edit","arguments":"{}"}}`), ended("stop"), usage, done),
		`a Read {"a":1} | b Edit {} | tool_use | 10+5`},
	{"neither ids nor index", Dialect{}, sse(call(`{"function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"function":{"name":"Read","arguments":"{\"a\":2}"}}`), call(`{"function":{"name":"Edit","arguments":"{}"}}`), ended("stop"), usage, done),
		`made Read {"a":1} | made Read {"a":2} | made Edit {} | tool_use | 10+5`},
	{"the same index, other ids", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":1}"}}`), call(`{"index":0,"id":"b","function":{"name":"Read","arguments":"{\"a\":2}"}}`), ended("stop"), usage, done),
		`a Read {"a":1} | b Read {"a":2} | tool_use | 10+5`},
	{"the same index, other names", Dialect{}, sse(call(`{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}`), call(`{"index":0,"function":{"name":"Edit","arguments":"{\"a\":2}"}}`), ended("stop"), usage, done),
		`made Read {"a":1} | made Edit {"a":2} | tool_use | 10+5`},
	{"the same index and name", Dialect{}, sse(call(`{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}`), call(`{"index":0,"function":{"name":"Read","arguments":"{\"a\":2}"}}`), ended("stop"), usage, done),
		`made Read {"a":1} | made Read {"a":2} | tool_use | 10+5`},
	{"the same id twice", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":1}"}}`), call(`{"index":1,"id":"a","function":{"name":"Read","arguments":"{\"a\":2}"}}`), ended("stop"), usage, done),
		`a Read {"a":1} | a_2 Read {"a":2} | tool_use | 10+5`},
	{"id and name in every fragment", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":"}}`), call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"1}"}}`), ended("stop"), usage, done),
		`a Read {"a":1} | tool_use | 10+5`},
	{"name in every fragment", Dialect{}, sse(call(`{"index":0,"function":{"name":"Read","arguments":"{\"a\":"}}`), call(`{"index":0,"function":{"name":"Read","arguments":"1}"}}`), ended("stop"), usage, done),
		`made Read {"a":1} | tool_use | 10+5`},
	{"name in fragments", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Re"}}`), call(`{"index":0,"function":{"name":"ad","arguments":""}}`), call(`{"index":0,"function":{"arguments":"{}"}}`), ended("stop"), usage, done),
		`a Read {} | tool_use | 10+5`},
	{"names before arguments", Dialect{}, sse(call(`{"index":0,"function":{"name":"Read"}}`), call(`{"index":0,"function":{"name":"Bash"}}`), ended("stop"), usage, done),
		`made Read {} | made Bash {} | tool_use | 10+5`},
	{"a complete call named again", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":1}"}}`), call(`{"index":1,"id":"b","function":{"name":"Edit","arguments":"{}"}}`),
		call(`{"index":0,"id":"a","function":{"name":"Read","arguments":""}}`), ended("stop"), usage, done), `a Read {"a":1} | b Edit {} | tool_use | 10+5`},
	{"arguments as an object", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":{"a": 1}}}`), ended("stop"), usage, done), `a Read {"a": 1} | tool_use | 10+5`},
	{"arguments of null", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":null}}`), call(`{"index":1,"id":"b","function":{"name":"Read","arguments":"null"}}`), ended("stop"), usage, done),
		`a Read {} | b Read {} | but typed was "null" | tool_use | 10+5`},
	{"arguments that are not JSON", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":"}}`), ended("tool_calls"), usage, done), `a Read malformed {"a": | tool_use | 10+5`},
	{"cut at the limit", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"a\":"}}`), ended("length"), usage, done), `a Read malformed {"a": | max_tokens | 10+5`},
	{"function_call", Dialect{}, sse(chunk(`{"function_call":{"name":"Read","arguments":"{\"a\""}}`), chunk(`{"function_call":{"arguments":":1}"}}`), ended("function_call"), usage, done), `made Read {"a":1} | tool_use | 10+5`},
	{"a call without a name", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), ended("tool_calls"), usage, done), `{} | end_turn | 10+5`},
	{"calls of other types", Dialect{}, sse(call(`null`, `7`, `{"index":"x","id":5,"function":"f"}`), say("Hello"), ended("stop"), usage, done), "Hello | end_turn | 10+5"},
	{"a long name", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"`+toolname.Restrict(tools[3].Name)+`","arguments":"{}"}}`), ended("stop"), usage, done), "a mcp__" + strings.Repeat("long", 30) + " {} | tool_use | 10+5"},
	{"text after a call", Dialect{}, sse(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}`), say("Done."), ended("tool_calls"), usage, done), "a Read {} | Done. | tool_use | 10+5"},

	{"cached", Dialect{}, sse(say("Hello"), ended("stop"), `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":90,"audio_tokens":0}}}`, done), "Hello | end_turn | 100+5"},
	{"reasoning counted apart", Dialect{}, sse(say("Hello"), ended("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}}`, done), "Hello | end_turn | 10+105"},
	{"numbers that make no sense", Dialect{}, sse(say("Hello"), ended("stop"), `{"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":"5","total_tokens":1e99}}`, done), "Hello | end_turn | estimated"},

	{"a call in tags", Dialect{TextTools: true}, sse(say("Let me look.\n<tool"), say("_call>\n{\"name\": \"Read\", \"argu"), say("ments\": {\"a\": 1}}\n</tool_call>"), ended("stop"), usage, done), "Let me look.\n | made Read {\"a\": 1} | tool_use | 10+5"},
	{"two calls in tags", Dialect{TextTools: true}, sse(say(`<tool_call>{"name":"Read","arguments":{"a":1}}</tool_call>`+"\n"+`<tool_call>{"name":"Edit","arguments":"{\"b\":2}"}`), ended("stop"), usage, done),
		"made Read {\"a\":1} | \n | made Edit {\"b\":2} | tool_use | 10+5"},
	{"a bare object", Dialect{TextTools: true}, sse(say("\n{\"name\":\"Read\""), say(`,"parameters":{"a":1}}`), ended("stop"), usage, done), `made Read {"a":1} | tool_use | 10+5`},
	{"a fenced object", Dialect{TextTools: true}, sse(say("`"), say("``json\n{\"name\":\"Read\",\"arguments\":{\"a\":1}}\n"), say("```\n"), ended("stop"), usage, done), `made Read {"a":1} | tool_use | 10+5`},
	{"a list behind a tag", Dialect{TextTools: true}, sse(say("[TOOL"), say(`_CALLS] [{"name":"Read","arguments":{"a":1}},{"name":"Edit","arguments":{}}]`), ended("stop"), usage, done), `made Read {"a":1} | made Edit {} | tool_use | 10+5`},
	{"a tool that was not offered", Dialect{TextTools: true}, sse(say(`{"name":"Rm","arguments":{}}`), ended("stop"), usage, done), `{"name":"Rm","arguments":{}} | end_turn | 10+5`},
	{"an object within text", Dialect{TextTools: true}, sse(say("As in "), say(`{"name":"Read","arguments":{}}`), ended("stop"), usage, done), `As in {"name":"Read","arguments":{}} | end_turn | 10+5`},
	{"an incomplete tag", Dialect{TextTools: true}, sse(say("a <tool"), say("box> b <tool_call>no</tool_call> c"), ended("stop"), usage, done), "a <toolbox> b <tool_call>no</tool_call> c | end_turn | 10+5"},
	{"calls at the end", Dialect{}, sse(say("I look.\n<tool"), say("_call>{\"name\":\"Read\",\"arguments\":{\"a\":\"</tool_call>\"}}</tool_call>\n<tool_call>"), say("{\"name\":\"Edit\",\"arguments\":\"{}\"}"), ended("stop"), usage, done),
		"I look.\n | made Read {\"a\":\"</tool_call>\"} | made Edit {} | tool_use | 10+5"},
	{"calls of Qwen's coder", Dialect{}, sse(say("<tool_call>\n<function=Read>\n<parameter=a>\nx.txt\n</parameter>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>\n"), ended("stop"), usage, done), `made Read {"a":"x.txt","n":"7"} | tool_use | 10+5`},
	{"a function without the tag", Dialect{}, sse(say("<func"), say("tion=Read>\n<parameter=a>\none\n\ntwo\n</parameter>\n</function>"), ended("stop"), usage, done), `made Read {"a":"one\n\ntwo"} | tool_use | 10+5`},
	{"a value that looks like a tag", Dialect{}, sse(say("<function=Read><parameter=a>x</parameter>y</parameter></function>"), ended("stop"), usage, done), "<function=Read><parameter=a>x</parameter>y</parameter></function> | end_turn | 10+5"},
	{"a call within text", Dialect{}, sse(say(`<tool_call>{"name":"Read","arguments":{}}</tool_call>`), say(" is how."), ended("stop"), usage, done), `<tool_call>{"name":"Read","arguments":{}}</tool_call> is how. | end_turn | 10+5`},
	{"a call in a fence", Dialect{}, sse(say("So:\n``"), say("`\n<tool_call>{\"name\":\"Read\",\"arguments\":{}}</tool_call>"), ended("stop"), usage, done), "So:\n```\n<tool_call>{\"name\":\"Read\",\"arguments\":{}}</tool_call> | end_turn | 10+5"},
	{"a call that is cut off", Dialect{}, sse(say(`<tool_call>{"name":"Read","arguments":{}}</tool_call><tool_call>{"name"`), ended("length"), usage, done), `<tool_call>{"name":"Read","arguments":{}}</tool_call><tool_call>{"name" | max_tokens | 10+5`},
	{"a call of something else", Dialect{}, sse(say(`<tool_call>{"name":"Rm","arguments":{}}</tool_call>`), ended("stop"), usage, done), `<tool_call>{"name":"Rm","arguments":{}}</tool_call> | end_turn | 10+5`},
	{"text next to a parsed call", Dialect{}, sse(say("I <"), call(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}`), say(`<tool_call>{"name":"Read","arguments":{}}</tool_call>`), ended("stop"), usage, done), `I < | a Read {} | <tool_call>{"name":"Read","arguments":{}}</tool_call> | tool_use | 10+5`},
	{"reasoning as it came", Dialect{Replay: ReplaySame}, sse(chunk(`{"reasoning":"Hm.","content":""}`), say("So."), ended("stop"), usage, done), "(Hm.)chat:reasoning | So. | end_turn | 10+5"},
	{"reasoning in the text", Dialect{Replay: ReplaySame}, sse(say("<think>Hm.</think>So."), ended("stop"), usage, done), "(Hm.)chat: | So. | end_turn | 10+5"},
}

// TestStreams checks that every stream decodes to the same result however it is split into
// packets.
//
// Proves PROV-10, PROV-11, PROV-13, PROV-14, PROV-20, PROV-64, PROV-65.
func TestStreams(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			for name, in := range map[string]io.Reader{"whole": strings.NewReader(tt.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := read(tt.d, in)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
				}
			}
		})
	}
}

// TestStreamErrors covers errors within a stream and streams that break off.
func TestStreamErrors(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		kind     model.Kind
		says     string
	}{
		{"an error first", sse(role, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`), model.RateLimited, "Rate limit"},
		{"an error as text", sse(`{"error":"model requires more system memory"}`), model.ServerFault, "memory"},
		{"an error with a status", sse(`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"slow down\"}}"}}}`), model.RateLimited, "slow down"},
		{"an explicit error", sse(`{"object":"error","message":"out of memory","type":"InternalServerError","code":500}`), model.ServerFault, "out of memory"},
		{"an error after content", sse(say("half"), `{"error":{"message":"Overloaded","code":503}}`), model.Broken, "Overloaded"},
		{"an error as the reason", sse(say("half"), ended("error"), done), model.Broken, "broke off"},
		{"cut", sse(say("half")), model.Broken, "before its end"},
		{"cut in a chunk", sse(say("half")) + "data: {\"id", model.Broken, "not JSON"},
		{"no JSON", sse(say("half"), "hello"), model.Broken, "not JSON"},
		{"two values", sse(say("half"), "{} {}"), model.Broken, "not JSON"},
		{"a list", sse("[1]"), model.Broken, "not JSON"},
		{"nothing", sse(done), model.Broken, "before the answer began"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(Dialect{}, strings.NewReader(tt.in))
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s, error %v; want kind %v that says %q", got, err, tt.kind, tt.says)
			}
		})
	}
}

// TestMessage checks that a whole answer is decoded like a stream.
func TestMessage(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"all", `{"id":"c","model":"m","choices":[{"message":{"role":"assistant","content":"Hi","reasoning_content":"Hm.","tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{}"}},{"function":{"name":"Read","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
			`(Hm.) Hi a Read {} made Read {"a":1}`},
		{"error", `{"error":{"message":"Incorrect API key provided"}}`, "auth: Incorrect API key provided"},
		{"page", `<html>`, "broken: a web page came instead of an answer"},
		{"something else", `{"ok":true}`, "broken: the answer is not a chat completion"},
		{"half", `{"choices":[`, "broken: the stream has an event that is not JSON"},
	} {
		var got []string
		for e, err := range wire.ReadMessage(Dialect{}, []byte(tt.in), "") {
			if b, ok := e.(model.BlockDone); ok {
				got = append(got, show(b.Part))
			}
			if err != nil {
				got = append(got, err.Error())
			}
		}
		if s := strings.Join(got, " "); s != tt.want && !(tt.name == "half" && strings.HasPrefix(s, tt.want)) {
			t.Errorf("%s: %s\nwant %s", tt.name, s, tt.want)
		}
	}
}

// FuzzDecoder checks that no input makes the decoder panic and that blocks complete in order.
//
// Proves PROV-20.
func FuzzDecoder(f *testing.F) {
	for _, s := range streams {
		f.Add(s.in, s.d.TextTools)
	}
	f.Fuzz(func(t *testing.T, in string, text bool) {
		next := 0
		d := Dialect{TextTools: text, Replay: ReplayDetails}.For(&model.Request{Tools: tools})
		for e := range wire.ReadStream(context.Background(), d, io.NopCloser(strings.NewReader(in)), wire.StreamOptions{}) {
			if b, ok := e.(model.BlockDone); ok {
				if b.Block != next {
					t.Fatalf("block %d completes after %d", b.Block, next-1)
				}
				next++
			}
		}
	})
}

// TestAllocations checks that a delta allocates only its text and its event.
func TestAllocations(t *testing.T) {
	for name, line := range map[string]string{
		"text": say("some more words"), "reasoning": chunk(`{"content":null,"reasoning_content":"some more \"words\""}`), "input": call(`{"index":0,"function":{"arguments":"{\"path\":"}}`),
		"usage": strings.Replace(say("word"), `{"id"`, `{"usage":{"prompt_tokens":10,"completion_tokens":1},"id"`, 1),
	} {
		d := Dialect{}.For(&model.Request{Tools: tools}).NewDecoder("", false)
		data := []byte(line)
		d.Event("", []byte(call(`{"index":0,"id":"a","function":{"name":"Read","arguments":""}}`)))
		n := testing.AllocsPerRun(1000, func() {
			if _, err := d.Event("", data); err != nil {
				t.Fatal(err)
			}
			d.Take()
		})
		if n > 2 {
			t.Errorf("%s: %v allocations per delta, want at most 2", name, n)
		}
	}
}
