package replay

import (
	"adze/internal/model/modeltest/servers"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// TestDialects checks that a script plays the same in every dialect, in process and over HTTP,
// and that it is recorded in that dialect.
//
// Proves PROV-61.
func TestDialects(t *testing.T) {
	const script = `
expect system "Be brief."
expect tool Read
expect text "read both files"
expect result toolu_a "content of a"
expect error-result toolu_b "no such file"
say Let me
say+  look.
fragments 3
use Read {"file_path":"a.txt"}
---
error overloaded Too busy
---
say half
cut
`
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			server := servers.Named(d.name)
			source := "dialect " + d.name + "\n" + script
			var answers [][]string
			play := func(player *Player, connect func(*Player) model.Provider) {
				p := connect(player)
				var all []string
				for range 3 {
					var a model.Accumulator
					end := ""
					for e, err := range p.Stream(t.Context(), conversation()) {
						if err != nil {
							end = model.KindOf(err).String()
							break
						}
						a.Add(e)
					}
					for _, part := range a.Message().Parts {
						if u, ok := part.(*msg.ToolUse); ok {
							end += " " + u.Name + string(u.Input)
						}
					}
					all = append(all, a.Message().Text()+" "+end)
				}
				if err := player.Err(); err != nil {
					t.Error(err)
				}
				answers = append(answers, all)
			}
			inProcess := func(p *Player) model.Provider { return p.Provider() }
			dir := filepath.Join(t.TempDir(), "recording")
			recorder, err := NewRecorder(dir, http.DefaultTransport)
			if err != nil {
				t.Fatal(err)
			}
			play(NewPlayerIn(server, mustParse(t, source)), inProcess)
			play(NewPlayerIn(server, mustParse(t, source)), func(p *Player) model.Provider {
				remote := httptest.NewServer(p.Handler())
				t.Cleanup(remote.Close)
				h := http.Header{"Anthropic-Version": {"2023-06-01"}}
				provider, err := wire.New(wire.Service{Dialect: server, Address: remote.URL + "/v1", KeyHeader: "Authorization", Header: h},
					wire.Config{AuthToken: "key", Transport: recorder})
				if err != nil {
					t.Fatal(err)
				}
				return provider
			})
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			recorded, err := Open(filepath.Join(dir, ScriptName))
			if err != nil {
				t.Fatal(err)
			}
			if name := recorded.script.Dialect(); name != d.name {
				t.Errorf("the recording is in %s", name)
			}
			play(recorded, inProcess)
			want := []string{`Let me look.  Read{"file_path":"a.txt"}`, " overloaded", " broken"}
			for i, got := range answers {
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q\nwant %q", []string{"in process", "over HTTP", "recorded"}[i], got, want)
				}
			}
		})
	}
}

// TestRecordsOneDialect checks that requests in a dialect other than the first, and to other
// endpoints, are not recorded.
func TestRecordsOneDialect(t *testing.T) {
	r, err := NewRecorder(filepath.Join(t.TempDir(), "recording"), http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	defer server.Close()
	for _, path := range []string{"/v1/models", "/v1/chat/completions", "/v1/messages"} {
		res, err := (&http.Client{Transport: r}).Post(server.URL+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	if r.begun != 1 || r.dialect != "chat" {
		t.Errorf("%d requests were recorded, in %s", r.begun, r.dialect)
	}
}

// TestOpen checks that without a server of its dialect, a script plays recorded responses and
// nothing else, and that its problems are reported like those of any script.
func TestOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	open := func(script string) (*Player, error) {
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		return Open(file)
	}
	for script, line := range map[string]string{
		"dialect messages\nexpect text \"x\"\nsay a":      "",
		"dialect chat\nstatus 500 {}\n---\nhtml":          "",
		"dialect chat\ndelay 1ms\nhang":                   "",
		"dialect chat\nerror network":                     "",
		"dialect gemini\nerror overloaded":                ":2:",
		"dialect chat\nstatus 200 {}\n---\nsay a":         ":4:",
		"dialect bedrock\ndelay 1ms\nuse Read\nhang":      ":3:",
		"dialect vertex\nstop end_turn":                   ":2:",
		"dialect responses\nwhen model \"m\"\nstatus 500": ":2:",
	} {
		_, err := open(script)
		if (err == nil) != (line == "") || err != nil && !strings.Contains(err.Error(), line+" ") {
			t.Errorf("%q: error %v", script, err)
		}
	}
	for _, d := range dialects[1:] {
		p, err := open("dialect " + d.name + "\nstatus 503 later")
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"later", "the script has no more turns"} {
			for _, err := range p.Provider().Stream(t.Context(), hello()) {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: answer %d: %v, want %q", d.name, i, err, want)
				}
			}
		}
	}
}
