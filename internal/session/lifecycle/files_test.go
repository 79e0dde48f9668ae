package lifecycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/hook"
)

// TestWatch checks that hooks run for the files they name, until they name others, and that the
// limit on watched files is reported once.
//
// Proves HOOK-01, HOOK-21.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "1")
	write("b", "1")
	looks, looked := make(chan bool), make(chan bool)
	turn := false
	c := Config{Source: "startup", Exit: "other", Pace: func(ctx context.Context) bool {
		if turn {
			looked <- true
		}
		select {
		case turn = <-looks:
			return true
		case <-ctx.Done():
			return false
		}
	}}
	c.Runner.Common = func() hook.Common { return hook.Common{Dir: dir} }
	b := newBench(t, c, map[hook.Name]string{hook.SessionStart: specific(hook.SessionStart, `"watchPaths":["a","sub/../new",".",""]`)})
	heard := func(want ...string) {
		t.Helper()
		looks <- true
		<-looked
		got := slices.DeleteFunc(b.takeFired(), func(text string) bool { return !strings.HasPrefix(text, "FileChanged") })
		for i := range got {
			got[i] = strings.ReplaceAll(strings.TrimPrefix(got[i], "FileChanged "), dir+"/", "")
		}
		if !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
	b.PromptHook(t.Context(), prompt("one"))
	heard()
	write("a", "22")
	write("b", "22")
	write("new", "")
	heard("file_path=a event=change", "file_path=new event=add")
	heard()

	// A hook that writes its watched file runs only once more.
	n := 0
	b.meanwhile = func(id hook.Name) {
		if n++; id == hook.FileChanged {
			write("a", fmt.Sprint("of the hook ", n))
		}
	}
	write("a", "of the user")
	heard("file_path=a event=change")
	heard("file_path=a event=change")
	heard()
	b.meanwhile = nil

	b.answers[hook.FileChanged] = specific(hook.FileChanged, `"watchPaths":["b"]`)
	if err := os.Remove(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	heard("file_path=new event=unlink")
	write("a", "333")
	write("b", "333")
	heard("file_path=b event=change")

	var many []string
	for i := range maxWatched + 9 {
		many = append(many, fmt.Sprintf("%q", fmt.Sprint("f", i)))
	}
	b.answers[hook.CwdChanged] = specific(hook.CwdChanged, `"watchPaths":[`+strings.Join(many, ",")+`]`)
	b.Moved(t.Context(), dir, dir)
	b.Moved(t.Context(), dir, dir)
	if len(b.said) != 1 || !strings.Contains(b.said[0], "265 files") {
		t.Errorf("said %q", b.said)
	}
	delete(b.answers, hook.FileChanged)
	write(fmt.Sprint("f", maxWatched-1), "")
	write(fmt.Sprint("f", maxWatched), "")
	heard(fmt.Sprintf("file_path=f%d event=add", maxWatched-1))

	b.answers[hook.CwdChanged] = specific(hook.CwdChanged, `"watchPaths":[]`)
	b.Moved(t.Context(), dir, dir)
	write("f0", "")
	heard()
	b.Close()
}

// TestWatchNothing checks that an agent's hooks watch nothing, and that an invalid list is
// reported.
func TestWatchNothing(t *testing.T) {
	b := newBench(t, Config{Source: "startup"}, map[hook.Name]string{hook.SessionStart: specific(hook.SessionStart, `"watchPaths":["a"]`)})
	b.PromptHook(t.Context(), prompt("one"))
	if b.files.begun {
		t.Error("it is watched")
	}
	b.Close()
	c := Config{Source: "startup", Pace: func(context.Context) bool { return false }}
	c.Runner.Common = func() hook.Common { return hook.Common{Dir: t.TempDir()} }
	var said []string
	b = newBench(t, c, map[hook.Name]string{hook.SessionStart: specific(hook.SessionStart, `"watchPaths":"a"`)})
	b.PromptHook(t.Context(), prompt("one"))
	if said = b.said; b.files.begun || !strings.Contains(strings.Join(said, " "), "an array of strings") {
		t.Errorf("said %q", said)
	}
	b.Close()
}
