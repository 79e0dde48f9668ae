package websearch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// A server answers requests in memory.
type server func(*http.Request) (status int, body string)

func (s server) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	status, body := s(req)
	if status == 0 {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}
	if status == 429 {
		res.Header.Set("Retry-After", "7")
	}
	return res, nil
}

const (
	resultPage = `<!DOCTYPE html><html><head><script>x</script></head><body><ol id="b_results">
<li class="b_ad"><h2><a href="https://ads.example">Buy</a></h2></li>
<li class="b_algo"><h2><a href="https://go.dev/">The Go &amp; <strong>Language</strong></a></h2><div class="b_caption"><p class="b_lineclamp2">Go is <b>open</b> source.</p></div></li>
<li class="b_algo"><h2>no link</h2></li>
<li class="b_algo"><h2><a href="https://notgo.dev/x">Not [Go]</a></h2><div class="b_caption"><p>A paragraph.</p></div></li>
<li class="b_algo"><h2><a href="/ck/a?!&&p=1&u=a1aHR0cHM6Ly9wa2cuZ28uZGV2L25ldA&ntb=1">Package net</a></h2><div class="b_caption">Its own text.<style>no</style></div></li>
</ol></body></html>`
	emptyPage   = `<html><body><ol id="b_results"><li class="b_no">No results.</li></ol></body></html>`
	captchaPage = `<html><body><div id="b_captcha">Prove that you are a person.</div></body></html>`
	braveAnswer = `{"grounding":{"generic":[{"url":"https://go.dev/","title":"The Go & Language","snippets":["Go is","open source."]},` +
		`{"url":"https://notgo.dev/x","title":"Not [Go]","snippets":["A paragraph."]},{"url":"https://pkg.go.dev/net","title":"Package net","snippets":["Its own text."]},{"url":"javascript:alert(1)","title":"no"}]},"sources":{}}`
)

// pages holds the results of all three adapters.
var pages = []model.Page{
	{Title: "The Go & Language", URL: "https://go.dev/", Snippet: "Go is open source."},
	{Title: "Not [Go]", URL: "https://notgo.dev/x", Snippet: "A paragraph."},
	{Title: "Package net", URL: "https://pkg.go.dev/net", Snippet: "Its own text."},
}

// asks returns a provider that plays events.
func asks(events ...model.Event) func(context.Context, string, *model.Search, func(model.Event)) error {
	return func(ctx context.Context, _ string, _ *model.Search, hear func(model.Event)) error {
		for _, e := range events {
			hear(e)
		}
		return ctx.Err()
	}
}

func yes() bool { return true }

// adapters returns a configuration for each adapter. The adapter finds pages, finds nothing, or
// blocks.
func adapters(find string) map[string]Config {
	found := []model.Event{model.SearchQuery{Query: "go"}, model.SearchResult{Query: "go", Found: pages}}
	page, brave := resultPage, braveAnswer
	switch find {
	case "nothing":
		found, page, brave = []model.Event{model.SearchResult{Query: "go"}}, emptyPage, `{"grounding":{"generic":[]}}`
	case "nothing ever":
		page = ""
	}
	answer := func(body string) server {
		return func(*http.Request) (int, string) {
			if find == "nothing ever" {
				return 0, ""
			}
			return 200, body
		}
	}
	ask := asks(found...)
	if find == "nothing ever" {
		ask = func(ctx context.Context, _ string, _ *model.Search, _ func(model.Event)) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	return map[string]Config{
		"api":   {Adapter: "api", Ask: ask, Offers: yes},
		"html":  {Adapter: "bing", Transport: answer(page), Agent: "adze/1"},
		"brave": {Adapter: "brave", BraveKey: "secret-key", Transport: answer(brave), Agent: "adze/1"},
	}
}

// run binds and runs a call.
func run(t testing.TB, c Config, input string) (string, tool.Result, error) {
	t.Helper()
	call, err := New(c).Bind(json.RawMessage(input))
	if err != nil {
		return "", tool.Result{}, err
	}
	res, err := call.Run(t.Context(), func(tool.Progress) {})
	return msg.PlainText(res.Parts), res, err
}

func TestContract(t *testing.T) {
	for name, c := range adapters("") {
		cases := tooltest.Cases{Input: Input{}, Good: map[string]string{"found": `{"query":"go"}`}}
		if name != "api" {
			good := c.Transport.(server)
			cases.Slow = `{"query":"for ever"}`
			c.Transport = server(func(r *http.Request) (int, string) {
				if r.URL.Query().Get("q") == "for ever" {
					return 0, ""
				}
				return good(r)
			})
		}
		t.Run(name, func(t *testing.T) { tooltest.Run(t, New(c), cases) })
	}
}

// Proves WSR-01, WSR-10, WSR-11, WSR-07. All three adapters return the same results, report
// progress, and report an empty result.
func TestAdapters(t *testing.T) {
	const want = `Results for "go":

1. [The Go & Language](https://go.dev/)
   Go is open source.

2. [Not \[Go\]](https://notgo.dev/x)
   A paragraph.

3. [Package net](https://pkg.go.dev/net)
   Its own text.`
	for name, c := range adapters("") {
		var said []string
		call, err := New(c).Bind(json.RawMessage(`{"query":" go "}`))
		if err != nil {
			t.Fatal(err)
		}
		res, err := call.Run(t.Context(), func(p tool.Progress) { said = append(said, p.Display.(tool.Plain).Text) })
		if diff := cmp.Diff(want, msg.PlainText(res.Parts)); diff != "" || err != nil {
			t.Errorf("%s: error %v, text (-want +got):\n%s", name, err, diff)
		}
		progress := []string{"Searching for go", "Found 3 results for go"}
		if name == "brave" {
			progress[1] = "Found 4 results for go" // a result is not a web URL
		}
		if !slices.Equal(said, progress) || len(res.Reminders) != 1 || !strings.Contains(res.Reminders[0], "Sources:") {
			t.Errorf("%s: said %q, reminders %q", name, said, res.Reminders)
		}
		out := res.Structured.(Output)
		if out.Adapter != name || len(out.Results) != 3 || out.Query != "go" || out.Total != 3 {
			t.Errorf("%s: %+v", name, out)
		}
	}
	for name, c := range adapters("nothing") {
		got, res, err := run(t, c, `{"query":"go"}`)
		if got != `No results for "go".` || err != nil || res.Reminders != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	synctest.Test(t, func(t *testing.T) { // an interrupt must not block
		for name, c := range adapters("nothing ever") {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("esc")
			time.AfterFunc(time.Second, func() { cancel(why) })
			call, err := New(c).Bind(json.RawMessage(`{"query":"go"}`))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := call.Run(ctx, func(tool.Progress) {}); err != why || time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		}
	})
}

// Proves WSR-02.
func TestChoose(t *testing.T) {
	ask := asks()
	for _, tt := range []struct {
		name string
		c    Config
		want string // adapter, or part of the error
	}{
		{"nothing is there", Config{}, "ADZE_BRAVE_API_KEY"},
		{"provider at its own address", Config{Ask: ask, Offers: yes, First: yes, BraveKey: "k", Page: Page{Enabled: true}}, "api"},
		{"provider elsewhere", Config{Ask: ask, Offers: yes, BraveKey: "k", Page: Page{Enabled: true}}, "html"},
		{"page is off", Config{Ask: ask, Offers: yes, BraveKey: "k"}, "brave"},
		{"provider elsewhere alone", Config{Ask: ask, Offers: yes}, "ADZE_WEB_SEARCH_ADAPTER=api"},
		{"provider that does not search", Config{Ask: ask, First: yes}, "webSearch.html.enabled"},
		{"named api", Config{Adapter: "api", Ask: ask, Offers: yes, BraveKey: "k"}, "api"},
		{"named api without search", Config{Adapter: "api", Ask: ask, BraveKey: "k"}, "does not search the web; choose html or brave"},
		{"named bing", Config{Adapter: "bing"}, "html"},
		{"named html", Config{Adapter: "html", Ask: ask, Offers: yes, First: yes}, "html"},
		{"named brave", Config{Adapter: "brave", BraveKey: "k"}, "brave"},
		{"named brave without a key", Config{Adapter: "brave", Ask: ask, Offers: yes}, "no key for Brave"},
		{"unknown", Config{Adapter: "google", BraveKey: "k"}, "choose api, html (also called bing) or brave"},
	} {
		got, err := (&searcher{Config: tt.c}).choose()
		if err != nil && strings.Contains(err.Error(), tt.want) || err == nil && got.name == tt.want {
			continue
		}
		t.Errorf("%s: %q, %v; want %s", tt.name, got.name, err, tt.want)
	}
}

// Proves WSR-03, WSR-04.
func TestValidation(t *testing.T) {
	for input, want := range map[string]string{
		`{"query":"a"}`:   "2 characters",
		`{"query":" a "}`: "2 characters",
		`{"query":"ä"}`:   "2 characters",
		`{}`:              "query",
		`{"query":"go","allowed_domains":["a.org"],"blocked_domains":["b.org"]}`: "exclude each other",
		`{"query":"go","allowed_domains":["a b"]}`:                               `"a b"`,
		`{"query":"go","allowed_domains":[""]}`:                                  `""`,
		`{"query":"go","blocked_domains":["localhost"]}`:                         `"localhost"`,
		`{"query":"go","blocked_domains":["u@a.org"]}`:                           `"u@a.org"`,
		`{"query":"go","blocked_domains":["https://a.org:80/"]}`:                 "not a host name",
	} {
		if _, err := New(Config{}).Bind(json.RawMessage(input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", input, err, want)
		}
	}
}

// Proves WSR-04, WSR-03. Domains are compared label by label, in any spelling.
func TestFilter(t *testing.T) {
	urls := []string{
		"https://example.org/a", "https://www.EXAMPLE.org/", "https://notexample.org/", "https://example.org.evil.net/", "https://example.com/example.org",
		"https://bücher.example/", "https://example.org./",
	}
	var found []model.Page
	for _, u := range urls {
		found = append(found, model.Page{URL: u})
	}
	found = append(found, model.Page{URL: "https://redirect.example/1", Site: "www.example.org"})
	for _, tt := range []struct {
		input string
		want  []int
		note  string
	}{
		{`{"query":"go"}`, []int{0, 1, 2, 3, 4, 5, 6, 7}, ""},
		{`{"query":"go","allowed_domains":["example.org"]}`, []int{0, 1, 6, 7}, ""},
		{`{"query":"go","allowed_domains":["EXAMPLE.ORG."]}`, []int{0, 1, 6, 7}, ""},
		{`{"query":"go","allowed_domains":["https://example.org/docs?x"]}`, []int{0, 1, 6, 7}, `"https://example.org/docs?x" was taken as the domain example.org`},
		{`{"query":"go","blocked_domains":["example.org"]}`, []int{2, 3, 4, 5}, ""},
		{`{"query":"go","allowed_domains":["xn--bcher-kva.example","example.com"]}`, []int{4, 5}, ""},
		{`{"query":"go","allowed_domains":["BÜCHER.example"]}`, []int{5}, ""},
		{`{"query":"go","allowed_domains":["nothing.example"]}`, nil, "Try without allowed_domains"},
	} {
		got, res, err := run(t, Config{Adapter: "api", Offers: yes, Ask: asks(model.SearchResult{Found: found})}, tt.input)
		var want []string
		for _, i := range tt.want {
			want = append(want, found[i].URL)
		}
		var kept []string
		if err == nil {
			for _, h := range res.Structured.(Output).Results {
				kept = append(kept, strings.ReplaceAll(h.URL, "b%C3%BCcher", "bücher"))
			}
		}
		if !slices.Equal(kept, want) || !strings.Contains(got, tt.note) || err != nil {
			t.Errorf("%s: %q, %v\n%s", tt.input, kept, err, got)
		}
	}
}

// Proves WSR-05. Two searches and a failed search, with the model's text between them.
func TestAPI(t *testing.T) {
	text := func(s string) model.Event { return model.BlockDone{Part: &msg.Text{Text: s}} }
	var asked string
	var how model.Search
	play := asks(text("Let me look."), model.SearchQuery{Query: "g"}, model.SearchQuery{Query: "go"}, model.SearchResult{Query: "go", Found: pages[:1]},
		text("Go is a language."), model.SearchResult{Query: "net", Failure: "max_uses_exceeded"}, model.SearchResult{Query: "net", Found: pages[2:]},
		model.SearchResult{Found: []model.Page{{Title: "cited twice", URL: "https://go.dev/"}, {URL: "https://bare.example/"}}}, text("Done.\u200b"))
	c := Config{Adapter: "api", Offers: yes, Ask: func(ctx context.Context, q string, s *model.Search, hear func(model.Event)) error {
		asked, how = q, *s
		return play(ctx, q, s, hear)
	}}
	got, _, err := run(t, c, `{"query":"go","blocked_domains":["b.org"]}`)
	want := `Results for "go":

Let me look.

1. [The Go & Language](https://go.dev/)
   Go is open source.

Go is a language.

A search for "net" failed: the limit of searches for one call is reached.

2. [Package net](https://pkg.go.dev/net)
   Its own text.

3. [https://bare.example/](https://bare.example/)

Done.`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, text (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(model.Search{Most: 8, Blocked: []string{"b.org"}}, how); diff != "" || !strings.Contains(asked, "Query: go\nNo pages of: b.org") {
		t.Errorf("asked %q: %s", asked, diff)
	}
	for name, tt := range map[string]struct {
		ask  func(context.Context, string, *model.Search, func(model.Event)) error
		want string
	}{
		"all failed":     {asks(model.SearchResult{Query: "go", Failure: "unavailable"}), "unavailable"},
		"did not search": {asks(text("I know it.")), "did not search"},
		"refused": {func(context.Context, string, *model.Search, func(model.Event)) error {
			return &model.Error{Kind: model.RateLimited}
		}, "rate_limit"},
	} {
		if got, _, err := run(t, Config{Adapter: "api", Offers: yes, Ask: tt.ask}, `{"query":"go"}`); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Proves WSR-06. Requests identify the program and are rate-limited.
func TestPageRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		var last *http.Request
		s := New(Config{Adapter: "html", Agent: "adze/1 (linux; amd64)", Transport: server(func(r *http.Request) (int, string) {
			times, last = append(times, time.Now()), r
			return 200, resultPage
		})})
		for range 3 {
			call, err := s.Bind(json.RawMessage(`{"query":"a&b"}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := call.Run(t.Context(), func(tool.Progress) {}); err != nil {
				t.Fatal(err)
			}
		}
		if last.URL.String() != "https://www.bing.com/search?q=a%26b&setmkt=en-US" || last.Header.Get("User-Agent") != "adze/1 (linux; amd64)" {
			t.Errorf("asked %s with %v", last.URL, last.Header)
		}
		if times[1].Sub(times[0]) != time.Second || times[2].Sub(times[1]) != time.Second {
			t.Errorf("asked at %v", times)
		}
	})
	var seen *http.Request
	c := Config{Adapter: "html", Page: Page{URL: "https://engine.example/find?x=1", Market: "de-DE", Headers: http.Header{"user-agent": {"mine/1"}, "Cookie": {"c"}}},
		Transport: server(func(r *http.Request) (int, string) { seen = r; return 200, resultPage })}
	if _, _, err := run(t, c, `{"query":"go"}`); err != nil || seen.URL.String() != "https://engine.example/find?q=go&setmkt=de-DE&x=1" || seen.Header.Get("User-Agent") != "mine/1" {
		t.Errorf("%v: asked %s with %v", err, seen.URL, seen.Header)
	}
}

// Proves WSR-06, WSR-07, WSR-09. Errors contain advice and never the key.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		adapter string
		status  int
		body    string
		want    string
	}{
		{"html", 200, captchaPage, "ADZE_WEB_SEARCH_ADAPTER=brave"},
		{"html", 200, `<html><script>location="/x"</script>`, "browser check"},
		{"html", 200, `<ol id="b_results"><li class="b_algo"><h2>broken</h2></li></ol>`, "browser check"},
		{"html", 200, strings.Repeat("<div>", 5000), "browser check"},
		{"html", 200, `<ol id="b_results">` + strings.Repeat("<br>", 200_000), "browser check"},
		{"html", 200, `<ol id="b_results"` + strings.Repeat(" x", 2<<20-100), "browser check"},
		{"html", 200, strings.Repeat("x", 5<<20), "larger than 4 MB"},
		{"html", 302, "", "browser check"},
		{"html", 429, "", "try again in 7s"},
		{"html", 503, "", "503 Service Unavailable"},
		{"brave", 401, `{"key":"secret-key"}`, "check ADZE_BRAVE_API_KEY"},
		{"brave", 403, "", "check ADZE_BRAVE_API_KEY"},
		{"brave", 429, "", "try again in 7s"},
		{"brave", 500, "secret-key", "500 Internal Server Error"},
		{"brave", 302, "", "302 Found"},
		{"brave", 200, "<html>", "unexpected response format"},
	} {
		c := Config{Adapter: tt.adapter, BraveKey: "secret-key", Transport: server(func(r *http.Request) (int, string) {
			if tt.adapter == "brave" && r.Header.Get("X-Subscription-Token") != "secret-key" {
				t.Error("the key is not in its header")
			}
			return tt.status, tt.body
		})}
		got, _, err := run(t, c, `{"query":"go"}`)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret-key") {
			t.Errorf("%s %d %.40q: %q, %v; want %q", tt.adapter, tt.status, tt.body, got, err, tt.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, _, err := run(t, adapters("nothing ever")["brave"], `{"query":"go"}`)
		if err == nil || !strings.Contains(err.Error(), "within 30s") || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// Proves WSR-08.
func TestTarget(t *testing.T) {
	code := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	base := "https://www.bing.com/ck/a?p=1&u="
	for link, want := range map[string]string{
		base + "a1" + code("https://go.dev/x?y=1"):      "https://go.dev/x?y=1",
		base + "a0" + code("http://go.dev/"):            "http://go.dev/",
		base + "a1" + code("https://go.dev/ab") + "%3D": "https://go.dev/ab",
		base + "a1" + code("javascript:alert(1)"):       "",
		base + "a1" + code("/relative"):                 "",
		base + "a1" + code("https://u:p@go.dev/"):       "",
		base + "a1%%%":                        "",
		base + "a1aHR0cHM6Ly9":                "",
		base + "b7" + code("https://go.dev/"): "",
		base + "a":                            "",
		"https://other.example/page?u=a1x":    "",
	} {
		page := fmt.Sprintf(`<ol id="b_results"><li class="b_algo"><h2><a href="%s">x</a></h2></li></ol>`, link)
		got, res, err := run(t, Config{Adapter: "html", Transport: server(func(*http.Request) (int, string) { return 200, page })}, `{"query":"go"}`)
		if want == "" {
			want = link
		}
		if err != nil || len(res.Structured.(Output).Results) != 1 || res.Structured.(Output).Results[0].URL != want {
			t.Errorf("%s: %s, %v; want %s", link, got, err, want)
		}
	}
}

// Proves WSR-11. Results are bounded and cannot pass for anything else.
func TestBounds(t *testing.T) {
	var found []model.Page
	for i := range 30 {
		found = append(found, model.Page{URL: fmt.Sprintf("https://a.example/%d", i), Title: "x](https://evil.example)\n\n# head\u202e\U000e0041", Snippet: strings.Repeat("long ", 200)})
	}
	found[1].URL = "https://a.example/(x) <y>"
	got, res, err := run(t, Config{Adapter: "api", Offers: yes, Ask: asks(model.SearchResult{Found: found})}, `{"query":"go"}`)
	out := res.Structured.(Output)
	if err != nil || len(out.Results) != 20 || out.Total != 30 || !strings.HasSuffix(got, "(These are 20 of 30.)") {
		t.Errorf("%d of %d results, %v", len(out.Results), out.Total, err)
	}
	if n := len([]rune(out.Results[0].Snippet)); n > 501 {
		t.Errorf("a snippet of %d characters", n)
	}
	if !strings.Contains(got, `1. [x\](https://evil.example) # head](https://a.example/0)`) || !strings.Contains(got, "(https://a.example/%28x%29%20%3Cy%3E)") {
		t.Errorf("links:\n%.400s", got)
	}
}

// Proves WSR-12.
func TestOffline(t *testing.T) {
	c := adapters("")["brave"]
	c.Offline = true
	if err := New(c).Traits().Enabled(); err == nil {
		t.Error("the tool is offered")
	}
	if _, _, err := run(t, c, `{"query":"go"}`); err == nil || !strings.Contains(err.Error(), "ADZE_OFFLINE") {
		t.Errorf("error %v", err)
	}
}
