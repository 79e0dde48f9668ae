//go:build unix

package change_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

var (
	reader = filehistory.Author{ID: "a1", Title: "Read the\nparser"}
	tester = filehistory.Author{ID: "a2"}
)

// beside returns another agent's world with the same files.
func (w *world) beside(by filehistory.Author) *world {
	w.t.Helper()
	other := newWorld(w.t, w.kind)
	other.root, other.Replacer, other.Writers, other.Author = w.root, w.Replacer, w.Writers, by
	return other
}

// TestTwoAgentsWriteOneFile checks that the second of two agents writing a file learns who
// changed it, and must read it.
//
// Proves EDIT-02.
func TestTwoAgentsWriteOneFile(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Writers = change.NewWriters(time.Now)
		first, second := w.beside(reader), w.beside(tester)
		name := w.kind.file
		for _, a := range []*world{w, first, second} {
			a.read(name)
		}
		first.must(name)
		for range 2 { // the notice does not count as reading
			_, err := second.run(t.Context(), name)
			want := w.path(name) + ` was changed by the agent "Read the parser" (a1) since you read it. Read it again before you change it.`
			if code(err) != change.CodeChanged || err.Error() != want {
				t.Fatalf("error %v", err)
			}
		}
		if _, err := w.run(t.Context(), name); !strings.Contains(err.Error(), `the agent "Read the parser" (a1)`) {
			t.Errorf("the main conversation receives %v", err)
		}
		second.read(name)
		if _, err := second.run(t.Context(), name); code(err) == change.CodeChanged {
			t.Errorf("after it was read again: %v", err)
		}
		// A jobQueue change by the user is not attributed to the agent.
		w.write(name, w.kind.before+" ")
		if _, err := first.run(t.Context(), name); code(err) != change.CodeChanged || strings.Contains(err.Error(), "agent") {
			t.Errorf("after a change by the user: %v", err)
		}
		w.write(name, w.kind.before)
		w.read(name)
		second.read(name)
		w.must(name)
		if _, err := second.run(t.Context(), name); code(err) != change.CodeChanged || !strings.Contains(err.Error(), "was changed by the main conversation since") {
			t.Errorf("after a change by the main conversation: %v", err)
		}
	})
}

// TestAgentWritesWhileHooksRun checks that another agent's change during hooks is not
// attributed to a formatter.
func TestAgentWritesWhileHooksRun(t *testing.T) {
	w := newWorld(t, kinds()[0])
	w.Writers = change.NewWriters(time.Now)
	w.Author = tester
	other := w.beside(reader)
	w.read(w.kind.file)
	call := w.bind(w.kind.input(w.kind.file))
	res, err := call.Run(t.Context(), func(tool.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	other.kind = kinds()[1]
	other.kind.fields = `"content":"theirs\n"`
	other.tool = other.kind.new(&other.Files)
	other.read(w.kind.file)
	other.must(w.kind.file)
	if err := w.Files.After(t.Context(), &tool.Use{Call: call}, &res); err != nil || strings.Contains(msg.PlainText(res.Parts), "hook") {
		t.Errorf("%v, %s", err, msg.PlainText(res.Parts))
	}
	if _, err := w.run(t.Context(), w.kind.file); code(err) != change.CodeChanged || !strings.Contains(err.Error(), "(a1)") {
		t.Errorf("error %v", err)
	}
}

// TestNewsOfAgents checks that the news at the start of a turn names the agent that changed a
// file.
func TestNewsOfAgents(t *testing.T) {
	w, _ := editor(t)
	w.Writers = change.NewWriters(time.Now)
	other := w.beside(reader)
	other.kind = kinds()[1]
	other.tool = other.kind.new(&other.Files)
	for name, content := range map[string]string{"short": "a\n", "long": strings.Repeat("a\n", 100), "user": "a\n"} {
		w.write(name, content)
		w.know(name, 0, 0)
		other.read(name)
	}
	other.must("short")
	other.must("long")
	w.write("user", "b\n")
	got := strings.Join(w.News(context.Background()), "\n---\n")
	for _, want := range []string{
		w.path("short") + ` was changed since you last saw it, by the agent "Read the parser" (a1). Take the change into account`,
		"these files were changed; read them again before you rely on them:\n" + w.path("long") + `, by the agent "Read the parser" (a1)`,
		w.path("user") + " was changed since you last saw it, by the user or by a command.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the news lack %q:\n%s", want, got)
		}
	}
}

// TestWorking checks that the table lists each agent's files until the agent has ended.
func TestWorking(t *testing.T) {
	now := time.Unix(1000, 0)
	w := newWorld(t, kinds()[1])
	w.Writers = change.NewWriters(func() time.Time { now = now.Add(time.Second); return now })
	first, second := w.beside(reader), w.beside(tester)
	for i := range 7 {
		first.must(fmt.Sprintf("new%d", i))
	}
	second.must("of the second")
	file := func(name string, second int64) change.ChangedFile {
		return change.ChangedFile{Path: w.path(name), At: time.Unix(second, 0)}
	}
	want := []change.Work{
		{By: tester, Files: []change.ChangedFile{file("of the second", 1008)}},
		{By: reader, Files: []change.ChangedFile{file("new6", 1007), file("new5", 1006), file("new4", 1005), file("new3", 1004), file("new2", 1003)}},
	}
	if diff := cmp.Diff(want, w.Writers.Working()); diff != "" {
		t.Error(diff)
	}
	w.Writers.End(reader.ID)
	if diff := cmp.Diff(want[:1], w.Writers.Working()); diff != "" {
		t.Error(diff)
	}
	w.read("new6")
	first.must("new6")
	if _, err := w.run(t.Context(), "new6"); code(err) == change.CodeChanged {
		t.Errorf("a write of the same bytes: %v", err)
	}
	var none *change.Writers
	none.End("a1")
	if none.Working() != nil {
		t.Error("nil knows something")
	}
}

func TestWritersAreBounded(t *testing.T) {
	w := newWorld(t, kinds()[1])
	w.Writers = change.NewWriters(time.Now)
	var agents sync.WaitGroup
	for i := range 3 {
		a := w.beside(filehistory.Author{ID: fmt.Sprint("a", i)})
		agents.Go(func() {
			for j := range 800 {
				if _, err := a.run(context.Background(), fmt.Sprintf("f%d.%d", i, j)); err != nil {
					t.Error(err)
				}
				a.Writers.Working()
			}
		})
	}
	agents.Wait()
	if n := change.Written(w.Writers); n > 2000 || n < 800 {
		t.Errorf("%d files are known", n)
	}
}
