//go:build unix

package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/tool"
)

// asking is a script that asks and prints the answer. It reads its input first.
const asking = `read -r input; echo '{"prompt":"p1","message":"Where to?","options":[{"key":"s","label":"Staging","description":"safe"},{"key":"p"}]}'; read -r answer; echo "got $answer"`

const asksUser = `"asksUser":true`

// first picks the first option and records the questions.
func first(asked *[]Question) Judges {
	return Judges{User: func(_ context.Context, q Question) (string, error) {
		*asked = append(*asked, q)
		return q.Options[0].Key, nil
	}}
}

// Proves HOOK-18.
func TestHookAsksTheUser(t *testing.T) {
	var asked []Question
	r, _ := start(t, Config{Judges: first(&asked)}, on(UserPromptSubmit, command(asking, asksUser)))
	if got := contextOf(t, r); !strings.Contains(got, `got {"prompt_response":"p1","selected":"s"}`) || strings.Count(got, "Where to") > 1 {
		t.Errorf("output %q", got)
	}
	want := []Question{{By: "UserPromptSubmit hook `" + tool.OneLine(asking, 80) + "`", Message: "Where to?", Options: []Option{{"s", "Staging", "safe"}, {"p", "p", ""}}}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves HOOK-18.
func TestHookReadsWhyThereIsNoAnswer(t *testing.T) {
	const ask = `read -r input; cat question; read -r answer; echo "got $answer"`
	option := func(key string) string { return fmt.Sprintf(`{"key":%q}`, key) }
	var many []string
	for i := range 100 {
		many = append(many, option(fmt.Sprint(i)))
	}
	question := func(message, options string) string {
		return fmt.Sprintf(`{"prompt":"x","message":%s,"options":[%s]}`, message, options)
	}
	for _, tt := range []struct{ name, line, why string }{
		{"no message", `{"prompt":"x","options":[{"key":"a"}]}`, "message: expected a text of 1 to 2000 characters"},
		{"a message that is none", question(`7`, option("a")), "message: expected a string, found 7"},
		{"a long message", question(`"`+strings.Repeat("m", 2001)+`"`, option("a")), "message: expected a text of 1 to 2000 characters"},
		{"no options", `{"prompt":"x","message":"m"}`, "options: expected a list of 1 to 20 objects"},
		{"empty options", question(`"m"`, ""), "options: expected a list of 1 to 20 objects"},
		{"100 options", question(`"m"`, strings.Join(many, ",")), "options: expected a list of 1 to 20 objects"},
		{"options that are none", `{"prompt":"x","message":"m","options":["a"]}`, "options: expected a list of 1 to 20 objects"},
		{"an option without a key", question(`"m"`, `{"label":"a"}`), "options[0].key: expected a text of 1 to 200 characters"},
		{"the same key twice", question(`"m"`, option("a")+","+option("a")), "options[1].key: expected a key and a label that no other option has"},
		{"the same label twice", question(`"m"`, `{"key":"a","label":"L"},{"key":"b","label":"L"}`), "options[1].key: expected a key and a label"},
		{"a long description", question(`"m"`, `{"key":"a","description":"`+strings.Repeat("d", 501)+`"}`), "options[0].description: expected a text of at most 500"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "question"), []byte(tt.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var asked []Question
		r, _ := start(t, Config{Dir: dir, Judges: first(&asked)}, on(UserPromptSubmit, command(ask, asksUser)))
		got := contextOf(t, r)
		if !strings.Contains(got, `got {"prompt_response":"x","selected":null,"declined":"`+tt.why) || len(asked) > 0 {
			t.Errorf("%s: %s, asked %v", tt.name, got, asked)
		}
	}
	declines := Judges{User: func(context.Context, Question) (string, error) { return "", errors.New("the user went & came") }}
	for why, judges := range map[string]Judges{"no user to answer questions here": {}, "the user went & came": declines} {
		r, _ := start(t, Config{Judges: judges}, on(UserPromptSubmit, command(asking, asksUser)))
		if got := contextOf(t, r); !strings.Contains(got, `"selected":null,"declined":"`+why) {
			t.Errorf("%s: %s", why, got)
		}
	}
}

// TestWhatDoesNotAskIsOutput checks that lines other than questions are output, wherever they
// appear.
//
// Proves HOOK-18.
func TestWhatDoesNotAskIsOutput(t *testing.T) {
	long := `{"prompt":"x","message":"` + strings.Repeat("m", 1<<20) + `","options":[{"key":"a"}]}`
	ask := `{"prompt":"x","message":"m","options":[{"key":"a"}]}`
	for _, tt := range []struct {
		name, in, out string
		asked         int
	}{
		{"nothing", "", "", 0},
		{"text", "one\n\ntwo", "one\n\ntwo", 0},
		{"1 MB", long + "\n" + ask + "\nend\n", long + "\nend\n", 1},
		{"between others", "{\n" + ask + "\n}\n", "{\n}\n", 1},
		{"two in a row", ask + "\n" + ask + "\n", "", 2},
		{"broken", `{"prompt":"x",` + "\n", `{"prompt":"x",` + "\n", 0},
		{"not a name", `{"prompt":7}` + "\n" + `{"prompt":""}` + "\n", `{"prompt":7}` + "\n" + `{"prompt":""}` + "\n", 0},
		{"a name that is too long", `{"prompt":"` + strings.Repeat("x", 201) + `"}` + "\n", `{"prompt":"` + strings.Repeat("x", 201) + `"}` + "\n", 0},
		{"not ended", ask, ask, 0},
		{"with blanks", "  " + ask + "\r\n", "", 1},
	} {
		for _, size := range []int{1, 7, 1 << 21} {
			var out bytes.Buffer
			d := &dialogue{job: &job{hook: &hook{spec: new(spec)}}, out: &out, queue: make(chan inquiry, maxAsked)}
			for rest := []byte(tt.in); len(rest) > 0; {
				n := min(size, len(rest))
				if _, err := d.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			d.finish()
			if out.String() != tt.out || len(d.queue) != tt.asked {
				t.Errorf("%s, %d at a time: %d bytes of output, asked %d times", tt.name, size, out.Len(), len(d.queue))
			}
		}
	}
}

// Proves HOOK-18.
func TestHookThatDoesNotWait(t *testing.T) {
	const ask = `echo '{"prompt":"p","message":"m","options":[{"key":"a"}]}'`
	var asked []Question
	for _, tt := range []struct {
		name, script string
		more         []string
		why          string
	}{
		{"not declared", ask, nil, `it asks the user, which takes "asksUser": true in its definition`},
		{"not ended", ask + " | tr -d '\\n'", []string{asksUser}, "it asked the user and ended before the line did"},
		{"too often", "while :; do " + ask + "; done", []string{asksUser}, "it asked the user more than 20 times"},
	} {
		r, _ := start(t, Config{Judges: first(&asked)}, on(PreToolUse, command(tt.script, tt.more...)))
		out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
		if out.Decision != tool.Ask || !strings.Contains(out.Reason, tt.why) {
			t.Errorf("%s: %v %s", tt.name, out.Decision, out.Reason)
		}
	}
	// Its earlier decision counts: a question neither gives nor revokes a verdict.
	r, _ := start(t, Config{Judges: first(&asked)}, on(PreToolUse, command(decides("deny", "")+"; "+ask+"; read -r input; read -r answer", asksUser)))
	if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tool.Deny {
		t.Errorf("a question after the verdict: %v %s", out.Decision, out.Reason)
	}
	r, _ = start(t, Config{}, on(PreToolUse, command(ask+"; exit 2")))
	if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tool.Deny {
		t.Errorf("a hook that asks and blocks: %v %s", out.Decision, out.Reason)
	}
}

// Proves HOOK-18.
func TestHookInTheBackgroundCannotAsk(t *testing.T) {
	var asked []Question
	script := `printf '{"async":true}\n{"prompt":"p","message":"m","options":[{"key":"a"}]}\n'; read -r input; read -r answer; printf '{"systemMessage":"%s"}' "$(echo "$answer" | tr -d '"')"`
	r, said := start(t, Config{Judges: first(&asked)}, on(UserPromptSubmit, command(script, asksUser)))
	contextOf(t, r)
	<-said.changed
	notes := said.get(&said.notes)
	if len(notes) != 1 || !strings.Contains(notes[0], "selected:null,declined:a hook in the background cannot ask the user") || len(asked) > 0 {
		t.Errorf("notes %q, asked %v", notes, asked)
	}
	for entry, why := range map[string]string{
		command("true", asksUser, `"async":true`):                             "UserPromptSubmit[0].hooks[0].asksUser: a hook in the background cannot ask the user; it has no effect",
		command("true", asksUser, `"asyncRewake":true`):                       "a hook in the background cannot ask the user; it has no effect",
		`{"type":"prompt","prompt":"x",` + asksUser + `}`:                     "only hooks of type command can ask the user; it has no effect",
		`{"type":"command","command":"x","asksUser":"yes","statusMessage":1}`: "left out",
	} {
		problems := Check([]Source{{Name: "user settings", JSON: on(UserPromptSubmit, entry)}})
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), why) {
			t.Errorf("%s: %v", entry, problems)
		}
	}
	if problems := Check([]Source{{JSON: on(Notification, command("true", asksUser))}}); len(problems) != 1 || !strings.Contains(problems[0].Text, "hooks of this event cannot ask the user") {
		t.Errorf("notifications: %v", problems)
	}
}

// TestQuestionEndsWithItsHook checks that a question is withdrawn when its hook or the turn
// ends.
//
// Proves HOOK-18.
func TestQuestionEndsWithItsHook(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"the turn is interrupted", asking + "; sleep 100"},
		{"the hook ends", `echo '{"prompt":"p","message":"m","options":[{"key":"a"}]}'; while [ ! -e asked ]; do sleep 0.01; done; exit 1`},
		{"the hook is killed", `echo '{"prompt":"p","message":"m","options":[{"key":"a"}]}'; while [ ! -e asked ]; do sleep 0.01; done; kill -KILL $$`},
		{"the hook closes its input", `exec <&-; echo '{"prompt":"p","message":"m","options":[{"key":"a"}]}'; while [ ! -e asked ]; do sleep 0.01; done`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			withdrawn := make(chan error, 1)
			user := func(ask context.Context, _ Question) (string, error) {
				if err := os.WriteFile(filepath.Join(dir, "asked"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if strings.Contains(tt.name, "interrupted") {
					interrupt()
				}
				<-ask.Done()
				withdrawn <- ask.Err()
				return "", context.Cause(ask)
			}
			r, _ := start(t, Config{Dir: dir, Judges: Judges{User: user}}, on(UserPromptSubmit, command(tt.script, asksUser)))
			r.Fire(ctx, OnUserPromptSubmit("hi"))
			if err := <-withdrawn; err == nil {
				t.Error("the question stayed")
			}
		})
	}
}

// TestTimeStandsStillWhileTheUserDecides checks that a slow user neither uses up the hook's
// time nor makes it count as slow.
//
// Proves HOOK-18, HOOK-13.
func TestTimeStandsStillWhileTheUserDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &job{hook: &hook{spec: new(spec)}, time: newAllowance(10 * time.Second)}
		d := &dialogue{job: j, user: func(context.Context, Question) (string, error) {
			time.Sleep(time.Hour)
			return "a", nil
		}}
		time.Sleep(4 * time.Second)
		for range 2 {
			if got := string(d.answer(t.Context(), inquiry{id: "p"})); got != `{"prompt_response":"p","selected":"a"}`+"\n" {
				t.Error(got)
			}
		}
		began := time.Now()
		<-j.time.up
		if left := time.Since(began); left != 6*time.Second || j.time.waited() != 2*time.Hour {
			t.Errorf("%v were left after %v", left, j.time.waited())
		}
	})
}

// TestEachHookGetsItsOwnAnswer checks that concurrent questions, of several hooks or of one,
// each get their own answer.
//
// Proves HOOK-18.
func TestEachHookGetsItsOwnAnswer(t *testing.T) {
	script := func(id string) string {
		ask := fmt.Sprintf(`echo '{"prompt":"%s","message":"m","options":[{"key":"%s"}]}';`, id+"%d", id+"%d")
		return fmt.Sprintf(ask, 1, 1) + fmt.Sprintf(ask, 2, 2) + "read -r input; read -r a; read -r b; echo \"got $a$b\""
	}
	var all []string
	for _, id := range []string{"a", "b", "c"} {
		all = append(all, command(script(id), asksUser))
	}
	judges := Judges{User: func(_ context.Context, q Question) (string, error) { return q.Options[0].Key, nil }}
	r, _ := start(t, Config{Judges: judges}, on(UserPromptSubmit, all...))
	got := msg.PlainText(r.Fire(t.Context(), OnUserPromptSubmit("hi")).Context)
	for _, id := range []string{"a", "b", "c"} {
		want := fmt.Sprintf(`{"prompt_response":"%[1]s1","selected":"%[1]s1"}{"prompt_response":"%[1]s2","selected":"%[1]s2"}`, id)
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

// FuzzDialogue checks for arbitrary output in arbitrary pieces that each line is either output
// or a question, and none is lost.
//
// Proves HOOK-18.
func FuzzDialogue(f *testing.F) {
	f.Add([]byte("text\n{\"prompt\":\"x\",\"message\":\"m\",\"options\":[{\"key\":\"a\"}]}\n{}\n"), uint8(3))
	f.Add([]byte("{\"prompt\":\"x\",\"options\":[{\"key\":\"a\",\"label\":[]}]}\n{\"prompt\":\"x\""), uint8(1))
	f.Add([]byte("{\"prompt\":\"\xff\",\"message\":null,\"options\":null}\r\n\n"), uint8(200))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		var out bytes.Buffer
		d := &dialogue{job: &job{hook: &hook{spec: new(spec)}}, out: &out, queue: make(chan inquiry, maxAsked)}
		for rest := in; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			if _, err := d.Write(rest[:n]); err != nil {
				if d.asked <= maxAsked {
					t.Fatal(err)
				}
				return
			}
			rest = rest[n:]
		}
		d.finish()
		var want []byte
		asked := 0
		for line := range bytes.Lines(in) {
			if _, ok := asks(line); ok && bytes.HasSuffix(line, []byte("\n")) {
				asked++
				continue
			}
			want = append(want, line...)
		}
		if !bytes.Equal(out.Bytes(), want) || len(d.queue) != asked {
			t.Errorf("%q: output %q, want %q; asked %d times, want %d", in, out.Bytes(), want, len(d.queue), asked)
		}
	})
}
