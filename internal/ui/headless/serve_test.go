package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/mcp/hosted"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/hostapi"
)

// A dialogue simulates a host that writes lines and waits for expected output.
type dialogue struct {
	t     *testing.T
	st    *stage
	in    *io.PipeWriter
	ended chan Outcome

	mu    sync.Mutex
	fresh sync.Cond
	seen  []map[string]any
	read  int // index into seen, for await
}

// talk starts a dialogue.
func talk(t *testing.T, script string, h Host, change func(*session.Config, *Config)) *dialogue {
	t.Helper()
	d := &dialogue{t: t, ended: make(chan Outcome, 1)}
	d.fresh.L = &d.mu
	d.st = newStage(t, script, func(s *session.Config, c *Config) {
		c.Stdout = d
		if change != nil {
			change(s, c)
		}
	})
	r, w := io.Pipe()
	d.in = w
	go func() { d.ended <- d.st.front.Serve(t.Context(), r, h) }()
	return d
}

func (d *dialogue) Write(p []byte) (int, error) {
	var v map[string]any
	if err := json.Unmarshal(p, &v); err != nil {
		d.t.Errorf("%v in %q", err, p)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, v)
	d.fresh.Broadcast()
	return len(p), nil
}

func (d *dialogue) say(lines ...string) {
	d.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(d.in, line+"\n"); err != nil {
			d.t.Fatal(err)
		}
	}
}

// await returns the next line of a type, and of a subtype if one is given.
func (d *dialogue) await(kind, subtype string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for d.read < len(d.seen) {
			v := d.seen[d.read]
			d.read++
			if v["type"] == kind && (subtype == "" || v["subtype"] == subtype) {
				return v
			}
		}
		d.fresh.Wait()
	}
}

// end closes the input and returns the outcome.
func (d *dialogue) end() Outcome {
	d.in.Close()
	return <-d.ended
}

// all returns the lines of a type.
func (d *dialogue) all(kind string) []map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []map[string]any
	for _, v := range d.seen {
		if v["type"] == kind {
			found = append(found, v)
		}
	}
	return found
}

func user(text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%q}}`, text)
}

func request(id, body string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":%s}`, id, body)
}

// asking is a gate that asks the session's subscribers.
type asking struct{ s **session.Session }

func (g asking) Before(ctx context.Context, u *tool.Use) error {
	a, err := (*g.s).AskPermission(ctx, permission.Question{
		ID: u.ID, Tool: u.Name, Title: "Echo it", Input: u.Input, Reason: permission.Reason{Text: "no rule"},
	})
	if err != nil {
		return err
	}
	if a.Behavior != permission.Allow {
		u.Verdict.Decide(tool.Deny, a.By, a.Message)
		if a.Interrupt {
			return (*g.s).Submit(ctx, session.Interrupt{})
		}
		return nil
	}
	if a.Input != nil {
		if err := u.Rewrite(a.By, a.Input); err != nil {
			return err
		}
	}
	u.Verdict.Decide(tool.Allow, a.By, "")
	return nil
}

// talkAsking starts a dialogue with a model that calls Echo once.
func talkAsking(t *testing.T, h Host) *dialogue {
	var s *session.Session
	d := talk(t, "when no-text \"again\"\nuse Echo {\"text\":\"x\"}\n---\nforever\nsay Done.", h, func(c *session.Config, _ *Config) {
		c.Gates[0].Gate = asking{&s}
	})
	s = d.st.front.cfg.Session
	return d
}

// Proves X-137.
func TestQuestions(t *testing.T) {
	tests := []struct {
		name, answer string
		want         string // expected result of the call
		failed       bool
		subtype      string // subtype of the turn's result
	}{
		{"allow", `{"subtype":"success","request_id":"ID","response":{"behavior":"allow","updatedInput":null,"toolUseID":"toolu_1_1"}}`, "x", false, "success"},
		{"other input", `{"subtype":"success","request_id":"ID","response":{"behavior":"allow","updatedInput":{"text":"y"}}}`, "y", false, "success"},
		{"input that does not fit", `{"subtype":"success","request_id":"ID","response":{"behavior":"allow","updatedInput":{"txt":"y"}}}`, "the new input is invalid", true, "success"},
		{"deny", `{"subtype":"success","request_id":"ID","response":{"behavior":"deny","message":"not today"}}`, "not today", true, "success"},
		{"deny and stop", `{"subtype":"success","request_id":"ID","response":{"behavior":"deny","message":"stop","interrupt":true}}`, "", true, "error_during_execution"},
		{"neither", `{"subtype":"success","request_id":"ID","response":{"behavior":"maybe"}}`, "neither allow nor deny", true, "success"},
		{"no answer in it", `{"subtype":"success","request_id":"ID"}`, "answer is not valid", true, "success"},
		{"garbage", `{"subtype":"success","request_id":"ID","response":[1]}`, "answer is not valid", true, "success"},
		{"error", `{"subtype":"error","request_id":"ID","error":"callback threw"}`, "callback threw", true, "success"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := talkAsking(t, Host{Asks: true})
			d.say(user("go"))
			q := d.await("control_request", "")
			want := map[string]any{
				"subtype": "can_use_tool", "tool_name": "Echo", "input": map[string]any{"text": "x"}, "tool_use_id": "toolu_1_1",
				"permission_suggestions": nil, "decision_reason": "no rule", "decision_reason_type": "other", "title": "Echo it",
			}
			if diff := cmp.Diff(want, q["request"]); diff != "" {
				t.Error(diff)
			}
			id := q["request_id"].(string)
			answer := `{"type":"control_response","response":` + strings.ReplaceAll(tt.answer, "ID", id) + `}`
			d.say(answer, answer) // the second changes nothing
			result := d.await("result", "")
			if result["subtype"] != tt.subtype {
				t.Errorf("got %v", result)
			}
			out := d.end()
			if out.BadInput {
				t.Error("an answer counts as bad input")
			}
			call := d.all("user")[0]["message"].(map[string]any)["content"].([]any)[0].(map[string]any)
			text, _ := json.Marshal(call["content"])
			if isError, _ := call["is_error"].(bool); isError != tt.failed || !strings.Contains(string(text), tt.want) {
				t.Errorf("the call came to %s", text)
			}
			if cancels := d.all("control_cancel_request"); len(cancels) > 0 {
				t.Errorf("withdrawn: %v", cancels)
			}
		})
	}
}

// TestQuestionWithdrawn checks that an interrupt withdraws a question, and that a later answer
// has no effect.
//
// Proves X-137.
func TestQuestionWithdrawn(t *testing.T) {
	d := talkAsking(t, Host{Asks: true, States: true})
	d.say(user("go"))
	id := d.await("control_request", "")["request_id"].(string)
	d.say(request("init", `{"subtype":"initialize"}`))
	open := d.await("control_response", "")["response"].(map[string]any)["pending_permission_requests"].([]any)
	if len(open) != 1 || open[0].(map[string]any)["request_id"] != id {
		t.Errorf("pending %v", open)
	}
	d.say(request("stop", `{"subtype":"interrupt"}`))
	if got := d.await("control_cancel_request", "")["request_id"]; got != id {
		t.Errorf("withdrew %v, not %s", got, id)
	}
	d.await("result", "error_during_execution")
	d.say(`{"type":"control_response","response":{"subtype":"success","request_id":"`+id+`","response":{"behavior":"allow"}}}`,
		user("again"))
	d.await("result", "success")
	d.end()
	var states []any
	for _, v := range d.all("system") {
		if v["subtype"] == "session_state_changed" {
			states = append(states, v["state"])
		}
	}
	want := []any{"running", "requires_action", "running", "idle", "running", "idle"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
}

// TestNobodyToAsk checks that calls are denied if the host does not answer questions or has
// disconnected.
func TestNobodyToAsk(t *testing.T) {
	t.Run("not asked", func(t *testing.T) {
		d := talkAsking(t, Host{})
		d.say(user("go"))
		d.await("system", "permission_denied")
		d.end()
		if asked := d.all("control_request"); len(asked) > 0 {
			t.Errorf("asked %v", asked)
		}
	})
	t.Run("gone", func(t *testing.T) {
		d := talkAsking(t, Host{Asks: true})
		d.say(user("go"))
		d.await("control_request", "")
		d.in.Close()
		d.await("system", "permission_denied")
		d.await("result", "success")
		<-d.ended
	})
}

// Proves X-137.
func TestInitialize(t *testing.T) {
	var got Start
	h := Host{
		Models: []HostModel{{"m", "M", "a model"}},
		Initialize: func(_ context.Context, s Start) ([]string, error) {
			if len(s.Hooks) > 0 {
				return nil, &hostapi.Refusal{Code: hostapi.Unsupported, Text: "hooks are not available in this version"}
			}
			got = s
			return nil, nil
		},
	}
	d := talk(t, "say x", h, func(_ *session.Config, c *Config) { c.Commands = commands.New(commands.Config{}) })
	answer := func(id, body string) map[string]any {
		d.say(request(id, body))
		return d.await("control_response", "")["response"].(map[string]any)
	}
	if r := answer("1", `{"subtype":"initialize","hooks":{"PreToolUse":[{}]}}`); r["error_code"] != "unsupported_request" {
		t.Errorf("hooks: %v", r)
	}
	d.say(user("go"))
	if r := d.await("result", ""); r["subtype"] != "error_during_execution" {
		t.Errorf("a turn without the hooks that the host relies on: %v", r)
	}
	if r := answer("2", `{"subtype":"initialize","systemPrompt":7}`); r["error_code"] != "invalid_request" {
		t.Errorf("unreadable: %v", r)
	}
	r := answer("3", `{"subtype":"initialize","hooks":{},"systemPrompt":[""],"appendSystemPrompt":"more","jsonSchema":{"type":"object"},"title":"T","sdkMcpServers":["s"],"sdkMcpServerManifests":{"s":{"toolsListResult":{"tools":[]}}}}`)
	want := Start{SystemPrompt: []string{""}, AppendSystemPrompt: "more", JSONSchema: json.RawMessage(`{"type":"object"}`), Title: "T",
		Hooks: map[string]json.RawMessage{}, Servers: hosted.Servers{Names: []string{"s"}, Manifests: map[string]hosted.Manifest{"s": {Tools: json.RawMessage(`{"tools":[]}`)}}}}
	got.Servers.Send = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var list []any
	for _, c := range commands.New(commands.Config{}).Commands() {
		list = append(list, map[string]any{"name": c.Name, "description": c.Doc, "argumentHint": c.Args})
	}
	wantAnswer := map[string]any{
		"subtype": "success", "request_id": "3", "pending_permission_requests": []any{},
		"response": map[string]any{
			"commands": list, "agents": []any{},
			"output_style": "default", "available_output_styles": []any{"default"},
			"models":  []any{map[string]any{"value": "m", "displayName": "M", "description": "a model"}},
			"account": map[string]any{"apiKeySource": "none"}, "claude_code_version": "1",
		},
	}
	if diff := cmp.Diff(wantAnswer, r); diff != "" {
		t.Error(diff)
	}
	wantAnswer["request_id"] = "4"
	if diff := cmp.Diff(wantAnswer, answer("4", `{"subtype":"initialize"}`)); diff != "" {
		t.Errorf("a host that joins again: %s", diff)
	}
	if answer("5", `{"subtype":"initialize","systemPrompt":"one text"}`); !slices.Equal(got.SystemPrompt, texts{"one text"}) {
		t.Errorf("%q", got.SystemPrompt)
	}
	d.end()
}

// TestOffered checks that actions run in order and queries run concurrently.
func TestOffered(t *testing.T) {
	hang := make(chan struct{})
	h := Host{
		Actions: map[string]hostapi.Request{
			"act":    func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil },
			"odd":    func(context.Context, json.RawMessage) (any, error) { return func() {}, nil },
			"refuse": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no") },
		},
		Queries: map[string]hostapi.Request{
			"quick": func(_ context.Context, body json.RawMessage) (any, error) { return map[string]any{"got": body}, nil },
			"slow": func(ctx context.Context, _ json.RawMessage) (any, error) {
				close(hang)
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		},
	}
	d := talk(t, "say x", h, nil)
	d.say(request("s", `{"subtype":"slow"}`))
	<-hang
	for _, tt := range []struct{ subtype, field, want string }{
		{"act", "subtype", "success"}, {"odd", "error_code", "request_failed"}, {"refuse", "error", "no"}, {"quick", "subtype", "success"},
		{"set_color", "error", "set_color is not available in this version"}, {"dance", "error_code", "unsupported_request"},
	} {
		d.say(request(tt.subtype, `{"subtype":"`+tt.subtype+`"}`))
		r := d.await("control_response", "")["response"].(map[string]any)
		if r["request_id"] != tt.subtype || r[tt.field] != tt.want {
			t.Errorf("%s: %v", tt.subtype, r)
		}
	}
	d.say(`{"type":"control_cancel_request","request_id":"s"}`)
	if r := d.await("control_response", "")["response"].(map[string]any); r["request_id"] != "s" || r["subtype"] != "error" {
		t.Errorf("withdrawn: %v", r)
	}
	d.end()
}

// TestPriorities checks prompts sent while a turn runs, and notes, which do not start a turn.
//
// Proves LOOP-33.
func TestPriorities(t *testing.T) {
	d := talk(t, "use Echo {\"text\":\"wait\"}\n---\nexpect text \"steer\"\nsay Steered.\n---\nexpect text \"a note\"\nexpect last \"later\"\nsay Later.", Host{},
		func(c *session.Config, f *Config) {
			c.Tools.Registry = tool.NewRegistry(waiting())
			f.Replay = true
		})
	const id = "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13"
	d.say(`{"type":"user","uuid":"` + id + `","message":{"role":"user","content":"go"}}`)
	replay := d.await("user", "")
	if replay["uuid"] != id || replay["isReplay"] != true {
		t.Errorf("the prompt came back as %v", replay)
	}
	d.await("assistant", "")
	d.say(`{"type":"user","shouldQuery":false,"message":{"role":"user","content":"a note"}}`,
		`{"type":"user","uuid":"q1","priority":"later","message":{"role":"user","content":"later"}}`,
		`{"type":"user","priority":"now","message":{"role":"user","content":"steer"}}`)
	if r := d.await("result", ""); r["result"] != "Steered." {
		t.Errorf("got %v", r)
	}
	if r := d.await("result", ""); r["result"] != "Later." {
		t.Errorf("got %v", r)
	}
	d.end()
	if n := len(d.all("result")); n != 2 {
		t.Errorf("%d results", n)
	}
}

// waiting returns an Echo tool that yields to a new message.
func waiting() tool.Tool {
	return tool.New(tool.Def{
		Name: "Echo", Doc: "waits", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		Traits: tool.Traits{Waits: true},
	}, func(ctx context.Context, _ struct{ Text string }, _ func(tool.Progress)) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
}

// TestInterruptQueue checks that an interrupt reports the queued prompts, or cancels them.
func TestInterruptQueue(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		t.Run(fmt.Sprint(cancel), func(t *testing.T) {
			d := talk(t, "when no-text \"two\"\nsay Half\nhang\n---\nforever\nsay Done.", Host{}, nil)
			d.say(user("one"))
			d.await("system", "init")
			d.say(`{"type":"user","uuid":"q1","message":{"role":"user","content":"two"}}`,
				`{"type":"user","uuid":"q2","message":{"role":"user","content":"two more"}}`,
				request("c", `{"subtype":"cancel_async_message","message_uuid":"q2"}`),
				request("d", `{"subtype":"cancel_async_message","message_uuid":"q2"}`),
				request("stop", fmt.Sprintf(`{"subtype":"interrupt","cancel_queued":%v}`, cancel)))
			var got []any
			for range 3 {
				got = append(got, d.await("control_response", "")["response"].(map[string]any)["response"])
			}
			receipt := map[string]any{"still_queued": []any{"q1"}}
			if cancel {
				receipt = map[string]any{"still_queued": []any{}, "cancelled": []any{"q1"}}
			}
			want := []any{map[string]any{"cancelled": true}, map[string]any{"cancelled": false}, receipt}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			d.end()
			results := 2
			if cancel {
				results = 1
			}
			if n := len(d.all("result")); n != results {
				t.Errorf("%d results", n)
			}
		})
	}
}

// TestToolProgress checks that the host receives progress for a long call, and only then.
func TestToolProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "use Echo {\"text\":\"x\"}\n---\nsay Done.", func(c *session.Config, _ *Config) {
			c.Tools.Registry = tool.NewRegistry(sleeping(12 * time.Second))
		})
		st.front.Serve(t.Context(), strings.NewReader(user("go")), Host{})
		var got []any
		for _, v := range st.lines(t) {
			if v["type"] == "tool_progress" {
				got = append(got, v["tool_name"], v["tool_use_id"], v["parent_tool_use_id"], v["elapsed_time_seconds"])
			}
		}
		want := []any{"Echo", "toolu_1_1", nil, 5.0, "Echo", "toolu_1_1", nil, 10.0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func sleeping(d time.Duration) tool.Tool {
	return tool.New(tool.Def{
		Name: "Echo", Doc: "sleeps", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
	}, func(context.Context, struct{ Text string }, func(tool.Progress)) (tool.Result, error) {
		time.Sleep(d)
		return tool.Text("slept"), nil
	})
}

// A stuck writer blocks until it is released, like the pipe to a host that does not read.
type stuck struct{ free chan struct{} }

func (s *stuck) Write(p []byte) (int, error) {
	<-s.free
	return 0, io.ErrClosedPipe
}

// TestHostStopsReading checks that a host that stops reading blocks the session, but not the
// program's shutdown.
func TestHostStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuck{make(chan struct{})}
		st := newStage(t, "fragments 5000\nsay "+strings.Repeat("x ", 5000), func(c *session.Config, f *Config) {
			f.Stdout = w
			f.Partial, c.Loop.Raw = true, true
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		in, _ := io.Pipe()
		defer in.Close()
		done := make(chan Outcome, 1)
		go func() {
			done <- st.front.Serve(ctx, io.MultiReader(strings.NewReader(user("go")+"\n"), in), Host{})
		}()
		synctest.Wait()
		if n := st.front.cfg.Session.Last(); n > 3000 {
			t.Errorf("%d entries were made for a reader that takes none", n)
		}
		cancel(tool.AbortShutdown)
		began := time.Now()
		out := <-done
		if took := time.Since(began); !out.Unread || took != grace {
			t.Errorf("ended with %+v after %v", out, took)
		}
		close(w.free)
	})
}

// TestHostDies checks that a host's death ends the run, even if its end of stdin stays open.
func TestHostDies(t *testing.T) {
	st := newStage(t, "say Half\nhang", func(c *session.Config, f *Config) {
		f.Stdout, f.Partial, c.Loop.Raw = &failing{"content_block_delta"}, true, true
	})
	in, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, user("go")+"\n"+user("again")+"\n")
	out := st.front.Serve(t.Context(), in, Host{})
	if !out.Unread || out.Reason != agent.AbortedStreaming {
		t.Errorf("ended with %+v", out)
	}
}

// TestEveryRequestIsAnswered checks, for arbitrary input lines, that each request is answered
// once, that each prompt has one result, and that the output is JSON lines.
//
// Proves X-137.
func TestEveryRequestIsAnswered(t *testing.T) {
	line := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { return user(rapid.StringN(1, 20, 80).Draw(t, "text") + ".") }),
		rapid.Custom(func(t *rapid.T) string {
			subtype := rapid.SampledFrom([]string{
				"initialize", "set_model", "set_permission_mode", "cancel_async_message", "mcp_status", "quick", "act", "", "dance",
			}).Draw(t, "subtype")
			return request(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "id"), fmt.Sprintf(`{"subtype":%q,"mode":"plan","model":"x"}`, subtype))
		}),
		rapid.SampledFrom([]string{
			"", "{", "[]", "null", "\x00\xff", `{"type":7}`, `{"type":"keep_alive"}`, `{"type":"future"}`, `{"type":"user"}`,
			`{"type":"control_response","response":{"subtype":"success","request_id":"a"}}`, `{"type":"control_cancel_request","request_id":"a"}`,
			`{"type":"control_request","request_id":"a"}`, `{"type":"control_request","request_id":"a","request":[]}`,
			user(" "), `{"type":"control_response"}`,
		}),
	)
	h := Host{
		Actions: map[string]hostapi.Request{"act": func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil }},
		Queries: map[string]hostapi.Request{"quick": func(context.Context, json.RawMessage) (any, error) { return struct{}{}, nil }},
	}
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(line, 0, 12).Draw(rt, "lines")
		requests, prompts := map[string]int{}, 0
		for _, l := range lines {
			var in struct {
				Type      string
				RequestID string `json:"request_id"`
				Message   struct{ Content string }
			}
			if json.Unmarshal([]byte(l), &in) != nil {
				continue
			}
			switch {
			case in.Type == "control_request":
				requests[in.RequestID]++
			case in.Type == "user" && strings.TrimSpace(in.Message.Content) != "":
				prompts++
			}
		}
		st := newStage(t, "forever\nsay x", nil)
		st.front.Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")), h)
		results, answers := 0, map[string]int{}
		for _, v := range st.lines(t) {
			switch v["type"] {
			case "result":
				results++
			case "control_response":
				answers[v["response"].(map[string]any)["request_id"].(string)]++
			}
		}
		if results != prompts {
			rt.Errorf("%d results of %d prompts", results, prompts)
		}
		if diff := cmp.Diff(requests, answers); diff != "" {
			rt.Error(diff)
		}
	})
}

// TestQuestionsOfServers checks that server questions are sent to a host that supports them,
// and that an invalid answer cancels.
//
// Proves MCP-45.
func TestQuestionsOfServers(t *testing.T) {
	form := session.Form{From: "docs", Message: "Which?", Schema: json.RawMessage(`{"type":"object"}`), Fields: []session.Field{
		{Name: "branch", Type: session.TextField, Required: true}, {Name: "n", Type: session.IntegerField, Default: int64(2)},
	}}
	visit := session.Visit{From: "docs", Message: "Sign in.", URL: "https://example.com/", Host: "example.com", ID: "e1"}
	waiting := visit
	waiting.Opened = true
	cancelled := session.Filled{Action: session.Cancel}
	d := talk(t, "say never", Host{}, nil)
	ask := func(q session.Question, asked, answer string, want session.Reply) {
		t.Helper()
		got := make(chan session.Reply, 1)
		go func() { r, _ := d.st.front.cfg.Session.Ask(t.Context(), q); got <- r }()
		if asked != "" {
			request := d.await("control_request", "")
			data, _ := json.Marshal(request["request"])
			if string(data) != asked {
				t.Errorf("asked %s", data)
			}
			d.say(fmt.Sprintf(`{"type":"control_response","response":{"request_id":%q,%s}}`, request["request_id"], answer))
		}
		if diff := cmp.Diff(want, <-got); diff != "" {
			t.Errorf("%s: %s", answer, diff)
		}
	}
	ask(form, "", "", cancelled) // the host has not announced support
	d.say(request("init", `{"subtype":"initialize"}`))
	d.await("control_response", "")
	const asked = `{"mcp_server_name":"docs","message":"Which?","mode":"form","requested_schema":{"type":"object"},"subtype":"elicitation"}`
	for answer, want := range map[string]session.Reply{
		`"subtype":"success","response":{"action":"accept","content":{"branch":"main"}}`: session.Filled{Action: session.Accept, Values: map[string]any{"branch": "main", "n": int64(2)}},
		`"subtype":"success","response":{"action":"decline"}`:                            session.Filled{Action: session.Decline},
		`"subtype":"success","response":{"action":"accept","content":{"branch":7}}`:      cancelled,
		`"subtype":"success","response":{"action":"accept"}`:                             cancelled,
		`"subtype":"success","response":{"action":"perhaps"}`:                            cancelled,
		`"subtype":"success","response":[1]`:                                             cancelled,
		`"subtype":"success"`:                                                            cancelled,
		`"subtype":"error","error":"unknown request"`:                                    cancelled,
	} {
		ask(form, asked, answer, want)
	}
	const page = `{"elicitation_id":"e1","mcp_server_name":"docs","message":"Sign in.","mode":"url","subtype":"elicitation","url":"https://example.com/"}`
	ask(visit, page, `"subtype":"success","response":{"action":"accept"}`, session.Visited{Action: session.Accept})
	ask(visit, page, `"subtype":"error","error":"x"`, session.Visited{Action: session.Cancel})
	ask(session.Sampling{From: "docs"}, "", "", cancelled)
	ask(waiting, "", "", session.Visited{Action: session.Cancel})
	d.end()
}

// TestChoicesOfHosts checks that a host answers the model's questions like a permission
// request, with the answers in the input.
//
// Proves X-009.
func TestChoicesOfHosts(t *testing.T) {
	d := talkAsking(t, Host{Asks: true})
	choices := session.Choices{
		Items: []session.Choice{{Text: "Which?"}, {Text: "What else?", Multiple: true}},
		Call:  session.QuestionCall{Tool: "Questions", Use: "toolu_7", Input: json.RawMessage(`{"questions":[]}`)},
	}
	const asked = `{"input":{"questions":[]},"requires_user_interaction":true,"subtype":"can_use_tool","tool_name":"Questions","tool_use_id":"toolu_7"}`
	declined := session.Selection{Declined: true}
	for _, tt := range []struct {
		answer string
		want   session.Selection
	}{
		{`{"behavior":"allow","updatedInput":{"answers":{"Which?":"a","What else?":"b, c"}}}`, session.Selection{Chosen: [][]string{{"a"}, {"b, c"}}}},
		{`{"behavior":"allow","updatedInput":{"answers":{"Which?":["a","x"],"What else?":["b","c",""]}}}`, session.Selection{Chosen: [][]string{{"a, x"}, {"b", "c"}}}},
		{`{"behavior":"allow","updatedInput":{"answers":{"Which?":"a","What else?":" ","Why?":"because"},"response":"Later."}}`,
			session.Selection{Chosen: [][]string{{"a"}, {}}, Message: "Later."}},
		{`{"behavior":"allow","updatedInput":{"answers":{"Why?":"because"}}}`, declined},
		{`{"behavior":"allow","updatedInput":{"answers":{},"response":"Neither."}}`, session.Selection{Declined: true, Message: "Neither."}},
		{`{"behavior":"allow","updatedInput":{"answers":{"Which?":7}}}`, declined},
		{`{"behavior":"allow","updatedInput":{"answers":"a"}}`, declined},
		{`{"behavior":"allow","updatedInput":{"questions":[]}}`, declined},
		{`{"behavior":"allow"}`, declined},
		{`{"behavior":"deny","message":"Not now."}`, session.Selection{Declined: true, Message: "Not now."}},
		{`{"behavior":"perhaps"}`, session.Selection{Declined: true, Message: `The host answered neither allow nor deny, but "perhaps".`}},
	} {
		got := make(chan session.Reply, 1)
		go func() { r, _ := d.st.front.cfg.Session.Ask(t.Context(), choices); got <- r }()
		request := d.await("control_request", "")
		if data, _ := json.Marshal(request["request"]); string(data) != asked {
			t.Errorf("asked %s", data)
		}
		d.say(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, request["request_id"], tt.answer))
		if diff := cmp.Diff(session.Reply(tt.want), <-got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", tt.answer, diff)
		}
	}
	d.end()
}

// TestOtherQuestionsAreRefused checks that questions get the default reply if the host does not
// answer questions.
func TestOtherQuestionsAreRefused(t *testing.T) {
	d := talkAsking(t, Host{})
	for _, q := range []session.Question{
		session.Choices{Items: []session.Choice{{Text: "Which?"}}},
		session.Form{Message: "Where?", Fields: []session.Field{{Name: "city", Required: true}}},
	} {
		r, err := d.st.front.cfg.Session.Ask(t.Context(), q)
		if diff := cmp.Diff(q.Unanswered(), r); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if asked := d.all("control_request"); len(asked) > 0 {
		t.Errorf("unexpected request to the host: %v", asked)
	}
	d.end()
}
