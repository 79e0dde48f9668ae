package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"adze/internal/mcp/roster"
)

// Config configures a workspace's Servers.
type Config struct {
	Dialer Dialer
	// Local and Remote limit concurrent connection attempts; 0 means 3 and 20.
	Local, Remote int
	// Connect limits a connection attempt, and Call a call without activity; 0 means 30 seconds
	// and 10 minutes.
	Connect, Call time.Duration
	// Samples reports whether a server may query the model; may be nil.
	Samples func(server string) bool
	// Pushes reports whether a server may send messages into conversations; may be nil.
	Pushes func(server string) bool
	Auth   AuthCache // caches sign-in requirements; may be nil
	Record Record    // may be nil
	// Say shows the user a line, and Log is for debugging; both may be nil.
	Say func(string)
	Log *slog.Logger
}

// An AuthCache remembers for a while which servers require a sign-in.
type AuthCache interface {
	Needed(*roster.Entry) bool
	Note(*roster.Entry)
	Clear(*roster.Entry)
}

// Fixed limits and times.
const (
	maxDeaths   = 3 // deaths of a local server within deathSpan
	deathSpan   = 5 * time.Minute
	maxLost     = 3 // consecutive errors before a connection is dropped
	maxTries    = 5 // reconnect attempts
	firstPause  = time.Second
	maxPause    = 30 * time.Second
	listPause   = time.Second // minimum time between listings of a server whose lists change
	closeWithin = 600 * time.Millisecond
	maxCached   = 100 // servers with cached resources
)

// Servers manages a workspace's servers, or a conversation's own servers on top of them. It is
// safe for concurrent use.
type Servers struct {
	*hub
	*tier
	offered []OfferedTool // result of Tools for a version of the board
	version int
}

// A hub is the state shared by a workspace's servers: the lock, the conversations and
// watchers, and background work.
type hub struct {
	cfg           Config
	ctx           context.Context // context for all background work
	cancel        context.CancelFunc
	local, remote batch
	work          sync.WaitGroup

	mu        sync.Mutex
	shares    []*Session
	version   int       // incremented when tools are added or removed
	cached    []*server // servers with cached resources, most recent last
	watchers  []*watcher
	followers []*follower
	news      []stateChange
	telling   bool
	closed    bool
}

// A server is an entry of the roster with its state.
type server struct {
	*hub
	home  *tier // tier it belongs to
	entry *roster.Entry
	key   string // identity: a different configuration is a different server

	state   State
	err     error
	gone    bool // removed from the roster
	conn    Conn // nil unless connected
	attempt *attempt
	log     string // log of the last connection
	deaths  []time.Time
	lost    int // consecutive errors
	retry   retry
	asking  int // open questions to the user
	// reported is the number of tool changes so far.
	reported int

	lists
}

// New returns a Servers without any servers.
func New(cfg Config) *Servers {
	cfg.Local, cfg.Remote = cmp.Or(cfg.Local, 3), cmp.Or(cfg.Remote, 20)
	cfg.Connect, cfg.Call = cmp.Or(cfg.Connect, 30*time.Second), cmp.Or(cfg.Call, 10*time.Minute)
	b := &hub{cfg: cfg, local: batch{limit: cfg.Local}, remote: batch{limit: cfg.Remote}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return &Servers{hub: b, tier: &tier{}}
}

// Start starts connecting to servers and returns immediately.
func (s *Servers) Start(entries []*roster.Entry) {
	s.mu.Lock()
	defer s.unlock()
	s.take(entries)
}

// Set replaces the roster with entries: it closes servers that were removed or changed, and
// connects to new ones. It waits for the connections until ctx is done. Errs holds the errors
// of servers that could not be connected.
func (s *Servers) Set(ctx context.Context, entries []*roster.Entry) (added, removed []string, errs map[string]error) {
	s.mu.Lock()
	fresh, gone := s.take(entries)
	var leaving []Conn
	for _, sv := range gone {
		removed = append(removed, sv.entry.Name)
		sv.gone = true
		leaving = append(leaving, sv.release()...)
	}
	var attempts []*attempt
	for _, sv := range fresh {
		added = append(added, sv.entry.Name)
		attempts = append(attempts, sv.attempt)
	}
	s.unlock()
	closeAll(leaving)
	errs = map[string]error{}
	for i, sv := range fresh {
		err := sv.entry.Problem
		if a := attempts[i]; a != nil {
			_, err = a.wait(ctx)
		}
		if err != nil {
			errs[sv.entry.Name] = err
		}
	}
	return added, removed, errs
}

// take replaces the roster with entries. It returns the new servers, which are being connected,
// and the removed ones, which the caller releases. The caller holds the lock.
func (s *Servers) take(entries []*roster.Entry) (fresh, gone []*server) {
	if s.closed {
		return nil, nil
	}
	before := s.list
	s.list = make([]*server, 0, len(entries))
	for _, e := range entries {
		key := entryKey(e)
		i := slices.IndexFunc(before, func(sv *server) bool { return sv.key == key })
		if i >= 0 {
			s.list = append(s.list, before[i])
			before = slices.Delete(slices.Clone(before), i, i+1)
			continue
		}
		sv := &server{hub: s.hub, home: s.tier, entry: e, key: key, state: Pending}
		s.list = append(s.list, sv)
		fresh = append(fresh, sv)
		switch {
		case e.Disabled:
			sv.state = Disabled
		case e.Unapproved:
			sv.state = Unapproved
		case e.Problem != nil:
			sv.state, sv.err = Failed, e.Problem
		default:
			sv.connect(attemptConfig{})
		}
	}
	s.hub.version++
	if len(fresh)+len(before) > 0 {
		s.news = append(s.news, stateChange{})
	}
	return fresh, before
}

// entryKey returns a key that identifies a server by its name and all of its configuration.
func entryKey(e *roster.Entry) string {
	same := *e
	same.File, same.Raw, same.Problem, same.Warnings = "", nil, nil, nil
	data, err := json.Marshal(struct {
		roster.Entry
		Problem string
	}{same, errorText(e.Problem)})
	if err != nil { // an entry can always be encoded
		panic(err)
	}
	return string(data)
}

// recordKey returns the key for recording tools: the server as written, without variables'
// values.
func recordKey(e *roster.Entry) string {
	text := e.Name + "\x00" + string(e.Raw)
	if len(e.Raw) == 0 {
		text = entryKey(e)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Wait waits until all connection attempts have finished, or ctx is done.
func (s *Servers) Wait(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		a := s.underWay()
		s.mu.Unlock()
		if a == nil {
			return
		}
		a.wait(ctx) // ok: the server's state shows the result
	}
}

// List returns the servers' status, in roster order.
func (s *Servers) List() []Status {
	s.mu.Lock()
	list := s.all()
	all := make([]Status, len(list))
	conns := make([]Conn, len(list))
	for i, sv := range list {
		all[i] = Status{
			Entry: sv.entry, State: sv.state, Err: sv.err, About: sv.about,
			Tools: sv.tools, Prompts: sv.prompts, Cut: sv.cut(), Changes: sv.changes, Log: sv.log,
		}
		conns[i] = sv.conn
	}
	s.mu.Unlock()
	for i, c := range conns {
		if c != nil {
			all[i].Log = c.Log()
		}
	}
	return all
}

// Tools returns the tools of the servers that are connected, or will reconnect when used. It
// returns the same slice until something changes; it must not be modified.
func (s *Servers) Tools() []OfferedTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == s.hub.version {
		return s.offered
	}
	s.offered = nil
	for _, sv := range s.all() {
		for _, t := range sv.tools {
			if sv.entry.Offers(t.Name) {
				s.offered = append(s.offered, OfferedTool{sv.entry, t})
			}
		}
	}
	s.version = s.hub.version
	return s.offered
}

// Reconnect closes the connection to a server and makes a new one, regardless of earlier
// attempts.
func (s *Servers) Reconnect(ctx context.Context, name string) error {
	s.mu.Lock()
	sv, err := s.find(name)
	if err == nil {
		err = sv.startable()
	}
	if err != nil {
		s.unlock()
		return err
	}
	leaving := sv.release()
	sv.deaths = nil
	a := sv.connect(attemptConfig{fresh: true})
	s.unlock()
	closeAll(leaving)
	_, err = a.wait(ctx)
	return err
}

// SignedIn connects to a server after the user has signed in to it. If ctx ends, connecting
// continues.
func (s *Servers) SignedIn(ctx context.Context, name string) error {
	s.mu.Lock()
	sv, err := s.find(name)
	if err != nil || sv.startable() != nil || sv.conn != nil {
		s.unlock()
		return nil
	}
	a := sv.connect(attemptConfig{fresh: true})
	s.unlock()
	_, err = a.wait(ctx)
	return err
}

// Enable enables or disables a server for the lifetime of s.
func (s *Servers) Enable(name string, on bool) error {
	s.mu.Lock()
	sv, err := s.find(name)
	var leaving []Conn
	switch {
	case err != nil:
	case on && sv.state != Disabled:
		err = sv.startable() // fails if it waits for approval, for example
	case on && sv.entry.Unapproved:
		err = errUnapproved
	case on && sv.entry.Problem != nil:
		err = sv.entry.Problem
	case on:
		sv.connect(attemptConfig{fresh: true})
	default:
		leaving = sv.release()
		sv.become(Disabled, nil)
	}
	s.unlock()
	closeAll(leaving)
	return err
}

var errUnapproved = errors.New("it is a server of the project that you have not approved of; see /mcp")

// startable returns the reason a server must not be connected, or nil.
func (sv *server) startable() error {
	switch {
	case sv.state == Disabled:
		return fmt.Errorf("the server %s is disabled; /mcp enable %s enables it", sv.entry.Name, sv.entry.Name)
	case sv.state == Unapproved:
		return fmt.Errorf("the server %s cannot be used: %w", sv.entry.Name, errUnapproved)
	case sv.entry.Problem != nil:
		return fmt.Errorf("the server %s cannot be used: %w", sv.entry.Name, sv.entry.Problem)
	}
	return nil
}

// RootsChanged notifies the servers that a conversation's directories changed.
func (s *Servers) RootsChanged() {
	s.mu.Lock()
	defer s.unlock()
	for _, sv := range s.all() {
		if conn := sv.conn; conn != nil {
			s.spawn(func() {
				ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Connect)
				defer cancel()
				if err := conn.RootsChanged(ctx); err != nil && s.cfg.Log != nil {
					s.cfg.Log.Debug("notifying the mcp server of its roots failed", "name", sv.entry.Name, "err", err)
				}
			})
		}
	}
}

// spawn runs f in a goroutine that Close waits for. The caller holds the lock.
func (b *hub) spawn(f func()) {
	if !b.closed {
		b.work.Go(f)
	}
}

// Close ends all connections, and the programs behind them, within 600 ms. A conversation's
// servers are closed before its workspace's.
func (s *Servers) Close() {
	s.mu.Lock()
	var leaving []Conn
	for _, sv := range s.list {
		sv.gone = true
		leaving = append(leaving, sv.release()...)
	}
	s.list = nil
	s.hub.version++
	if s.below != nil {
		s.news = append(s.news, stateChange{})
		s.unlock()
		closeAll(leaving)
		return
	}
	s.closed = true
	s.watchers, s.followers = nil, nil
	s.unlock()
	s.cancel()
	done := make(chan struct{})
	go func() {
		closeAll(leaving)
		s.work.Wait()
		close(done)
	}()
	bound := time.NewTimer(closeWithin)
	defer bound.Stop()
	select {
	case <-done:
	case <-bound.C:
	}
}

// closeAll closes connections concurrently.
func closeAll(conns []Conn) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.Close() }) // ok: it is unusable in any case
	}
	wg.Wait()
}
