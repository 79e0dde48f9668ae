//go:build unix

package change_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/edit"
)

// Environment of processes started by tests.
const (
	envFile  = "CHANGE_TEST_FILE"
	envLocks = "CHANGE_TEST_LOCKS"
	envFirst = "CHANGE_TEST_FIRST"
)

const editorsEach = 25

func TestMain(m *testing.M) {
	if os.Getenv(envFile) != "" {
		os.Exit(editors())
	}
	os.Exit(m.Run())
}

// editors replaces tokens in a file, each in its own session, and prints how often an edit was
// refused because the file had changed.
func editors() int {
	var first int
	fmt.Sscan(os.Getenv(envFirst), &first)
	replacer := replace.New(os.Getenv(envLocks))
	var wg sync.WaitGroup
	var mu sync.Mutex
	told, failed := 0, 0
	for i := range editorsEach {
		wg.Go(func() {
			n, err := replaceToken(replacer, os.Getenv(envFile), first+i)
			mu.Lock()
			defer mu.Unlock()
			told += n
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				failed = 1
			}
		})
	}
	wg.Wait()
	fmt.Println(told)
	return failed
}

// replaceToken reads and edits until the edit succeeds.
func replaceToken(r *replace.Replacer, path string, n int) (told int, err error) {
	files := &change.Files{Dir: func() string { return filepath.Dir(path) }, State: filestate.New(), Replacer: r}
	t := edit.New(edit.Config{Files: files})
	input := json.RawMessage(fmt.Sprintf(`{"file_path":%q,"old_string":"<token %d>","new_string":"<done %d>"}`, path, n, n))
	for {
		if err := record(files.State, path); err != nil {
			return told, err
		}
		call, err := t.Bind(input)
		if err != nil {
			return told, err
		}
		if _, err = call.Run(context.Background(), func(tool.Progress) {}); code(err) != change.CodeChanged {
			return told, err
		}
		told++
	}
}

func tokens(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<%s %d>\n", word, i)
	}
	return b.String()
}

// Proves EDIT-09.
func TestManyCallsOfOneSession(t *testing.T) {
	w := newWorld(t, kinds()[0])
	const n = 50
	w.write("f.txt", tokens(n, "token"))
	w.read("f.txt")
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			input := fmt.Sprintf(`{"file_path":"f.txt","old_string":"<token %d>","new_string":"<done %d>"}`, i, i)
			if _, err := w.bind(json.RawMessage(input)).Run(t.Context(), func(tool.Progress) {}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := w.content("f.txt"); got != tokens(n, "done") {
		t.Errorf("content %q", got)
	}
}

// Proves EDIT-09, EDIT-02.
func TestManySessionsOfManyProcesses(t *testing.T) {
	w := newWorld(t, kinds()[0])
	const processes = 8
	w.write("f.txt", tokens(processes*editorsEach, "token"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	told := 0
	for p := range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envFile+"="+w.path("f.txt"), envLocks+"="+filepath.Join(w.home, "locks"), fmt.Sprint(envFirst, "=", p*editorsEach))
		cmd.Stderr = os.Stderr
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			n := 0
			fmt.Sscan(string(out), &n)
			told += n
		})
	}
	wg.Wait()
	if got := w.content("f.txt"); got != tokens(processes*editorsEach, "done") {
		t.Errorf("an update was lost: %d of %d are left", strings.Count(got, "token"), processes*editorsEach)
	}
	if told == 0 { // so many edits must collide at least once
		t.Error("no notice about the changed file")
	}
	if entries, _ := os.ReadDir(w.root); len(entries) != 1 {
		t.Errorf("files left behind: %v", entries)
	}
}

// Proves TOOL-09.
func TestInterruptedAnyTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for range 60 {
			w.write(w.kind.file, w.kind.before)
			w.read(w.kind.file)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				for range rand.IntN(2000) {
					runtime.Gosched()
				}
				cancel()
			})
			_, err := w.run(ctx, w.kind.file)
			wg.Wait()
			want := w.kind.after
			if err != nil {
				want = w.kind.before
			}
			if got := w.content(w.kind.file); got != want {
				t.Fatalf("error %v, content %q", err, got)
			}
		}
	})
}

// BenchmarkEditsWithHistory alternates between editing small files and doing the same writes
// with only a temporary file, a sync and a rename. It reports the median of both, since the
// machine has other load.
func BenchmarkEditsWithHistory(b *testing.B) {
	w := newWorld(b, kinds()[0])
	h, err := filehistory.Open(filepath.Join(w.home, "history"), 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	w.History = h
	var edits, bare []time.Duration
	for n := 0; b.Loop(); n++ {
		name := fmt.Sprint("f", n)
		content := fmt.Sprintf("%s%d\nold\n", strings.Repeat("some text\n", 200), n)
		w.write(name, content)
		w.write(name+"b", content)
		w.read(name)
		if n%10 == 0 {
			h.Begin(name)
		}
		start := time.Now()
		w.must(name)
		edits = append(edits, time.Since(start))
		start = time.Now()
		if err := bareWrite(w.path(name+"b"), content); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(start))
	}
	slices.Sort(edits)
	slices.Sort(bare)
	e, r := edits[len(edits)/2], bare[len(bare)/2]
	b.ReportMetric(float64(e.Microseconds()), "edit-µs")
	b.ReportMetric(float64(r.Microseconds()), "bare-µs")
	b.ReportMetric(float64(e)/float64(r), "ratio")
}

func bareWrite(path, content string) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
