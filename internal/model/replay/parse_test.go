package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"empty", "# nothing\n\n---\n", `m:3: the script has no turns: write one, such as "say Hello."`},
		{"unknown dialect", "dialect esperanto\nsay a", `m:1: unknown dialect "esperanto": expected one of messages, chat, responses, gemini`},
		{"late dialect", "say a\n---\ndialect chat\nsay b", "m:3: dialect is allowed once, before the first turn"},
		{"two dialects", "dialect chat\ndialect chat\nsay b", "m:2: dialect is allowed once"},
		{"unknown word", "say a\n\nsya b", `m:3: unknown word "sya": expected one of say,`},
		{"no answer", "say a\n---\n\nexpect tool Read\n", `m:4: the turn has no answer: write one,`},
		{"open heredoc", "text <<END\na\n", `m:1: the text that starts here has no closing line "END"`},
		{"unquoted", "text hello", `m:1: expected a quoted string or <<END, found "hello"`},
		{"tool name", "use id=x Re/ad {}", `m:1: expected the name of a tool, found "Re/ad"`},
		{"input", "use Read {\"a\":", `m:1: expected the input of a tool, a JSON object (badjson takes anything): unexpected end`},
		{"input is null", "use Read null", `m:1: expected the input of a tool, a JSON object (badjson takes anything), found "null"`},
		{"input heredoc", "say a\nuse Read <<E\n[]\nE\n", `m:2: expected the input of a tool`},
		{"number without repeat", "use Read {\"a\":{n}}", `m:1: expected the input of a tool`},
		{"raw type", `block {"x":1}`, `m:1: expected a JSON object with a type`},
		{"event type", `event {"type":"a\nb"}`, `m:1: expected a JSON object with a type`},
		{"continue nothing", "say+ a", `m:1: say+ continues a block, but`},
		{"continue other", "say a\nuse Read\nsay+ b", `m:3: say+ continues a block, but`},
		{"continue raw", "say a\nblock {\"type\":\"x\"}\nsay+ b", `m:3: say+ continues a block, but`},
		{"fragments", "fragments 0\nsay a", `m:1: expected a number of fragments from 1 to 10000, found "0"`},
		{"fragments of nothing", "say a\nfragments 2\n---\nsay b", `m:2: fragments is not followed by text or input`},
		{"fragments option", "fragments 2 x\nsay a", `m:1: expected nothing or every=DURATION, found "x"`},
		{"delay", "delay 3", `m:1: expected a duration, such as 200ms, found "3"`},
		{"usage", "usage input=1 outptu=2\nsay a", `m:1: expected NAME=NUMBER with one of input,`},
		{"usage+", "usage+\nsay a", `m:1: expected token counts`},
		{"stop", "stop", `m:1: expected a stop reason, such as max_tokens, found ""`},
		{"model", "model a b", `m:1: expected the name of a model, found "a b"`},
		{"header", "header x y", `m:1: expected a header, such as "retry-after: 3", found "x y"`},
		{"ping", "ping pong", `m:1: ping stands alone, found "pong" after it`},
		{"after cut", "cut\nsay a", `m:2: nothing can follow line 1, which ends the message`},
		{"error kind", "error overlaod", `m:1: expected a kind of error, one of unknown, network, tls,`},
		{"broken", "error broken", `m:1: a broken answer is written as cut, reset, garble or html`},
		{"error after text", "say a\nerror overloaded", `m:2: error is a whole answer and cannot follow the content at line 1`},
		{"two errors", "html\nstatus 500", `m:2: status is a whole answer and cannot follow html`},
		{"text after error", "error overloaded\nsay a", `m:2: say cannot follow error, which is a whole answer`},
		{"status", "status 99", `m:1: expected an HTTP status from 200 to 599, found "99"`},
		{"file", "file a.sse", `m:1: reading the file to play: only a script that was loaded`},
		{"repeat", "repeat x\nsay a", `m:1: expected how many requests the turn answers, at least 1, found "x"`},
		{"late repeat", "say a\nrepeat 2", `m:2: repeat belongs at the head of its turn`},
		{"condition", "expect txt \"a\"\nsay a", `m:1: expected a condition (text, last, system,`},
		{"substring", "expect text a\nsay a", `m:1: expected a quoted string, found "a"`},
		{"name", "when tool\nsay a", `m:1: expected a name, found ""`},
		{"result", "expect result\nsay a", `m:1: expected the id of a tool use`},
		{"number", "expect messages many\nsay a", `m:1: expected a number, found "many"`},
		{"path", "expect json messages.0 {\nsay a", `m:1: expected a JSON value after messages.0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("m", []byte(test.src))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := Load(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing script loads")
	}
	if _, err := Load(write("up.replay", "file ../x.sse")); err == nil || !strings.Contains(err.Error(), "outside the script's directory") {
		t.Errorf("a file outside: %v", err)
	}
	write("x.json", `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`)
	s, err := Load(write("ok.replay", "file status=529 x.json\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`error overloaded status=529 request=req_1 message="busy"`}
	if diff := cmp.Diff(want, inProcess(t, NewPlayer(s))(hello())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDocs parses the examples in the language reference and checks that it covers every
// directive.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```replay\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(examples) == 0 {
		t.Error("no examples")
	}
	for _, e := range examples {
		if _, err := Parse("example", e[1]); err != nil {
			t.Errorf("%v in\n%s", err, e[1])
		}
	}
	for _, word := range append(strings.Split(words, ", "), strings.Split(subjects, ", ")...) {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(word) + "[ `]").Match(doc) {
			t.Errorf("%q is not explained", word)
		}
	}
}

// FuzzParse checks that the answers of any script can be decoded: they end with exactly one
// stop or error.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/play/*.replay")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("when no-tool X\nexpect json a.0.b {\"x\":1}\nforever\nfragments 2 every=1s\nthink <<E\nE\nhang"))
	body := []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`)
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Parse("fuzz", src)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Errorf("error without a position: %v", err)
			}
			return
		}
		for _, turn := range s.turns {
			for _, stream := range []bool{true, false} {
				q := &query{RequestInfo: wire.RequestInfo{Model: "m", Stream: stream}, server: messages.Server{}, body: body, number: 1}
				for _, c := range append(turn.when, turn.expect...) {
					c.holds(q, turn)
				}
				a := turn.answer(q)
				for i := range a.pieces {
					a.pieces[i].wait = 0
				}
				if a.end == endHang {
					a.end = endClean
				}
				checkEnds(t, a, stream)
			}
		}
	})
}

func checkEnds(t *testing.T, a *answer, stream bool) {
	ended := false
	for e, err := range receive(t.Context(), messages.Dialect{}, a, &model.Request{NoStream: !stream}) {
		if ended {
			t.Errorf("%v, %v after the end", e, err)
		}
		_, stopped := e.(model.Stop)
		ended = stopped || err != nil
	}
	if !ended {
		t.Error("the answer has no end")
	}
}

// TestFragments checks that a text arrives whole however it is fragmented, and that every
// fragment is valid text.
func TestFragments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 20).Draw(t, "fragments")
		s := &Script{turns: []*turn{{times: 1, steps: []step{{op: opText, text: text, pieces: n}}}}}
		var got strings.Builder
		for e, err := range NewPlayer(s).Provider().Stream(t.Context(), hello()) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case model.TextDelta:
				got.WriteString(e.Text)
			case model.BlockDone:
				if done := e.Part.(*msg.Text).Text; done != text {
					t.Fatalf("block %q, want %q", done, text)
				}
			}
		}
		if got.String() != text {
			t.Fatalf("deltas %q, want %q", got.String(), text)
		}
	})
}

// TestLog checks that a log returns the bodies it was given.
func TestLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[ab]{0,6}`)).Draw(t, "bodies")
		var l log
		for i, body := range want {
			if n := l.add([]byte(body)); n != i+1 {
				t.Fatalf("number %d of body %d", n, i)
			}
		}
		got := make([]string, 0, len(want))
		for _, b := range l.all() {
			got = append(got, string(b))
		}
		if diff := cmp.Diff(want, got); len(want) > 0 && diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	p := NewPlayer(mustParse(b, "forever\nsay Let me see.\nuse Read {\"file_path\":\"f{n}.txt\"}"))
	provider, req := p.Provider(), hello()
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range provider.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCheck measures the part of a request that the player does not determine.
func BenchmarkCheck(b *testing.B) {
	var e messages.Encoder
	b.ReportAllocs()
	for b.Loop() {
		body, err := e.Encode(hello(), nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := messages.Check(body); err != nil {
			b.Fatal(err)
		}
	}
}
