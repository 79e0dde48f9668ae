package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func ask() *model.Request {
	return &model.Request{Model: "m-1", MaxTokens: 4000, Messages: []msg.Message{msg.UserText("hi")}}
}

const answer = `{"id":"msg_1","type":"message","model":"m-1","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`

// answering is a server that answers without streaming. A provider accepts that even if it
// requested a stream.
func answering(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	io.WriteString(w, answer)
}

func failing(kind model.Kind, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		status, body := messages.Server{}.EncodeError(kind, message)
		w.WriteHeader(status)
		w.Write(body)
	}
}

// text sends req and returns the answer's text.
func text(ctx context.Context, p model.Provider, req *model.Request) (string, error) {
	var a model.Accumulator
	for e, err := range p.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		a.Add(e)
	}
	return a.Message().Text(), nil
}

// Proves PROV-05.
func TestHeaders(t *testing.T) {
	var got http.Header
	var path string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, path = r.Header.Clone(), r.URL.Path
		answering(w, r)
	})
	tests := []struct {
		name   string
		change func(*wire.Config)
		stream bool
		want   http.Header
	}{
		{"key", func(c *wire.Config) {}, true, http.Header{"X-Api-Key": {secret}}},
		{"token", func(c *wire.Config) { c.AuthToken = "tok" }, false, http.Header{"Authorization": {"Bearer tok"}}},
		{"helper", func(c *wire.Config) {
			c.KeyHelper = func(context.Context) (string, error) { return " key\n", nil }
		}, false, http.Header{"X-Api-Key": {"key"}, "Authorization": {"Bearer key"}}},
		{"custom", func(c *wire.Config) {
			c.APIKey = ""
			c.Headers = http.Header{"X-Api-Key": {"other"}, "Anthropic-Beta": {"a", "b"}, "User-Agent": {"browser/1"}}
		}, false, http.Header{"X-Api-Key": {"other"}, "Anthropic-Beta": {"a", "b"}}},
		{"betas", func(c *wire.Config) { // finding W11
			c.Betas = []string{"c-1", "d-2"}
			c.Headers = http.Header{"Anthropic-Beta": {"a"}}
		}, false, http.Header{"X-Api-Key": {secret}, "Anthropic-Beta": {"a,c-1,d-2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := ask()
			req.NoStream = !tt.stream
			if _, err := text(t.Context(), provider(t, h, tt.change), req); err != nil {
				t.Fatal(err)
			}
			tt.want["User-Agent"] = []string{fmt.Sprintf("adze/1.2.3 (%s; %s)", runtime.GOOS, runtime.GOARCH)}
			tt.want["Anthropic-Version"] = []string{"2023-06-01"}
			tt.want["Content-Type"] = []string{"application/json"}
			tt.want["Accept"] = []string{"application/json"}
			if tt.stream {
				tt.want["Accept"] = []string{"text/event-stream"}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || path != "/v1/messages" {
				t.Errorf("%s, headers (-want +got):\n%s", path, diff)
			}
		})
	}
}

// Proves PROV-03.
func TestBaseURL(t *testing.T) {
	for base, ok := range map[string]bool{
		"": true, "https://gateway.example": true, "https://gateway.example/api": true,
		"http://localhost:8080": true, "http://127.0.0.1:1": true, "http://[::1]:1": true,
		"http://gateway.example": false, "http://127.0.0.1.example": false, "http://localhost.example": false,
		"ftp://gateway.example": false, "gateway.example": false, "://": false, "https://": false,
	} {
		if _, err := wire.New(Service(), wire.Config{BaseURL: base, APIKey: "k"}); (err == nil) != ok {
			t.Errorf("%q: error %v, want ok %v", base, err, ok)
		}
	}
	if _, err := wire.New(Service(), wire.Config{BaseURL: "http://gateway.example", AllowInsecure: true, APIKey: "k"}); err != nil {
		t.Errorf("allowed, and still %v", err)
	}

	var path string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { path = r.Host + r.URL.Path; answering(w, r) })
	for base, want := range map[string]string{
		"https://gateway.example/api": "gateway.example/api/v1/messages", "": "api.anthropic.com/v1/messages",
	} {
		if _, err := text(t.Context(), provider(t, h, func(c *wire.Config) { c.BaseURL = base }), ask()); err != nil || path != want {
			t.Errorf("asked %s, %v; want %s", path, err, want)
		}
	}
}

// TestIgnoresEnvironment checks that the provider does not read the environment; only the
// caller does.
func TestIgnoresEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-env")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-env")
	t.Setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Env: from-env")
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := fmt.Sprint(r.Header, r.Host); strings.Contains(s, "from-env") || strings.Contains(s, "elsewhere") {
			t.Errorf("sent %s", s)
		}
		answering(w, r)
	})
	if _, err := text(t.Context(), provider(t, h), ask()); err != nil {
		t.Error(err)
	}
}

func TestNoCredentials(t *testing.T) {
	if _, err := wire.New(Service(), wire.Config{}); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("error %v lacks advice", err)
	}
	if _, err := wire.New(Service(), wire.Config{APIKey: "sk-\nx"}); err == nil || strings.Contains(err.Error(), "sk-") {
		t.Errorf("error %v for a key with a line break", err)
	}
}

// TestKeyHelper checks that a rejected key is fetched again once and cached for five minutes.
//
// Proves PROV-53.
func TestKeyHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		valid := "key-2"
		asked := 0
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Api-Key") != valid {
				failing(model.Auth, "")(w, r)
				return
			}
			answering(w, r)
		})
		p := provider(t, h, func(c *wire.Config) {
			c.KeyHelper = func(context.Context) (string, error) { asked++; return fmt.Sprintf("key-%d", asked), nil }
		})
		for range 3 {
			if _, err := text(t.Context(), p, ask()); err != nil || asked != 2 {
				t.Fatalf("error %v after asking the helper %d times, want 2", err, asked)
			}
		}
		time.Sleep(5 * time.Minute)
		valid = "key-3"
		if _, err := text(t.Context(), p, ask()); err != nil || asked != 3 {
			t.Errorf("error %v after asking the helper %d times, want 3", err, asked)
		}
		valid = "none"
		if _, err := text(t.Context(), p, ask()); model.KindOf(err) != model.Auth || asked != 4 {
			t.Errorf("error %v after asking the helper %d times, want 4", err, asked)
		}
	})
	// Without a helper, no key is fetched.
	n := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n++; failing(model.Auth, "")(w, r) })
	if _, err := text(t.Context(), provider(t, h), ask()); model.KindOf(err) != model.Auth || n != 1 {
		t.Errorf("error %v after %d requests", err, n)
	}
}

func TestKeyHelperFails(t *testing.T) {
	for name, helper := range map[string]func(context.Context) (string, error){
		"error":   func(context.Context) (string, error) { return "", errors.New("vault is sealed") },
		"nothing": func(context.Context) (string, error) { return " \n", nil },
	} {
		h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked without a key") })
		_, err := text(t.Context(), provider(t, h, func(c *wire.Config) { c.KeyHelper = helper }), ask())
		if model.KindOf(err) != model.Auth || !strings.Contains(err.Error(), "key helper") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestSecrets checks that errors never contain the key, even if the server echoes it.
//
// Proves PROV-04.
func TestSecrets(t *testing.T) {
	var out strings.Builder
	token := func(c *wire.Config) { c.AuthToken, c.Headers = secret, http.Header{"Cookie": {"session=" + secret}} }
	refused := errors.New("dialing with " + secret)
	for _, h := range []http.Handler{
		failing(model.Auth, "invalid key "+secret),
		failing(model.ServerFault, secret),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/?"+secret, http.StatusTemporaryRedirect)
		}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: "+secret+"\n\n")
		}),
		nil,
	} {
		for _, change := range []func(*wire.Config){func(*wire.Config) {}, token} {
			p := provider(t, h, change, func(c *wire.Config) {
				if h == nil {
					c.Transport = broken{refused}
				}
			})
			req := ask()
			_, err := text(t.Context(), p, req)
			if err == nil {
				t.Fatal("no error")
			}
			fmt.Fprintf(&out, "%v %+v %#v %s\n", err, err, err, model.Explain(err, "m-1", true))
			for e := err; e != nil; e = errors.Unwrap(e) {
				fmt.Fprintln(&out, e)
			}
			_, err = p.CountTokens(t.Context(), req)
			fmt.Fprintf(&out, "%v\n", err)
		}
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("the key is shown:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "auth: invalid key ***") {
		t.Errorf("the server's words are lost:\n%s", out.String())
	}
}

// broken is a transport that always fails.
type broken struct{ err error }

func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

// TestRedirect checks that a redirect is not followed, because it would leak the key.
func TestRedirect(t *testing.T) {
	n := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		http.Redirect(w, r, "https://evil.example/", http.StatusPermanentRedirect)
	})
	_, err := text(t.Context(), provider(t, h), ask())
	if model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), "evil.example, where the API key does not go") || n != 1 {
		t.Errorf("error %v after %d requests", err, n)
	}
}

func TestWholeAnswerToStream(t *testing.T) {
	got, err := text(t.Context(), provider(t, http.HandlerFunc(answering)), ask())
	if got != "yes" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestNoStreamLimits checks that a request without streaming asks for at most 64,000 tokens and
// times out after five minutes.
//
// Proves PROV-21.
func TestNoStreamLimits(t *testing.T) {
	var body struct {
		MaxTokens int `json:"max_tokens"`
		Thinking  struct {
			Budget int `json:"budget_tokens"`
		}
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewDecoder(r.Body).Decode(&body)
		answering(w, r)
	})
	req := ask()
	req.NoStream, req.MaxTokens = true, 128_000
	req.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: 100_000}
	if _, err := text(t.Context(), provider(t, h), req); err != nil || body.MaxTokens != 64_000 || body.Thinking.Budget >= 64_000 {
		t.Errorf("asked for %+v, error %v", body, err)
	}
	if req.MaxTokens != 128_000 {
		t.Error("the caller's request was changed")
	}
	for name, h := range map[string]http.HandlerFunc{
		"before": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"within": func(w http.ResponseWriter, r *http.Request) { answering(w, r); <-r.Context().Done() },
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := text(t.Context(), provider(t, h), req)
			if took := time.Since(began); model.KindOf(err) != model.Broken || took != 5*time.Minute {
				t.Errorf("%s: error %v after %v", name, err, took)
			}
		})
	}
}

// TestLocalCache checks that cache marks do not request sharing.
func TestLocalCache(t *testing.T) {
	var body []byte
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		answering(w, r)
	})
	req := ask()
	req.System = []msg.Part{&msg.Text{Text: "static"}}
	req.Cache = []model.Mark{{Place: model.InSystem, Global: true}}
	if _, err := text(t.Context(), provider(t, h), req); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), "cache_control") || strings.Contains(string(body), "global") || !req.Cache[0].Global {
		t.Errorf("body %s", body)
	}
}

// Proves PROV-62.
func TestExtraBody(t *testing.T) {
	var body []byte
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		answering(w, r)
	})
	extra := func(s string) func(*wire.Config) { return func(c *wire.Config) { c.ExtraBody = json.RawMessage(s) } }
	req := ask()
	req.UserID = "device"
	want := `{"model":"m-1","max_tokens":4000,"stream":true,"metadata":{"user_id":"device"},"temperature":0,` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	if _, err := text(t.Context(), provider(t, h, extra(`{"temperature":0}`)), req); err != nil || string(body) != want {
		t.Errorf("error %v, body %s", err, body)
	}
	if _, err := text(t.Context(), provider(t, h, extra(`{"messages":[]}`)), ask()); model.KindOf(err) != model.Invalid {
		t.Errorf("error %v for an extra body that replaces the conversation", err)
	}
}

// Proves PROV-59.
func TestCountTokens(t *testing.T) {
	n := 0
	var path, body string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		b, _ := io.ReadAll(r.Body)
		path, body = r.URL.Path, string(b)
		io.WriteString(w, `{"input_tokens":42}`)
	})
	p := provider(t, h)
	req := ask()
	req.UserID = "device"
	for range 3 {
		if got, err := p.CountTokens(t.Context(), req); got != 42 || err != nil || n != 1 {
			t.Errorf("counted %d, %v with %d requests", got, err, n)
		}
	}
	if want := `{"model":"m-1","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`; body != want || path != "/v1/messages/count_tokens" {
		t.Errorf("asked %s %s", path, body)
	}
	req.Messages = []msg.Message{msg.UserText("other")}
	if _, err := p.CountTokens(t.Context(), req); err != nil || n != 2 {
		t.Errorf("error %v with %d requests for another question", err, n)
	}

	for name, h := range map[string]http.HandlerFunc{
		"error": failing(model.NoModel, ""), "page": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") },
		"nothing":  func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{}") },
		"negative": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"input_tokens":-1}`) },
	} {
		if n, err := provider(t, h).CountTokens(t.Context(), ask()); err == nil {
			t.Errorf("%s: counted %d", name, n)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		_, err := provider(t, http.HandlerFunc(h)).CountTokens(t.Context(), ask())
		if model.KindOf(err) != model.Broken || time.Since(began) != 5*time.Second {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
	})
}

// TestOptionalParts checks that if a server rejects an optional part of a request, the request
// is repeated without it and the part is omitted for that model from then on (findings 9 and
// W10).
//
// Proves PROV-12.
func TestOptionalParts(t *testing.T) {
	full := func() *model.Request {
		req := ask()
		req.System = []msg.Part{&msg.Text{Text: "s"}}
		req.Tools = []msg.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`), Strict: true}}
		req.Thinking = model.Thinking{Mode: model.ThinkingAdaptive, Display: model.DisplayUpdates, Forgiving: true}
		req.Effort, req.Format, req.UserID = model.EffortXHigh, json.RawMessage(`{"type":"object"}`), "u"
		req.Cache = []model.Mark{{Place: model.InSystem, Hour: true}, {Place: model.InMessages, Hour: true}}
		return req
	}
	const all = "strict cache_control ttl thinking display updates block_binding effort format metadata"
	tests := []struct {
		says []string // server's error messages, in order
		gone string   // parts of all that are omitted
	}{
		{[]string{"tools.0.custom.strict: Extra inputs are not permitted"}, "strict"},
		{[]string{"The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools."}, "strict"},
		{[]string{"system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted"}, "ttl"},
		{[]string{"system.0.cache_control: Extra inputs are not permitted"}, "ttl cache_control"},
		{[]string{"thinking.adaptive.display: Extra inputs are not permitted"}, "display updates"},
		{[]string{"Unexpected value(s) `thinking-display-updates-2026-08-18` for the `anthropic-beta` header"}, "display updates"},
		{[]string{"thinking.adaptive.block_binding: Extra inputs are not permitted"}, "block_binding"},
		{[]string{"adaptive thinking is not supported on this model"}, "thinking display updates block_binding"},
		{[]string{"output_config.effort: Extra inputs are not permitted"}, "effort"},
		{[]string{"output_config: Extra inputs are not permitted", "output_config: Extra inputs are not permitted"}, "effort format"},
		{[]string{"metadata: Extra inputs are not permitted"}, "metadata"},
		{[]string{"tools.0.custom.strict: Extra inputs are not permitted", "thinking: unknown field"}, "strict thinking display updates block_binding"},
	}
	for _, tt := range tests {
		t.Run(tt.says[0], func(t *testing.T) {
			var bodies, betas []string
			left := tt.says
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies, betas = append(bodies, string(body)), append(betas, r.Header.Get("Anthropic-Beta"))
				if len(left) > 0 {
					failing(model.Invalid, left[0])(w, r)
					left = left[1:]
					return
				}
				answering(w, r)
			})
			var notes []string
			p := provider(t, h, func(c *wire.Config) { c.Note = func(s string) { notes = append(notes, s) } })
			for range 2 {
				if got, err := text(t.Context(), p, full()); err != nil || got != "yes" {
					t.Fatalf("%q, %v", got, err)
				}
			}
			if len(bodies) != len(tt.says)+2 || len(notes) != len(tt.says) {
				t.Errorf("%d requests, told %q", len(bodies), notes)
			}
			has := func(i int, part string) bool {
				return strings.Contains(bodies[i], `"`+part+`"`) && (part != "updates" || strings.Contains(betas[i], "display-updates"))
			}
			for part := range strings.FieldsSeq(all) {
				if !has(0, part) {
					t.Errorf("%s is not in the first request: %s", part, bodies[0])
				}
				gone := strings.Contains(" "+tt.gone+" ", " "+part+" ")
				if last := len(bodies) - 1; has(last, part) == gone {
					t.Errorf("%s: gone %t: %s", part, !has(last, part), bodies[last])
				}
			}
			other := full()
			other.Model = "m-2"
			if _, err := text(t.Context(), p, other); err != nil {
				t.Error(err)
			}
			if last := len(bodies) - 1; strings.Replace(bodies[last], "m-2", "m-1", 1) != bodies[0] {
				t.Errorf("wrong effort for another model: %s", bodies[last])
			}
		})
	}
	for name, refusal := range map[string]http.HandlerFunc{
		"text that was not sent":  failing(model.Invalid, "temperature: Extra inputs are not permitted"),
		"parts that must be sent": failing(model.Invalid, "messages.0.content.0: Extra inputs are not permitted"),
		"a wrong value":           failing(model.Invalid, "thinking.budget_tokens: must be at least 1024"),
		"the user's beta":         failing(model.Invalid, "Unexpected value(s) `mine` for the `anthropic-beta` header"),
		"another error":           failing(model.RateLimited, "strict: extra inputs are not permitted"),
	} {
		n := 0
		p := provider(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n++; refusal(w, r) }), func(*wire.Config) {})
		if _, err := text(t.Context(), p, full()); err == nil || n != 1 {
			t.Errorf("%s: %d requests, %v", name, n, err)
		}
	}
}
