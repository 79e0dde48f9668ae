package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	wire "adze/internal/model/messages"
	"adze/internal/model/replay"
	"adze/internal/session/store"
	"adze/internal/tool"
)

var update = flag.Bool("update", false, "rewrite golden files")

// A driven program reads prompts line by line from a host, and uses a scripted model over the
// network.
type driven struct {
	*place
	id     string
	notes  string // session notes file
	player *replay.Player
	in     io.WriteCloser
	out    *bufio.Scanner
	done   chan int
	later  atomic.Int64 // clock offset
	lines  []string     // lines of the last turn
}

const drivenID = "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13"

// drivenPlace returns a place for a program whose model has a small window; settings are added
// to the required ones.
func drivenPlace(t *testing.T, settings string) *driven {
	d := &driven{place: newPlace(t), id: drivenID}
	d.Write("home/.adze/settings.json", `{"models":{"claude-opus-5-5":{"contextWindow":44000,"maxOutput":4000}},`+settings+`}`)
	log, err := store.Open(store.Options{Home: d.Path("home/.adze"), Dir: d.Path("work"), Session: d.id})
	if err != nil {
		t.Fatal(err)
	}
	d.notes = filepath.Join(strings.TrimSuffix(log.Path(), ".jsonl"), "session-memory", "notes.md")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// start runs the program with a script.
func (d *driven) start(script string, args ...string) {
	d.T.Helper()
	parsed, err := replay.Parse("script", []byte(script))
	if err != nil {
		d.T.Fatal(err)
	}
	d.player = replay.NewPlayer(parsed)
	d.player.Reason()
	server := httptest.NewServer(d.player.Handler())
	d.T.Cleanup(server.Close)
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	env := d.env
	env.Stdin, env.Stdout = stdin, stdout
	began := time.Now()
	year, month, day := began.Date()
	morning := time.Date(year, month, day, 9, 0, 0, 0, time.Local) // the date stays the same at any time of day
	env.Now = func() time.Time { return morning.Add(time.Since(began) + time.Duration(d.later.Load())) }
	env.Getenv = func(name string) string {
		switch name {
		case "ANTHROPIC_BASE_URL":
			return server.URL
		case "ANTHROPIC_API_KEY":
			return "key"
		case "IS_SANDBOX", "ADZE_NO_FSYNC":
			return "1"
		}
		return d.env.Getenv(name)
	}
	env.Args = append([]string{"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--model", "claude-opus-5-5"}, args...)
	d.in, d.done = in, make(chan int, 1)
	d.out = bufio.NewScanner(out)
	d.out.Buffer(nil, 16<<20)
	go func() {
		d.done <- Run(d.T.Context(), env)
		stdout.Close()
	}()
}

// prompt sends a prompt and waits until the turn is over.
func (d *driven) prompt(text string) {
	d.T.Helper()
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	if err != nil {
		d.T.Fatal(err)
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		d.T.Fatal(err)
	}
	d.lines = nil
	for d.out.Scan() {
		d.lines = append(d.lines, d.out.Text())
		if strings.HasPrefix(d.out.Text(), `{"type":"result"`) {
			if !strings.Contains(d.out.Text(), `"is_error":false`) {
				d.T.Errorf("%s: %s", text, d.out.Text())
			}
			return
		}
	}
	d.T.Fatalf("%s: the stream ended: %s", text, d.said.String())
}

// told reports whether a line of the last turn contains text.
func (d *driven) told(text string) bool { return strings.Contains(strings.Join(d.lines, "\n"), text) }

// end closes the input.
func (d *driven) end() {
	d.T.Helper()
	d.in.Close() // ok: the program notices
	for d.out.Scan() {
	}
	if code := <-d.done; code != 0 {
		d.T.Errorf("exit code %d: %s", code, d.said.String())
	}
}

// A sent is a request as received by the provider.
type sent struct {
	Messages []struct {
		Role    string
		Content []struct {
			Type, Text, Name string
			Content          json.RawMessage
		}
	}
	Tools []struct{ Name string }
	raw   []byte
}

// requests returns the requests from number n on, after validating each.
func (d *driven) requests(n int) []sent {
	d.T.Helper()
	var all []sent
	for _, raw := range d.player.Requests()[n:] {
		if err := wire.Check(raw); err != nil {
			d.T.Errorf("%v in\n%.2000s", err, raw)
		}
		s := sent{raw: raw}
		if err := json.Unmarshal(raw, &s); err != nil {
			d.T.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// skeleton describes a request's structure: the kinds of its blocks, their beginnings and
// approximate lengths.
func (d *driven) skeleton(s sent) string {
	var b strings.Builder
	for _, m := range s.Messages {
		for i, c := range m.Content {
			who := m.Role
			if i > 0 {
				who = ""
			}
			text := d.normalize(c.Text)
			n := len(text)
			switch {
			case c.Type == "tool_use":
				text = c.Name
			case c.Type == "tool_result":
				text = d.normalize(string(c.Content))
				n = len(text)
			}
			fmt.Fprintf(&b, "  %-9s %-11s %6s  %s\n", who, c.Type, about(n), d.beginning(text))
		}
	}
	return b.String()
}

// about rounds a size so that small changes are not visible.
func about(n int) string {
	switch {
	case n < 500:
		return "-"
	case n < 2000:
		return fmt.Sprintf("%d00", n/200*2)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}

var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|20\d\d-\d\d-\d\d|toolu_\w+`)

// normalize removes paths, IDs and dates.
func (d *driven) normalize(text string) string {
	return changing.ReplaceAllString(strings.ReplaceAll(text, d.Root, ""), "X")
}

func (d *driven) beginning(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if strings.HasPrefix(text, "<system-reminder> Follow these instructions") {
		return "<system-reminder> with the instructions"
	}
	return tool.OneLine(text, 90)
}

// isMain reports whether a request continues the conversation.
func isMain(s sent) bool {
	return !bytes.Contains(s.raw, []byte("Summarise this conversation")) && !isNotes(s)
}

// TestLongSession grows a conversation through every kind of compaction: overlong results, old
// results cleared by size and by age, notes instead of a summary, a summary, a summary after
// the provider refused a request, and dropped messages. Every request is valid, contains the
// user's messages verbatim until messages have to be dropped, and has the expected changes. The
// model thinks before each answer, and the server rejects reasoning after anything that has
// changed: the program withholds it first.
//
// Proves CTX-32, CTX-33, CTX-34, CTX-36, CTX-37, CTX-44, CTX-45, CTX-47, LOOP-07, LOOP-25, PROV-41.
func TestLongSession(t *testing.T) {
	d := drivenPlace(t, `"microCompact":{"maxTokens":14000,"minGainTokens":5000,"keepResults":2},
		"sessionMemoryCompact":{"minTokens":1500,"minTextMessages":2,"maxTokens":9000}`)
	d.Write("work/AGENTS.md", "Answer briefly, in British English.\n")
	d.Write("work/parser.go", "package parser\n\n// Parse is the parser.\nfunc Parse() {}\n")
	d.start(longScript(), "--session-id", d.id, "--permission-mode", "acceptEdits")
	var golden strings.Builder
	var said []string // prompts that must fit
	var last sent
	seen := 0
	turn := func(phase string, compacted bool, want ...string) {
		t.Helper()
		text := fmt.Sprintf("Now %s: it must not be forgotten.", phase)
		said = append(said, text)
		d.prompt(text)
		for _, s := range d.requests(seen) {
			seen++
			if !isMain(s) {
				continue
			}
			for _, words := range said {
				if !bytes.Contains(s.raw, []byte(words)) {
					t.Errorf("%s: %q is not in the request", phase, words)
				}
			}
			if last.raw != nil && !goesOn(last, s) {
				fmt.Fprintf(&golden, "== %s ==\n%s\n", phase, d.skeleton(s))
			}
			last = s
		}
		if got := d.told(`"subtype":"compact_boundary"`) || d.told("oldest messages are no longer sent"); got != compacted {
			t.Errorf("%s: compacted %t", phase, got)
		}
		for _, w := range want {
			if !bytes.Contains(last.raw, []byte(w)) {
				t.Errorf("%s: %q is not in the last request", phase, w)
			}
		}
		if d.told("oldest messages are no longer sent") {
			said = nil
		}
	}

	turn("a long result", false)
	turn("old results by size", false, "Old tool output was cleared")
	turn("small results", false)
	d.later.Add(int64(2 * time.Hour))
	turn("old results by age", false)
	turn("notes are written", false)
	turn("notes for a summary", true, "The parser is being fixed.", "func Parse", "British English")
	if err := os.Remove(d.notes); err != nil {
		t.Fatal(err)
	}
	turn("a summary", true, "It was about the parser.", "British English")
	turn("a summary when refused", true, "It was about the tests.")
	turn("nothing but dropping", true, "dropped without a summary")
	turn("and on", false)
	d.end()
	if err := d.player.Err(); err != nil {
		t.Error(err)
	}

	want := last
	d.start("expect text \"and on\"\nsay Still here.", "--resume", d.id)
	d.prompt("And now?")
	if again := d.requests(0)[0]; !goesOn(want, again) {
		t.Errorf("the resumed session does not go on where it was:\n%s\n%s", d.skeleton(want), d.skeleton(again))
	}
	d.end()

	path := filepath.Join("testdata", "long.golden")
	if *update {
		if err := os.WriteFile(path, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expected, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(expected), golden.String()); diff != "" {
		t.Errorf("the requests (-want +got):\n%s", diff)
	}
}

// goesOn reports whether a request begins with the previous one's messages.
func goesOn(a, b sent) bool {
	plain := func(s sent) string {
		_, list, _ := strings.Cut(string(s.raw), `"messages":[`)
		list, _, _ = strings.Cut(list, `],"tools":`)
		return regexp.MustCompile(`,"cache_control":\{[^}]*\}`).ReplaceAllString(list, "")
	}
	x := strings.TrimRight(plain(a), "]}")
	return strings.HasPrefix(plain(b), x)
}

// longScript returns the model's script for [TestLongSession].
func longScript() string {
	const (
		ask  = `when text "Summarise this conversation"`
		work = "use Bash {\"command\":\"seq 1 1200\"}\nusage none\n---\n"
	)
	// Long answers of the model are never cleared.
	explain := "say At length: " + strings.Repeat("it is so because of that. ", 600) + "\nuse Bash {\"command\":\"echo fine\"}\nusage none\n---\n"
	return `
when text "<notes>"
text "<notes>\n# Current state\nThe parser is being fixed.\n</notes>"
---
when text "<notes>"
forever
say <notes></notes>
---
` + ask + `
say <analysis>I look back.</analysis><summary>It was about the parser.</summary>
---
` + ask + `
say <summary>It was about the tests.</summary>
---
` + ask + `
forever
error invalid_request
---
use Bash {"command":"seq 1 20000"}
usage none
---
say That was long.
usage none
---
` + work + work + work + work + work + `say Those were many.
usage none
---
` + strings.Repeat("use Bash {\"command\":\"seq 1 600\"}\nusage none\n---\n", 4) + `say Those were small.
usage none
---
say That was a pause.
usage none
---
use Read {"file_path":"parser.go"}
usage none
---
` + work + `say That is noted.
usage none
---
` + strings.Repeat(explain, 7) + `say That was summed up.
usage none
---
` + strings.Repeat(explain, 7) + `say That was summed up, too.
usage none
---
` + explain + `error too_long
---
say It was too long.
usage none
---
` + strings.Repeat(explain, 2) + `error too_long
---
say It is short now.
usage none
---
say On we go.
usage none
`
}
