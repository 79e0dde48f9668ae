//go:build unix

package change_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/platform/fs/filehistory"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// TestAgentsAtOnce checks that agents editing the same files concurrently lose no changes, that
// each late edit is refused with a note, and that undoing one agent's changes does not affect
// the others'.
//
// Proves EDIT-02, EDIT-09, HIST-04.
func TestAgentsAtOnce(t *testing.T) {
	const agents, edits = 4, 12
	w := newWorld(t, kinds()[0])
	h, err := filehistory.Open(t.TempDir()+"/history", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	w.History, w.Writers = h, change.NewWriters(time.Now)
	var base strings.Builder
	for i := range agents * edits {
		fmt.Fprintf(&base, "slot %03d\n-\n", i)
	}
	for _, name := range []string{"f", "g"} {
		w.write(name, base.String())
	}
	h.Begin("m1")
	var all sync.WaitGroup
	var mu sync.Mutex
	told := 0
	for n := range agents {
		a := w.beside(filehistory.Author{ID: fmt.Sprint("a", n), Title: fmt.Sprint("Agent ", n)})
		a.History = h
		all.Go(func() {
			for i := range edits {
				name := []string{"f", "g"}[i%2]
				for tries := 0; ; tries++ {
					if err := record(a.State, a.path(name)); err != nil {
						t.Error(err)
						return
					}
					err := a.replace(name, fmt.Sprintf("slot %03d", i*agents+n), fmt.Sprintf("done %03d by a%d", i*agents+n, n))
					if err == nil {
						break
					}
					if code(err) != change.CodeChanged || tries > 1000 {
						t.Error(err)
						return
					}
					if strings.Contains(err.Error(), "the agent") {
						mu.Lock()
						told++
						mu.Unlock()
					}
				}
			}
		})
	}
	all.Wait()
	w.Wait()
	t.Logf("%d notices to agents about changes by others", told)
	for _, name := range []string{"f", "g"} {
		if n := strings.Count(w.content(name), " by a"); n != agents*edits/2 {
			t.Fatalf("%s has %d edits, not %d", name, n, agents*edits/2)
		}
	}
	if got := w.Writers.Working(); len(got) != agents {
		t.Errorf("%d agents work", len(got))
	}
	of := func(name, agent string) (lines []string) {
		for line := range strings.Lines(w.content(name)) {
			if strings.HasSuffix(strings.TrimSpace(line), "by "+agent) == (agent != "") && strings.Contains(line, " by ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	before := map[string][]string{}
	for n := 1; n < agents; n++ {
		for _, name := range []string{"f", "g"} {
			before[fmt.Sprint(name, n)] = of(name, fmt.Sprint("a", n))
		}
	}
	report, err := h.Rewind(context.Background(), "a0", filehistory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f", "g"} {
		left := slices.ContainsFunc(report.Later, func(l filehistory.LaterChange) bool { return l.Path == w.path(name) })
		if got := len(of(name, "a0")); left && got != edits/2 || !left && got != 0 {
			t.Errorf("%s has %d lines of the agent; it was left: %v", name, got, left)
		}
		for n := 1; n < agents; n++ {
			if !slices.Equal(before[fmt.Sprint(name, n)], of(name, fmt.Sprint("a", n))) {
				t.Errorf("%s: the lines of agent %d are other ones", name, n)
			}
		}
	}
	if len(report.Changes) == 0 {
		t.Errorf("nothing was taken back: %+v", report)
	}
}

// replace edits a file as the model would.
func (w *world) replace(name, old, fresh string) error {
	input, err := json.Marshal(map[string]string{"file_path": w.path(name), "old_string": old, "new_string": fresh})
	if err != nil {
		return err
	}
	call, err := w.tool.Bind(input)
	if err != nil {
		return err
	}
	_, err = call.Run(context.Background(), func(tool.Progress) {})
	return err
}
