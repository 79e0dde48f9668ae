package app

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sessionPattern matches the conversation in the README.
var sessionPattern = regexp.MustCompile("(?s)```\n(> The test of leap\\.sh fails.*?)```")

// agreeing is a user who answers yes to every question, and leaves after the answer.
type agreeing struct {
	screen   bytes.Buffer
	keyboard *io.PipeWriter
	left     bool
}

func (u *agreeing) Write(data []byte) (int, error) {
	u.screen.Write(data)
	switch {
	case bytes.Contains(data, []byte("[y]es")):
		go fmt.Fprintln(u.keyboard, "y")
	case !u.left && bytes.Contains(u.screen.Bytes(), []byte("of the context)")):
		u.left = true
		go u.keyboard.Close()
	}
	return len(data), nil
}

// TestReadmeShowsARealConversation checks that the conversation in the README is the program's
// actual output with the user's input (second-look 5).
func TestReadmeShowsARealConversation(t *testing.T) {
	demo := filepath.Join("cli", "demo")
	p := newPlace(t)
	for _, name := range []string{"leap.sh", "test.sh", "model.replay"} {
		data, err := os.ReadFile(filepath.Join(demo, name))
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`(?m)^(delay|fragments) .*\n`).ReplaceAllString(string(data), "") // remove the demo's pauses
		if name == "model.replay" {
			p.Write(name, text)
		} else {
			p.Write("work/"+name, text)
		}
	}
	stdin, keyboard := io.Pipe()
	user := &agreeing{keyboard: keyboard}
	p.env.Stdin, p.env.Stdout = stdin, user
	const prompt = "The test of leap.sh fails. Find out why and fix it."
	go fmt.Fprintln(keyboard, prompt)
	p.env.Now = time.Now
	p.env.StdinTerminal, p.env.StdoutTerminal, p.env.Width = true, true, 92
	code, _, said := p.run("--plain", "--trust", "--model", "replay:"+p.Path("model.replay"), "--settings", `{"sandbox":{"enabled":false}}`)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	_, shown, _ := strings.Cut(user.screen.String(), "\n> ")
	shown, _, ok := strings.Cut(shown, "of the context)\n")
	if !ok {
		t.Fatalf("it went otherwise:\n%s", user.screen.String())
	}
	shown = regexp.MustCompile(`\(\d[\dms]*s, (\d+%) $`).ReplaceAllString(shown, "($1 ") // remove the duration
	want := "> " + prompt + "\n" + strings.ReplaceAll(shown, "instructions instead: ", "instructions instead: y\n") + "of the context)\n"
	file := filepath.Join("..", "..", "README.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		data = sessionPattern.ReplaceAllLiteral(data, []byte("```\n"+want+"```"))
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := sessionPattern.FindSubmatch(data); got == nil {
		t.Error("the README shows no conversation")
	} else if diff := cmp.Diff(want, string(got[1])); diff != "" {
		t.Errorf("the README shows another conversation; run with -update:\n%s", diff)
	}
}
