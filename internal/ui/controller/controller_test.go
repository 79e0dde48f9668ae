package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/controller"
	"adze/internal/ui/controller/controllertest"
)

// A user drives a Driver and records what the view shows.
type user struct {
	*controller.Driver
	console *controllertest.Console
	log     []string
	holding bool
}

// start opens a session that answers with a script.
func start(t *testing.T, script string, change func(*controllertest.Setup, *controller.Config)) *user {
	t.Helper()
	parsed, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	u := &user{}
	c, setup := controllertest.New(t, replay.NewPlayer(parsed).Provider())
	cfg := controller.Config{Open: setup.Open}
	if change != nil {
		change(setup, &cfg)
	}
	u.console, u.Driver = c, controller.New(cfg)
	c.Start(u)
	return u
}

// Run runs the driver with the user's view.
func (u *user) Run(ctx context.Context) error { return u.Driver.Run(ctx, u) }

// do calls f as the front end would, and waits until nothing happens any more.
func (u *user) do(f func(ctx context.Context)) {
	u.console.T.Helper()
	if !u.Post(u.console.T.Context(), f) {
		u.console.T.Fatal("the driver has ended")
	}
	synctest.Wait()
}

// enter enters lines.
func (u *user) enter(lines ...string) {
	u.console.T.Helper()
	for _, line := range lines {
		u.do(func(ctx context.Context) { u.Enter(ctx, controller.Input{Text: line}) })
	}
}

// after lets time pass.
func (u *user) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// expect compares what was shown since the last call.
func (u *user) expect(want ...string) {
	u.console.T.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, u.log); diff != "" {
		u.console.T.Errorf("shown (-want +got):\n%s", diff)
	}
	u.log = nil
}

// said returns the user's messages in the last session.
func (u *user) said() (texts []string) {
	sessions := u.console.Sessions
	for _, e := range sessions[len(sessions)-1].Conversation() {
		if e.Message.Role == msg.User && e.Message.Text() != "" {
			texts = append(texts, e.Message.Text())
		}
	}
	return texts
}

// leave quits if the user has not left, and closes the sessions.
func (u *user) leave() {
	u.console.T.Helper()
	synctest.Wait()
	if u.Conversation() != nil {
		u.do(func(context.Context) { u.Quit() })
	}
	u.console.End()
}

func (u *user) note(format string, args ...any) { u.log = append(u.log, fmt.Sprintf(format, args...)) }

func (u *user) Say(text string)                              { u.note("say %s", text) }
func (u *user) Fail(err error)                               { u.note("fail %v", err) }
func (u *user) Page(p commands.Page)                         { u.page("page", p) }
func (u *user) Whole(p commands.Page)                        { u.page("whole", p) }
func (u *user) Left(*controller.Conversation)                { u.note("left") }
func (u *user) Settled(controller.Question, session.Settled) { u.note("settled") }
func (u *user) Postponed()                                   { u.note("postponed") }
func (u *user) Began(_, title string)                        { u.note("began %s", title) }
func (u *user) Progress(string, tool.Display)                {}
func (u *user) Over(id string)                               {}
func (u *user) TaskEnded(t *task.Task)                       { u.note("task ended") }
func (u *user) Typing() bool                                 { return u.holding }
func (u *user) Holding() bool                                { return u.holding }
func (u *user) Return(text string, _ []msg.Span)             { u.note("return %s", text) }
func (u *user) Ready()                                       {}
func (u *user) Resume()                                      {}
func (u *user) Frame() <-chan struct{}                       { return nil }
func (u *user) Tick()                                        {}
func (u *user) Yield()                                       { u.note("yield") }

func (u *user) page(how string, p commands.Page) {
	if len(p.Blocks) > 0 {
		u.note("%s %v", how, p.Blocks)
	}
}

func (u *user) Begin(_ *controller.Conversation, first string) {
	u.note("begin %q", first)
}

func (u *user) Entry(e session.Entry) {
	switch e.Event.(type) {
	case session.Started:
		u.note("started")
	case session.Finished:
		u.note("finished")
	}
}

func (u *user) Ask(q controller.Question) {
	if q.Suggestion != nil {
		u.note("suggest %s", q.Suggestion.Question)
		return
	}
	u.note("ask %T", q.Question)
}

func (u *user) Offer(_ context.Context, l commands.List) { u.note("offer %s", l.Choices[0].Title) }

func (u *user) Clipboard(text string) error {
	u.note("clipboard %s", text)
	return nil
}

// answering adds the command /answer, which returns an answer.
func answering(s *controllertest.Setup, answer func() (commands.Answer, error)) {
	s.Commands.Env.Commands = func(bool) []commands.Command {
		return append(controllertest.Commands(), commands.Command{Name: "answer", Origin: "a test",
			Run: func(context.Context, *commands.Registry, string) (commands.Answer, error) { return answer() }})
	}
}

// TestEnterWhileTurnRuns checks that input entered during a turn is delivered to the model in
// the turn, or in a turn of its own if it is for later.
//
// Proves SESS-62.
func TestEnterWhileTurnRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := start(t, "use Wait {}\n---\nexpect text \"also\"\nexpect no-text \"later\"\nsay One.\n---\nexpect last \"later\"\nsay Two.", nil)
		u.enter("go", "also")
		u.do(func(ctx context.Context) { u.Enter(ctx, controller.Input{Text: "later", Later: true}) })
		u.after(20 * time.Second)
		u.expect(`begin ""`, "started", "finished", "started", "finished")
		if got := u.said(); !slices.Equal(got, []string{"go", "also", "later"}) {
			t.Errorf("%q", got)
		}
		u.leave()
	})
}

// TestWithdraw checks that queued input can be withdrawn once, and that the model does not
// receive it.
//
// Proves SESS-62.
func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := start(t, "delay 5s\nsay One.", nil)
		u.enter("go")
		p := session.Prompt{ID: "queued", Parts: []msg.Part{&msg.Text{Text: "never"}}}
		u.do(func(ctx context.Context) { u.Enter(ctx, controller.Input{Text: "never", Prompt: p}) })
		withdrawn := []bool{}
		for range 2 {
			u.do(func(ctx context.Context) {
				withdrawn = append(withdrawn, u.Conversation().Submit(ctx, session.Withdraw{ID: p.ID}) == nil)
			})
		}
		u.after(10 * time.Second)
		if !slices.Equal(withdrawn, []bool{true, false}) {
			t.Errorf("withdrawn: %v", withdrawn)
		}
		if got := u.said(); !slices.Equal(got, []string{"go"}) {
			t.Errorf("%q", got)
		}
		u.leave()
	})
}

// TestInterruptAndExit checks which keys stop the work, and which exit.
func TestInterruptAndExit(t *testing.T) {
	const exits = "say Press Ctrl-C again to exit, or use Ctrl-D or /exit."
	tests := []struct {
		name  string
		enter string
		keys  string // c: Ctrl-C, t: Ctrl-C while typing, e: Esc, d: Ctrl-D, s: something else
		want  []string
		left  bool
	}{
		{"once, idle", "", "c", []string{exits}, false},
		{"twice, idle", "", "cc", []string{exits, "left"}, true},
		{"twice, something else in between", "", "csc", []string{exits, exits}, false},
		{"typed text", "", "ct", []string{exits}, false},
		{"typed text, then twice", "", "tcc", []string{exits, "left"}, true},
		{"Esc, idle", "", "e", nil, false},
		{"Ctrl-D", "", "d", []string{"left"}, true},
		{"an exit word", ":q", "", []string{"left"}, true},
		{"a turn", "go", "c", []string{"started", "began Interrupting; Ctrl-C again exits", "finished"}, false},
		{"a turn, Esc", "go", "e", []string{"started", "began Interrupting", "finished"}, false},
		{"a turn, Esc and Ctrl-C", "go", "ec", []string{"started", "began Interrupting", "finished", exits}, false},
		{"a turn, Ctrl-D", "go", "d", []string{"started", "left", "say To continue this session: adze --resume the-session"}, true},
		{"a command", "/slow", "c", []string{"began /slow", "fail interrupted"}, false},
		{"a command, Esc", "/slow", "e", []string{"began /slow", "fail interrupted"}, false},
		{"a command, twice", "/slow", "cc", []string{"began /slow", "fail interrupted", exits}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := start(t, "delay 1m\nsay Never.", func(s *controllertest.Setup, _ *controller.Config) { answering(s, nil) })
				u.log = nil
				if tt.enter != "" {
					u.enter(tt.enter)
					u.after(time.Second)
				}
				for _, key := range tt.keys {
					u.do(func(ctx context.Context) {
						switch key {
						case 'c':
							u.Interrupt(ctx, false)
						case 't':
							u.Interrupt(ctx, true)
						case 'e':
							u.Stop(ctx)
						case 'd':
							u.Exit()
						case 's':
							u.Stay()
						}
					})
				}
				if left := u.Conversation() == nil; left != tt.left {
					t.Errorf("left: %v", left)
				}
				u.expect(tt.want...)
				u.leave()
			})
		})
	}
}

// TestExitWithTasks checks that exiting has to be confirmed while a background task runs.
func TestExitWithTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, running := newTask(t)
		u := start(t, "say Hi.", func(s *controllertest.Setup, _ *controller.Config) { s.Commands.Tasks = table })
		u.log = nil
		u.enter("exit")
		if u.Conversation() == nil || len(u.log) != 3 || !strings.Contains(u.log[0], "1 background task is still running") {
			t.Errorf("after the first: %q", u.log)
		}
		u.log = nil
		u.enter("exit")
		u.expect("left")
		u.leave()
		running.End(task.Killed, "")
		table.Close()
	})
}

// newTask starts a background task.
func newTask(t *testing.T) (*task.Table, *task.Task) {
	t.Helper()
	table := task.New(t.TempDir(), nil)
	running, err := table.Begin(context.Background(), task.Shell, "the build", "make")
	if err == nil {
		err = running.ToBackground()
	}
	if err != nil {
		t.Fatal(err)
	}
	return table, running
}

// TestAnswers checks how each kind of command answer is executed.
//
// Proves CMD-01.
func TestAnswers(t *testing.T) {
	done := commands.Say("Done.")
	list := commands.List{
		Choices: []commands.Choice{{ID: "1", Title: "One"}},
		Choose: func(_ context.Context, c commands.Choice) (commands.Answer, error) {
			return commands.Say("Chose " + c.ID), nil
		},
	}
	failing := controller.Programs{
		Copy:  func(string) (bool, error) { return false, errors.New("no clipboard") },
		Edit:  func(string) error { return errors.New("no editor") },
		Start: func([]string) (bool, error) { return false, errors.New("no program") },
	}
	working := controller.Programs{
		Copy:  func(string) (bool, error) { return true, nil },
		Edit:  func(string) error { return nil },
		Start: func([]string) (bool, error) { return true, nil },
	}
	tests := []struct {
		name     string
		answer   commands.Answer
		err      error
		programs controller.Programs
		want     []string
	}{
		{name: "error", err: errors.New("bad"), want: []string{"fail bad"}},
		{name: "page", answer: done, want: []string{"page [Done.]"}},
		{name: "list", answer: list, want: []string{"offer One", "page [Chose 1]"}},
		{name: "prompt", answer: commands.Prompt{Text: "hello"}, want: []string{"started", "finished"}},
		{name: "operation", answer: commands.Operation{Op: session.SetMode{Mode: "plan"}, Page: done, Draft: "more"}, want: []string{"page [Done.]", "return more"}},
		{name: "operation that is not accepted", answer: commands.Operation{Op: session.Withdraw{ID: "none"}, Page: done}, want: []string{"fail"}},
		{name: "edit", answer: commands.Edit{Path: "a.txt", Page: done}, programs: working, want: []string{"yield", "page [Done.]"}},
		{name: "edit that fails", answer: commands.Edit{Path: "a.txt", Page: done}, programs: failing, want: []string{"yield", "fail no editor"}},
		{name: "edit without an editor", answer: commands.Edit{Path: "a.txt", Page: done}, want: []string{"fail no editor without a terminal; the file is a.txt"}},
		{name: "program", answer: commands.Program{Args: []string{"auth", "login"}, Page: done}, programs: working, want: []string{"yield", "page [Done.]"}},
		{name: "program that fails", answer: commands.Program{Args: []string{"auth", "login"}, Page: done}, programs: failing, want: []string{"yield", "fail no program"}},
		{name: "program without a terminal", answer: commands.Program{Args: []string{"auth", "login"}, Page: done}, want: []string{"fail use adze auth login"}},
		{name: "copy with a program", answer: commands.Copy{Text: "x", Page: done}, programs: working, want: []string{"page [Done.]"}},
		{name: "copy through the terminal", answer: commands.Copy{Text: "x", Page: done}, want: []string{"clipboard x", "page [Done.]"}},
		{name: "copy that fails", answer: commands.Copy{Text: "x", Page: done}, programs: failing, want: []string{"fail no clipboard"}},
		{name: "switch", answer: commands.Switch{Session: "other", Said: "Bye."}, want: []string{"say Bye.", "left", `begin ""`}},
		{name: "leave", answer: commands.Leave{}, want: []string{"left"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := start(t, "say Hi.", func(s *controllertest.Setup, cfg *controller.Config) {
					answering(s, func() (commands.Answer, error) { return tt.answer, tt.err })
					cfg.Programs = tt.programs
				})
				u.log = nil
				u.enter("/answer")
				if list := u.Offered(); list != nil {
					u.do(func(ctx context.Context) { u.Choose(ctx, list.Choices[0]) })
				}
				if len(tt.want) == 1 && tt.want[0] == "fail" && len(u.log) == 1 && strings.HasPrefix(u.log[0], "fail ") {
					u.log = tt.want
				}
				u.expect(tt.want...)
				u.leave()
			})
		})
	}
}

// TestFollow checks that following a task ends with the task, or when the user stops it, in
// which case the task continues.
func TestFollow(t *testing.T) {
	for _, stop := range []bool{false, true} {
		t.Run(fmt.Sprintf("stop=%v", stop), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, running := newTask(t)
				u := start(t, "say Hi.", func(s *controllertest.Setup, _ *controller.Config) {
					s.Commands.Tasks = table
					answering(s, func() (commands.Answer, error) { return commands.Follow{Task: running}, nil })
				})
				u.enter("/answer")
				if !u.Following() {
					t.Error("the task is not followed")
				}
				if stop {
					u.do(func(ctx context.Context) { u.Stop(ctx) })
				} else {
					running.End(task.Completed, "")
					synctest.Wait()
				}
				if u.Following() || u.Busy() {
					t.Error("the task is still followed")
				}
				if got := running.Status() == task.Running; got != stop {
					t.Errorf("running: %v", got)
				}
				u.leave()
				if stop {
					running.End(task.Killed, "")
				}
				table.Close()
			})
		})
	}
}

// TestQuestionWhileTyping checks that a question waits until the user has finished typing, that
// the second waits for the first one's answer, and that one settled elsewhere is not shown.
//
// Proves PERM-17.
func TestQuestionWhileTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := start(t, "say Hi.", nil)
		u.log = nil
		replies := make(chan session.Reply, 2)
		ask := func(ctx context.Context, q session.Question) {
			go func() {
				r, _ := u.console.Sessions[0].Ask(ctx, q) // ok: no reply then
				replies <- r
			}()
			synctest.Wait()
		}
		u.do(func(context.Context) { u.holding = true })
		ask(t.Context(), session.Visit{From: "docs", URL: "https://example.com", Host: "example.com"})
		ctx, withdraw := context.WithCancelCause(t.Context())
		ask(ctx, session.Sampling{From: "docs", Text: "Why?", MaxTokens: 10})
		u.do(func(ctx context.Context) { u.Answer(ctx, session.Visited{Action: session.Accept}) })
		u.expect()
		if u.Asking() || !u.Held() {
			t.Errorf("asking: %v, held: %v", u.Asking(), u.Held())
		}
		u.do(func(context.Context) { u.holding = false })
		u.expect("ask session.Visit")
		u.do(func(ctx context.Context) { u.Answer(ctx, session.Visited{Action: session.Decline}) })
		u.expect("ask session.Sampling")
		withdraw(tool.Withdrawal("the server has ended"))
		u.expect("settled")
		if r, ok := (<-replies).(session.Visited); !ok || r.Action != session.Decline {
			t.Errorf("reply: %+v", r)
		}
		<-replies
		u.leave()
	})
}

// TestModeCycle checks the cycle through the available permission modes.
func TestModeCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := start(t, "say Hi.", func(s *controllertest.Setup, _ *controller.Config) {
			s.Commands.Permission.Allowed = func(mode string) bool { return mode != "bypassPermissions" }
		})
		first := u.console.Mode
		modes := []string{first}
		for range 10 {
			u.do(func(ctx context.Context) { u.Submit(ctx, session.SetMode{Mode: u.Conversation().NextMode()}) })
			if u.console.Mode == first {
				break
			}
			modes = append(modes, u.console.Mode)
		}
		if u.console.Mode != first || len(modes) < 3 || slices.Contains(modes, "bypassPermissions") || len(slices.Compact(slices.Sorted(slices.Values(modes)))) != len(modes) {
			t.Errorf("%q, then %q", modes, u.console.Mode)
		}
		u.leave()
	})
}

// TestInputDuringSwitch checks that input made while a session is opened goes to the new one,
// and is dropped if that cannot be opened.
func TestInputDuringSwitch(t *testing.T) {
	tests := []struct {
		to     string
		want   []string
		opened []string
		said   []string
	}{
		{"other", []string{"left", `begin ""`, "started", "finished"}, []string{"", "other"}, []string{"hello"}},
		{"missing", []string{"left", "fail no session missing", "say Unsent input was discarded."}, []string{""}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.to, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := start(t, "say Hi.", func(s *controllertest.Setup, _ *controller.Config) {
					answering(s, func() (commands.Answer, error) { return commands.Switch{Session: tt.to}, nil })
				})
				u.log = nil
				u.do(func(ctx context.Context) {
					u.Enter(ctx, controller.Input{Text: "/answer"})
					u.Defer(func(ctx context.Context) { u.Enter(ctx, controller.Input{Text: "hello"}) })
				})
				u.expect(tt.want...)
				if !slices.Equal(u.console.Opened, tt.opened) {
					t.Errorf("opened %q", u.console.Opened)
				}
				if got := u.said(); !slices.Equal(got, tt.said) {
					t.Errorf("%q", got)
				}
				u.leave()
			})
		})
	}
}

// TestInputDuringCommand checks that input made while a command runs is handled after it, in
// order, also if the command switches sessions.
//
// Proves CMD-01.
func TestInputDuringCommand(t *testing.T) {
	for _, switches := range []bool{false, true} {
		t.Run(fmt.Sprintf("switches=%v", switches), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := start(t, "say One.\n---\nsay Two.", func(s *controllertest.Setup, _ *controller.Config) {
					answering(s, func() (commands.Answer, error) {
						time.Sleep(time.Second)
						if switches {
							return commands.Switch{Session: "other"}, nil
						}
						return commands.Say("Done."), nil
					})
				})
				u.log = nil
				u.enter("/answer", "first", "/version")
				u.after(5 * time.Second)
				want := []string{"began /answer", "page [Done.]"}
				if switches {
					want = []string{"began /answer", "left", `begin ""`}
				}
				if len(u.log) < 5 || !slices.Equal(u.log[:len(want)], want) {
					t.Errorf("%q", u.log)
				}
				if got := u.said(); !slices.Equal(got, []string{"first"}) {
					t.Errorf("%q", got)
				}
				u.leave()
			})
		})
	}
}

// TestRewind checks that going back restores the conversation and returns the message to the
// input.
func TestRewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u *user
		u = start(t, "say One.\n---\nsay Two.", func(s *controllertest.Setup, _ *controller.Config) {
			answering(s, func() (commands.Answer, error) {
				turns := u.Conversation().Turns()
				return commands.Operation{Op: session.Rewind{To: turns[0].ID}, Entries: true, Draft: "second"}, nil
			})
		})
		u.enter("first", "second")
		u.log = nil
		u.enter("/answer")
		u.expect("return second", "started", "finished")
		if got := u.said(); !slices.Equal(got, []string{"first"}) {
			t.Errorf("%q", got)
		}
		u.leave()
	})
}

// TestSuggestion checks that a suggestion is shown while idle, and withdrawn by a message.
func TestSuggestion(t *testing.T) {
	tests := []struct {
		name    string
		respond int // -2 sends a message instead
		want    []string
	}{
		{"answered", 0, []string{"say Answer 0"}},
		{"Esc", -1, []string{"say Answer 1"}},
		{"a message", -2, []string{"postponed", "started", "finished"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := start(t, "say Hi.", func(_ *controllertest.Setup, cfg *controller.Config) {
					cfg.Suggest = func(context.Context) *controller.Suggestion {
						return &controller.Suggestion{Question: "Try it?", Answers: []string{"yes", "no"}, Later: 1,
							Answer: func(_ context.Context, chosen int) (string, error) { return fmt.Sprint("Answer ", chosen), nil }}
					}
				})
				u.expect(`begin ""`, "suggest Try it?")
				if tt.respond == -2 {
					u.enter("hello")
				} else {
					u.do(func(ctx context.Context) { u.Respond(ctx, tt.respond) })
				}
				u.expect(tt.want...)
				u.leave()
			})
		})
	}
}
