package toy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/modeltest/toy"
	"adze/internal/model/replay"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func provider(t *testing.T, h http.Handler) model.Provider {
	t.Helper()
	p, err := wire.New(toy.Service(), wire.Config{APIKey: "key", Transport: modeltest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConformance checks that a second dialect passes the suite unchanged.
func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Dialect{Server: toy.Server{}}, provider)
}

// TestReplay checks that scripts play unchanged in a second dialect, in process and over HTTP.
func TestReplay(t *testing.T) {
	const script = `
expect model m
expect system "brief"
expect text "hello"
expect tool Read
think Hm.
say Let me
say+  look.
fragments 3
use Read {"file_path":"a.txt"}
usage input=7 output=9
---
error overloaded retry-after=2
---
say half
cut
---
say half
garble
---
block {"type":"redacted_thinking","data":"x"}
stop refusal
---
say half
error-event overloaded Too busy
---
html
`
	use := msg.NewToolUse("toolu_1_1", "Read", `{"file_path":"a.txt"}`)
	for _, noStream := range []bool{false, true} {
		for name, connect := range map[string]func(*replay.Player) model.Provider{
			"in process": func(p *replay.Player) model.Provider { return p.Provider() },
			"over HTTP":  func(p *replay.Player) model.Provider { return provider(t, p.Handler()) },
		} {
			s, err := replay.Parse("script", []byte(script))
			if err != nil {
				t.Fatal(err)
			}
			player := replay.NewPlayerIn(toy.Server{}, s)
			p := connect(player)
			var got []string
			for range 7 {
				req := &model.Request{
					Model: "m", MaxTokens: 1000, NoStream: noStream, System: []msg.Part{&msg.Text{Text: "Be brief."}},
					Messages: []msg.Message{msg.UserText("hello")}, Tools: []msg.ToolSpec{{Name: "Read", Schema: []byte(`{}`)}},
				}
				var a model.Accumulator
				end := ""
				for e, err := range p.Stream(t.Context(), req) {
					if err != nil {
						end = model.KindOf(err).String()
						break
					}
					a.Add(e)
				}
				if reason, ok := a.Stop(); ok {
					end = string(reason)
				}
				if len(got) == 0 {
					want := []msg.Part{&msg.Thinking{Text: "Hm.", Signature: "sig_1_0"}, &msg.Text{Text: "Let me look."}, use}
					if diff := cmp.Diff(want, a.Message().Parts); diff != "" || a.Usage() != (msg.Usage{Input: 7, Output: 9}) {
						t.Errorf("%s: usage %+v, parts (-want +got):\n%s", name, a.Usage(), diff)
					}
				}
				got = append(got, end)
			}
			want := []string{"tool_use", "overloaded", "broken", "broken", "refusal", "broken", "broken"}
			if noStream {
				want[5] = "overloaded" // nothing was sent yet
			}
			if !slices.Equal(want, got) {
				t.Errorf("%s, noStream %v: ended with %s\nwant %s", name, noStream, strings.Join(got, " "), strings.Join(want, " "))
			}
			if err := player.Err(); err != nil {
				t.Error(err)
			}
		}
	}
}
