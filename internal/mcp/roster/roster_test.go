package roster

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testenv(name string) string {
	return map[string]string{"TOKEN": "s3cret", "HOST": "example.org", "NESTED": "${TOKEN}"}[name]
}

var testSource = Source{Scope: User, File: "/home/u/.adze/mcp.json", Getenv: testenv}

// Proves MCP-03.
func TestEntry(t *testing.T) {
	for given, want := range map[string]Entry{
		`{"command":"npx","args":["-y","x"],"env":{"A":"b","N":3,"T":true}}`: {
			Type: Stdio, Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"A": "b", "N": "3", "T": "true"}},
		`{"type":"stdio","command":"x","timeout":1500,"alwaysLoad":true}`:        {Type: Stdio, Command: "x", Timeout: 1500 * time.Millisecond, AlwaysLoad: true},
		`{"command":"x","alwaysLoad":"true"}`:                                    {Type: Stdio, Command: "x"},
		`{"command":"x","disabled":true}`:                                        {Type: Stdio, Command: "x", Disabled: true},
		`{"url":"https://example.org/mcp"}`:                                      {Type: HTTP, URL: "https://example.org/mcp"},
		`{"type":"streamable-http","url":"https://example.org/mcp"}`:             {Type: HTTP, URL: "https://example.org/mcp"},
		`{"type":"streamableHttp","url":"https://example.org/mcp"}`:              {Type: HTTP, URL: "https://example.org/mcp"},
		`{"type":"claudeai-proxy","url":"https://example.org/p"}`:                {Type: Proxy, URL: "https://example.org/p"},
		`{"type":"sse","url":"http://127.0.0.1:1/sse","headers":{"X-A":"b"}}`:    {Type: SSE, URL: "http://127.0.0.1:1/sse", Headers: map[string]string{"X-A": "b"}},
		`{"type":"ws","url":"wss://${HOST}/","headersHelper":"helper ${TOKEN}"}`: {Type: WS, URL: "wss://example.org/", HeadersHelper: "helper ${TOKEN}"},
		`{"type":"http","url":"https://${H:-a.example}/"}`:                       {Type: HTTP, URL: "https://a.example/"},
		`{"command":"${NESTED}","args":["${TOKEN}x${NO:-}y","${","${1a}","$TOKEN"]}`: {
			Type: Stdio, Command: "${TOKEN}", Args: []string{"s3cretxy", "${", "${1a}", "$TOKEN"}},
		`{"url":"https://a.example","oauth":{"clientId":"c","callbackPort":8080,"scopes":["a"]}}`: {
			Type: HTTP, URL: "https://a.example", OAuth: &OAuth{ClientID: "c", CallbackPort: 8080, Scopes: []string{"a"}}},
		`{"url":"http://far.example/","headers":{"Authorization":"x"}}`: {
			Type: HTTP, URL: "http://far.example/", Headers: map[string]string{"Authorization": "x"},
			Warnings: []string{"the headers are sent unencrypted; use https:// if the server has it"}},
		`{"command":"x","b\u001b":1,"a":2,"timeout":-1}`: {
			Type: Stdio, Command: "x", Warnings: []string{"timeout is not a positive number of milliseconds, and is ignored", `unknown fields are ignored: "a", "b\x1b"`}},
	} {
		want.Name, want.Given, want.Scope, want.File, want.Raw = "s", "s", User, testSource.File, json.RawMessage(given)
		if diff := cmp.Diff(&want, testSource.Entry("s", json.RawMessage(given)), cmp.Comparer(func(a, b error) bool { return (a == nil) == (b == nil) })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", given, diff)
		}
	}
	for given, want := range map[string]string{
		`[]`:             "not an object",
		`null`:           "not an object",
		`{}`:             "command is missing",
		`{"type":"ftp"}`: `the type "ftp" is unknown`,
		`{"type":"\u001b[31m","url":"https://a.example"}`: `the type "\x1b[31m" is unknown`,
		`{"type":"http"}`: "url is missing",
		`{"type":"http","url":"file:///etc/passwd"}`: "is not an address",
		`{"type":"ws","url":"https://a.example"}`:    "wss://",
		`{"url":"https://user:pass@a.example"}`:      "a password in it",
		`{"command":"x","url":"https://a.example"}`:  "a command and a URL",
		`{"command":1}`:                                                                    "command is not a text",
		`{"command":"a\u0000b"}`:                                                           "null character",
		`{"command":"x","args":"y"}`:                                                       "args is not a list",
		`{"command":"x","env":["y"]}`:                                                      "env is not an object",
		`{"command":"x","env":{"A=B":"y"}}`:                                                `wrong name "A=B"`,
		`{"command":"x","env":{"A":{}}}`:                                                   "env.A is not a text",
		`{"url":"https://a.example","headers":{"A\r\nB":"y"}}`:                             "wrong name",
		`{"url":"https://a.example","headers":{"A":"b\r\nC:"}}`:                            "line break",
		`{"command":"x","env":{"A":"${MISSING}"}}`:                                         "env.A: the variable MISSING is not set",
		`{"url":"https://a.example","oauth":[]}`:                                           "oauth is not an object",
		`{"url":"https://a.example","oauth":{"authServerMetadataUrl":"http://b.example"}}`: "https:// address",
		`{"type":"sdk","name":"x"}`:                                                        "programs that start adze",
		`{"command":"` + strings.Repeat("x", maxText+1) + `"}`:                             "longer than 64 KB",
		`{"command":"x","args":[` + strings.Repeat(`"",`, 1000) + `""]}`:                   "more than 1000",
	} {
		e := testSource.Entry("s", json.RawMessage(given))
		if e.Problem == nil || !strings.Contains(e.Problem.Error(), want) || e.Usable() {
			t.Errorf("%.80s: %v, want %q", given, e.Problem, want)
		}
		if e.Problem != nil && (strings.Contains(e.Problem.Error(), "s3cret") || strings.Contains(e.Problem.Error(), "pass@") || strings.ContainsRune(e.Problem.Error(), 27)) {
			t.Errorf("%.80s: %v shows too much", given, e.Problem)
		}
	}
}

// Proves MCP-03.
func TestName(t *testing.T) {
	for given, want := range map[string]string{
		"github": "github", "My-Server_2": "My-Server_2", "a b.c": "a_b_c", "a__b": "a_b", "_a_": "a", "a_": "a", "": "", "___": "", "gіthub": "g_thub",
		"a\x1b[31m": "a_31m", "名前": "", "a\u202eb": "a_b",
	} {
		if got := Name(given); got != want {
			t.Errorf("Name(%q) = %q, want %q", given, got, want)
		}
	}
	for _, given := range []string{"", "名前", "ide", "adze", "Workspace", "claude ai", "claude-ai", strings.Repeat("x", 65)} {
		e := testSource.Entry(given, json.RawMessage(`{"command":"x"}`))
		if want := given != "claude ai"; (e.Problem != nil) != want {
			t.Errorf("%q: %v", given, e.Problem)
		}
	}
}

func entries(t *testing.T, from Scope, file string) []*Entry {
	t.Helper()
	list, err := ParseFile(Source{Scope: from, File: string(from), Getenv: testenv}, []byte(`{"mcpServers":`+file+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// summary formats a roster on one line.
func summary(r *Roster) string {
	var parts []string
	for _, e := range r.Entries {
		text := fmt.Sprintf("%s=%s:%s%s", e.Name, e.Scope, e.Command, e.URL)
		switch {
		case e.Problem != nil:
			text += "!"
		case e.Same != "":
			text += "~" + e.Same
		case e.Unapproved:
			text += "?"
		case e.Disabled:
			text += "-"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// Proves MCP-01.
func TestMerge(t *testing.T) {
	type part struct {
		from Scope
		file string
	}
	for name, tt := range map[string]struct {
		parts      []part
		unapproved []string
		want       string
		problem    string
	}{
		"stronger wins as a whole": {parts: []part{
			{Plugin, `{"a":{"command":"1"}}`}, {User, `{"a":{"command":"2","args":["x"]}}`}, {Project, `{"a":{"command":"3"}}`},
			{Local, `{"a":{"command":"4"}}`}, {Flag, `{"a":{"command":"5"}}`}, {Managed, `{"a":{"command":"6"}}`}}, want: "a=managed:6"},
		"nearer wins":     {parts: []part{{Project, `{"a":{"command":"1"}}`}, {Project, `{"a":{"command":"2"},"b":{"command":"3"}}`}}, want: "a=project:2 b=project:3"},
		"by scope":        {parts: []part{{User, `{"b":{"command":"1"},"a":{"command":"2"}}`}, {Local, `{"z":{"command":"3"}}`}}, want: "z=local:3 a=user:2 b=user:1"},
		"failed ones too": {parts: []part{{User, `{"a":{"command":"1"}}`}, {Local, `{"a":{}}`}}, want: "a=local:!"},
		"clash":           {parts: []part{{User, `{"a b":{"command":"1"},"a.b":{"command":"2"}}`}}, want: "a_b=user:1", problem: `the server "a.b" would be called a_b, like "a b"`},
		"last of a name":  {parts: []part{{User, `{"a":{"command":"1"},"a":{"command":"2"}}`}}, want: "a=user:2"},
		"no name":         {parts: []part{{User, `{"名":{"command":"1"}}`}}, problem: `no letter or digit`},
		"unapproved":      {parts: []part{{Project, `{"a":{"command":"1"}}`}}, unapproved: []string{"a"}, want: "a=project:1?"},
		"unapproved takes nothing away": {parts: []part{{User, `{"a":{"command":"1"}}`}, {Project, `{"a":{"command":"2"}}`}},
			unapproved: []string{"a"}, want: "a=user:1"},
		"an unapproved server in a nearer scope": {parts: []part{{Project, `{"a":{"command":"1"}}`}, {Project, `{"b":{"command":"2"}}`}}, unapproved: []string{"b"}, want: "a=project:1 b=project:2?"},
		"same server": {parts: []part{{Plugin, `{"p":{"command":"x"}}`}, {User, `{"u":{"command":"x"}}`}, {Project, `{"o":{"command":"x"}}`}},
			want: "o=project:x~u u=user:x p=plugin:x~u"},
		"not the same": {parts: []part{{User, `{"a":{"command":"x","args":["1"]},"b":{"command":"x"},"c":{"command":"x","env":{"A":"1"}}}`}}, want: "a=user:x b=user:x c=user:x"},
		"same address": {parts: []part{{User, `{"a":{"url":"https://a.example"},"b":{"url":"HTTPS://A.example:443/"}}`}}, want: "a=user:https://a.example b=user:HTTPS://A.example:443/~a"},
		"two accounts": {parts: []part{{User, `{"a":{"url":"https://a.example","headers":{"A":"1"}},"b":{"url":"https://a.example","headers":{"A":"2"}}}`}},
			want: "a=user:https://a.example b=user:https://a.example"},
		"a plugin without headers": {parts: []part{{User, `{"a":{"url":"https://a.example","headers":{"A":"1"}}}`}, {Plugin, `{"b":{"url":"https://a.example"}}`}},
			want: "a=user:https://a.example b=plugin:https://a.example~a"},
		"an unusable server replaces nothing": {parts: []part{{User, `{"u":{"command":"x"}}`}, {Local, `{"l":{"command":"x","disabled":true}}`}}, want: "l=local:x- u=user:x"},
	} {
		var list []*Entry
		for _, p := range tt.parts {
			for _, e := range entries(t, p.from, p.file) {
				e.Unapproved = p.from == Project && slices.Contains(tt.unapproved, e.Given)
				list = append(list, e)
			}
		}
		r := Merge(list, nil)
		if got := summary(r); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if text := fmt.Sprint(r.Problems); !strings.Contains(text, tt.problem) || tt.problem == "" && len(r.Problems) > 0 {
			t.Errorf("%s: problems %s, want %q", name, text, tt.problem)
		}
		if len(r.Unapproved) != len(tt.unapproved) {
			t.Errorf("%s: unapproved %v", name, r.Unapproved)
		}
	}
}

// TestNearest checks that a nearer entry waiting for approval replaces only other waiting
// entries.
func TestNearest(t *testing.T) {
	for pattern, want := range map[string]string{"a": "0", "aa": "1", "au": "0?1", "ua": "1", "uu": "?1", "aua": "2", "auu": "0?2"} {
		var list []*Entry
		for i, c := range pattern {
			e := Source{Scope: Project, Getenv: testenv}.Entry("s", json.RawMessage(fmt.Sprintf(`{"command":"%d"}`, i)))
			e.Unapproved = c == 'u'
			list = append(list, e)
		}
		r, got := Merge(list, nil), ""
		for _, e := range r.Entries {
			if !e.Unapproved {
				got += e.Command
			}
		}
		for _, e := range r.Unapproved {
			got += "?" + e.Command
		}
		if got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

// TestWritten checks that displayed entries contain no secrets, neither literal ones nor
// variables' values.
func TestWritten(t *testing.T) {
	e := testSource.Entry("s", json.RawMessage(`{"command":"run","args":["--api-key","k1","--token=k2","--auth-token","${TOKEN}","-v","plain","sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"],"env":{"A":"k3","B":"${TOKEN}"}}`))
	w := e.Written()
	if got, want := e.Summary(), "run --api-key *** --token=*** --auth-token ${TOKEN} -v plain "; !strings.HasPrefix(got, want) || strings.Contains(got, "AAAAAAAA") {
		t.Errorf("%s, want %s", got, want)
	}
	if diff := cmp.Diff(map[string]string{"A": "***", "B": "${TOKEN}"}, w.Env); diff != "" {
		t.Error(diff)
	}
	r := testSource.Entry("s", json.RawMessage(`{"url":"https://a.example/?key=${TOKEN}","headers":{"X":"k4","Y":"Bearer ${TOKEN}"}}`))
	if text := fmt.Sprint(r.Summary(), r.Written().Headers); strings.Contains(text, "s3cret") || strings.Contains(text, "k4") || !strings.Contains(text, "Bearer ${TOKEN}") {
		t.Error(text)
	}
}

// TestProjectCannotInterfere checks that a project file neither changes nor removes an entry
// with a stronger scope, that its entries are unusable without approval, and that unapproved
// entries affect no other scope.
func TestProjectCannotInterfere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 17))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	random := func(from Scope) (list []*Entry) {
		for range rng.IntN(4) {
			raw := fmt.Sprintf(`{%q:%q,"disabled":%s}`, pick("command", "command", "url"), pick("x", "y", "https://a.example"), pick("true", "false", "false"))
			src := Source{Scope: from, Getenv: testenv}
			list = append(list, src.Entry(pick("a", "b", "a.b", "a_b", "ide"), json.RawMessage(raw)))
		}
		return list
	}
	for range 2000 {
		var others []*Entry
		for _, from := range []Scope{Plugin, User, Local, Flag, Managed} {
			others = append(others, random(from)...)
		}
		project := random(Project)
		approved := rng.IntN(2) == 0
		state := func(list []*Entry) map[string]string {
			fresh := make([]*Entry, len(list))
			for i, e := range list {
				copied := *e
				fresh[i] = &copied
			}
			all := map[string]string{}
			for _, e := range Merge(fresh, nil).Entries {
				if e.Scope != Project {
					all[e.Name] = fmt.Sprintf("%s %s %s %t %s", e.Scope, e.Raw, e.Given, e.Usable(), e.Same)
				} else if e.Usable() && !approved {
					t.Fatalf("%s can be started without approval", e.Raw)
				}
			}
			return all
		}
		for _, e := range project {
			e.Unapproved = !approved
		}
		alone, with := state(others), state(append(slices.Clone(others), project...))
		if approved { // weaker entries may be replaced
			maps.DeleteFunc(alone, func(_, s string) bool { return strings.HasPrefix(s, "user ") || strings.HasPrefix(s, "plugin ") })
		}
		for name, want := range alone {
			if with[name] != want {
				t.Fatalf("approved %t: %s is %q, was %q", approved, name, with[name], want)
			}
		}
	}
}

// Proves MCP-04.
func TestPolicy(t *testing.T) {
	stdio, remote := `{"command":"/usr/bin/npx","args":["-y","tool"]}`, `{"url":"https://API.example.org:443/mcp"}`
	for _, tt := range []struct {
		allow, deny, entry string
		ok                 bool
	}{
		{"", "", stdio, true},
		{"[]", "", stdio, false},
		{`[{"serverName":"s"}]`, "", stdio, true},
		{`[{"serverName":"t"}]`, "", stdio, false},
		{`[{"serverName":"s"}]`, `[{"serverName":"S"}]`, stdio, false},
		{`[{"serverCommand":["/usr/bin/npx","-y","tool"]}]`, "", stdio, true},
		{`[{"serverCommand":["npx","-y","tool"]}]`, "", stdio, false},
		{`[{"serverCommand":["/usr/bin/npx","-y"]}]`, "", stdio, false},
		{`[{"serverName":"s"},{"serverCommand":["other"]}]`, "", stdio, false},
		{`[{"serverName":"s"},{"serverUrl":"https://other.example/*"}]`, "", stdio, true},
		{"", `[{"serverCommand":["npx","-y","tool"]}]`, stdio, false},
		{"", `[{"serverCommand":"npx -y tool"}]`, stdio, false},
		{"", `[{"serverUrl":"*"}]`, stdio, true},
		{`[{"serverUrl":"https://api.example.org/*"}]`, "", remote, true},
		{`[{"serverUrl":"https://*.example.org/*"}]`, "", remote, true},
		{`[{"serverUrl":"https://*.example.org"}]`, "", remote, false},
		{`[{"serverUrl":"https://example.org/*"}]`, "", remote, false},
		{`[{"serverName":"s"},{"serverUrl":"https://other.example/*"}]`, "", remote, false},
		{"", `[{"serverUrl":"https://api.example.org*"}]`, remote, false},
		{"", `[{"serverName":"s","serverUrl":"https://other.example/*"}]`, remote, true},
	} {
		p := &Policy{}
		if tt.allow != "" && p.Allow(json.RawMessage(tt.allow)) != nil || tt.deny != "" && p.Deny(json.RawMessage(tt.deny)) != nil {
			t.Fatal(tt)
		}
		r := Merge([]*Entry{testSource.Entry("s", json.RawMessage(tt.entry))}, p)
		if got := r.Entries[0].Problem == nil; got != tt.ok {
			t.Errorf("allow %s, deny %s, %s: %t", tt.allow, tt.deny, tt.entry, got)
		}
	}
	for _, bad := range []string{`{}`, `"x"`, `[{}]`, `[{"serverName":""}]`, `[{"serverName":1}]`, `[{"serverCommand":{}}]`, `[{"serverCommand":[]}]`, `[{"server":"x"}]`} {
		p := &Policy{}
		if p.Deny(json.RawMessage(bad)) == nil {
			t.Errorf("deny %s is accepted", bad)
		}
		if p.Allow(json.RawMessage(bad)) == nil || p.check(testSource.Entry("s", json.RawMessage(stdio))) == nil {
			t.Errorf("allow %s allows something", bad)
		}
	}
}

func TestParseFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"{}":                        "",
		`{"mcpServers":null}`:       "",
		"{\n\"mcpServers\": {,}\n}": "in line 2",
		`[]`:                        "is not an object",
		`{"mcpServers":[]}`:         "not an object by server name",
		`{"mcpServers":{"a":{}},"x":1} // comment`:                           "",
		`{"mcpServers":{` + strings.Repeat(`"a":1,`, maxServers) + `"b":1}}`: "more than 1000 servers",
	} {
		if _, err := ParseFile(testSource, []byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers":{"a":{"command":"x","args":["${A:-b}"],"env":{"A":"${B}"}}}}`, `{"mcpServers":{"a b":{"url":"https://a.example","headers":{"A":"b"}},"a_b":{}}}`,
		`{"mcpServers":{"":null,"\u0000":{"oauth":{"scopes":[]}}}}`, "// c\n{\"mcpServers\":{},}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseFile(testSource, data)
		if err != nil && len(list) > 0 {
			t.Fatal("entries of a broken file")
		}
		r := Merge(list, nil)
		names := map[string]bool{}
		for _, e := range r.Entries {
			if names[e.Name] || Name(e.Name) != e.Name || e.Name == "" || strings.Contains(e.Name, "__") {
				t.Fatalf("the name %q", e.Name)
			}
			names[e.Name] = true
			if e.Usable() && e.Type == Stdio && e.Command == "" || e.Usable() && e.Remote() && e.URL == "" {
				t.Fatalf("%s can be used", e.Raw)
			}
			if e.Problem != nil && strings.ContainsFunc(e.Problem.Error(), func(r rune) bool { return r < ' ' }) {
				t.Fatalf("%q", e.Problem)
			}
		}
	})
}
