// Package teams runs agent teams. A [Lead] creates the team, starts teammates and relays their
// messages and prompts; a [Teammate] is a running teammate, in this process or another. Membership
// and message types are in package team.
package teams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/domain/team"
	"adze/internal/permission"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	teamtool "adze/internal/tools/team"
)

const (
	// every is the inbox polling interval of the lead and of teammates in its process.
	every = 500 * time.Millisecond
	// everyProcess is the inbox polling interval of a teammate in another process.
	everyProcess = time.Second
	// startTime is the startup timeout of a teammate's process.
	startTime = 30 * time.Second
)

// Agents is a conversation's sub-agents, which can be continued.
type Agents interface {
	// Continue sends text to the sub-agent named target and returns a status message.
	Continue(ctx context.Context, target, text string) (status string, err error)
	// Known returns the names of the agents that can be continued, and Any reports whether
	// there are any.
	Known() []string
	Any() bool
}

// LeadConfig configures a team's lead. All fields are required except Agents, Log and the ways
// to start teammates.
type LeadConfig struct {
	Store *team.Store
	// Dir is the teams directory.
	Dir       string
	SessionID string
	// Enabled reports whether the settings allow teams.
	Enabled func() bool
	Session func() *session.Session
	Gate    *permission.Gate // limits the teammates and prompts the user for them
	Tasks   func(team string) Tasks
	// Forget removes a team's task list; nil keeps it.
	Forget   func(team string) error
	Agents   Agents
	Start    Starter // runs a teammate in this process; may be nil
	Panes    Panes   // runs a teammate in a terminal pane; may be nil
	Backend  func() string
	Language func() texts.Language
	Log      *slog.Logger
}

// A Lead lets a conversation lead a team. Until a team is created, nothing runs and nothing is
// read. It is safe for concurrent use.
type Lead struct {
	cfg  LeadConfig
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	team   string
	post   *team.Mailbox
	stop   context.CancelFunc // stops polling the inbox
	plans  map[string]string  // owners of plans awaiting an answer, by request ID
	asking map[string]context.CancelFunc
	local  map[string]context.CancelFunc // teammates in this process
	mode   permission.Mode               // last mode sent to teammates
	policy *permission.Policy            // policy whose limits were last sent to other processes
}

// NewLead returns a lead without a team.
func NewLead(c LeadConfig) *Lead {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	l := &Lead{cfg: c, plans: map[string]string{}, asking: map[string]context.CancelFunc{}, local: map[string]context.CancelFunc{}}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// Leads implements the tools. It returns an error if no team can be created now.
func (l *Lead) Leads() error {
	if !l.cfg.Enabled() {
		return errors.New("the setting teams.enabled turns teams off")
	}
	return nil
}

// Led implements the tools. It returns an error if no team exists.
func (l *Lead) Led() error {
	if l.Team() == "" {
		return errors.New("it is offered while there is a team")
	}
	return nil
}

// Carries implements the tools. It returns an error if no agent can be messaged now.
func (l *Lead) Carries() error {
	if l.cfg.Agents != nil && l.cfg.Agents.Any() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.team == "" {
		return errors.New("it is offered when there are other agents to write to")
	}
	return nil
}

// Team returns the team's name, or "".
func (l *Lead) Team() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.team
}

func (l *Lead) office() *team.Mailbox {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.post
}

// Create creates the team.
func (l *Lead) Create(ctx context.Context, name, description string) (teamtool.Created, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.team != "" {
		return teamtool.Created{}, fmt.Errorf("you lead the team %s already; end it with TeamDelete before you make another", l.team)
	}
	l.mode, l.policy = l.cfg.Gate.Mode(), l.cfg.Gate.Policy()
	t, err := l.cfg.Store.Create(ctx, team.Team{Name: name, Description: description, Session: l.cfg.SessionID},
		team.Member{Process: team.CurrentProcess(), Dir: l.policy.Config().Dir, Mode: string(l.mode)})
	if err != nil {
		return teamtool.Created{}, err
	}
	l.team, l.post = t.Name, l.cfg.Store.Post(t.Name, team.Lead)
	poll, stop := context.WithCancel(l.life)
	l.stop = stop
	l.work.Go(func() { l.watch(poll, t.Name) })
	return teamtool.Created{Name: t.Name, Lead: team.Lead, File: filepath.Join(l.cfg.Dir, t.Name, "config.json")}, nil
}

// Delete deletes the team, unless teammates are active.
func (l *Lead) Delete(ctx context.Context) (string, error) {
	name := l.Team()
	if name == "" {
		return "", errors.New("no team to delete")
	}
	t, err := l.cfg.Store.Open(name)
	if err != nil && !errors.Is(err, team.ErrUnknown) {
		return "", err
	}
	if active := l.active(&t); len(active) > 0 {
		return "", fmt.Errorf(`these teammates are still active: %s. Send each of them {"type":"shutdown_request"} with SendMessage, and wait for the answers`, strings.Join(active, ", "))
	}
	return name, l.drop(name)
}

// active returns the names of the teammates that have not ended.
func (l *Lead) active(t *team.Team) (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names = slices.Sorted(maps.Keys(l.local))
	for _, m := range t.Members {
		if m.Backend == team.Tmux && (m.Process.Alive() || starting(&m)) {
			names = append(names, m.Name)
		}
	}
	return names
}

// starting reports whether a teammate in another process may still start.
func starting(m *team.Member) bool {
	return m.Backend == team.Tmux && m.Process.PID == 0 && time.Since(m.Joined) < startTime
}

// drop forgets the team and removes its files, including its task list.
func (l *Lead) drop(name string) error {
	l.mu.Lock()
	l.team, l.post = "", nil
	l.stop()
	clear(l.plans)
	l.mu.Unlock()
	err := l.cfg.Store.Delete(name)
	if l.cfg.Forget != nil {
		err = errors.Join(err, l.cfg.Forget(name))
	}
	return err
}

// Close ends the team and its teammates. l may be nil.
func (l *Lead) Close() {
	if l == nil {
		return
	}
	defer l.end()
	name := l.Team()
	if name == "" {
		return
	}
	t, err := l.cfg.Store.Open(name)
	l.end()
	l.work.Wait()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, m := range t.Members {
			if m.Name == team.Lead {
				continue
			}
			if m.Pane != "" && l.cfg.Panes != nil {
				l.cfg.Panes.Close(ctx, m.Pane)
			}
			if _, err := l.cfg.Tasks(name).Release(ctx, m.Name); err != nil {
				l.cfg.Log.Warn("the tasks of a teammate were not given back", "name", m.Name, "err", err)
			}
		}
	}
	if err := l.drop(name); err != nil {
		l.cfg.Log.Warn("a team was not removed", "team", name, "err", err)
	}
}

// Carry sends a message written by the model to a team member or sub-agent.
func (l *Lead) Carry(ctx context.Context, letter teamtool.Message) (teamtool.Receipt, error) {
	post := l.office()
	if a := l.cfg.Agents; a != nil && (post == nil || slices.Contains(a.Known(), letter.To)) {
		if letter.Order != nil {
			return teamtool.Receipt{}, fmt.Errorf("%s is for teammates; send a sub-agent text", letter.Order.Type)
		}
		status, err := a.Continue(ctx, letter.To, letter.Text)
		return teamtool.Receipt{To: []string{letter.To}, Status: status}, err
	}
	if post == nil {
		return teamtool.Receipt{}, errors.New("no team and no sub-agent to write to")
	}
	if letter.Order != nil {
		return l.order(ctx, post, letter)
	}
	got, err := post.Send(ctx, letter.To, team.Message{Text: letter.Text, Summary: letter.Summary})
	if err != nil {
		return teamtool.Receipt{}, partialError(got, err)
	}
	return receipt(got), nil
}

// order sends a shutdown request, or the answer to a plan.
func (l *Lead) order(ctx context.Context, post *team.Mailbox, letter teamtool.Message) (teamtool.Receipt, error) {
	o := letter.Order
	switch o.Type {
	case teamtool.ShutdownRequest:
		id := team.NewRequest()
		got, err := post.Send(ctx, letter.To, team.Message{Body: &team.ShutdownRequest{Request: id, Reason: o.Reason}})
		if err != nil {
			return teamtool.Receipt{}, err
		}
		return teamtool.Receipt{To: got, Request: id, Status: fmt.Sprintf("Asked %s to end; the answer will arrive as a message.", got[0])}, nil
	case teamtool.PlanResponse:
		return l.answerPlan(ctx, post, letter)
	}
	return teamtool.Receipt{}, fmt.Errorf("only a teammate sends %s", o.Type)
}

// answerPlan answers a pending plan. The teammate continues in the lead's mode.
func (l *Lead) answerPlan(ctx context.Context, post *team.Mailbox, letter teamtool.Message) (teamtool.Receipt, error) {
	o, mode := letter.Order, l.cfg.Gate.Mode()
	if *o.Approve && mode == permission.Plan {
		return teamtool.Receipt{}, errors.New("you are in plan mode, and no teammate has a more permissive mode than you: leave it with ExitPlanMode first, then approve the plan")
	}
	l.mu.Lock()
	from, ok := l.plans[o.Request]
	delete(l.plans, o.Request)
	l.mu.Unlock()
	if !ok {
		return teamtool.Receipt{}, fmt.Errorf("no plan waits for an answer with the id %q", o.Request)
	}
	b := &team.PlanResponse{Request: o.Request, Approved: *o.Approve, Feedback: o.Feedback, Mode: string(mode)}
	if _, err := post.Send(ctx, from, team.Message{Body: b}); err != nil {
		l.mu.Lock()
		l.plans[o.Request] = from
		l.mu.Unlock()
		return teamtool.Receipt{}, err
	}
	status := fmt.Sprintf("Asked %s to change the plan.", from)
	if *o.Approve {
		status = fmt.Sprintf("%s begins to carry out the plan, in mode %s.", from, mode)
	}
	return teamtool.Receipt{To: []string{from}, Status: status}, nil
}
