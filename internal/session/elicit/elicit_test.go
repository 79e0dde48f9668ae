package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/agent/sidequery"
	"adze/internal/hook"
	"adze/internal/mcp"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A table simulates the user, hooks and browser of a conversation.
type table struct {
	*Asker

	mu     sync.Mutex
	reply  func(context.Context, session.Question) (session.Reply, error)
	hooks  map[hook.Name]hook.Outcome
	fired  []hook.Name
	asked  []session.Question
	opened []string
	said   []string
}

func newTable() *table {
	t := &table{hooks: map[hook.Name]hook.Outcome{}}
	t.Asker = New(Config{
		Ask: func(ctx context.Context, q session.Question) (session.Reply, error) {
			t.mu.Lock()
			t.asked = append(t.asked, q)
			reply := t.reply
			t.mu.Unlock()
			if reply == nil {
				return q.Unanswered(), nil
			}
			return reply(ctx, q)
		},
		Fire: func(_ context.Context, e hook.Event) hook.Outcome {
			t.mu.Lock()
			defer t.mu.Unlock()
			if e.Name != hook.Notification {
				t.fired = append(t.fired, e.Name)
			}
			return t.hooks[e.Name]
		},
		Open: func(url string) error { t.opened = append(t.opened, url); return nil },
		Say:  func(text string) { t.said = append(t.said, text) },
	})
	return t
}

// during runs ask within a turn.
func (t *table) during(ctx context.Context, ask func(context.Context, mcp.Client)) {
	ask(ctx, t.Client())
}

func object(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
}

// Proves MCP-45.
func TestForms(t *testing.T) {
	one, five := 1.0, 5.0
	for _, tt := range []struct {
		name, property string
		want           session.Field
	}{
		{"text", `{"type":"string","title":"Name","description":"Yours.","minLength":1,"maxLength":5}`,
			session.Field{Title: "Name", Description: "Yours.", Type: session.TextField, Min: &one, Max: &five}},
		{"format", `{"type":"string","format":"email","default":"a@b.example"}`, session.Field{Type: session.TextField, Format: session.EmailFormat, Default: "a@b.example"}},
		{"format that is not known", `{"type":"string","format":"ipv4"}`, session.Field{Type: session.TextField}},
		{"default that does not fit", `{"type":"string","format":"date","default":"soon"}`, session.Field{Type: session.TextField, Format: session.DateFormat}},
		{"number", `{"type":"number","minimum":1,"maximum":5,"default":2}`, session.Field{Type: session.NumberField, Min: &one, Max: &five, Default: 2.0}},
		{"integer", `{"type":"integer","default":2.0}`, session.Field{Type: session.IntegerField, Default: int64(2)}},
		{"boolean", `{"type":"boolean","default":false}`, session.Field{Type: session.BooleanField, Default: false}},
		{"enum", `{"type":"string","enum":["r","b"],"enumNames":["Red"],"default":"b"}`,
			session.Field{Type: session.ChoiceField, Options: []session.Option{{Label: "r", Description: "Red"}, {Label: "b"}}, Default: "b"}},
		{"enum with titles", `{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"b","title":"b"}]}`,
			session.Field{Type: session.ChoiceField, Options: []session.Option{{Label: "r", Description: "Red"}, {Label: "b"}}}},
		{"several", `{"type":"array","items":{"type":"string","enum":["r","b"]},"minItems":1,"maxItems":5,"default":["r"]}`,
			session.Field{Type: session.ListField, Options: []session.Option{{Label: "r"}, {Label: "b"}}, Min: &one, Max: &five, Default: []string{"r"}}},
		{"several with titles", `{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]}}`,
			session.Field{Type: session.ListField, Options: []session.Option{{Label: "r", Description: "Red"}}}},
	} {
		tt.want.Name = "v"
		f, err := FormOf(mcp.Elicitation{Server: "docs", Message: "m", Schema: object(`"v":` + tt.property)})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff([]session.Field{tt.want}, f.Fields); diff != "" || f.From != "docs" || f.Message != "m" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	f, err := FormOf(mcp.Elicitation{Server: "docs", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"boolean"},"a":{"type":"boolean"}},"required":["a"]}`)})
	if err != nil || f.Fields[0].Name != "z" || f.Fields[0].Required || !f.Fields[1].Required {
		t.Errorf("order: %+v, %v", f, err)
	}
}

// TestWhatIsNoForm checks that a schema that cannot be a form is declined, and that the user
// learns the reason.
//
// Proves MCP-45.
func TestWhatIsNoForm(t *testing.T) {
	var many []string
	for i := range maxFields + 1 {
		many = append(many, fmt.Sprintf(`"f%d":{"type":"boolean"}`, i))
	}
	for schema, why := range map[string]string{
		``:                                  "not an object",
		`[]`:                                "not an object",
		`{"type":"string"}`:                 "not an object",
		`{"type":"object","properties":[]}`: "its properties are not an object",
		string(object(`"a":{"type":"object","properties":{}}`)):                `a: unsupported value type "object"`,
		string(object(`"a":{"type":"array","items":{"type":"string"}}`)):       "a: a list is possible only of options",
		string(object(`"a":{"type":"array","items":{"type":"object"}}`)):       "a list is possible only of options",
		string(object(`"a":{"type":["string","null"]}`)):                       "a: its description cannot be read",
		string(object(`"a":{"oneOf":[{"type":"string"}]}`)):                    "alternatives that are not texts",
		string(object(`"a":{"type":"string","enum":[1]}`)):                     "options that are not texts",
		string(object(`"a":{"type":"integer","enum":["1"]}`)):                  "",
		string(object(`"a":{"$ref":"#"}`)):                                     `unsupported value type ""`,
		string(object(`"a":{"type":"string"},"a":{"type":"string"}`)):          "a is there twice",
		string(object(strings.Join(many, ","))):                                "more than 64 values",
		`{"type":"object","properties":{},"required":["a"]}`:                   `"a" is required and not described`,
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":5}`: "not an object",
	} {
		tb := newTable()
		tb.during(t.Context(), func(ctx context.Context, c mcp.Client) {
			got, err := c.Elicit(ctx, mcp.Elicitation{Schema: json.RawMessage(schema)})
			if why == "" {
				if len(tb.asked) != 1 {
					t.Errorf("%s: not asked: %s", schema, tb.said)
				}
				return
			}
			if got.Action != "decline" || err != nil || len(tb.asked) > 0 || len(tb.said) != 1 || !strings.Contains(tb.said[0], why) {
				t.Errorf("%s: %+v, %v, %s", schema, got, err, tb.said)
			}
		})
	}
}

// TestWhoAnswers checks that hooks answer before the user and see the answer that is sent.
//
// Proves MCP-45, HOOK-01, HOOK-21.
func TestWhoAnswers(t *testing.T) {
	accept := session.Filled{Action: session.Accept, Values: map[string]any{"name": "x"}}
	hooked := func(action, content string) hook.Outcome {
		o := hook.Outcome{Action: action}
		if content != "" {
			o.Content = json.RawMessage(content)
		}
		return o
	}
	for _, tt := range []struct {
		name           string
		before, after  hook.Outcome
		reply          session.Reply
		action, values string
		asked          bool
	}{
		{name: "the user", reply: accept, action: "accept", values: `{"n":7,"name":"x"}`, asked: true},
		{name: "declines", reply: session.Filled{Action: session.Decline}, action: "decline", asked: true},
		{name: "nobody", action: "cancel", asked: true},
		{name: "a hook", before: hooked("accept", `{"name":"h","n":1}`), action: "accept", values: `{"n":1,"name":"h"}`},
		{name: "a hook declines", before: hooked("decline", ""), action: "decline"},
		{name: "a hook blocks", before: hook.Outcome{Blocked: true}, action: "decline"},
		{name: "a hook stops", before: hook.Outcome{Stop: "enough"}, action: "decline"},
		{name: "a hook's values do not fit", before: hooked("accept", `{"name":1}`), reply: accept, action: "accept", values: `{"n":7,"name":"x"}`, asked: true},
		{name: "a hook's values are not all", before: hooked("accept", ""), reply: accept, action: "accept", values: `{"n":7,"name":"x"}`, asked: true},
		{name: "a hook changes the answer", reply: accept, after: hooked("accept", `{"name":"h"}`), action: "accept", values: `{"n":7,"name":"h"}`, asked: true},
		{name: "a hook agrees", reply: accept, after: hooked("accept", ""), action: "accept", values: `{"n":7,"name":"x"}`, asked: true},
		{name: "a hook withdraws the answer", reply: accept, after: hooked("cancel", ""), action: "cancel", asked: true},
		{name: "a hook blocks the answer", reply: accept, after: hook.Outcome{Blocked: true}, action: "decline", asked: true},
		{name: "a hook's change does not fit", reply: accept, after: hooked("accept", `{"x":1}`), action: "accept", values: `{"n":7,"name":"x"}`, asked: true},
	} {
		tb := newTable()
		tb.hooks[hook.Elicitation], tb.hooks[hook.ElicitationResult] = tt.before, tt.after
		if tt.reply != nil {
			tb.reply = func(context.Context, session.Question) (session.Reply, error) { return tt.reply, nil }
		}
		tb.during(t.Context(), func(ctx context.Context, c mcp.Client) {
			schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer","default":7}},"required":["name"]}`)
			got, err := c.Elicit(ctx, mcp.Elicitation{Message: "Who?", Schema: schema})
			values := ""
			if got.Values != nil {
				data, _ := json.Marshal(got.Values)
				values = string(data)
			}
			if err != nil || got.Action != tt.action || values != tt.values || (len(tb.asked) > 0) != tt.asked {
				t.Errorf("%s: %s %s, %v, asked %d", tt.name, got.Action, values, err, len(tb.asked))
			}
			if diff := cmp.Diff([]hook.Name{hook.Elicitation, hook.ElicitationResult}, tb.fired); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		})
	}
}

// TestTooManyQuestions checks that a server that exceeds the limit is ignored until the next
// turn, and that other servers are not affected.
//
// Proves MCP-45.
func TestTooManyQuestions(t *testing.T) {
	tb := newTable()
	c := tb.Client()
	for range maxAsked + 5 {
		c.Elicit(t.Context(), mcp.Elicitation{Server: "docs", Schema: object("")})
	}
	if len(tb.asked) != maxAsked || len(tb.said) != 1 {
		t.Errorf("asked %d times, said %q", len(tb.asked), tb.said)
	}
	c.Elicit(t.Context(), mcp.Elicitation{Server: "other", Schema: object("")})
	tb.PromptHook(t.Context(), session.Prompt{})
	c.Elicit(t.Context(), mcp.Elicitation{Server: "docs", Schema: object("")})
	if len(tb.asked) != maxAsked+2 {
		t.Errorf("asked %d times", len(tb.asked))
	}
}

// TestNotification checks that notification hooks run for an open question and do not delay it.
//
// Proves HOOK-01.
func TestNotification(t *testing.T) {
	tb := newTable()
	told := make(chan hook.Event)
	fire := tb.cfg.Fire
	tb.cfg.Fire = func(ctx context.Context, e hook.Event) hook.Outcome {
		if e.Name == hook.Notification {
			told <- e
		}
		return fire(ctx, e)
	}
	if got, err := tb.Client().Elicit(t.Context(), mcp.Elicitation{Server: "docs", Schema: object("")}); got.Action != "cancel" || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	<-told
}

// TestWithdrawnQuestion checks that a withdrawn question is canceled.
func TestWithdrawnQuestion(t *testing.T) {
	tb := newTable()
	tb.reply = func(ctx context.Context, _ session.Question) (session.Reply, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	for _, e := range []mcp.Elicitation{{Schema: object("")}, {URL: "https://example.com"}} {
		if got, err := tb.Client().Elicit(ctx, e); got.Action != "cancel" || err == nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// A mind simulates the model.
type mind struct {
	asked []*model.Request
	stop  model.StopReason
}

func (m *mind) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m.asked = append(m.asked, req)
	return func(yield func(model.Event, error) bool) {
		_ = yield(model.BlockDone{Part: &msg.Text{Text: "Fine."}}, nil) && yield(model.Stop{Reason: m.stop}, nil)
	}
}

// Proves MCP-20.
func TestSampling(t *testing.T) {
	said := func(role, text string) mcp.PromptMessage {
		return mcp.PromptMessage{Role: role, Content: mcp.Content{Text: text}}
	}
	agree := func(context.Context, session.Question) (session.Reply, error) {
		return session.Filled{Action: session.Accept}, nil
	}
	for _, tt := range []struct {
		name  string
		s     mcp.SampleRequest
		reply func(context.Context, session.Question) (session.Reply, error)
		stop  model.StopReason
		want  mcp.SampleResult
		err   string
		asked bool
	}{
		{"agreed", mcp.SampleRequest{System: "Be brief.", Messages: []mcp.PromptMessage{said("user", "Hi"), said("assistant", "Yes?"), said("user", "Sum up.")}, MaxTokens: 99_999}, agree, model.StopEnd,
			mcp.SampleResult{Text: "Fine.", Model: "m", StopReason: "endTurn"}, "", true},
		{"cut off", mcp.SampleRequest{Messages: []mcp.PromptMessage{said("user", "Hi")}, MaxTokens: 5}, agree, model.StopMaxTokens, mcp.SampleResult{Text: "Fine.", Model: "m", StopReason: "maxTokens"}, "", true},
		{"nobody agrees", mcp.SampleRequest{Messages: []mcp.PromptMessage{said("user", "Hi")}, MaxTokens: 5}, nil, model.StopEnd, mcp.SampleResult{}, "declined", true},
		{"an image", mcp.SampleRequest{Messages: []mcp.PromptMessage{{Role: "user", Content: mcp.Content{Kind: mcp.ImageContent}}}, MaxTokens: 5}, agree, model.StopEnd, mcp.SampleResult{}, "only texts", false},
		{"too long", mcp.SampleRequest{Messages: []mcp.PromptMessage{said("user", strings.Repeat("x", maxText+1))}, MaxTokens: 5}, agree, model.StopEnd, mcp.SampleResult{}, "more than 100000 bytes", false},
		{"no tokens", mcp.SampleRequest{Messages: []mcp.PromptMessage{said("user", "Hi")}}, agree, model.StopEnd, mcp.SampleResult{}, "maxTokens", false},
		{"nothing", mcp.SampleRequest{MaxTokens: 5}, agree, model.StopEnd, mcp.SampleResult{}, "the user's", false},
		{"the model's last word", mcp.SampleRequest{Messages: []mcp.PromptMessage{said("user", "Hi"), said("assistant", "I")}, MaxTokens: 5}, agree, model.StopEnd, mcp.SampleResult{}, "the user's", false},
	} {
		tb, m := newTable(), &mind{stop: tt.stop}
		tb.reply = tt.reply
		var booked []string
		asker := &sidequery.Asker{Provider: m, Book: func(purpose, id string, _ msg.Usage, _ time.Duration) { booked = append(booked, purpose+" "+id) }}
		tb.cfg.Model = asker.Ask
		tb.cfg.ModelID = func() string { return "m" }
		tt.s.Server = "docs"
		got, err := tb.Client().Sample(t.Context(), tt.s)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if (len(tb.asked) > 0) != tt.asked || tt.want.Text != "" && (len(booked) != 1 || m.asked[0].MaxTokens > maxTokens) {
			t.Errorf("%s: asked %v, booked %v", tt.name, tb.asked, booked)
		}
	}
	if _, err := newTable().Client().Sample(t.Context(), mcp.SampleRequest{}); err == nil {
		t.Error("sampled without a model")
	}
}

// Proves MCP-45.
func TestPages(t *testing.T) {
	for _, tt := range []struct{ url, shown, host, why string }{
		{url: "https://example.com/a?b=c#d", shown: "https://example.com/a?b=c#d", host: "example.com"},
		{url: "http://127.0.0.1:8080/x", shown: "http://127.0.0.1:8080/x", host: "127.0.0.1:8080"},
		{url: "http://[::1]/x", shown: "http://[::1]/x", host: "[::1]"},
		{url: "http://localhost/x", shown: "http://localhost/x", host: "localhost"},
		{url: "https://раураl.com/", shown: "https://xn--l-7sba6dbr.com/", host: "xn--l-7sba6dbr.com"},
		{url: "https://example.com/\u202efdp?q=\u200b$(id)`x`", shown: "https://example.com/%E2%80%AEfdp?q=%E2%80%8B$(id)%60x%60", host: "example.com"},
		{url: "http://example.com/", why: "neither at https"},
		{url: "http://127.0.0.1.example.com/", why: "neither at https"},
		{url: "file:///etc/passwd", why: "names no host"},
		{url: "javascript:alert(1)", why: "names no host"},
		{url: "ssh://example.com", why: "neither at https"},
		{url: "https://example.com@evil.example/", why: "contains a user name"},
		{url: "https:///x", why: "names no host"},
		{url: "https://example.com/\nX", why: "cannot be read"},
		{url: "-e https://example.com", why: "cannot be read"},
		{url: "--help", why: "names no host"},
		{url: "https://example.com/" + strings.Repeat("a", maxURL), why: "longer than"},
	} {
		v, err := pageOf(mcp.Elicitation{URL: tt.url})
		if tt.why != "" {
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("%s: %+v, %v", tt.url, v, err)
			}
			continue
		}
		if err != nil || v.URL != tt.shown || v.Host != tt.host {
			t.Errorf("%s: %q at %q, %v", tt.url, v.URL, v.Host, err)
		}
	}
}

// Proves MCP-45.
func TestVisits(t *testing.T) {
	visited := func(a session.Action, open bool) func(context.Context, session.Question) (session.Reply, error) {
		return func(ctx context.Context, q session.Question) (session.Reply, error) {
			if q.(session.Visit).Opened { // the user does not reply
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return session.Visited{Action: a, Open: open}, nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name   string
			e      mcp.Elicitation
			reply  session.Action
			open   bool
			action string
			opened int
		}{
			{"opened", mcp.Elicitation{URL: "https://example.com", ID: "1"}, session.Accept, true, "accept", 1},
			{"opened by the host", mcp.Elicitation{URL: "https://example.com", ID: "1"}, session.Accept, false, "accept", 0},
			{"opened by the host, awaited", mcp.Elicitation{URL: "https://example.com", ID: "1", Await: true}, session.Accept, false, "accept", 0},
			{"opened by the host, nothing said", mcp.Elicitation{URL: "https://example.com", ID: "3", Await: true}, session.Accept, false, "accept", 0},
			{"opened by the host, nameless", mcp.Elicitation{URL: "https://example.com", Await: true}, session.Accept, false, "accept", 0},
			{"declined", mcp.Elicitation{URL: "https://example.com", ID: "1", Await: true}, session.Decline, false, "decline", 0},
			{"awaited", mcp.Elicitation{URL: "https://example.com", ID: "1", Await: true}, session.Accept, true, "accept", 1},
			{"not opened", mcp.Elicitation{URL: "file:///x", ID: "1"}, session.Accept, true, "decline", 0},
		} {
			tb := newTable()
			tb.reply = visited(tt.reply, tt.open)
			var told []string
			tb.OnComplete(func(server, id string) { told = append(told, server+":"+id) })
			began := time.Now()
			tb.during(t.Context(), func(ctx context.Context, c mcp.Client) {
				go func() {
					time.Sleep(time.Second)
					c.Elicited(mcp.Elicitation{ID: "2"})
					c.Elicited(mcp.Elicitation{Server: "another", ID: "1"})
					c.Elicited(mcp.Elicitation{ID: "1"})
					c.Elicited(mcp.Elicitation{ID: "1"})
				}()
				got, err := c.Elicit(ctx, tt.e)
				if got.Action != tt.action || err != nil || len(tb.opened) != tt.opened {
					t.Errorf("%s: %+v, %v, opened %q", tt.name, got, err, tb.opened)
				}
				took := time.Since(began)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				// Completion is reported once, and only for requested visits.
				if asked := tt.e.ID == "1" && tt.name != "not opened"; asked != cmp.Equal(told, []string{":1"}) || !asked && told != nil {
					t.Errorf("%s: told %q", tt.name, told)
				}
				want := time.Duration(0)
				if tt.e.Await && tt.reply == session.Accept {
					want = time.Second
					if tt.e.ID != "1" {
						want = patience
					}
				}
				if took != want {
					t.Errorf("%s: took %s", tt.name, took)
				}
			})
		}
		// The user confirms completion or gives up.
		for _, action := range []session.Action{session.Accept, session.Cancel} {
			tb := newTable()
			tb.reply = func(_ context.Context, q session.Question) (session.Reply, error) {
				if q.(session.Visit).Opened {
					return session.Visited{Action: action}, nil
				}
				return session.Visited{Action: session.Accept, Open: true}, nil
			}
			tb.during(t.Context(), func(ctx context.Context, c mcp.Client) {
				if got, err := c.Elicit(ctx, mcp.Elicitation{URL: "https://example.com", Await: true}); got.Action != string(action) || err != nil {
					t.Errorf("%s: %+v, %v", action, got, err)
				}
			})
		}
	})
}
