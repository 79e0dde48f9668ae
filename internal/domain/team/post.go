package team

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	// maxUnread is the maximum number of unread messages in an inbox.
	maxUnread = 200
	// keepRead is the number of read messages kept.
	keepRead = 20
)

// A Mailbox sends and receives a member's messages. It is safe for concurrent use.
type Mailbox struct {
	store        *Store
	team, member string

	mu     sync.Mutex
	seen   fs.FileInfo        // inbox as last read; nil before that
	handed map[string]bool    // messages returned but not yet marked as read
	open   map[string]request // unanswered requests of this member
}

// A request waits for its answer.
type request struct {
	to    string
	kind  Kind
	reply chan Body // nil if the answer is received like other messages
}

// Mailbox returns the post of a team member.
func (s *Store) Post(team, member string) *Mailbox {
	return &Mailbox{store: s, team: team, member: member, handed: map[string]bool{}, open: map[string]request{}}
}

// NewRequest returns a new request id.
func NewRequest() string { return strings.ToLower(rand.Text()[:12]) }

// Send sends a message to a member, by name or id, or to [Everyone]. The sender is always the
// post's member, regardless of m. It returns the names of the recipients. If the message is a
// request, [Mailbox.Receive] returns the answer.
func (p *Mailbox) Send(ctx context.Context, to string, m Message) ([]string, error) {
	t, err := p.store.Open(p.team)
	if err != nil {
		return nil, err
	}
	me := t.Member(p.member)
	if me == nil {
		return nil, fmt.Errorf("%s has left the team %s", p.member, p.team)
	}
	names := t.Others(p.member)
	if to != Everyone {
		name, ok := t.Find(to)
		if !ok || name == p.member && m.Body == nil {
			return nil, t.unknown(to, p.member)
		}
		names = []string{name}
	} else if m.Body != nil {
		return nil, errBroadcast
	}
	m.ID, m.From, m.Color, m.Time, m.Read = rand.Text(), p.member, me.Color, p.store.cfg.Now(), false
	var errs []error
	var got []string
	for _, name := range names {
		if err := p.deliver(ctx, &t, name, m); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		got = append(got, name)
	}
	return got, errors.Join(errs...)
}

// deliver adds a message to a member's inbox.
func (p *Mailbox) deliver(ctx context.Context, t *Team, to string, m Message) error {
	if err := t.May(p.member, to, m.Body); err != nil {
		return err
	}
	if id := requests(m.Body); id != "" {
		p.mu.Lock()
		if _, ok := p.open[id]; !ok {
			p.open[id] = request{to: to, kind: m.Body.kind()}
		}
		p.mu.Unlock()
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := m.bounds(len(encoded) - len(m.Text)); err != nil {
		return err
	}
	return p.store.editInbox(ctx, p.team, to, func(all []Message) ([]Message, error) {
		if unread := count(all); unread >= maxUnread {
			return nil, fmt.Errorf("its inbox is full: %d messages are unread", unread)
		}
		return append(all, m), nil
	})
}

// Ask sends a request to a member and waits for the answer, which is accepted only from that
// member.
func (p *Mailbox) Ask(ctx context.Context, to string, b Body) (Body, error) {
	id := requests(b)
	if id == "" {
		return nil, fmt.Errorf("%s is not a request", b.kind())
	}
	reply := make(chan Body, 1)
	p.mu.Lock()
	p.open[id] = request{to: to, kind: b.kind(), reply: reply}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, id)
	}()
	if _, err := p.Send(ctx, to, Message{Body: b}); err != nil {
		return nil, err
	}
	select {
	case answer := <-reply:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Receive returns newly arrived messages, each once; [Mailbox.Done] marks them as read. Answers go
// to [Mailbox.Ask] instead. A message that its sender may not send, or that answers no open
// request, is ignored and logged. If the inbox is unchanged, this costs only a stat call.
func (p *Mailbox) Receive(ctx context.Context) ([]Message, error) {
	info, err := os.Lstat(filepath.Join(p.store.cfg.Dir, p.team, inboxes, inboxFile(p.member)))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	p.mu.Lock()
	same := p.seen != nil && os.SameFile(p.seen, info) && p.seen.Size() == info.Size() && p.seen.ModTime().Equal(info.ModTime())
	p.mu.Unlock()
	if same {
		return nil, nil
	}
	t, err := p.store.Open(p.team)
	if err != nil {
		return nil, err
	}
	var all []Message
	err = p.store.editInbox(ctx, p.team, p.member, func(now []Message) ([]Message, error) {
		all = now
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	fresh, settled := p.sort(&t, all)
	if len(settled) > 0 {
		err = p.markRead(ctx, settled)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = info
	return fresh, err
}

// sort returns the messages to deliver, and the ids of messages that need no more attention.
func (p *Mailbox) sort(t *Team, all []Message) (fresh []Message, settled []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range all {
		if m.Read || p.handed[m.ID] {
			continue
		}
		why := t.May(m.From, p.member, m.Body)
		handOut := why == nil
		if id, kind := answers(m.Body); why == nil && id != "" {
			r, ok := p.open[id]
			if !ok || r.to != m.From || r.kind != kind {
				why, handOut = errors.New("it answers no open request"), false
			} else {
				delete(p.open, id)
				handOut = r.reply == nil
				if !handOut {
					r.reply <- m.Body
				}
			}
		}
		if why != nil {
			p.store.cfg.Log.Warn("a message to a member of a team was ignored", "team", p.team, "to", p.member, "from", m.From, "kind", m.Kind, "why", why)
		}
		if !handOut {
			settled = append(settled, m.ID)
			continue
		}
		p.handed[m.ID] = true
		fresh = append(fresh, m)
	}
	return fresh, settled
}

// Done marks messages as read.
func (p *Mailbox) Done(ctx context.Context, messages []Message) error {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	if len(ids) == 0 {
		return nil
	}
	if err := p.markRead(ctx, ids); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		delete(p.handed, id)
	}
	return nil
}

func (p *Mailbox) markRead(ctx context.Context, ids []string) error {
	done := map[string]bool{}
	for _, id := range ids {
		done[id] = true
	}
	return p.store.editInbox(ctx, p.team, p.member, func(all []Message) ([]Message, error) {
		drop := -keepRead
		for i := range all {
			all[i].Read = all[i].Read || done[all[i].ID]
			if all[i].Read {
				drop++
			}
		}
		left := make([]Message, 0, len(all))
		for _, m := range all {
			if m.Read && drop > 0 {
				drop--
				continue
			}
			left = append(left, m)
		}
		return left, nil
	})
}

// count returns the number of unread messages.
func count(all []Message) (unread int) {
	for _, m := range all {
		if !m.Read {
			unread++
		}
	}
	return unread
}

// Unread reports whether an inbox has unread messages. It takes no lock.
func (s *Store) Unread(team, member string) bool {
	dir, err := s.dir(team, inboxes)
	if err != nil {
		return false
	}
	defer dir.Close()
	if info, err := dir.Lstat(inboxFile(member)); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return false
	}
	data, err := dir.ReadFile(inboxFile(member))
	if err != nil {
		return false
	}
	all, err := s.decodeInbox(team, member, data)
	return err == nil && count(all) > 0
}
