package replay

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
			source := "dialect " + d.name + "\n" + script
			var answers [][]string
			play := func(s *Script, connect func(*Player) model.Provider) {
				player := NewPlayer(s)
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
			play(mustParse(t, source), inProcess)
			play(mustParse(t, source), func(p *Player) model.Provider {
				server := httptest.NewServer(p.Handler())
				t.Cleanup(server.Close)
				h := http.Header{"Anthropic-Version": {"2023-06-01"}}
				remote, err := wire.New(wire.Service{Dialect: d.server, Address: server.URL + "/v1", KeyHeader: "Authorization", Header: h},
					wire.Config{AuthToken: "key", Transport: recorder})
				if err != nil {
					t.Fatal(err)
				}
				return remote
			})
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			recorded, err := Load(filepath.Join(dir, ScriptName))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%T", d.server); d.name != "messages" && fmt.Sprintf("%T", recorded.dialect) != want {
				t.Errorf("the recording is in %T", recorded.dialect)
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
