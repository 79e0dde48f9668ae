package teams

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"adze/internal/domain/tasklist"
	"adze/internal/domain/team"
	"adze/internal/permission"
	"adze/internal/permission/mode"
	"adze/internal/session"
)

// watch relays teammates' messages and detects lost teammates until ctx is done.
func (l *Lead) watch(ctx context.Context, name string) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		l.pass(ctx)
		l.findLost(ctx, name)
		l.capModes(ctx, name)
		l.handLimits(ctx, name)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pass delivers received messages to the model or the user.
func (l *Lead) pass(ctx context.Context) {
	post := l.office()
	if post == nil {
		return
	}
	arrived, err := post.Receive(ctx)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, team.ErrUnknown) {
			l.cfg.Log.Warn("the lead cannot read its messages", "err", err)
		}
		return
	}
	var texts, left []string
	for _, m := range arrived {
		switch b := m.Body.(type) {
		case *team.PermissionRequest:
			l.ask(m, b)
			continue
		case *team.ShutdownApproved:
			left = append(left, m.From)
		case *team.PlanRequest:
			l.mu.Lock()
			l.plans[b.Request] = m.From
			l.mu.Unlock()
		}
		texts = append(texts, m.Show(l.cfg.Language()))
	}
	if len(texts) > 0 {
		if err := l.cfg.Session().Submit(ctx, session.Notify{Text: strings.Join(texts, "\n"), Wake: true}); err != nil {
			return // the session has ended
		}
	}
	if err := post.Done(ctx, arrived); err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("messages to the lead were not marked as read", "err", err)
	}
	for _, name := range left {
		removeMember(ctx, l, l.Team(), name)
	}
}

// removeMember removes a teammate from the team and releases its tasks, which it returns.
func removeMember(ctx context.Context, l *Lead, name, member string) (tasks []tasklist.Task) {
	l.withdraw(member)
	if err := l.cfg.Store.Leave(ctx, name, member); err != nil {
		l.cfg.Log.Warn("a teammate has not left its team", "name", member, "err", err)
	}
	tasks, err := l.cfg.Tasks(name).Release(ctx, member)
	if err != nil {
		l.cfg.Log.Warn("the tasks of a teammate were not given back", "name", member, "err", err)
	}
	return tasks
}

// ask prompts the user in the background. The prompt is withdrawn when the teammate is gone.
func (l *Lead) ask(m team.Message, r *team.PermissionRequest) {
	ctx, cancel := context.WithCancel(l.life)
	l.mu.Lock()
	l.asking[m.From+" "+r.Request] = cancel
	l.mu.Unlock()
	l.work.Go(func() {
		defer cancel()
		l.relay(ctx, m, r)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asking, m.From+" "+r.Request)
	})
}

// findLost looks for teammates in other processes that ended without notice.
func (l *Lead) findLost(ctx context.Context, name string) {
	t, err := l.cfg.Store.Open(name)
	if err != nil {
		return // the team may be gone
	}
	for _, m := range t.Members {
		switch {
		case m.Name == team.Lead || m.Backend != team.Tmux || m.Process.Alive() || starting(&m):
		case m.Process.PID == 0:
			l.lost(ctx, name, m, "it did not start")
		default:
			l.lost(ctx, name, m, "its process has ended")
		}
	}
}

// lost releases the tasks of a lost teammate and notifies the lead.
func (l *Lead) lost(ctx context.Context, name string, m team.Member, why string) {
	l.pass(ctx) // deliver its earlier messages
	if t, err := l.cfg.Store.Open(name); err != nil || t.Member(m.Name) == nil {
		return // agreed to shut down
	}
	body := &team.Lost{Member: m.Name, Reason: why}
	for _, t := range removeMember(ctx, l, name, m.Name) {
		body.Tasks = append(body.Tasks, t.ID+" ("+t.Subject+")")
	}
	if post := l.office(); post != nil {
		if _, err := post.Send(ctx, team.Lead, team.Message{Body: body}); err != nil {
			l.cfg.Log.Warn("notifying the lead of a lost teammate failed", "name", m.Name, "err", err)
		}
	}
}

// withdraw cancels a teammate's prompts and forgets its plans.
func (l *Lead) withdraw(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, cancel := range l.asking {
		if strings.HasPrefix(key, name+" ") {
			cancel()
		}
	}
	for id, from := range l.plans {
		if from == name {
			delete(l.plans, id)
		}
	}
}

// capModes restricts teammates when the lead's mode becomes stricter than theirs.
func (l *Lead) capModes(ctx context.Context, name string) {
	now := l.cfg.Gate.Mode()
	l.mu.Lock()
	was := l.mode
	l.mode = now
	l.mu.Unlock()
	if now == was {
		return
	}
	t, err := l.cfg.Store.Open(name)
	if err != nil {
		return
	}
	post := l.office()
	for _, m := range t.Members {
		theirs := permission.Mode(m.Mode)
		if m.Name == team.Lead || post == nil || mode.Stricter(theirs, now) == theirs {
			continue
		}
		if _, err := post.Send(ctx, m.Name, team.Message{Body: &team.ModeSet{Mode: string(now)}}); err != nil {
			l.cfg.Log.Warn("a teammate keeps a mode above that of the lead", "name", m.Name, "err", err)
		}
	}
}

// handLimits sends the lead's limits to teammates in other processes if they have changed.
func (l *Lead) handLimits(ctx context.Context, name string) {
	now := l.cfg.Gate.Policy()
	l.mu.Lock()
	was := l.policy
	l.mu.Unlock()
	if now == was {
		return
	}
	data, err := json.Marshal(l.cfg.Gate.Limits())
	if err == nil {
		_, err = l.cfg.Store.Update(ctx, name, func(t *team.Team) error {
			for i := range t.Members {
				if m := &t.Members[i]; m.Backend == team.Tmux {
					m.Limits = data
				}
			}
			return nil
		})
	}
	if err != nil {
		l.cfg.Log.Warn("teammates keep the lead's earlier limits", "err", err)
		return // retried later
	}
	l.mu.Lock()
	l.policy = now
	l.mu.Unlock()
}

// Busy reports whether a teammate is working or a message is waiting for the lead. l may be
// nil.
func (l *Lead) Busy() bool {
	name := l.Team()
	if name == "" {
		return false
	}
	t, err := l.cfg.Store.Open(name)
	if err != nil {
		return false
	}
	for _, active := range l.active(&t) {
		if m := t.Member(active); m == nil || !m.Idle || l.cfg.Store.Unread(name, active) {
			return true
		}
	}
	return l.cfg.Store.Unread(name, team.Lead)
}
