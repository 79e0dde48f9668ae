package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/msg"
	"adze/internal/session/store"
)

// sessionEnv returns an Env with one stored session, and a user at the terminal who types
// answers.
func sessionEnv(t *testing.T, answers string, args ...string) (env *Env, out *bytes.Buffer, path string) {
	t.Helper()
	home := t.TempDir()
	l, err := store.Open(store.Options{Home: home, Dir: "/work/app", Session: "s-1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(msg.Entry{ID: "e1", Time: time.Now(), Message: msg.UserText("hello \x1b[31mred")}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	out = &bytes.Buffer{}
	return &Env{
		Args: append([]string{"sessions"}, args...), Stdin: strings.NewReader(answers), Stdout: out, Stderr: out,
		StdinTerminal: true, StdoutTerminal: true, Dir: "/work/app", Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"ADZE_HOME": home}[name] },
	}, out, l.Path()
}

func TestRemovingAsks(t *testing.T) {
	for answer, gone := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "": false, "maybe\n": false} {
		env, out, path := sessionEnv(t, answer, "rm", "s-1")
		if err := Run(context.Background(), env); err != nil {
			t.Errorf("%q: %v, %s", answer, err, out)
		}
		if !strings.Contains(out.String(), "Delete session s-1 (hello") || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: asks %q", answer, out)
		}
		if _, err := os.Stat(path); (err != nil) != gone {
			t.Errorf("%q: gone is %v", answer, err)
		}
	}
}

func TestSessionInUse(t *testing.T) {
	env, out, path := sessionEnv(t, "", "rm", "--force", "s-1")
	l, _, err := store.Resume(store.Options{Session: "s-1", Path: path}, store.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, args := range [][]string{{"rm", "--force", "s-1"}, {"rename", "s-1", "x"}} {
		env.Args = append([]string{"sessions"}, args...)
		out.Reset()
		if err := Run(context.Background(), env); err == nil || !strings.Contains(err.Error(), "is open in") {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	if _, err := os.Stat(filepath.Clean(path)); err != nil {
		t.Error(err)
	}
}
