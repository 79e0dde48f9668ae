package tasklist

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Environment variables with a test process's job and list.
const (
	asWorker   = "ADZE_TASKLIST_WORKER"
	workerList = "ADZE_TASKLIST_HOME"
)

// TestMain runs a worker process for the multi-process tests.
func TestMain(m *testing.M) {
	work := map[string]func(*List, string) error{"claim": claimAll, "random": changeAtRandom, "hold": holdLock}[os.Getenv(asWorker)]
	if work == nil {
		os.Exit(m.Run())
	}
	if err := work(openIn(os.Getenv(workerList)), fmt.Sprint("worker-", os.Getpid())); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

func openIn(home string) *List {
	return Open(Config{Dir: Dir(home, "l"), Locks: filepath.Join(home, "locks"), Warn: func(text string) { fmt.Println("error", text) }})
}

type worker struct {
	*exec.Cmd
	out *bufio.Scanner
}

// start starts processes that work on a list.
func start(t testing.TB, home, what string, n int) (all []worker) {
	t.Helper()
	for range n {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asWorker+"="+what, workerList+"="+home)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, worker{cmd, bufio.NewScanner(out)})
	}
	return all
}

// claimAll claims tasks until none is left, and prints them.
func claimAll(l *List, me string) error {
	for {
		task, ok, err := l.Next(context.Background(), me)
		if err != nil || !ok {
			return err
		}
		fmt.Println(task.ID)
	}
}

// claims makes processes claim tasks, each of which must be claimed once.
func claims(t testing.TB, processes, tasks int) {
	f := newList(t)
	f.must(os.MkdirAll(f.cfg.Dir, 0o700))
	for n := range tasks {
		id := fmt.Sprint(n + 1)
		f.file(id, `{"id":"`+id+`","subject":"x","description":"","status":"pending","blocks":[],"blockedBy":[]}`)
	}
	by := map[string]int{}
	workers := start(t, filepath.Dir(filepath.Dir(f.cfg.Dir)), "claim", processes)
	for i, w := range workers {
		for w.out.Scan() {
			if strings.HasPrefix(w.out.Text(), "error") {
				t.Error(w.out.Text())
			} else if other, twice := by[w.out.Text()]; twice {
				t.Errorf("task %s was claimed by %d and %d", w.out.Text(), other, i)
			}
			by[w.out.Text()] = i
		}
		if err := w.Wait(); err != nil {
			t.Error(err)
		}
	}
	if len(by) != tasks {
		t.Errorf("%d of %d tasks were claimed", len(by), tasks)
	}
	all, err := f.Tasks(t.Context())
	f.must(err)
	for _, task := range all {
		if want := fmt.Sprint("worker-", workers[by[task.ID]].Process.Pid); task.Owner != want || task.Status != InProgress {
			t.Errorf("%s belongs to %s, not %s", task.ID, task.Owner, want)
		}
	}
}

// TestManyClaims checks that each task gets one owner if many processes claim tasks.
//
// Proves TEAM-04.
func TestManyClaims(t *testing.T) { claims(t, 20, 100) }

// BenchmarkClaims makes 20 processes claim 1,000 tasks; it must take less than 10 seconds.
// "scripts/bench agents" runs it:
//
//	go test ./internal/domain/tasklist -run '^$' -bench Claims -benchtime 3x
func BenchmarkClaims(b *testing.B) {
	for b.Loop() {
		begun := time.Now()
		claims(b, 20, 1000)
		if took := time.Since(begun); took > 10*time.Second {
			b.Errorf("1,000 claims took %v", took)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/1000claims")
}

// holdLock locks the list until the process is killed.
func holdLock(l *List, _ string) error {
	return l.locked(context.Background(), func() error {
		fmt.Println("locked")
		for {
			time.Sleep(time.Hour) // a timer keeps the runtime from reporting a deadlock
		}
	})
}

// TestLockOfTheDead checks that a killed process's lock is released.
//
// Proves TEAM-04.
func TestLockOfTheDead(t *testing.T) {
	f := newList(t)
	f.add("a")
	w := start(t, filepath.Dir(filepath.Dir(f.cfg.Dir)), "hold", 1)[0]
	if !w.out.Scan() {
		t.Fatal(w.out.Err())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Claim(ctx, "1", "ada"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is locked: %v", err)
	}
	if err := w.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.Wait() // ok: it was killed
	begun := time.Now()
	if _, err := f.Claim(t.Context(), "1", "ada"); err != nil || time.Since(begun) > time.Minute {
		t.Error(err, time.Since(begun))
	}
}

// changeAtRandom makes random changes to a list, and prints them.
func changeAtRandom(l *List, me string) error {
	ctx := context.Background()
	for i := range 60 {
		all, err := l.Tasks(ctx)
		if err != nil {
			return err
		}
		if err := consistent(all); err != nil {
			return err
		}
		one := func() string {
			if len(all) == 0 {
				return "1"
			}
			return all[rand.N(len(all))].ID
		}
		note := fmt.Sprintf("%s-%d", me, i)
		switch rand.N(8) {
		case 0, 1:
			task, err := l.Create(ctx, Draft{Subject: note}, nil)
			if err != nil {
				return err
			}
			fmt.Println("created", task.ID)
		case 2:
			id := one()
			_, err = l.Delete(ctx, id)
			if err == nil {
				fmt.Println("deleted", id)
			}
		case 3:
			_, err = l.Claim(ctx, one(), me)
		case 4:
			_, err = l.Release(ctx, me)
		case 5: // additions must persist
			id := one()
			_, _, err = l.Update(ctx, id, Change{Metadata: raw(note)})
			if err == nil {
				fmt.Println("noted", id, note)
			}
		default:
			_, _, err = l.Update(ctx, one(), Change{Blocks: []string{one()}, BlockedBy: []string{one()}})
		}
		var refused *Refusal
		if errors.As(err, &refused) && refused.Reason == LockTimeout {
			return err
		}
	}
	return nil
}

func raw(key string) map[string]json.RawMessage {
	return map[string]json.RawMessage{key: json.RawMessage("true")}
}

// consistent returns an error if a list is inconsistent.
func consistent(all []Task) error {
	by := map[string]*Task{}
	for i := range all {
		t := &all[i]
		if i > 0 && number(all[i-1].ID) >= number(t.ID) {
			return fmt.Errorf("%s comes after %s", t.ID, all[i-1].ID)
		}
		by[t.ID] = t
	}
	for _, t := range by {
		for _, id := range t.BlockedBy {
			if other := by[id]; other == nil || !slices.Contains(other.Blocks, t.ID) {
				return fmt.Errorf("%s waits for %s, which does not know", t.ID, id)
			}
		}
		for _, id := range t.Blocks {
			if other := by[id]; other == nil || !slices.Contains(other.BlockedBy, t.ID) {
				return fmt.Errorf("%s blocks %s, which does not know", t.ID, id)
			}
		}
		if cyclic(by, t.ID, map[string]bool{}) {
			return fmt.Errorf("%s waits for itself", t.ID)
		}
	}
	return nil
}

// cyclic reports whether a task transitively waits for itself.
func cyclic(by map[string]*Task, id string, way map[string]bool) bool {
	if way[id] {
		return true
	}
	way[id] = true
	defer delete(way, id)
	for _, next := range by[id].BlockedBy {
		if cyclic(by, next, way) {
			return true
		}
	}
	return false
}

// TestRandomProcesses makes processes change a list at random and kills some of them: ids must
// be unique and increasing, dependencies must be symmetric and acyclic, no file may be
// partially written, and no change may be lost.
//
// Proves TASK-01.
func TestRandomProcesses(t *testing.T) {
	f := newList(t)
	home := filepath.Dir(filepath.Dir(f.cfg.Dir))
	f.add("first", "second", "third")
	created, deleted, noted := map[string]bool{}, map[string]bool{}, map[string]string{}
	const victims = 3
	workers := start(t, home, "random", 6)
	for i, w := range workers {
		if i < victims {
			time.AfterFunc(time.Duration(20+rand.N(200))*time.Millisecond, func() { w.Process.Kill() })
		}
	}
	for i, w := range workers {
		for w.out.Scan() {
			words := strings.Fields(w.out.Text())
			switch words[0] {
			case "error":
				t.Errorf("process %d: %s", i, w.out.Text())
			case "created":
				if created[words[1]] {
					t.Errorf("task %s was made twice", words[1])
				}
				created[words[1]] = true
			case "deleted":
				deleted[words[1]] = true
			case "noted":
				noted[words[2]] = words[1]
			}
		}
		if err := w.Wait(); err != nil && i >= victims {
			t.Error(err)
		}
	}
	all, err := f.Tasks(t.Context())
	f.must(err)
	if err := consistent(all); err != nil {
		t.Error(err)
	}
	by := map[string]Task{}
	for _, task := range all {
		by[task.ID] = task
		if deleted[task.ID] {
			t.Errorf("task %s is back", task.ID)
		}
	}
	lost := 0
	for id := range created {
		if _, ok := by[id]; !ok && !deleted[id] {
			lost++ // deleted by a process killed before reporting it
		}
	}
	if lost > victims {
		t.Errorf("%d tasks are gone that were not deleted", lost)
	}
	for note, id := range noted {
		if task, ok := by[id]; ok && task.Metadata[note] == nil {
			t.Errorf("task %s has lost %s", id, note)
		}
	}
	if len(f.warned) > 0 {
		t.Errorf("broken files: %q", f.warned)
	}
	t.Logf("%d tasks were made, %d deleted, %d notes, %d left", len(created), len(deleted), len(noted), len(all))
}
