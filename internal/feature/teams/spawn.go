package teams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"adze/internal/domain/team"
	"adze/internal/permission"
	"adze/internal/permission/mode"
	"adze/internal/session"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// Values of the teammateMode setting.
const (
	Auto      = "auto"
	InProcess = "in-process"
	InTmux    = "tmux"
)

// A SpawnRequest describes a teammate to start.
type SpawnRequest struct {
	Name, Team string
	// Prompt is its first message, and About a short description.
	Prompt, About string
	// Agent is the agent type; Model and Mode may be empty. In plan mode the lead approves its
	// plans.
	Agent, Model, Mode string
	Dir                string // empty means the lead's
}

// SpawnResult is a started teammate.
type SpawnResult struct {
	team.Member
	Team string
	Note string // remark for the user and the model; may be empty
}

// text returns the tool result for the model.
func (s SpawnResult) text() string {
	text := fmt.Sprintf("The teammate %s (%s) works in the team %s. Its messages will come to you; do not wait or poll.", s.Name, s.ID, s.Team)
	if s.Note != "" {
		text += "\n" + s.Note
	}
	return text
}

// Spawner returns a function that starts teammates for the Agent tool. lead returns nil in a
// conversation that cannot lead.
func Spawner(lead func() *Lead) func(ctx context.Context, in agenttool.Input) (tool.Result, error) {
	return func(ctx context.Context, in agenttool.Input) (tool.Result, error) {
		l := lead()
		if l == nil {
			return tool.Result{}, errors.New("name and team_name are for the lead of a team, which you cannot be")
		}
		m, err := l.Spawn(ctx, SpawnRequest{
			Name: in.Name, Team: in.Team, Prompt: in.Prompt, About: in.Description, Agent: in.Type, Model: in.Model, Mode: in.Mode, Dir: in.Dir,
		})
		if err != nil {
			return tool.Result{}, err
		}
		r := tool.Text(m.text())
		r.Structured = agenttool.Output{Status: agenttool.Spawned, ID: m.ID, Type: in.Type, Description: in.Description, Name: m.Name, Team: m.Team}
		return r, nil
	}
}

// A Starter opens a teammate's conversation in this process.
type Starter func(ctx context.Context, s Start) (*Started, error)

// A Start holds the parameters of a teammate's conversation.
type Start struct {
	Team    string
	Member  team.Member
	Carrier *Teammate // sends its messages and prompts
}

// Started is a teammate's conversation.
type Started struct {
	Session *session.Session
	// Idle is called before the teammate waits for messages; see [TeammateConfig].
	Idle  func(ctx context.Context) string
	Close func()
}

// Panes starts teammates in terminal panes.
type Panes interface {
	// Available returns an error if panes are unavailable. Inside reports whether this process
	// runs in one.
	Available() error
	Inside() bool
	Open(ctx context.Context, teamName string, m team.Member) (pane, note string, err error)
	Close(ctx context.Context, pane string)
}

// Spawn starts a teammate.
func (l *Lead) Spawn(ctx context.Context, d SpawnRequest) (SpawnResult, error) {
	name := l.Team()
	switch {
	case d.Name == "":
		return SpawnResult{}, errors.New("a teammate needs a name")
	case name == "":
		return SpawnResult{}, errors.New("no team: make one with TeamCreate first")
	case d.Team != "" && team.Normalise(d.Team) != name:
		return SpawnResult{}, fmt.Errorf("you lead the team %s, not %q", name, d.Team)
	case len(d.Prompt) > team.MaxText:
		return SpawnResult{}, fmt.Errorf("the prompt is longer than %d KB: write it to a file and name the file", team.MaxText>>10)
	}
	allowed, err := l.cfg.modeOf(d.Mode)
	if err != nil {
		return SpawnResult{}, err
	}
	backend, note, err := l.cfg.backend()
	if err != nil {
		return SpawnResult{}, err
	}
	limits := l.cfg.Gate.Limits()
	dir := l.cfg.Gate.Policy().Config().Dir
	if d.Dir != "" {
		if err := l.cfg.Gate.Policy().Holds(d.Dir); err != nil {
			return SpawnResult{}, fmt.Errorf("cwd: %w", err)
		}
		dir = d.Dir
	}
	data, err := json.Marshal(limits)
	if err != nil {
		return SpawnResult{}, err
	}
	m, err := l.cfg.Store.Join(ctx, name, team.Member{
		Name: d.Name, Agent: d.Agent, Model: d.Model, Mode: string(allowed), Dir: dir, Plans: allowed == permission.Plan, Backend: backend, Limits: data,
	})
	if err != nil {
		return SpawnResult{}, err
	}
	if _, err = l.office().Send(ctx, m.Name, team.Message{Text: d.Prompt, Summary: d.About}); err == nil {
		m, note, err = l.begin(ctx, name, m, note)
	}
	if err != nil {
		return SpawnResult{}, errors.Join(fmt.Errorf("starting the teammate %s: %w", m.Name, err), l.cfg.Store.Leave(ctx, name, m.Name))
	}
	return SpawnResult{Member: m, Team: name, Note: note}, nil
}

// modeOf returns a teammate's mode, which is never more permissive than the lead's.
func (c *LeadConfig) modeOf(wish string) (permission.Mode, error) {
	lead := c.Gate.Mode()
	if wish == "" {
		return lead, nil
	}
	wanted, err := permission.ParseMode(wish)
	if err != nil {
		return "", err
	}
	return mode.Stricter(wanted, lead), nil
}

// backend chooses where a teammate runs, and returns a note about it.
func (c *LeadConfig) backend() (team.Backend, string, error) {
	missing := errors.New("terminal panes are not available here")
	if c.Panes != nil {
		missing = c.Panes.Available()
	}
	switch mode := c.Backend(); {
	case mode == InTmux && missing != nil:
		return "", "", fmt.Errorf("teammateMode is tmux: %w", missing)
	case mode == InTmux, mode == Auto && missing == nil && c.Panes.Inside():
		return team.Tmux, "", nil
	case c.Start == nil:
		return "", "", errors.New("teammates cannot run in this process")
	case mode == Auto && missing != nil:
		return team.InProcess, fmt.Sprintf("teammates run in this process, without panes of their own: %v", missing), nil
	}
	return team.InProcess, "", nil
}

// begin starts a teammate's conversation.
func (l *Lead) begin(ctx context.Context, name string, m team.Member, note string) (team.Member, string, error) {
	if m.Backend == team.Tmux {
		pane, told, err := l.cfg.Panes.Open(ctx, name, m)
		if err != nil {
			return m, "", err
		}
		m.Pane = pane
		_, err = l.cfg.Store.Update(ctx, name, func(t *team.Team) error {
			if kept := t.Member(m.Name); kept != nil {
				kept.Pane = pane
			}
			return nil
		})
		return m, told, err
	}
	_, err := l.cfg.Store.Update(ctx, name, func(t *team.Team) error {
		if kept := t.Member(m.Name); kept != nil {
			kept.Process = team.CurrentProcess()
		}
		return nil
	})
	if err != nil {
		return m, "", err
	}
	return m, note, l.run(name, m)
}

// run runs a teammate in this process.
func (l *Lead) run(name string, m team.Member) error {
	life, stop := context.WithCancel(l.life)
	var begun *Started
	mate := NewTeammate(TeammateConfig{
		Store: l.cfg.Store, Team: name, Name: m.Name, Tasks: l.cfg.Tasks(name), Every: every,
		Session: func() *session.Session { return begun.Session },
		Idle:    func(ctx context.Context) string { return begun.Idle(ctx) }, Language: l.cfg.Language, Log: l.cfg.Log,
	})
	begun, err := l.cfg.Start(life, Start{Team: name, Member: m, Carrier: mate})
	if err != nil {
		stop()
		return err
	}
	l.mu.Lock()
	l.local[m.Name] = stop
	l.mu.Unlock()
	l.work.Go(func() {
		err := mate.Run(life)
		over := life.Err() != nil
		stop() // cancels its running turn
		begun.Close()
		l.mu.Lock()
		delete(l.local, m.Name)
		l.mu.Unlock()
		switch {
		case over: // the lead is ending and removes the team
		case err != nil:
			l.lost(l.life, name, m, err.Error())
		default:
			l.withdraw(m.Name) // its messages are read before it leaves
		}
	})
	return nil
}
