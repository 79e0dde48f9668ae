package gemini_test

import (
	. "adze/internal/model/gemini"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// chunk returns a response with the given parts and additional candidate members.
func chunk(parts string, more ...string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"index":0` + strings.Join(more, "") + `}],` +
		`"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1,"totalTokenCount":18},"modelVersion":"m-1","responseId":"r1"}`
}

const stop = `,"finishReason":"STOP"`

func sse(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("data: " + l + "\r\n\r\n")
	}
	return b.String()
}

var usage = model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, Output: 3}}

// started holds the events every response begins with.
var started = []model.Event{model.Start{ID: "r1", Model: "m-1", RequestID: "req_1"}, usage}

func collect(seq iter.Seq2[model.Event, error]) (events []model.Event, err error) {
	for e, err := range seq {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func events(parts ...any) (all []model.Event) {
	for _, p := range parts {
		switch p := p.(type) {
		case model.Event:
			all = append(all, p)
		case []model.Event:
			all = append(all, p...)
		}
	}
	return all
}

func read(stream string) ([]model.Event, error) {
	return collect(wire.ReadStream(context.Background(), Dialect{}, io.NopCloser(strings.NewReader(stream)), wire.StreamOptions{RequestID: "req_1"}))
}

func signed(block int, text, signature string) []model.Event {
	return []model.Event{model.ThinkingDelta{Block: block, Signature: signature}, model.BlockDone{Block: block, Part: &msg.Thinking{Text: text, Signature: signature}}}
}

func called(block int, id, name, args string) []model.Event {
	return []model.Event{model.InputDelta{Block: block, ID: id, Name: name, JSON: args}, model.BlockDone{Block: block, Part: msg.NewToolUse(id, name, args)}}
}

// Proves PROV-11, PROV-10, PROV-14, PROV-41.
func TestReadStream(t *testing.T) {
	end := []model.Event{usage, model.Stop{Reason: model.StopEnd}}
	tools := []model.Event{usage, model.Stop{Reason: model.StopTools}}
	text := func(block int, deltas ...string) (all []model.Event) {
		for _, d := range deltas {
			all = append(all, model.TextDelta{Block: block, Text: d})
		}
		return append(all, model.BlockDone{Block: block, Part: &msg.Text{Text: strings.Join(deltas, "")}})
	}
	for _, tt := range []struct {
		name string
		in   []string
		want []model.Event
	}{
		{"text", []string{chunk(`{"text":"Hel"}`), chunk(`{"text":"lo"}`), chunk(`{"text":""}`, stop)}, events(started, text(0, "Hel", "lo"), end)},
		{"a reason in every response", []string{chunk(`{"text":"Hel"}`, stop), chunk(`{"text":"lo"}`, stop)}, events(started, text(0, "Hel", "lo"), end)},
		{"the reason alone", []string{chunk(`{"text":"a"}`), `{"candidates":[{"finishReason":"STOP"}]}`, `{"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":5,"candidatesTokenCount":3}}`},
			events(started, text(0, "a"), model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, Output: 4}}, model.Stop{Reason: model.StopEnd})},
		{"parts in one response", []string{chunk(`{"text":"a"},{"text":"b"},{"functionCall":{"id":"c1","name":"Read","args":{"x": 1}}}`, stop)},
			events(started, model.TextDelta{Text: "a"}, text(0, "b")[:1], model.BlockDone{Part: &msg.Text{Text: "ab"}}, called(1, "c1", "Read", `{"x": 1}`), tools)},
		{"calls without ids", []string{chunk(`{"functionCall":{"name":"Read"}},{"functionCall":{"name":"Read","args":{}}}`), chunk(`{"functionCall":{"id":"","name":"Read","args":null}},{"functionCall":{"name":"Read"}}`, stop)},
			events(started, called(0, "call_r1_1", "Read", ""), called(1, "call_r1_2", "Read", "{}"), called(2, "call_r1_3", "Read", ""), tools)},
		{"an event twice", []string{chunk(`{"functionCall":{"name":"A","args":{}}},{"functionCall":{"name":"A","args":{}}},{"functionCall":{"name":"B"}}`),
			chunk(`{"functionCall":{"name":"A","args":{}}},{"functionCall":{"name":"A","args":{}}},{"functionCall":{"name":"B"}}`), chunk(``, stop)},
			events(started, called(0, "call_r1_1", "A", "{}"), called(1, "call_r1_2", "A", "{}"), called(2, "call_r1_3", "B", ""), tools)},
		{"an event three times, with others between", []string{chunk(`{"functionCall":{"name":"A"},"thoughtSignature":"c2ln"}`), `{"usageMetadata":{"promptTokenCount":15}}`,
			chunk(`{"functionCall":{"name":"A"},"thoughtSignature":"c2ln"}`), chunk(`{"functionCall":{"name":"A"}},{"functionCall":{"name":"B"}}`, stop)},
			events(started, signed(0, "", "gemini:c2ln"), called(1, "call_r1_1", "A", ""), called(2, "call_r1_2", "B", ""), tools)},
		{"equal calls that are not one", []string{chunk(`{"functionCall":{"name":"A"}}`), chunk(`{"text":"again"}`), chunk(`{"functionCall":{"name":"A"}}`),
			chunk(`{"functionCall":{"name":"A"},"thoughtSignature":"c2ln"}`, stop)},
			events(started, called(0, "call_r1_1", "A", ""), text(1, "again"), called(2, "call_r1_2", "A", ""), signed(3, "", "gemini:c2ln"), called(4, "call_r1_3", "A", ""), tools)},
		{"the same id twice", []string{chunk(`{"functionCall":{"id":"c","name":"A"}},{"functionCall":{"id":"c","name":"B"}}`, stop)},
			events(started, called(0, "c", "A", ""), called(1, "call_r1_2", "B", ""), tools)},
		{"the same call twice", []string{chunk(`{"functionCall":{"id":"c","name":"A","args":{}}}`), chunk(`{"functionCall":{"id":"c","name":"A","args":{}}}`, stop)},
			events(started, called(0, "c", "A", "{}"), tools)},
		{"input that is not an object", []string{chunk(`{"functionCall":{"id":"c","name":"A","args":[1]}}`, stop)}, events(started, called(0, "c", "A", "[1]"), tools)},
		{"thoughts, and the signature of the call", []string{chunk(`{"text":"H","thought":true}`), chunk(`{"thought":true,"text":"m"}`),
			chunk(`{"thoughtSignature":"c2ln","functionCall":{"id":"c","name":"A"}},{"functionCall":{"id":"d","name":"A"}}`, stop)},
			events(started, model.ThinkingDelta{Text: "H"}, model.ThinkingDelta{Text: "m"}, signed(0, "Hm", "gemini:c2ln"), called(1, "c", "A", ""), called(2, "d", "A", ""), tools)},
		{"a text before the call", []string{chunk(`{"text":"a"}`), chunk(`{"functionCall":{"id":"c","name":"A"},"thoughtSignature":"c2ln"}`, stop)},
			events(started, text(0, "a"), signed(1, "", "gemini:c2ln"), called(2, "c", "A", ""), tools)},
		{"a signature behind a text", []string{chunk(`{"text":"a"}`), chunk(`{"text":"","thoughtSignature":"c2ln"}`, stop)},
			events(started, text(0, "a"), signed(1, "", "gemini:empty:c2ln"), end)},
		{"a signature and nothing else", []string{chunk(`{"text":"a"}`), chunk(`{"thoughtSignature":"c2ln"}`, stop)},
			events(started, text(0, "a"), signed(1, "", "gemini:empty:c2ln"), end)},
		{"a text with a signature is a block", []string{chunk(`{"text":"a"}`), chunk(`{"text":"b","thoughtSignature":"c2ln"}`), chunk(`{"text":"c"}`, stop)},
			events(started, text(0, "a"), signed(1, "", "gemini:c2ln"), text(2, "b"), text(3, "c"), end)},
		{"a thought with a signature", []string{chunk(`{"text":"Hm","thought":true,"thoughtSignature":"c2ln"}`), chunk(`{"text":"b"}`, stop)},
			events(started, model.ThinkingDelta{Text: "Hm"}, signed(0, "Hm", "gemini:thought:c2ln"), text(1, "b"), end)},
		{"several candidates", []string{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"content":{"parts":[{"text":"b"}]}}],"responseId":"r1","modelVersion":"m-1","usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3}}`},
			events(started[0], model.Usage{Usage: msg.Usage{Input: 10, Output: 3}}, text(0, "a"), model.Usage{Usage: msg.Usage{Input: 10, Output: 3}}, model.Stop{Reason: model.StopEnd})},
		{"nulls and members that are not known", []string{`{"candidates":null,"weather":{"x":[1]}}`, `{"future":1}`, chunk(`{"text":null},{"text":"a","thought":null,"partMetadata":{}}`, `,"finishReason":null,"groundingMetadata":{"a":[{}]}`), chunk(``, stop)},
			events(model.Start{RequestID: "req_1"}, usage, text(0, "a"), end)},
		{"a list of responses", []string{"[" + chunk(`{"text":"a"}`) + "," + chunk(``, stop) + "]"}, events(started, text(0, "a"), end)},
		{"escapes and characters", []string{chunk(`{"text":"\u00e9\n\ud83d\ude00 \"é\""}`, stop)}, events(started, text(0, "é\n😀 \"é\""), end)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(sse(tt.in...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// Proves PROV-11.
func TestStopReasons(t *testing.T) {
	for reason, want := range map[string]model.StopReason{
		"STOP": model.StopEnd, "MAX_TOKENS": model.StopMaxTokens, "SAFETY": model.StopRefusal, "RECITATION": model.StopRefusal,
		"PROHIBITED_CONTENT": model.StopRefusal, "BLOCKLIST": model.StopRefusal, "SPII": model.StopRefusal, "LANGUAGE": model.StopRefusal,
		"OTHER": model.StopEnd, "FINISH_REASON_UNSPECIFIED": model.StopEnd, "NEW_ONE": model.StopEnd,
	} {
		got, err := read(sse(chunk(`{"text":"a"}`, `,"finishReason":"`+reason+`"`)))
		if err != nil || len(got) == 0 || got[len(got)-1] != (model.Stop{Reason: want}) {
			t.Errorf("%s: %v, %v; want %s", reason, got, err, want)
		}
	}
}

// TestBroken checks that every incomplete or malformed stream is reported as broken, with the
// reason.
//
// Proves PROV-11.
func TestBroken(t *testing.T) {
	const refused = `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3},"modelVersion":"m"}`
	for name, c := range map[string]struct {
		in   string
		kind model.Kind
		says string
	}{
		"no reason at the end":    {sse(chunk(`{"text":"a"}`)), model.Broken, "before its end"},
		"no candidates":           {sse(`{"usageMetadata":{"promptTokenCount":3},"modelVersion":"m"}`), model.Broken, "before its end"},
		"nothing":                 {"", model.Broken, "no event stream"},
		"malformed call":          {sse(chunk(``, `,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"x"`)), model.Broken, "tool call that cannot be read"},
		"unexpected call":         {sse(chunk(`{"text":"a"}`, `,"finishReason":"UNEXPECTED_TOOL_CALL"`)), model.Broken, "not given"},
		"too many calls":          {sse(chunk(`{"text":"a"}`, `,"finishReason":"TOO_MANY_TOOL_CALLS"`)), model.Broken, "too many"},
		"blocked prompt":          {sse(refused), model.Refused, "PROHIBITED_CONTENT"},
		"call without a name":     {sse(chunk(`{"functionCall":{"args":{}}}`)), model.Broken, "without a name"},
		"wrong types":             {sse(`{"candidates":"none"}`), model.Broken, "wrong type"},
		"parts of a wrong type":   {sse(chunk(`"a"`)), model.Broken, "wrong type"},
		"text of a wrong type":    {sse(chunk(`{"text":7}`)), model.Broken, "wrong type"},
		"not JSON":                {sse(`{"candidates":[`), model.Broken, "not JSON"},
		"error first":             {sse(`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`), model.Overloaded, "overloaded"},
		"error in a list":         {sse(`[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`), model.Overloaded, "overloaded"},
		"error that is a text":    {sse(`{"error":"out of cheese"}`), model.ServerFault, "out of cheese"},
		"error after the content": {sse(chunk(`{"text":"a"}`), `{"error":{"code":500,"message":"Oh.","status":"INTERNAL"}}`), model.Broken, "broke off its answer: server_error: Oh."},
	} {
		got, err := read(c.in)
		if model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %v that says %q", name, err, c.kind, c.says)
		}
		if text := model.Explain(err, "m", false); strings.ContainsAny(text, "<>{}") {
			t.Errorf("%s: %s", name, text)
		}
		if len(got) > 0 && c.kind != model.Broken {
			t.Errorf("%s: %v before the error", name, got)
		}
	}
}

// TestUsage checks that missing and absurd numbers are estimated.
//
// Proves PROV-23, PROV-30.
func TestUsage(t *testing.T) {
	for metadata, want := range map[string]msg.Usage{
		`{"promptTokenCount":15,"cachedContentTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1}`: {Input: 10, CacheRead: 5, Output: 3},
		`{"promptTokenCount":15,"toolUsePromptTokenCount":7}`:                                                 {Input: 22},
		`{"promptTokenCount":5,"cachedContentTokenCount":50}`:                                                 {CacheRead: 5},
		`{"promptTokenCount":-3,"candidatesTokenCount":1e300}`:                                                {Estimated: true},
		`null`: {Output: 2, Estimated: true},
	} {
		got, err := read(sse(`{"candidates":[{"content":{"parts":[{"text":"12345678"}]},"finishReason":"STOP"}],"usageMetadata":` + metadata + `}`))
		if err != nil || got[len(got)-2] != (model.Usage{Usage: want}) {
			t.Errorf("%s: %v, %v; want %+v", metadata, got, err, want)
		}
	}
	got, err := read(sse(`{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3},"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`))
	if want := (model.Usage{Usage: msg.Usage{Input: 10, Output: 3}}); err != nil || got[len(got)-2] != want {
		t.Errorf("before the content: %v, %v", got, err)
	}
	got, err = read(sse(chunk(`{"text":"` + strings.Repeat("x", 40) + `"}`)))
	if want := (model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, Output: 10, Estimated: true}}); err == nil || got[len(got)-1] != want {
		t.Errorf("cut off: %v, %v", got, err)
	}
}

func TestReadMessage(t *testing.T) {
	whole := chunk(`{"text":"Hm.","thought":true},{"text":"a"},{"functionCall":{"id":"c","name":"A","args":{"x":1}},"thoughtSignature":"c2ln"}`, stop)
	want := events(started, model.ThinkingDelta{Text: "Hm."}, model.BlockDone{Part: &msg.Thinking{Text: "Hm."}},
		model.TextDelta{Block: 1, Text: "a"}, model.BlockDone{Block: 1, Part: &msg.Text{Text: "a"}},
		signed(2, "", "gemini:c2ln"), called(3, "c", "A", `{"x":1}`), usage, model.Stop{Reason: model.StopTools})
	for _, body := range []string{whole, "[" + whole + "]"} {
		got, err := collect(wire.ReadMessage(Dialect{}, []byte(body), "req_1"))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v, events (-want +got):\n%s", err, diff)
		}
	}
	for body, want := range map[string]model.Kind{
		`<html>`: model.Broken, `{}`: model.Broken, ``: model.Broken, `[]`: model.Broken, chunk(`{"text":"a"}`): model.Broken,
		`{"error":{"status":"UNAVAILABLE"}}`: model.Overloaded, `{"promptFeedback":{"blockReason":"SAFETY"}}`: model.Refused,
	} {
		if got, err := collect(wire.ReadMessage(Dialect{}, []byte(body), "")); model.KindOf(err) != want || len(got) > 0 {
			t.Errorf("%s: got %v, %v, want %v", body, got, err, want)
		}
	}
}

func TestRaw(t *testing.T) {
	in := []string{chunk(`{"text":"a"}`), chunk(``, stop)}
	var raw []string
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

// TestServerThatDoesNotHangUp checks that a stream that its server does not close ends when it
// is idle after the finish reason.
func TestServerThatDoesNotHangUp(t *testing.T) {
	r, w := io.Pipe()
	go io.WriteString(w, sse(chunk(`{"text":"a"}`, stop))) // ok: ends with the pipe
	got, err := collect(wire.ReadStream(t.Context(), Dialect{}, r, wire.StreamOptions{Idle: 20 * time.Millisecond}))
	if err != nil || len(got) == 0 || got[len(got)-1] != (model.Stop{Reason: model.StopEnd}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAllocations(t *testing.T) {
	d := Dialect{}.NewDecoder("", false)
	data := []byte(chunk(`{"text":"a few words \"more\""}`))
	d.Event("", data)
	d.Take()
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := d.Event("", data); err != nil || len(d.Take()) != 1 {
			t.Fatal("no delta")
		}
	}); n > 2.1 { // the text, the event, and an occasional larger buffer
		t.Errorf("%v allocations per delta", n)
	}
}

// TestManyCalls checks that decoding many calls does not compare them pairwise.
func TestManyCalls(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, `,{"functionCall":{"id":"c%d","name":"A"}}`, i)
	}
	began := time.Now()
	got, err := read(sse(chunk(b.String()[1:], stop)))
	if took := time.Since(began); err != nil || len(got) < 100_000 || took > time.Minute {
		t.Errorf("%d events after %v, %v", len(got), took, err)
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add(sse(chunk(`{"text":"Hel"}`), chunk(`{"text":"","thoughtSignature":"x"}`, stop)))
	f.Add(sse(chunk(`{"functionCall":{"name":"a","args":[1]},"thoughtSignature":"x"}`, stop)))
	f.Add(sse(`{"error":{"code":503,"status":"UNAVAILABLE"}}`))
	f.Add(sse(`{"promptFeedback":{"blockReason":"OTHER"}}`))
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, in string) {
		var last model.Event
		var failed error
		index := 0
		for e, err := range wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(strings.NewReader(in)), wire.StreamOptions{}) {
			if failed != nil || (e == nil) == (err == nil) {
				t.Fatalf("pair %v, %v after error %v", e, err, failed)
			}
			if done, ok := e.(model.BlockDone); ok {
				if done.Block != index {
					t.Fatalf("block %d is done, not %d", done.Block, index)
				}
				index++
				if u, ok := done.Part.(*msg.ToolUse); ok && (u.ID == "" || u.Name == "" || !json.Valid(u.Input)) {
					t.Fatalf("use %+v", u)
				}
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
		// A whole answer may be arbitrary, too.
		collect(wire.ReadMessage(Dialect{}, []byte(in), ""))
	})
}
