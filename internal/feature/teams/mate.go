package teams

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"adze/internal/domain/tasklist"
	"adze/internal/domain/team"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	teamtool "adze/internal/tools/team"
)

// Tasks is a team's task list.
type Tasks interface {
	Next(ctx context.Context, owner string) (claimed tasklist.Task, ok bool, err error)
	Release(ctx context.Context, owner string) (released []tasklist.Task, err error)
}

// TeammateConfig configures a teammate. All fields are required except Idle and Log.
type TeammateConfig struct {
	Store *team.Store
	Team  string
	Name  string
	Tasks Tasks
	// Every is the inbox polling interval.
	Every time.Duration
	// Session returns the teammate's session.
	Session  func() *session.Session
	Language func() texts.Language
	// Idle, if non-nil, is called before the teammate waits for messages. Non-empty feedback is
	// sent to the model instead.
	Idle func(ctx context.Context) (feedback string)
	// Limits applies the lead's limits when they change; nil in the lead's own process.
	Limits func(permission.Limits)
	Log    *slog.Logger
}

// A Teammate is a running teammate: it reads messages, claims tasks, and notifies the lead when it
// is idle. Its permission prompts go to the lead. It is safe for concurrent use.
type Teammate struct {
	cfg  TeammateConfig
	post *team.Mailbox

	limits []byte // last limits written by the lead; used by Run only

	mu      sync.Mutex
	asked   string   // unanswered shutdown request; may be empty
	ending  bool     // the model has agreed to shut down
	sent    []string // messages sent since it was last idle
	failed  bool     // the last turn failed
	stopped bool     // the last turn was interrupted
}

// NewTeammate returns a teammate. [Teammate.Run] runs it.
func NewTeammate(c TeammateConfig) *Teammate {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Teammate{cfg: c, post: c.Store.Post(c.Team, c.Name)}
}

// errLeadGone reports that the lead's process has ended.
var errLeadGone = errors.New("the lead of the team has ended")

// Run works until the model agrees to shut down or ctx is done. An error means the teammate
// cannot continue.
func (m *Teammate) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var followed sync.WaitGroup
	followed.Go(func() { m.follow(ctx) })
	defer followed.Wait()
	defer stop()
	tick := time.NewTicker(m.cfg.Every)
	defer tick.Stop()
	var waiting []team.Message
	idle := false
	for {
		more, err := m.settle(ctx, tick.C)
		if err != nil {
			return err
		}
		waiting = append(waiting, more...)
		if m.ended() {
			return nil
		}
		worked, err := m.next(ctx, &waiting, idle)
		if err != nil {
			return err
		}
		if !worked && !idle {
			worked = m.rest(ctx)
		}
		idle = !worked
		if worked {
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settle waits until no turn is running and returns the messages that arrived in the meantime.
func (m *Teammate) settle(ctx context.Context, tick <-chan time.Time) ([]team.Message, error) {
	wait, stop := context.WithCancel(ctx)
	defer stop()
	idle := make(chan struct{})
	go func() {
		m.cfg.Session().Idle(wait) // ok: ctx is checked below
		close(idle)
	}()
	var all []team.Message
	for {
		arrived, err := m.receive(ctx)
		if err == nil {
			_, err = m.team()
		}
		if err != nil {
			return nil, err
		}
		all = append(all, arrived...)
		select {
		case <-idle:
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return all, nil
		case <-tick:
		}
	}
}

// receive returns the messages that arrived. A mode change is also applied, and a shutdown
// request recorded, immediately.
func (m *Teammate) receive(ctx context.Context) ([]team.Message, error) {
	arrived, err := m.post.Receive(ctx)
	if err != nil {
		if errors.Is(err, team.ErrUnknown) {
			return nil, errLeadGone
		}
		m.cfg.Log.Warn("a teammate cannot read its messages", "team", m.cfg.Team, "name", m.cfg.Name, "err", err)
		return nil, nil // retried on the next poll
	}
	var all []team.Message
	for _, message := range arrived {
		switch b := message.Body.(type) {
		case *team.ModeSet:
			if err := m.cfg.Session().Submit(ctx, session.SetMode{Mode: b.Mode}); err != nil {
				m.cfg.Log.Warn("the mode of a teammate stays as it is", "name", m.cfg.Name, "err", err)
			}
		case *team.ShutdownRequest:
			m.mu.Lock()
			m.asked = b.Request
			m.mu.Unlock()
		}
		all = append(all, message)
	}
	return all, nil
}

// team returns the team, or an error once its lead is gone.
func (m *Teammate) team() (team.Team, error) {
	t, err := m.cfg.Store.Open(m.cfg.Team)
	if errors.Is(err, team.ErrUnknown) || err == nil && !t.Member(team.Lead).Process.Alive() {
		err = errLeadGone
	}
	if me := t.Member(m.cfg.Name); err == nil && me != nil && m.cfg.Limits != nil && !bytes.Equal(me.Limits, m.limits) {
		var l permission.Limits
		if err := json.Unmarshal(me.Limits, &l); err != nil {
			return t, fmt.Errorf("reading the lead's limits: %w", err)
		}
		m.limits = me.Limits
		m.cfg.Limits(l)
	}
	return t, err
}

// next gives the model its messages or a task. It reports whether there was anything.
func (m *Teammate) next(ctx context.Context, waiting *[]team.Message, idle bool) (bool, error) {
	t, err := m.team()
	if err != nil {
		return false, err
	}
	if t.Member(m.cfg.Name) == nil {
		return false, errLeadGone
	}
	if len(*waiting) > 0 {
		texts := make([]string, len(*waiting))
		for i, message := range *waiting {
			texts[i] = message.Show(m.cfg.Language())
			m.show(ctx, "message from "+message.From+": "+brief(message.Summary, message.Text))
		}
		if err := m.tell(ctx, strings.Join(texts, "\n")); err != nil {
			return false, err
		}
		m.setIdle(ctx, idle, false)
		err := m.post.Done(ctx, *waiting)
		*waiting = nil
		return true, err
	}
	if m.troubled() {
		return false, nil
	}
	task, ok, err := m.cfg.Tasks.Next(ctx, m.cfg.Name)
	if err != nil {
		m.cfg.Log.Warn("a teammate cannot claim a task", "name", m.cfg.Name, "err", err)
		return false, nil
	}
	if !ok {
		return false, nil
	}
	m.setIdle(ctx, idle, false)
	m.show(ctx, "task "+task.ID+": "+brief("", task.Subject))
	return true, m.tell(ctx, say(m.cfg.Language(), "claimed", task.ID, plain(task.Subject), plain(task.Description)))
}

// rest notifies the lead that the teammate is idle, unless a hook gives it more work. It
// reports whether one did.
func (m *Teammate) rest(ctx context.Context) bool {
	if m.cfg.Idle != nil {
		if feedback := m.cfg.Idle(ctx); feedback != "" {
			return m.tell(ctx, say(m.cfg.Language(), "hook", plain(feedback))) == nil
		}
	}
	m.mu.Lock()
	body := &team.Idle{Reason: "available", Sent: m.sent}
	switch {
	case m.failed:
		body.Reason = "failed"
	case m.stopped:
		body.Reason = "interrupted"
	}
	m.sent = nil
	m.mu.Unlock()
	if _, err := m.post.Send(ctx, team.Lead, team.Message{Body: body}); err != nil {
		m.cfg.Log.Warn("notifying the lead of an idle teammate failed", "name", m.cfg.Name, "err", err)
	}
	m.setIdle(ctx, false, true)
	return false
}

// setIdle records whether the teammate is idle.
func (m *Teammate) setIdle(ctx context.Context, was, is bool) {
	if was == is {
		return
	}
	_, err := m.cfg.Store.Update(ctx, m.cfg.Team, func(t *team.Team) error {
		if me := t.Member(m.cfg.Name); me != nil {
			me.Idle = is
		}
		return nil
	})
	if err != nil {
		m.cfg.Log.Warn("the state of a teammate was not kept", "name", m.cfg.Name, "err", err)
	}
}

// tell starts a turn with a message for the model, processed like user input.
func (m *Teammate) tell(ctx context.Context, text string) error {
	return m.cfg.Session().Submit(ctx, session.Prompt{Parts: []msg.Part{msg.Reminder(text)}, Quoted: true})
}

// show displays a message to a user watching the teammate.
func (m *Teammate) show(ctx context.Context, text string) {
	m.cfg.Session().Submit(ctx, session.Tell{Text: text}) // ok: a closed session shows nothing
}

// follow records how the last turn ended.
func (m *Teammate) follow(ctx context.Context) {
	s := m.cfg.Session()
	for e := range s.Entries(ctx, s.Last(), session.Latest) {
		if ev, ok := e.Event.(session.Finished); ok {
			m.mu.Lock()
			m.stopped = ev.Reason.Aborted()
			m.failed = !ev.Reason.OK() && !m.stopped
			m.mu.Unlock()
		}
	}
}

// troubled reports whether the last turn failed or was interrupted; then no task is started
// before a message arrives.
func (m *Teammate) troubled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed || m.stopped
}

func (m *Teammate) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ending
}

// Carries implements the tool's carrier interface: a teammate can always message others.
func (m *Teammate) Carries() error { return nil }

// Carry sends a message written by the model.
func (m *Teammate) Carry(ctx context.Context, l teamtool.Message) (teamtool.Receipt, error) {
	if l.Order != nil {
		return m.order(ctx, l)
	}
	got, err := m.post.Send(ctx, l.To, team.Message{Text: l.Text, Summary: l.Summary})
	if err != nil {
		return teamtool.Receipt{}, partialError(got, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.To != team.Lead {
		m.sent = lastOf(append(m.sent, fmt.Sprintf("to %s: %s", l.To, brief(l.Summary, l.Text))), 5)
	}
	return receipt(got), nil
}

// order sends the model's answer to a request.
func (m *Teammate) order(ctx context.Context, l teamtool.Message) (teamtool.Receipt, error) {
	if l.Order.Type != teamtool.ShutdownResponse {
		return teamtool.Receipt{}, fmt.Errorf("only the lead sends %s", l.Order.Type)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.Order.Request != m.asked || m.asked == "" {
		return teamtool.Receipt{}, fmt.Errorf("no request to end has the id %q", l.Order.Request)
	}
	var body team.Body = &team.ShutdownApproved{Request: m.asked}
	status := "You end after this turn. Finish it in a sentence."
	if !*l.Order.Approve {
		body = &team.ShutdownRejected{Request: m.asked, Reason: l.Order.Reason}
		status = "The lead has been notified that you are continuing."
	}
	if _, err := m.post.Send(ctx, team.Lead, team.Message{Body: body}); err != nil {
		return teamtool.Receipt{}, err
	}
	m.asked, m.ending = "", *l.Order.Approve
	return teamtool.Receipt{To: []string{team.Lead}, Status: status}, nil
}
