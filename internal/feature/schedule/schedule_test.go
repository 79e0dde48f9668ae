package schedule

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/agent"
	"adze/internal/domain/cron"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stage is a session with jobs and a scripted model.
type stage struct {
	*Runner
	t      *testing.T
	s      *session.Session
	file   string
	player *replay.Player
}

// newStage returns a session with a front end attached.
func newStage(t *testing.T, script string) *stage {
	t.Helper()
	st := open(t, script, filepath.Join(t.TempDir(), "jobs.json"))
	st.Attend(typed)
	return st
}

// typed builds a prompt from typed text; /gone is a command that no longer exists.
func typed(_ context.Context, text string) (session.Prompt, error) {
	if text == "/gone" {
		return session.Prompt{}, errors.New("unknown command /gone")
	}
	return session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}, nil
}

func open(t *testing.T, script, file string) *stage {
	t.Helper()
	sc, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, file: file, player: replay.NewPlayer(sc)}
	st.Runner = New(Config{
		Table: cron.New(cron.Config{File: file, Locks: filepath.Join(filepath.Dir(file), "locks"), Now: time.Now, MaxAge: func() time.Duration { return 7 * 24 * time.Hour }}),
		Now:   time.Now, Language: func() texts.Language { return texts.English },
		Session: func() *session.Session { return st.s },
	})
	st.s = session.Open(t.Context(), session.Config{
		Provider: st.player.Provider(),
		Models:   session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 200_000}, nil }},
		Tools:    session.Tools{Registry: tool.NewRegistry()},
		PromptHooks: []session.PromptHook{{Name: "schedule", Run: st.PromptHook}, {Name: "slow", Run: func(ctx context.Context, p session.Prompt) session.HookResult {
			if msg.PlainText(p.Parts) == "work" { // simulates a slow prompt
				select {
				case <-time.After(55 * time.Minute):
				case <-ctx.Done():
				}
			}
			return session.HookResult{}
		}}},
		Records: session.Records{Ledger: cost.New(func(string) cost.Facts {
			return cost.Facts{Price: &model.Price{Output: 1000}}
		})},
	})
	t.Cleanup(st.leave)
	return st
}

func (st *stage) leave() {
	st.Runner.Close()
	st.s.Close()
}

func (st *stage) add(d cron.Draft) cron.Job {
	st.t.Helper()
	j, err := st.Add(st.t.Context(), d)
	if err != nil {
		st.t.Fatal(err)
	}
	return j
}

// wait advances the time and lets everything due happen.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// story returns the session's prompts and notices so far.
func (st *stage) story() (lines []string) {
	ctx, cancel := context.WithCancel(st.t.Context())
	defer cancel()
	last := st.s.Last()
	if last == 0 {
		return nil
	}
	for e := range st.s.Entries(ctx, 0, session.Latest) {
		if ev, ok := e.Event.(session.Loop); ok {
			switch ev := ev.Event.(type) {
			case agent.Notice:
				lines = append(lines, ev.Text)
			case agent.Appended:
				if ev.Entry.Message.Role == msg.User {
					lines = append(lines, "> "+ev.Entry.Message.Parts[0].(*msg.Text).Text)
				}
			}
		}
		if e.Seq == last {
			break
		}
	}
	return lines
}

func (st *stage) expect(want ...string) {
	st.t.Helper()
	if diff := cmp.Diff(want, st.story()); diff != "" {
		st.t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLoop checks that a due prompt is submitted, and that the user and the model see the job
// and its cost.
//
// Proves X-131.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nexpect last \"The schedule submitted this prompt (every 10 minutes)\"\nsay fine\nusage input=10 output=20")
		st.add(cron.Draft{Prompt: "look", Every: 10 * time.Minute, AtOnce: true})
		wait(time.Second)
		st.expect("/loop every 10 minutes: look (run 1)", "> look")
		wait(10 * time.Minute)
		wait(10 * time.Minute)
		st.expect(
			"/loop every 10 minutes: look (run 1)", "> look",
			"/loop every 10 minutes: look (run 2, $0.02 so far)", "> look",
			"/loop every 10 minutes: look (run 3, $0.04 so far)", "> look",
		)
		list, err := st.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Runs != 3 {
			t.Errorf("%+v, %v", list, err)
		}
		if _, err := st.Remove(t.Context(), list[0].ID); err != nil {
			t.Error(err)
		}
		last := st.s.Last()
		wait(time.Hour)
		if st.s.Last() != last {
			t.Error("it runs though it was removed")
		}
	})
}

// TestWaitsForTheTurn checks that a prompt waits for a running turn and is not queued twice,
// and that removing a job withdraws its queued prompt.
//
// Proves X-131.
func TestWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nsay fine")
		if err := st.s.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: "work"}}}); err != nil {
			t.Fatal(err)
		}
		st.add(cron.Draft{Prompt: "look", Every: 10 * time.Minute})
		other := st.add(cron.Draft{Prompt: "other", Every: 20 * time.Minute})
		wait(46 * time.Minute)
		if n := len(st.s.Waiting()); n != 2 {
			t.Errorf("%d prompts wait", n)
		}
		if _, err := st.Remove(t.Context(), other.ID); err != nil {
			t.Error(err)
		}
		wait(12 * time.Minute) // the turn ends after 55
		st.expect("> work", "/loop every 10 minutes: look (run 1)", "> look")
		wait(10 * time.Minute)
		if got := strings.Join(st.story(), "\n"); strings.Count(got, "> look") != 2 || strings.Contains(got, "other") {
			t.Error(got)
		}
	})
}

// TestTakenBack checks that a job whose prompt the user withdrew runs again when due.
func TestTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nsay fine")
		st.s.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: "work"}}})
		st.add(cron.Draft{Prompt: "look", Every: 10 * time.Minute})
		wait(12 * time.Minute)
		st.s.Submit(t.Context(), session.Interrupt{Queued: true})
		wait(9 * time.Minute)
		if got := strings.Join(st.story(), "\n"); strings.Count(got, "> look") != 1 {
			t.Error(got)
		}
	})
}

// TestFails checks that a job ends after three consecutive failures, with the reason shown to
// the user. A missing command counts as a failure.
//
// Proves X-131.
func TestFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nerror invalid_request no such thing")
		st.add(cron.Draft{Prompt: "look", Every: 10 * time.Minute})
		st.add(cron.Draft{Prompt: "/gone", Every: time.Hour, Durable: true})
		wait(25 * time.Minute)
		if list, _ := st.List(t.Context()); len(list) != 2 {
			t.Error("it ended early")
		}
		wait(10 * time.Minute)
		got := strings.Join(st.story(), "\n")
		if !strings.Contains(got, "/loop every 10 minutes: look has ended because it failed 3 times in a row: ") || !strings.Contains(got, "no such thing") {
			t.Error(got)
		}
		wait(3 * time.Hour)
		got = strings.Join(st.story(), "\n")
		if !strings.Contains(got, "/gone has ended because it failed 3 times in a row: unknown command /gone") || strings.Count(got, "> look") != 3 {
			t.Error(got)
		}
		if !st.Runner.cfg.Table.Next().IsZero() {
			t.Error("there are jobs left")
		}
	})
}

// TestByModel checks that a prompt written by a model is sent verbatim: it is not a command and
// attaches no files.
func TestByModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nsay fine")
		st.Attend(func(context.Context, string) (session.Prompt, error) {
			t.Error("it is looked up")
			return session.Prompt{}, nil
		})
		st.add(cron.Draft{Prompt: "/exit @secret", Every: time.Minute, ByModel: true})
		wait(time.Minute)
		st.expect("/loop every minute: /exit @secret (run 1)", "> /exit @secret")
	})
}

// TestLaterSession checks that a durable job that came due while no session was open runs once
// in the next one, stating how late it is, unless it was due more than a day ago. Without a
// front end nothing runs, and after a week a job expires.
//
// Proves.
func TestLaterSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nsay fine")
		st.add(cron.Draft{Prompt: "report", Cron: "0 9 * * *", Durable: true})
		st.leave()
		wait(11 * time.Hour) // the start was at midnight
		later := open(t, "forever\nsay fine", st.file)
		wait(time.Hour)
		later.expect()
		later.Attend(typed)
		wait(time.Second)
		got := strings.Join(later.story(), "\n")
		if !strings.HasPrefix(got, "/schedule 0 9 * * *: report (run 1, ") || !strings.HasSuffix(got, "m late)\n> report") {
			t.Error(got)
		}
		later.leave()
		wait(72 * time.Hour)
		again := open(t, "forever\nsay fine", st.file)
		again.Attend(typed)
		wait(time.Second)
		if got := strings.Join(again.story(), "\n"); !strings.Contains(got, "report was due 5") || !strings.Contains(got, "ago and is not run. It runs next on 5 January at 09:") || strings.Contains(got, "> ") {
			t.Error(got)
		}
		wait(5 * 24 * time.Hour)
		if got := strings.Join(again.story(), "\n"); strings.Count(got, "> report") != 3 || !strings.Contains(got, "report has ended, 7 days after it was made; its 4 runs cost $0.0040.") {
			t.Error(got)
		}
	})
}

// TestTwoSessions checks that a durable job runs in only one session of a project, and that the
// other notices with its next prompt.
func TestTwoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, "forever\nsay fine")
		other := open(t, "forever\nsay fine", st.file)
		other.Attend(typed)
		st.add(cron.Draft{Prompt: "look", Every: time.Hour, Durable: true})
		other.s.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: "hello"}}})
		wait(time.Hour)
		wait(time.Hour)
		runs := func(st *stage) int { return strings.Count(strings.Join(st.story(), "\n"), "> look") }
		if n := runs(st) + runs(other); n != 2 {
			t.Errorf("%d runs", n)
		}
		st.leave()
		wait(time.Hour)
		if n := runs(st) + runs(other); n != 3 {
			t.Errorf("%d runs", n)
		}
	})
}

// TestNothingRuns checks that no timer or goroutine exists without jobs.
func TestNothingRuns(t *testing.T) {
	before := runtime.NumGoroutine()
	st := newStage(t, "say never")
	st.PromptHook(t.Context(), session.Prompt{ID: "x"})
	if st.timer != nil || runtime.NumGoroutine() > before {
		t.Error("something runs")
	}
}
