package responses_test

import (
	. "adze/internal/model/responses"
	"adze/internal/model/responses/responsestest"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// sse writes data lines as a stream, naming each event after its type.
func sse(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		var e struct{ Type string }
		json.Unmarshal([]byte(l), &e) // ok: some lines are deliberately invalid
		b.WriteString("event: " + e.Type + "\ndata: " + l + "\n\n")
	}
	return b.String()
}

const (
	start = `{"type":"response.created","sequence_number":1,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m-1","output":[]}}`
	busy  = `{"type":"response.in_progress","sequence_number":2,"response":{"id":"resp_1"}}`
	ping  = `{"type":"keepalive","sequence_number":3}`
	usage = `"usage":{"input_tokens":15,"input_tokens_details":{"cached_tokens":5},"output_tokens":12,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":27}`
	stop  = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],` + usage + `}}`
)

func added(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func done(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

// more returns a delta event for an item.
func more(kind string, index int, text string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","item_id":"i%d","output_index":%d,"content_index":0,"delta":%s}`, kind, index, index, msg.AppendString(nil, text))
}

func message(index int, text string) string {
	return fmt.Sprintf(`{"id":"i%d","type":"message","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%s}]}`, index, msg.AppendString(nil, text))
}

func call(index int, arguments string) string {
	return fmt.Sprintf(`{"id":"i%d","type":"function_call","call_id":"c%d","name":"Read","arguments":%s}`, index, index, msg.AppendString(nil, arguments))
}

var (
	started = []model.Event{model.Start{ID: "resp_1", Model: "m-1", RequestID: "req_1"}}
	used    = model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, Output: 12}}
	ended   = []model.Event{used, model.Stop{Reason: model.StopEnd}}
	tools   = []model.Event{used, model.Stop{Reason: model.StopTools}}
)

func said(block int, text string) []model.Event {
	return []model.Event{model.TextDelta{Block: block, Text: text}, model.BlockDone{Block: block, Part: &msg.Text{Text: text}}}
}

func called(block, index int, arguments ...string) []model.Event {
	var all []model.Event
	for _, a := range arguments {
		all = append(all, model.InputDelta{Block: block, ID: fmt.Sprint("c", index), Name: "Read", JSON: a})
	}
	return append(all, model.BlockDone{Block: block, Part: msg.NewToolUse(fmt.Sprint("c", index), "Read", strings.Join(arguments, ""))})
}

func collect(seq iter.Seq2[model.Event, error]) (events []model.Event, err error) {
	for e, err := range seq {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func readIn(d wire.Dialect, stream string) ([]model.Event, error) {
	return collect(wire.ReadStream(context.Background(), d, io.NopCloser(strings.NewReader(stream)), wire.StreamOptions{RequestID: "req_1"}))
}

func read(stream string) ([]model.Event, error) { return readIn(Dialect{}, stream) }

// Proves PROV-11, PROV-14, PROV-10, PROV-20, PROV-41.
func TestReadStream(t *testing.T) {
	const reasoning = `{"id":"i0","type":"reasoning","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"gAAA","status":null}`
	const sealed = `responses:{"type":"reasoning","id":"i0","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"gAAA"}`
	summary := func(piece int, text string) string {
		return fmt.Sprintf(`{"type":"response.reasoning_summary_text.delta","item_id":"i0","output_index":0,"summary_index":%d,"delta":%q}`, piece, text)
	}
	thought := msg.Thinking{Text: "One.\n\nTwo.", Signature: sealed}
	typed := func(index int, text string) string { return more("function_call_arguments", index, text) }
	spoken := func(index int, text string) string { return more("output_text", index, text) }
	tests := []struct {
		name string
		in   []string
		want [][]model.Event
	}{
		{"text", []string{start, busy, ping, added(0, `{"id":"i0","type":"message","content":[]}`),
			`{"type":"response.content_part.added","item_id":"i0","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}`,
			spoken(0, "Hel"), ping, spoken(0, "lo"), `{"type":"response.output_text.done","item_id":"i0","output_index":0,"content_index":0,"text":"Hello"}`,
			done(0, message(0, "Hello")), stop},
			[][]model.Event{started, {model.TextDelta{Text: "Hel"}, model.TextDelta{Text: "lo"}, model.BlockDone{Part: &msg.Text{Text: "Hello"}}}, ended}},
		{"reasoning", []string{start, added(0, `{"id":"i0","type":"reasoning","summary":[]}`), summary(0, "One."), summary(1, "Tw"), summary(1, "o."), done(0, reasoning), stop},
			[][]model.Event{started, {model.ThinkingDelta{Text: "One."}, model.ThinkingDelta{Text: "\n\nTw"}, model.ThinkingDelta{Text: "o."},
				model.ThinkingDelta{Signature: sealed}, model.BlockDone{Part: &thought}}, ended}},
		{"reasoning without a text", []string{start, done(0, `{"id":"i0","type":"reasoning","summary":[],"encrypted_content":"x"}`), stop},
			[][]model.Event{started, {model.ThinkingDelta{Signature: `responses:{"type":"reasoning","id":"i0","summary":[],"encrypted_content":"x"}`},
				model.BlockDone{Part: &msg.Thinking{Signature: `responses:{"type":"reasoning","id":"i0","summary":[],"encrypted_content":"x"}`}}}, ended}},
		{"reasoning that cannot go back", []string{start, added(0, `{"id":"i0","type":"reasoning"}`), more("reasoning_text", 0, "Hm"),
			done(0, `{"id":"i0","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}],"encrypted_content":null}`), stop},
			[][]model.Event{started, {model.ThinkingDelta{Text: "Hm"}, model.ThinkingDelta{Text: "."}, model.BlockDone{Part: &msg.Thinking{Text: "Hm."}}}, ended}},
		{"arguments in fragments", []string{start, added(0, call(0, "")), typed(0, ""), typed(0, `{"a"`), typed(0, `: 1}`), done(0, call(0, `{"a": 1}`)), stop},
			[][]model.Event{started, called(0, 0, "", `{"a"`, `: 1}`), tools}},
		{"no arguments", []string{start, added(0, call(0, "")), done(0, call(0, "")), stop}, [][]model.Event{started, called(0, 0, ""), tools}},
		{"malformed arguments", []string{start, added(0, call(0, "")), typed(0, `{"a":`), done(0, call(0, `{"a":`)), stop},
			[][]model.Event{started, called(0, 0, "", `{"a":`), tools}},
		{"done without deltas", []string{start, done(0, message(0, "Hello")), done(1, call(1, `{"a":1}`)), stop},
			[][]model.Event{started, said(0, "Hello"), called(1, 1, `{"a":1}`), tools}},
		{"text done without deltas", []string{start, added(0, `{"id":"i0","type":"message"}`),
			`{"type":"response.output_text.done","item_id":"i0","output_index":0,"text":"Hello"}`, stop}, [][]model.Event{started, said(0, "Hello"), ended}},
		{"deltas without done", []string{start, added(0, `{"id":"i0","type":"message"}`), spoken(0, "Hello"), added(1, call(1, "")), typed(1, `{"a":1}`), stop},
			[][]model.Event{started, {model.TextDelta{Text: "Hello"}, model.BlockDone{Part: &msg.Text{Text: "Hello"}}}, called(1, 1, `{"a":1}`), tools}},
		{"deltas without anything else", []string{start, spoken(0, "Hello"), stop}, [][]model.Event{started, said(0, "Hello"), ended}},
		{"all of it at the end", []string{start, `{"type":"response.completed","response":{"status":"completed","output":[` + message(0, "Hello") + `,` + call(1, `{"a":1}`) + `],` + usage + `}}`},
			[][]model.Event{started, said(0, "Hello"), called(1, 1, `{"a":1}`), tools}},
		{"again at the end", []string{start, added(0, `{"id":"i0","type":"message"}`), spoken(0, "Hello"), done(0, message(0, "Hello")),
			`{"type":"response.completed","response":{"status":"completed","output":[` + message(0, "Hello") + `],` + usage + `}}`}, [][]model.Event{started, said(0, "Hello"), ended}},
		{"completed at the end", []string{start, added(0, `{"id":"i0","type":"message"}`), spoken(0, "Hel"),
			`{"type":"response.completed","response":{"status":"completed","output":[` + message(0, "Hello") + `],` + usage + `}}`},
			[][]model.Event{started, {model.TextDelta{Text: "Hel"}, model.TextDelta{Text: "lo"}, model.BlockDone{Part: &msg.Text{Text: "Hello"}}}, ended}},
		{"out of order", []string{start, added(1, call(1, "")), typed(1, `{"a"`), added(0, `{"id":"i0","type":"message"}`), spoken(0, "Both"), typed(1, `:1}`), done(1, call(1, `{"a":1}`)),
			spoken(0, "."), done(0, message(0, "Both.")), stop},
			[][]model.Event{started, {model.TextDelta{Text: "Both"}, model.TextDelta{Text: "."}, model.BlockDone{Part: &msg.Text{Text: "Both."}}}, called(1, 1, `{"a":1}`), tools}},
		{"parallel calls", []string{start, added(0, call(0, "")), added(1, call(1, "")), typed(0, `{"a"`), typed(1, `{"b":2}`), typed(0, `:1}`), done(1, call(1, `{"b":2}`)), done(0, call(0, `{"a":1}`)), stop},
			[][]model.Event{started, called(0, 0, "", `{"a"`, `:1}`), called(1, 1, `{"b":2}`), tools}},
		{"a gap in the output", []string{start, added(2, `{"id":"i2","type":"message"}`), spoken(2, "a"), done(2, message(2, "a")), done(5, message(5, "b")), stop},
			[][]model.Event{started, said(0, "a"), said(1, "b"), ended}},
		{"no indexes and no ids", []string{start, `{"type":"response.output_item.added","item":{"type":"message"}}`, `{"type":"response.output_text.delta","delta":"a"}`,
			`{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","name":"Read","arguments":"{}"}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","name":"Read","arguments":"{}"}}`, stop},
			[][]model.Event{started, said(0, "a"), {model.InputDelta{Block: 1, ID: "call_2", Name: "Read", JSON: "{}"}, model.BlockDone{Block: 1, Part: msg.NewToolUse("call_2", "Read", "{}")},
				model.InputDelta{Block: 2, ID: "call_3", Name: "Read", JSON: "{}"}, model.BlockDone{Block: 2, Part: msg.NewToolUse("call_3", "Read", "{}")}}, tools}},
		{"ids that change", []string{start, added(0, `{"id":"x1","type":"message"}`), `{"type":"response.output_text.delta","item_id":"x2","output_index":0,"delta":"a"}`,
			done(0, `{"id":"x3","type":"message","content":[{"type":"output_text","text":"a"}]}`),
			`{"type":"response.completed","response":{"output":[{"id":"x4","type":"message","content":[{"type":"output_text","text":"a"}]}],` + usage + `}}`},
			[][]model.Event{started, said(0, "a"), ended}},
		{"everything twice", []string{start, start, added(0, call(0, "")), added(0, call(0, "")), typed(0, `{}`), done(0, call(0, `{}`)), done(0, call(0, `{}`)), typed(0, "late"), added(0, call(0, "")), stop},
			[][]model.Event{started, called(0, 0, "", `{}`), tools}},
		{"a number twice", []string{start, `{"type":"response.output_text.delta","sequence_number":7,"output_index":0,"delta":"a"}`,
			`{"type":"response.output_text.delta","sequence_number":7,"output_index":0,"delta":"a"}`, `{"type":"response.output_text.delta","sequence_number":70,"output_index":0,"delta":"b"}`, stop},
			[][]model.Event{started, {model.TextDelta{Text: "a"}, model.TextDelta{Text: "b"}, model.BlockDone{Part: &msg.Text{Text: "ab"}}}, ended}},
		{"other words in the end", []string{start, added(0, `{"id":"i0","type":"message"}`), spoken(0, "Hallo"), done(0, message(0, "Hello")), stop},
			[][]model.Event{started, {model.TextDelta{Text: "Hallo"}, model.BlockDone{Part: &msg.Text{Text: "Hello"}}}, ended}},
		{"refusal", []string{start, added(0, `{"id":"i0","type":"message"}`), more("refusal", 0, "No."),
			done(0, `{"id":"i0","type":"message","content":[{"type":"refusal","refusal":"No."}]}`), stop},
			[][]model.Event{started, said(0, "No."), {used, model.Stop{Reason: model.StopRefusal}}}},
		{"unknown item and events", []string{start, `{"type":"response.weather","delta":[1],"output_index":"x"}`, `{"type":"response.web_search_call.searching","item_id":"w","output_index":0}`,
			added(0, `{"type":"hologram","depth":1}`), done(0, `{"type":"hologram","depth":3}`), stop},
			[][]model.Event{started, {model.BlockDone{Part: &msg.Opaque{Raw: json.RawMessage(`{"type":"hologram","depth":3}`)}}}, ended}},
		{"phases, the last of which was not streamed", []string{start, added(0, `{"id":"i0","type":"message","phase":"commentary"}`), spoken(0, "a"), done(0, message(0, "a")),
			`{"type":"response.completed","response":{"status":"completed","output":[` + message(0, "a") + `,{"id":"i1","type":"message","phase":"final_answer","content":[{"type":"output_text","text":"b"}]}],` + usage + `}}`},
			[][]model.Event{started, {model.BlockDone{Part: &msg.Thinking{Signature: `responses:{"phase":"commentary"}`}}}, said(1, "a"),
				{model.BlockDone{Block: 2, Part: &msg.Thinking{Signature: `responses:{"phase":"final_answer"}`}}}, said(3, "b"), ended}},
		{"a search", []string{start, added(0, `{"id":"w","type":"web_search_call","status":"in_progress"}`),
			`{"type":"response.web_search_call.searching","output_index":0,"item_id":"w"}`,
			done(0, `{"id":"w","type":"web_search_call","status":"completed","action":{"type":"search","query":"go","sources":[{"type":"url","url":"https://go.dev"}]}}`),
			done(1, `{"id":"v","type":"web_search_call","status":"completed","action":{"type":"open_page","url":"https://go.dev"}}`),
			done(2, `{"id":"i2","type":"message","content":[{"type":"output_text","text":"Go.","annotations":[{"type":"url_citation","url":"https://go.dev","title":"Go"},{"type":"file_citation"}]}]}`), stop},
			[][]model.Event{started, {
				model.BlockDone{Part: &msg.Opaque{Raw: json.RawMessage(`{"id":"w","type":"web_search_call","status":"completed","action":{"type":"search","query":"go","sources":[{"type":"url","url":"https://go.dev"}]}}`)}},
				model.SearchQuery{Query: "go"}, model.SearchResult{Query: "go", Found: []model.Page{{URL: "https://go.dev"}}},
				model.BlockDone{Block: 1, Part: &msg.Opaque{Raw: json.RawMessage(`{"id":"v","type":"web_search_call","status":"completed","action":{"type":"open_page","url":"https://go.dev"}}`)}},
			}, said(2, "Go."), {model.SearchResult{Found: []model.Page{{Title: "Go", URL: "https://go.dev"}}},
				model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, Output: 12, WebSearches: 1}}, model.Stop{Reason: model.StopEnd}}}},
		{"without a start", []string{spoken(0, "a"), stop}, [][]model.Event{{model.Start{RequestID: "req_1"}}, said(0, "a"), ended}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(sse(tt.in...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Concat(tt.want...), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			// Other line endings and comments are allowed.
			crlf := ": hello\r\n\r\n" + strings.ReplaceAll(sse(tt.in...), "\n", "\r\n")
			if again, err := read(crlf); err != nil || !cmp.Equal(got, again) {
				t.Errorf("with other line ends: %v, %v", again, err)
			}
		})
	}
	open, err := readIn(Dialect{OpenReasoning: true}, sse(start, done(0, `{"id":"i0","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`), stop))
	want := `responses:{"type":"reasoning","id":"i0","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`
	if err != nil || len(open) < 3 || !cmp.Equal(open[3], model.Event(model.BlockDone{Part: &msg.Thinking{Text: "Hm.", Signature: want}})) {
		t.Errorf("open reasoning: %v, %v", open, err)
	}
}

// TestToolNamesComeBack checks that a restricted tool name is mapped back to the original.
//
// Proves PROV-13.
func TestToolNamesComeBack(t *testing.T) {
	name := "mcp__" + strings.Repeat("long", 20) + "__tool.v1"
	d := Dialect{}.For(&model.Request{Tools: []msg.ToolSpec{{Name: "Read"}, {Name: name}}})
	item := fmt.Sprintf(`{"id":"i0","type":"function_call","call_id":"c0","name":%q,"arguments":"{}"}`, toolname.Restrict(name))
	got, err := readIn(d, sse(start, added(0, item), done(0, item), stop))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		if d, ok := e.(model.BlockDone); ok && d.Part.(*msg.ToolUse).Name != name {
			t.Errorf("the call is of %q", d.Part.(*msg.ToolUse).Name)
		}
		if d, ok := e.(model.InputDelta); ok && d.Name != name {
			t.Errorf("the input is for %q", d.Name)
		}
	}
}

// TestEndings covers stop reasons and usage.
//
// Proves PROV-11, SESS-40, PROV-23, PROV-30.
func TestEndings(t *testing.T) {
	end := func(kind, members string) string {
		return `{"type":"response.` + kind + `","response":{` + members + `}}`
	}
	for in, want := range map[string]struct {
		stop  model.StopReason
		usage msg.Usage
	}{
		end("completed", usage): {model.StopEnd, used.Usage},
		end("incomplete", `"incomplete_details":{"reason":"max_output_tokens"},`+usage):                             {model.StopMaxTokens, used.Usage},
		end("incomplete", `"incomplete_details":{"reason":"content_filter"},`+usage):                                {model.StopRefusal, used.Usage},
		end("incomplete", `"incomplete_details":null,`+usage):                                                       {model.StopMaxTokens, used.Usage},
		end("completed", `"status":"incomplete","incomplete_details":{"reason":"whim"},`+usage):                     {model.StopMaxTokens, used.Usage},
		end("completed", `"usage":null`):                                                                            {model.StopEnd, msg.Usage{Output: 1, Estimated: true}},
		end("completed", `"usage":{"input_tokens":7,"output_tokens":3}`):                                            {model.StopEnd, msg.Usage{Input: 7, Output: 3}},
		end("completed", `"usage":{"input_tokens":7,"output_tokens":-3}`):                                           {model.StopEnd, msg.Usage{Input: 7, Output: 1, Estimated: true}},
		end("completed", `"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":9},"output_tokens":3}`): {model.StopEnd, msg.Usage{Input: 7, Output: 3}},
		end("completed", `"usage":{"input_tokens":"7","input_tokens_details":null,"output_tokens":3}`):              {model.StopEnd, msg.Usage{Output: 3, Estimated: true}},
		end("completed", `"usage":{"output_tokens":3}`):                                                             {model.StopEnd, msg.Usage{Output: 3, Estimated: true}},
	} {
		got, err := read(sse(start, more("output_text", 0, "abcd"), in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		var a model.Accumulator
		for _, e := range got {
			a.Add(e)
		}
		if reason, _ := a.Stop(); reason != want.stop || a.Usage() != want.usage {
			t.Errorf("%s: stop %s, usage %+v; want %+v", in, reason, a.Usage(), want)
		}
	}
	got, err := read(sse(start, more("output_text", 0, "eight by")))
	last := model.Event(model.Usage{Usage: msg.Usage{Output: 2, Estimated: true}})
	if model.KindOf(err) != model.Broken || len(got) == 0 || got[len(got)-1] != last {
		t.Errorf("an answer that broke off: %v, %v", got, err)
	}
}

// TestReadStreamBroken checks that every incomplete or malformed stream is reported as broken,
// with the reason.
//
// Proves PROV-11.
func TestReadStreamBroken(t *testing.T) {
	half := sse(start, more("output_text", 0, "half"))
	var endless strings.Builder // item 0 never arrives
	for i := range 2000 {
		endless.WriteString(sse(added(i+1, fmt.Sprintf(`{"id":"i%d","type":"message"}`, i+1))))
	}
	fails := func(members string) string {
		return `{"type":"response.failed","response":{"status":"failed","error":` + members + `}}`
	}
	for _, tt := range []struct {
		name, in string
		kind     model.Kind
		says     string
	}{
		{"cut in an item", half, model.Broken, "stopped before its end"},
		{"cut after the last item", sse(start, done(0, message(0, "x"))), model.Broken, "stopped before its end"},
		{"cut in an event", half + `data: {"type":"response.outp`, model.Broken, "not JSON"},
		{"garbled", half + "data: {nope\n\n", model.Broken, "not JSON"},
		{"delta of another type", half + `data: {"type":"response.output_text.delta","output_index":0,"delta":{}}` + "\n\n", model.Broken, "is not a string"},
		{"type of another type", half + `data: {"type":7}` + "\n\n", model.Broken, "not JSON"},
		{"item of another type", half + sse(added(1, `[]`)), model.Broken, "item 1"},
		{"nothing", "", model.Broken, "no event stream"},
		{"a page", "\n<!DOCTYPE html><html><body>Login</body></html>", model.Broken, "web page"},
		{"call without a name", sse(start, done(0, `{"type":"function_call","call_id":"c"}`)), model.Broken, "without a name"},
		{"arguments of nothing", sse(start, more("function_call_arguments", 0, "{}"), stop), model.Broken, "without a name"},
		{"error first", sse(`{"type":"error","code":"rate_limit_exceeded","message":"Slow","param":null,"sequence_number":0}`), model.RateLimited, "Slow"},
		{"error in an object", sse(`{"type":"error","error":{"type":"server_error","code":"server_is_overloaded","message":"Busy"}}`), model.Overloaded, "Busy"},
		{"error without a type", `data: {"error":{"message":"Overloaded, try later","code":503}}` + "\n\n", model.Overloaded, "try later"},
		{"error as a string", `data: {"error":"nope"}` + "\n\n", model.ServerFault, "nope"},
		{"failed before content", sse(start, busy, fails(`{"code":"context_length_exceeded","message":"Your input exceeds the context window"}`)), model.TooLong, "context window"},
		{"failed by policy", sse(start, fails(`{"code":"invalid_prompt","message":"flagged"}`)), model.Refused, "flagged"},
		{"failed without a word", sse(start, fails(`null`)), model.ServerFault, ""},
		{"failed after content", half + sse(fails(`{"code":"server_error","message":"Overloaded"}`)), model.Broken, "Overloaded"},
		{"endless items", sse(start) + endless.String(), model.Broken, "too many items"},
		{"cancelled", sse(start, `{"type":"response.cancelled","response":{}}`), model.ServerFault, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.in)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.says) || e.RequestID != "req_1" {
				t.Errorf("error %#v, want kind %v, request id, and %q", err, tt.kind, tt.says)
			}
			if tt.kind != model.Broken && len(got) > 0 {
				t.Errorf("events %v before an error that can be retried", got)
			}
		})
	}
}

func TestReadStreamRaw(t *testing.T) {
	var raw []string
	in := []string{start, added(0, `{"id":"i0","type":"message"}`), more("output_text", 0, "x"), stop}
	for e, err := range wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(strings.NewReader(sse(in...))), wire.StreamOptions{Raw: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.(model.Raw); ok {
			raw = append(raw, string(r.JSON))
		}
	}
	if diff := cmp.Diff(in, raw); diff != "" {
		t.Errorf("raw events (-want +got):\n%s", diff)
	}
}

// TestReadMessage checks that a whole answer yields the same message as a streamed one.
func TestReadMessage(t *testing.T) {
	body := `{"id":"resp_1","object":"response","model":"m-1","status":"completed","error":null,"output":[` +
		message(0, "Hello") + `,` + call(1, `{"a":1}`) + `,{"type":"hologram"}],` + usage + `}`
	got, err := collect(wire.ReadMessage(Dialect{}, []byte(body), "req_1"))
	want := slices.Concat(started, said(0, "Hello"), called(1, 1, `{"a":1}`), []model.Event{model.BlockDone{Block: 2, Part: &msg.Opaque{Raw: json.RawMessage(`{"type":"hologram"}`)}}}, tools)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, events (-want +got):\n%s", err, diff)
	}
	for body, want := range map[string]model.Kind{
		`<html>`: model.Broken, `{}`: model.Broken, ``: model.Broken, `{"output":[{}]}`: model.Unknown,
		`{"error":{"code":"server_is_overloaded"}}`: model.Overloaded, `{"status":"failed","output":[]}`: model.ServerFault,
		`{"output":[{"type":"function_call"}]}`: model.Broken, `{"output":[7]}`: model.Broken,
	} {
		if _, err := collect(wire.ReadMessage(Dialect{}, []byte(body), "")); model.KindOf(err) != want {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}

// TestErrors checks that errors are classified by code, status and message, and that the
// numbers of an exceeded window are found.
//
// Proves PROV-54.
func TestErrors(t *testing.T) {
	failure := func(kind, code, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, code)
	}
	const invalid = "invalid_request_error"
	for _, tt := range []struct {
		status int
		body   string
		want   model.Error
	}{
		{400, failure(invalid, "context_length_exceeded", "Your input exceeds the context window of this model."), model.Error{Kind: model.TooLong}},
		{400, failure(invalid, "", "This model's maximum prompt length is 131072 but the request contains 180000 tokens."), model.Error{Kind: model.TooLong}},
		{400, failure(invalid, "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the messages, 2000 in the completion)."),
			model.Error{Kind: model.OverWindow, Input: 7000, Output: 2000, Window: 8192}},
		{400, failure(invalid, "context_length_exceeded", "maximum context length is lots of tokens (many in the messages, more in the completion)"), model.Error{Kind: model.TooLong}},
		{400, failure(invalid, "invalid_encrypted_content", "The encrypted content gAAA... could not be verified."), model.Error{Kind: model.BadSignature}},
		{400, failure(invalid, "unsupported_parameter", "Unsupported parameter: 'reasoning.effort'"), model.Error{Kind: model.Invalid}},
		{400, failure(invalid, "content_filter", "The response was filtered"), model.Error{Kind: model.Refused}},
		{400, failure("image_generation_user_error", "invalid_image", "x"), model.Error{Kind: model.MediaTooLarge}},
		{401, failure(invalid, "invalid_api_key", "Incorrect API key provided: sk-***"), model.Error{Kind: model.Auth}},
		{401, `{"message":"Unauthorized"}`, model.Error{Kind: model.Auth}},
		{403, failure(invalid, "unsupported_country_region_territory", "Country not supported"), model.Error{Kind: model.Invalid}},
		{403, failure("request_forbidden", "", "Not allowed"), model.Error{Kind: model.Refused}},
		{404, failure(invalid, "model_not_found", "The model `x` does not exist"), model.Error{Kind: model.NoModel}},
		{404, failure("", "DeploymentNotFound", "The API deployment for this resource does not exist."), model.Error{Kind: model.NoModel}},
		{404, `{"detail":"Not Found"}`, model.Error{Kind: model.Invalid}},
		{429, failure("tokens", "rate_limit_exceeded", "Rate limit reached"), model.Error{Kind: model.RateLimited}},
		{429, failure("insufficient_quota", "insufficient_quota", "You exceeded your current quota"), model.Error{Kind: model.Quota}},
		{500, failure("server_error", "", "The server had an error"), model.Error{Kind: model.ServerFault}},
		{503, failure("server_error", "", "The engine is currently overloaded"), model.Error{Kind: model.Overloaded}},
		{503, failure("service_unavailable", "slow_down", "Slow down"), model.Error{Kind: model.Overloaded}},
		{400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided"}`, model.Error{Kind: model.Auth}},
		{502, "<html>", model.Error{Kind: model.ServerFault}},
	} {
		got := Dialect{}.Error(tt.status, []byte(tt.body))
		tt.want.Status, tt.want.Message = tt.status, got.Message
		if diff := cmp.Diff(&tt.want, got); diff != "" || strings.Contains(got.Message, "<") {
			t.Errorf("%d %s (-want +got):\n%s", tt.status, tt.body, diff)
		}
	}
	for k := model.Unknown; k <= model.Invalid; k++ {
		want := k
		switch k {
		case model.Unknown, model.Network, model.TLS, model.Broken:
			want = model.ServerFault
		}
		for _, message := range []string{"", `some "words"`} {
			status, body := responsestest.Server{}.EncodeError(k, message)
			kind := Dialect{}.Error(status, body).Kind
			if k == model.OverWindow && message != "" && kind == model.TooLong {
				kind = k // the message has no numbers
			}
			if kind != want || !strings.Contains(string(body), strings.ReplaceAll(message, `"`, `\"`)) {
				t.Errorf("%v with %q: %d %s is %v", k, message, status, body, kind)
			}
		}
	}
}

// TestOptional checks that a 400 response that names an optional part drops that part and
// nothing else.
//
// Proves PROV-12.
func TestOptional(t *testing.T) {
	full := &model.Request{
		Model: "m", UserID: "u", CacheKey: "k", Effort: model.EffortHigh, Format: json.RawMessage(`{}`),
		Thinking: model.Thinking{Mode: model.ThinkingAdaptive, Display: model.DisplaySummary}, Tools: []msg.ToolSpec{{Name: "a", Strict: true}},
	}
	for words, want := range map[string]model.Omission{
		"Unsupported parameter: 'reasoning.summary' is not supported with this model.":           model.OmitDisplay,
		"Your organization must be verified to generate reasoning summaries.":                    model.OmitDisplay,
		"Unsupported value: 'reasoning.effort' does not support 'xhigh' with this model.":        model.OmitEffort,
		"Encrypted content is not supported with this model.":                                    model.OmitThinking,
		"Unsupported parameter: 'reasoning'":                                                     model.OmitThinking,
		"Unknown parameter: 'safety_identifier'.":                                                model.OmitUserID,
		"Unknown parameter: 'prompt_cache_key'.":                                                 model.OmitCache,
		"Unsupported parameter: 'text.format' is not supported":                                  model.OmitFormat,
		"Invalid schema for function 'a': In context=(), 'required' is required to be supplied.": model.OmitStrict,
		"Unknown parameter: 'input[3].name'.":                                                    0, "Invalid value: 'xhigh' of reasoning.effort": 0,
	} {
		got, name := Dialect{}.Optional(full, &model.Error{Kind: model.Invalid, Message: words})
		if got != want || (name == "") != (want == 0) {
			t.Errorf("%s: %b %q, want %b", words, got, name, want)
		}
		if want != 0 {
			without := *full
			without.Omit = ^model.Omission(0)
			if got, _ := (Dialect{}).Optional(&without, &model.Error{Kind: model.Invalid, Message: words}); got != 0 {
				t.Errorf("%s: %b is left out twice", words, got)
			}
		}
	}
	if got, _ := (Dialect{}).Optional(full, &model.Error{Kind: model.TooLong, Message: "unsupported reasoning"}); got != 0 {
		t.Error("another error drops a part")
	}
}

// TestDecodeAllocations checks that a delta allocates only the text and the event.
func TestDecodeAllocations(t *testing.T) {
	d := Dialect{}.NewDecoder("", false)
	data := []byte(`{"type":"response.output_text.delta","item_id":"i0","output_index":0,"content_index":0,"delta":"some words","logprobs":[],"obfuscation":"xyz"}`)
	d.Event("", []byte(start))
	d.Event("", []byte(added(0, `{"id":"i0","type":"message"}`)))
	d.Take()
	got := testing.AllocsPerRun(1000, func() {
		if p, err := d.Event("response.output_text.delta", data); p != wire.Content || err != nil {
			t.Fatal(p, err)
		}
		if len(d.Take()) != 1 {
			t.Fatal("no event")
		}
	})
	if got > 2 {
		t.Errorf("%v allocations for a delta", got)
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(`{"type":"response.output_text.delta","item_id":"i0","output_index":0,"content_index":0,"delta":"some words","logprobs":[],"obfuscation":"xyz"}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	d := Dialect{}.NewDecoder("", false)
	for b.Loop() {
		d.Event("response.output_text.delta", data)
		d.Take()
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add(sse(start, busy, added(0, `{"id":"i0","type":"message"}`), more("output_text", 0, "x"), done(0, message(0, "x")), stop))
	f.Add(sse(start, added(1, call(1, "")), more("function_call_arguments", 1, "{"), done(1, call(1, "{}")), done(0, `{"type":"reasoning","summary":[{"text":"a"}],"encrypted_content":"x"}`), stop))
	f.Add(sse(`{"type":"error","code":"server_error","message":"x"}`))
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, in string) {
		var last model.Event
		var failed error
		blocks := 0
		for e, err := range wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(strings.NewReader(in)), wire.StreamOptions{}) {
			if failed != nil || (e == nil) == (err == nil) {
				t.Fatalf("pair %v, %v after error %v", e, err, failed)
			}
			if d, ok := e.(model.BlockDone); ok {
				if d.Block != blocks {
					t.Fatalf("block %d after %d", d.Block, blocks)
				}
				blocks++
			}
			last, failed = e, err
		}
		if _, stopped := last.(model.Stop); !stopped && failed == nil {
			t.Fatalf("ends with %v and no error", last)
		}
		var known *model.Error
		if failed != nil && !errors.As(failed, &known) {
			t.Fatalf("error %v of type %T", failed, failed)
		}
	})
}
