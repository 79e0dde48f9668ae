//go:build unix

package teams

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/domain/tasklist"
	"adze/internal/domain/team"
	"adze/internal/model/replay"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/tool"
	teamtool "adze/internal/tools/team"
)

// A crew is the team "crew" as its lead sees it. Nothing polls: tests call the lead's steps.
type crew struct {
	*Lead
	t       *testing.T
	store   *team.Store
	session *session.Session
	subs    agentStub
	panes   paneStub
	backend string
	tasks   map[string][]tasklist.Task // tasks by owner
	forgot  []string
}

// An agentStub is the lead's sub-agents.
type agentStub struct {
	names []string
	sent  []string
}

func (a *agentStub) Continue(_ context.Context, target, text string) (string, error) {
	a.sent = append(a.sent, target+": "+text)
	return "resumed", nil
}
func (a *agentStub) Known() []string { return a.names }
func (a *agentStub) Any() bool       { return len(a.names) > 0 }

// A paneStub opens panes in which nothing runs.
type paneStub struct {
	missing, fails error
	closed         []string
}

func (p *paneStub) Available() error { return p.missing }
func (p *paneStub) Inside() bool     { return true }
func (p *paneStub) Open(_ context.Context, _ string, m team.Member) (pane, note string, err error) {
	return "%1/" + m.Name, "in a pane", p.fails
}
func (p *paneStub) Close(_ context.Context, pane string) { p.closed = append(p.closed, pane) }

func (c *crew) Next(context.Context, string) (tasklist.Task, bool, error) {
	return tasklist.Task{}, false, nil
}

func (c *crew) Release(_ context.Context, owner string) ([]tasklist.Task, error) {
	released := c.tasks[owner]
	delete(c.tasks, owner)
	return released, nil
}

// newCrew returns a lead of a team with the given members.
func newCrew(t *testing.T, mode permission.Mode, members ...team.Member) *crew {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "teams")
	script, err := replay.Parse("script", []byte("say Noted."))
	if err != nil {
		t.Fatal(err)
	}
	c := &crew{t: t, store: team.New(team.Config{Dir: dir, Locks: dir + ".locks"}), backend: InTmux, tasks: map[string][]tasklist.Task{}}
	c.session = session.Open(t.Context(), session.Config{
		ID: "s1", Provider: replay.NewPlayer(script).Provider(), Tools: session.Tools{Registry: tool.NewRegistry()},
		Models: session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 200_000}, nil }},
	})
	t.Cleanup(c.session.Close)
	c.Lead = NewLead(LeadConfig{
		Store: c.store, Dir: dir, SessionID: "s1", Agents: &c.subs, Panes: &c.panes,
		Enabled:  func() bool { return true },
		Session:  func() *session.Session { return c.session },
		Gate:     permission.NewGate(permission.GateConfig{Config: permission.Config{Mode: mode, Dir: "/work", Dirs: []string{"/work"}}}),
		Tasks:    func(string) Tasks { return c },
		Forget:   func(name string) error { c.forgot = append(c.forgot, name); return nil },
		Backend:  func() string { return c.backend },
		Language: func() texts.Language { return texts.English },
	})
	if _, err := c.store.Create(t.Context(), team.Team{Name: "crew", Session: "s1"}, team.Member{Process: team.CurrentProcess(), Mode: string(mode)}); err != nil {
		t.Fatal(err)
	}
	c.team, c.post, c.stop, c.mode = "crew", c.store.Post("crew", team.Lead), func() {}, mode
	for _, m := range members {
		if _, err := c.store.Join(t.Context(), "crew", m); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// received returns the messages that a member has not read.
func (c *crew) received(name string) []team.Message {
	c.t.Helper()
	post := c.store.Post("crew", name)
	all, err := post.Receive(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	if err := post.Done(c.t.Context(), all); err != nil {
		c.t.Fatal(err)
	}
	return all
}

// member returns a member, or nil.
func (c *crew) member(name string) *team.Member {
	c.t.Helper()
	got, err := c.store.Open("crew")
	if err != nil {
		c.t.Fatal(err)
	}
	return got.Member(name)
}

// TestCarry checks where the lead's messages go.
//
// Proves TEAM-07.
func TestCarry(t *testing.T) {
	c := newCrew(t, permission.Default, team.Member{Name: "ann"}, team.Member{Name: "bob"})
	c.subs.names = []string{"explorer"}
	for _, l := range []teamtool.Message{{To: "ann", Text: "hello"}, {To: team.Everyone, Text: "all"}, {To: "explorer", Text: "more"}} {
		if _, err := c.Carry(t.Context(), l); err != nil {
			t.Errorf("%s: %v", l.To, err)
		}
	}
	var got []string
	for _, name := range []string{"ann", "bob"} {
		for _, m := range c.received(name) {
			got = append(got, name+": "+m.Text)
		}
	}
	if diff := cmp.Diff([]string{"ann: hello", "ann: all", "bob: all"}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"explorer: more"}, c.subs.sent); diff != "" {
		t.Errorf("sub-agents (-want +got):\n%s", diff)
	}
	for to, l := range map[string]teamtool.Message{
		"an unknown member":     {To: "cy", Text: "hello"},
		"an order to an agent":  {To: "explorer", Order: &teamtool.ControlMessage{Type: teamtool.ShutdownRequest}},
		"a teammate's response": {To: "ann", Order: &teamtool.ControlMessage{Type: teamtool.ShutdownResponse}},
	} {
		if _, err := c.Carry(t.Context(), l); err == nil {
			t.Errorf("%s: no error", to)
		}
	}
}

// TestShutdown checks that a teammate leaves after it has agreed, and not before.
//
// Proves TEAM-10.
func TestShutdown(t *testing.T) {
	ann := team.Member{Name: "ann", Backend: team.Tmux, Process: team.CurrentProcess()}
	c := newCrew(t, permission.Default, ann)
	c.tasks["ann"] = []tasklist.Task{{ID: "1", Subject: "test"}}
	if _, err := c.Delete(t.Context()); err == nil || !strings.Contains(err.Error(), "ann") {
		t.Errorf("a team with an active teammate was deleted: %v", err)
	}
	mate := NewTeammate(TeammateConfig{Store: c.store, Team: "crew", Name: "ann", Session: func() *session.Session { return c.session }})
	yes, no := true, false
	answer := func(request string, approve *bool) error {
		_, err := mate.Carry(t.Context(), teamtool.Message{To: team.Lead, Order: &teamtool.ControlMessage{Type: teamtool.ShutdownResponse, Request: request, Approve: approve}})
		return err
	}
	if err := answer("r1", &yes); err == nil || mate.ended() {
		t.Error("a teammate ended without a request")
	}
	ask := func() string {
		got, err := c.Carry(t.Context(), teamtool.Message{To: "ann", Order: &teamtool.ControlMessage{Type: teamtool.ShutdownRequest, Reason: "done"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mate.receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		return got.Request
	}
	if err := answer(ask(), &no); err != nil || mate.ended() {
		t.Errorf("refused: ended %t, %v", mate.ended(), err)
	}
	if c.pass(t.Context()); c.member("ann") == nil {
		t.Error("the lead removed a teammate that continues")
	}
	if err := answer(ask(), &yes); err != nil || !mate.ended() {
		t.Errorf("agreed: ended %t, %v", mate.ended(), err)
	}
	if c.pass(t.Context()); c.member("ann") != nil || len(c.tasks) > 0 {
		t.Errorf("after it agreed: member %v, tasks %v", c.member("ann"), c.tasks)
	}
	if name, err := c.Delete(t.Context()); err != nil || name != "crew" || !slices.Equal(c.forgot, []string{"crew"}) {
		t.Errorf("deleting: %q, %v, forgotten %v", name, err, c.forgot)
	}
}

// TestAnswerPlan checks that each plan is answered once, and that an approved teammate gets the
// lead's mode.
//
// Proves TEAM-08.
func TestAnswerPlan(t *testing.T) {
	c := newCrew(t, permission.Plan, team.Member{Name: "ann", Plans: true})
	mate := NewTeammate(TeammateConfig{Store: c.store, Team: "crew", Name: "ann", Session: func() *session.Session { return c.session }})
	type reply struct {
		permission.Answer
		err error
	}
	replies := make(chan reply, 1)
	propose := func() (request string) {
		go func() {
			a, err := mate.Ask(t.Context(), permission.Question{Tool: planTool, Input: []byte(`{"plan":"do it"}`)})
			replies <- reply{a, err}
		}()
		for request == "" {
			c.pass(t.Context())
			c.mu.Lock()
			for request = range c.plans {
			}
			c.mu.Unlock()
		}
		return request
	}
	answer := func(request string, approve bool) error {
		_, err := c.Carry(t.Context(), teamtool.Message{
			To: "ann", Order: &teamtool.ControlMessage{Type: teamtool.PlanResponse, Request: request, Approve: &approve, Feedback: "smaller"},
		})
		return err
	}
	result := func() permission.Answer {
		if _, err := mate.receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := <-replies
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.Answer
	}

	request := propose()
	if err := answer(request, true); err == nil || !strings.Contains(err.Error(), "plan mode") {
		t.Errorf("approved by a lead in plan mode: %v", err)
	}
	if err := c.cfg.Gate.SetMode(permission.AcceptEdits); err != nil {
		t.Fatal(err)
	}
	if err := answer("another", true); err == nil {
		t.Error("an unknown plan was approved")
	}
	if err := answer(request, true); err != nil {
		t.Error(err)
	}
	want := []permission.Update{{Type: permission.SetMode, Mode: permission.AcceptEdits, Destination: scope.Session}}
	if a := result(); a.Behavior != permission.Allow || !cmp.Equal(want, a.Updates) {
		t.Errorf("approved: %+v", a)
	}
	if err := answer(request, true); err == nil {
		t.Error("a plan was approved twice")
	}
	if err := answer(propose(), false); err != nil {
		t.Error(err)
	}
	if a := result(); a.Behavior != permission.Deny || a.Message != "smaller" {
		t.Errorf("rejected: %+v", a)
	}
}

// TestLost checks that the lead notices a teammate whose process has ended, and gets its tasks.
//
// Proves TEAM-06.
func TestLost(t *testing.T) {
	gone := team.Member{Name: "ann", Backend: team.Tmux, Process: team.Process{PID: 1 << 30, Started: "1"}}
	here := team.Member{Name: "bob", Backend: team.Tmux, Process: team.CurrentProcess()}
	c := newCrew(t, permission.Default, gone, here)
	c.tasks["ann"] = []tasklist.Task{{ID: "1", Subject: "test"}}
	c.findLost(t.Context(), "crew")
	if c.member("ann") != nil || c.member("bob") == nil {
		t.Errorf("ann %v, bob %v", c.member("ann"), c.member("bob"))
	}
	got := c.received(team.Lead)
	if len(got) != 1 {
		t.Fatalf("messages %v", got)
	}
	if diff := cmp.Diff(&team.Lost{Member: "ann", Reason: "its process has ended", Tasks: []string{"1 (test)"}}, got[0].Body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCapModes checks that teammates follow when the lead's mode becomes stricter.
func TestCapModes(t *testing.T) {
	c := newCrew(t, permission.AcceptEdits, team.Member{Name: "ann", Mode: "acceptEdits"}, team.Member{Name: "bob", Mode: "plan"})
	c.capModes(t.Context(), "crew")
	if got := c.received("ann"); len(got) > 0 {
		t.Errorf("messages without a change: %v", got)
	}
	if err := c.cfg.Gate.SetMode(permission.Default); err != nil {
		t.Fatal(err)
	}
	c.capModes(t.Context(), "crew")
	if got := c.received("ann"); len(got) != 1 || !cmp.Equal(got[0].Body, team.Body(&team.ModeSet{Mode: "default"})) {
		t.Errorf("ann: %v", got)
	}
	if got := c.received("bob"); len(got) > 0 {
		t.Errorf("bob, who is stricter: %v", got)
	}
}

// TestSpawn checks that a teammate never gets more than its lead, and that one that does not
// start leaves nothing behind.
//
// Proves TEAM-02.
func TestSpawn(t *testing.T) {
	c := newCrew(t, permission.Default)
	got, err := c.Spawn(t.Context(), SpawnRequest{Name: "ann", Team: "Crew", Prompt: "test it", Mode: "bypassPermissions"})
	if err != nil {
		t.Fatal(err)
	}
	m := c.member("ann")
	if m == nil || m.Mode != "default" || m.Dir != "/work" || m.Pane != "%1/ann" || len(m.Limits) == 0 || got.Note != "in a pane" {
		t.Errorf("%+v, note %q", m, got.Note)
	}
	if first := c.received("ann"); len(first) != 1 || first[0].Text != "test it" {
		t.Errorf("first messages %v", first)
	}
	for name, d := range map[string]SpawnRequest{
		"no name":            {Prompt: "x"},
		"another team":       {Name: "bob", Team: "other", Prompt: "x"},
		"prompt too long":    {Name: "bob", Prompt: strings.Repeat("x", team.MaxText+1)},
		"unknown mode":       {Name: "bob", Prompt: "x", Mode: "fast"},
		"directory outside":  {Name: "bob", Prompt: "x", Dir: "/etc"},
		"pane does not open": {Name: "bob", Prompt: "x"},
	} {
		c.panes.fails = nil
		if name == "pane does not open" {
			c.panes.fails = errors.New("no room")
		}
		if _, err := c.Spawn(t.Context(), d); err == nil || c.member("bob") != nil {
			t.Errorf("%s: %v, member %v", name, err, c.member("bob"))
		}
	}
	c.panes.missing = errors.New("tmux not found")
	for backend, want := range map[string]string{InTmux: "tmux not found", Auto: "cannot run in this process", InProcess: "cannot run in this process"} {
		c.backend = backend
		if _, err := c.Spawn(t.Context(), SpawnRequest{Name: "bob", Prompt: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", backend, err, want)
		}
	}
}
