package cron

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A clock is set by the test.
type clock struct{ time.Time }

func (c *clock) now() time.Time          { return c.Time }
func (c *clock) advance(d time.Duration) { c.Time = c.Add(d) }

var noon = time.Date(2026, 11, 2, 12, 0, 30, 0, time.UTC) // a Monday

// open returns a table at noon, with a file.
func open(t *testing.T, file string) (*Table, *clock) {
	t.Helper()
	c := &clock{noon}
	if file == "" {
		file = filepath.Join(t.TempDir(), "state", "jobs.json")
	}
	return New(Config{File: file, Locks: filepath.Join(filepath.Dir(file), "locks"), Now: c.now, MaxAge: week}), c
}

func week() time.Duration { return 7 * 24 * time.Hour }

func (t *Table) add(tb testing.TB, d Draft) Job {
	tb.Helper()
	j, err := t.Add(tb.Context(), d)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

// taken describes the due jobs.
func (t *Table) taken(tb testing.TB) string {
	tb.Helper()
	due, err := t.Take(tb.Context())
	if err != nil {
		tb.Error(err)
	}
	var all []string
	for _, f := range due {
		text := f.Prompt
		if f.Verdict != Run {
			text += map[Verdict]string{Missed: " missed", Expired: " expired"}[f.Verdict]
		}
		if f.Late > 0 {
			text += fmt.Sprintf(" late by %v", f.Late)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (t *Table) expect(tb testing.TB, want string) {
	tb.Helper()
	if got := t.taken(tb); got != want {
		tb.Errorf("due is %q, not %q", got, want)
	}
}

// TestDue checks that session and durable jobs run when due, once or repeatedly.
//
// Proves X-101.
func TestDue(t *testing.T) {
	table, clock := open(t, "")
	loop := table.add(t, Draft{Prompt: " look ", Every: 10 * time.Minute})
	table.add(t, Draft{Prompt: "remind", Cron: "5 12 * * *", Once: true})
	daily := table.add(t, Draft{Prompt: "report", Cron: "0 13 * * *", Durable: true})
	if got := loop.When() + ", " + daily.When(); got != "every 10 minutes, 0 13 * * *" {
		t.Error(got)
	}
	if at := table.Next(); !at.Equal(noon.Add(4*time.Minute + 30*time.Second)) {
		t.Errorf("the first is due at %v", at)
	}
	table.expect(t, "")
	table.add(t, Draft{Prompt: "now", Every: 24 * time.Hour, AtOnce: true})
	table.expect(t, "now")
	table.expect(t, "")
	clock.advance(4*time.Minute + 30*time.Second)
	table.expect(t, "remind")
	table.expect(t, "")
	clock.advance(5*time.Minute + 30*time.Second)
	table.expect(t, "look")
	table.expect(t, "")
	clock.advance(10*time.Minute + time.Second)
	table.expect(t, "look")
	if at := table.Next(); !at.Equal(noon.Add(30 * time.Minute)) {
		t.Errorf("the interval drifts: %v", at)
	}
	if _, err := table.Remove(t.Context(), loop.ID[:6]); err != nil {
		t.Fatal(err)
	}
	clock.Time = daily.Due.Add(-time.Second)
	table.expect(t, "")
	clock.Time = daily.Due.Add(15 * time.Minute)
	if got := table.taken(t); !strings.HasPrefix(got, "report") {
		t.Error(got)
	}
	table.expect(t, "")
}

// TestJitter checks that a recurring cron job is late by an amount derived from its id, at most
// a tenth of the interval and 15 minutes, and that a one-time job is not.
//
// Proves X-101.
func TestJitter(t *testing.T) {
	for cron, most := range map[string]time.Duration{"*/5 * * * *": 30 * time.Second, "0 13 * * *": 15 * time.Minute} {
		spread := map[time.Duration]bool{}
		for range 50 {
			j, err := newJob(Draft{Prompt: "x", Cron: cron}, noon, week())
			if err != nil {
				t.Fatal(err)
			}
			first := j.Fires()
			d := first.Sub(j.Due)
			if again := j.Fires(); d < 0 || d > most || !again.Equal(first) {
				t.Errorf("%s runs %v late", cron, d)
			}
			spread[d] = true
			if j.Once = true; !j.Fires().Equal(j.Due) {
				t.Error("a single time is late")
			}
		}
		if len(spread) < 5 {
			t.Errorf("%s: 50 jobs run at %d times", cron, len(spread))
		}
	}
}

// TestMissedAndExpired checks that a job due while the machine slept or no session was open
// runs once with its delay, unless that exceeds a day, and that a recurring job ends after a
// week.
//
// Proves X-101.
func TestMissedAndExpired(t *testing.T) {
	table, clock := open(t, "")
	table.add(t, Draft{Prompt: "loop", Every: time.Hour})
	clock.advance(5*time.Hour + 10*time.Minute)
	table.expect(t, "loop late by 4h10m0s")
	table.expect(t, "")
	if at := table.Next(); !at.Equal(noon.Add(6 * time.Hour)) {
		t.Errorf("next at %v", at)
	}
	table.add(t, Draft{Prompt: "once", Cron: "0 18 * * *", Once: true, Durable: true})
	clock.advance(48 * time.Hour)
	table.expect(t, "loop missed late by 47h10m0s, once missed late by 47h10m30s")
	clock.advance(5 * 24 * time.Hour)
	if got := table.taken(t); !strings.HasPrefix(got, "loop expired") {
		t.Error(got)
	}
	if !table.Next().IsZero() {
		t.Error("it is still there")
	}
}

// TestClockPutBack checks that jobs run again after a clock far ahead is corrected, and that
// putting the clock back a little does not run a job twice.
func TestClockPutBack(t *testing.T) {
	table, clock := open(t, "")
	table.add(t, Draft{Prompt: "session", Every: 10 * time.Minute})
	table.add(t, Draft{Prompt: "durable", Every: 10 * time.Minute, Durable: true})
	clock.advance(10 * time.Minute)
	table.expect(t, "session, durable")
	clock.advance(-time.Minute)
	table.expect(t, "")
	clock.advance(13 * time.Hour)
	table.expect(t, "session late by 12h49m0s, durable late by 12h49m0s")
	clock.Time = noon.Add(20 * time.Minute)
	table.expect(t, "")
	clock.advance(10 * time.Minute)
	table.expect(t, "session, durable")
}

func TestRefusedDrafts(t *testing.T) {
	table, _ := open(t, "")
	for want, d := range map[string]Draft{
		"no prompt":               {Cron: "* * * * *"},
		"longer than 8192 bytes":  {Prompt: strings.Repeat("x", MaxPrompt+1), Cron: "* * * * *"},
		"is not valid UTF-8":      {Prompt: "\xff", Cron: "* * * * *"},
		"invalid cron expression": {Prompt: "x", Cron: "soon"},
		"the interval is 30s":     {Prompt: "x", Every: 30 * time.Second},
		"the interval is 0s":      {Prompt: "x"},
		"both":                    {Prompt: "x", Cron: "* * * * *", Every: time.Hour},
		"1 January 2027 for the first time, and a job that recurs ends after 7 days": {Prompt: "x", Cron: "@yearly"},
	} {
		if _, err := table.Add(t.Context(), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for i := range MaxJobs {
		table.add(t, Draft{Prompt: "x", Every: time.Hour, Durable: i%10 == 0})
	}
	for _, durable := range []bool{true, false} {
		if _, err := table.Add(t.Context(), Draft{Prompt: "x", Every: time.Hour, Durable: durable}); err == nil || !strings.Contains(err.Error(), "50 jobs already") {
			t.Errorf("one more: %v", err)
		}
	}
	if _, err := table.Remove(t.Context(), "nope"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if _, err := New(Config{Now: time.Now, MaxAge: week}).Add(t.Context(), Draft{Prompt: "x", Every: time.Hour, Durable: true}); err == nil {
		t.Error("a durable job without a file")
	}
}

// TestFailures checks that three consecutive failures end a job, and that costs are added up.
//
// Proves X-101.
func TestFailures(t *testing.T) {
	for _, durable := range []bool{false, true} {
		table, _ := open(t, "")
		j := table.add(t, Draft{Prompt: "x", Every: time.Hour, Durable: durable})
		for i, result := range []Result{Failed, Failed, Succeeded, Failed, Failed, Interrupted, Failed} {
			got, ended, err := table.Done(t.Context(), j, 0.25, result)
			if err != nil || ended != (i == 6) || got.CostUSD != 0.25*float64(i+1) || got.Runs != i+1 {
				t.Errorf("run %d: %+v, %v, %v", i, got, ended, err)
			}
		}
		if list, err := table.List(t.Context()); len(list) > 0 || err != nil {
			t.Error(list, err)
		}
	}
}

// TestBrokenFile checks that an unreadable file is renamed and reported, and that a file of a
// later version is not touched. An invalid job is listed with the reason, and the others run.
//
// Proves X-101.
func TestBrokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"{\"version\":1,\"jobs\":[{", "", "[]", "{}"} {
		write(text)
		table, _ := open(t, file)
		if _, err := table.Take(t.Context()); err == nil || !strings.Contains(err.Error(), "were moved to "+file) {
			t.Errorf("%q: %v", text, err)
		}
		kept, _ := filepath.Glob(file + ".*.broken")
		if len(kept) != 1 {
			t.Fatalf("%q is kept in %q", text, kept)
		}
		if got, err := os.ReadFile(kept[0]); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
		os.Remove(kept[0])
		table.add(t, Draft{Prompt: "x", Every: time.Hour, Durable: true})
	}
	const later = `{"version":2,"jobs":"other"}`
	write(strings.Replace(later, `"other"`, `[]`, 1))
	table, clock := open(t, file)
	if _, err := table.Add(t.Context(), Draft{Prompt: "x", Every: time.Hour, Durable: true}); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Error(err)
	}
	write(`{"version":1,"jobs":[{"id":"a1","prompt":"bad","cron":"99 * * * *"},{"id":"a2","prompt":"no time","every":600000000000},` +
		`{"id":"a3","prompt":"good","every":600000000000,"due":"2026-11-02T12:10:00Z","expires":"2026-11-09T12:00:00Z"}]}`)
	list, err := table.List(t.Context())
	if err != nil || len(list) != 3 || !strings.Contains(list[0].Flaw, "99") || list[1].Flaw == "" || list[2].Flaw != "" {
		t.Fatal(list, err)
	}
	clock.advance(10 * time.Minute)
	table.expect(t, "good")
	if _, err := table.Remove(t.Context(), "a1"); err != nil {
		t.Error(err)
	}
}

// TestTablesOfOneFile checks that a second table of the same file sees jobs that others add and
// remove.
func TestTablesOfOneFile(t *testing.T) {
	one, _ := open(t, "")
	other, clock := open(t, one.cfg.File)
	j := one.add(t, Draft{Prompt: "x", Every: time.Hour, Durable: true})
	clock.advance(time.Hour)
	other.expect(t, "x")
	if _, err := other.Remove(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	if list, err := one.List(t.Context()); len(list) > 0 || err != nil {
		t.Error(list, err)
	}
}

const asWorker = "ADZE_SCHEDULE_TEST_FILE"

// TestMain runs a worker process that takes due jobs, for the multi-process tests.
func TestMain(m *testing.M) {
	file := os.Getenv(asWorker)
	if file == "" {
		os.Exit(m.Run())
	}
	c := &clock{noon}
	table := New(Config{File: file, Locks: filepath.Join(filepath.Dir(file), "locks"), Now: c.now, MaxAge: week})
	for range 40 {
		c.advance(time.Minute)
		due, err := table.Take(context.Background())
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		for _, f := range due {
			fmt.Println(f.ID, c.Format(time.RFC3339))
		}
	}
	os.Exit(0)
}

// TestProcesses checks that each job is run by a single process, and that a process killed at
// any moment leaves the file intact and its jobs are not taken again.
//
// Proves X-101.
func TestProcesses(t *testing.T) {
	table, _ := open(t, "")
	for range 5 {
		table.add(t, Draft{Prompt: "x", Every: time.Minute, Durable: true})
	}
	var workers []*exec.Cmd
	var outputs []*bufio.Scanner
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asWorker+"="+table.cfg.File)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		workers, outputs = append(workers, cmd), append(outputs, bufio.NewScanner(out))
	}
	seen := map[string]bool{}
	for i, out := range outputs {
		for lines := 0; out.Scan(); lines++ {
			if seen[out.Text()] || strings.HasPrefix(out.Text(), "error") {
				t.Errorf("worker %d: %s", i, out.Text())
			}
			seen[out.Text()] = true
			if i == 0 && lines == 3 {
				workers[0].Process.Kill()
			}
		}
		if err := workers[i].Wait(); err != nil && i > 0 {
			t.Error(err)
		}
	}
	list, err := table.List(t.Context())
	if len(list) != 5 || err != nil {
		t.Fatal(list, err)
	}
	for _, j := range list {
		if want := noon.Add(41 * time.Minute); !j.Due.Equal(want) {
			t.Errorf("%s is due at %v, not %v", j.ID, j.Due, want)
		}
	}
}
