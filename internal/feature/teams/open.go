package teams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"adze/internal/domain/tasklist"
	"adze/internal/domain/team"
	"adze/internal/feature/agents/builtin"
	"adze/internal/hook"
	"adze/internal/permission"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/settings"
)

// A Spec identifies a teammate's conversation. The zero value is not a teammate.
type Spec struct {
	Team, Name string
	// Left is called when a teammate in its own process has ended.
	Left func()
	// Teammate is the teammate if it runs in its lead's process; nil creates one.
	Mate *Teammate
}

// A Place holds the parts of a conversation needed for team membership. Log may be nil. Agents
// and Start are set for conversations that can lead.
type Place struct {
	// Home is the state home, Dir the directory in which the process was started, and SessionID
	// the conversation's ID.
	Home, Dir, SessionID string
	// Program is the path of this program, Flags its arguments for a teammate, and Environ
	// returns its environment. If Program is empty, teammates run in this process.
	Program  string
	Flags    []string
	Environ  func() []string
	Getenv   func(string) string
	Settings func() settings.Loop
	Session  func() *session.Session
	Gate     *permission.Gate
	Fire     func(ctx context.Context, e hook.Event) hook.Outcome
	Agents   Agents
	Start    Starter
	Language func() texts.Language
	Say      func(string)
	Log      *slog.Logger
}

// Open makes a conversation the teammate named by s, or else a potential lead.
func Open(p Place, s Spec) (Membership, error) {
	dir, locks := filepath.Join(p.Home, "teams"), filepath.Join(p.Home, "locks")
	store := team.New(team.Config{Dir: dir, Locks: locks, Log: p.Log, Taken: func(name string) bool {
		_, err := os.Lstat(tasklist.Dir(p.Home, name)) // task list of an earlier team
		return !errors.Is(err, fs.ErrNotExist)
	}})
	tasks := func(n tasklist.Names) Tasks {
		n.Named, n.Session = p.Settings().Tasks.List, p.SessionID
		id, err := n.Choose()
		if err != nil {
			id = p.SessionID // the task tools report it
		}
		return tasklist.Open(tasklist.Config{Dir: tasklist.Dir(p.Home, id), Locks: locks, Warn: p.Say})
	}
	if s.Team != "" {
		mate, err := join(TeammateConfig{
			Store: store, Team: s.Team, Name: s.Name, Tasks: tasks(tasklist.Names{Member: s.Team}), Every: everyProcess,
			Session: p.Session, Language: p.Language, Log: p.Log, Limits: p.Gate.SetLimits,
			Idle: func(ctx context.Context) string { return AskIdle(ctx, p.Fire, s.Team, s.Name) },
		})
		return Membership{Mate: mate}, err
	}
	for _, t := range store.Sweep(context.Background()) {
		p.tidy(t, tasks(tasklist.Names{Team: p.Settings().Tasks.Team, Led: t.Name}))
	}
	return Membership{Lead: NewLead(LeadConfig{
		Store: store, Dir: dir, SessionID: p.SessionID,
		Enabled: func() bool { return p.Settings().Teams.Enabled }, Backend: func() string { return p.Settings().Teams.Backend },
		Session: p.Session, Gate: p.Gate, Agents: p.Agents, Start: p.Start,
		Tasks: func(name string) Tasks {
			return tasks(tasklist.Names{Team: p.Settings().Tasks.Team, Led: name})
		},
		Forget: func(name string) error {
			if s := p.Settings().Tasks; s.List != "" || s.Team != "" { // the user's own list
				return nil
			}
			return os.RemoveAll(tasklist.Dir(p.Home, name))
		},
		Panes: &Tmux{
			Dir: dir, Start: p.Dir, Getenv: p.Getenv, Program: ownPath(p.Program), Args: p.args,
			Environ: p.Environ,
		},
		Language: p.Language, Log: p.Log,
	})}, nil
}

// tidy releases the tasks of a team whose lead was killed, and notifies the user. Its teammates
// end by themselves.
func (p *Place) tidy(t team.Team, tasks Tasks) {
	for _, name := range t.Others(team.Lead) {
		if _, err := tasks.Release(context.Background(), name); err != nil {
			p.Say(fmt.Sprintf("The tasks of %s in the team %s could not be given back: %v", name, t.Name, err))
		}
	}
	p.Say(fmt.Sprintf("The team %s is removed: the session that led it was killed. ADZE_TASK_LIST_ID=%[1]s continues with its tasks.", t.Name))
}

// args returns the arguments of a teammate's process.
func (p *Place) args(name string, m team.Member) []string {
	model := m.Model
	if model == "" {
		model = p.Session().Model()
	}
	args := []string{os.Args[0], "--team-name", name, "--agent-name", m.Name, "--permission-mode", m.Mode, "--model", model}
	if m.Agent != "" && m.Agent != builtin.General {
		args = append(args, "--agent", m.Agent)
	}
	return append(args, p.Flags...)
}

// Limits returns the limits recorded by a team's lead for a teammate in another process.
func Limits(home string, s Spec) (*permission.Limits, string, error) {
	t, err := team.New(team.Config{Dir: filepath.Join(home, "teams"), Locks: filepath.Join(home, "locks")}).Open(s.Team)
	if err != nil {
		return nil, "", fmt.Errorf("--team-name: %w", err)
	}
	m := t.Member(s.Name)
	var l permission.Limits
	if m == nil || json.Unmarshal(m.Limits, &l) != nil || l.Mode == "" || len(l.Dirs) == 0 {
		return nil, "", fmt.Errorf("--team-name: the lead of the team %s has not started a teammate %s", s.Team, s.Name)
	}
	return &l, m.Dir, nil
}

// AskIdle runs the hooks that can send an idle teammate back to work, and returns their
// feedback.
func AskIdle(ctx context.Context, fire func(context.Context, hook.Event) hook.Outcome, teamName, name string) string {
	out := fire(ctx, hook.OnTeammateIdle(name, teamName))
	if !out.Blocked {
		return ""
	}
	return out.Reason
}
