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

// A Config is what the servers of a workspace need.
type Config struct {
	Dialer Dialer
	// Local and Remote are how many servers are connected to at a time; 0 means 3 and 20.
	Local, Remote int
	// Connect bounds an attempt to connect, and Call a call without news of it; 0 means 30 seconds and 10 minutes.
	Connect, Call time.Duration
	// Samples reports whether a server may ask the model something; may be nil.
	Samples func(server string) bool
	// Pushes reports whether a server may send messages into conversations; may be nil.
	Pushes func(server string) bool
	Auth   AuthCache // may be nil
	Record Record    // may be nil
	// Say tells the user something in one line, and Log is for debugging; both may be nil.
	Say func(string)
	Log *slog.Logger
}

// An AuthCache remembers for a while which servers want the user to sign in.
type AuthCache interface {
	Needed(*roster.Entry) bool
	Note(*roster.Entry)
	Clear(*roster.Entry)
}

// Times that are not configured.
const (
	maxDeaths   = 3 // of a local server within deathSpan
	deathSpan   = 5 * time.Minute
	maxLost     = 3 // errors in a row before a connection is given up
	maxTries    = 5 // to connect again
	firstPause  = time.Second
	maxPause    = 30 * time.Second
	listPause   = time.Second // between two listings of a server that says its lists changed
	closeWithin = 600 * time.Millisecond
	maxCached   = 100 // servers whose resources are remembered
)

// Servers are the servers of a workspace, or those that one conversation has on top of them. They are safe for concurrent
// use.
type Servers struct {
	*board
	*tier
	offered []Offered // what Tools returns, as of a version of the board
	version int
}

// A board is what the servers of a workspace share: the lock of their state, the conversations and others that hear of
// them, and what is under way.
type board struct {
	cfg           Config
	ctx           context.Context // of everything that is under way
	cancel        context.CancelFunc
	local, remote batch
	work          sync.WaitGroup

	mu        sync.Mutex
	shares    []*Share
	version   int       // counts how often tools came or went
	cached    []*server // those with a list of resources, the latest last
	watchers  []*watcher
	followers []*follower
	news      []news
	telling   bool
	closed    bool
}

// A server is one of the roster.
type server struct {
	*board
	home  *tier // that it belongs to
	entry *roster.Entry
	key   string // what the server is, so that another configuration is another server

	state   State
	err     error
	gone    bool // it is no longer in the roster
	conn    Conn // nil unless connected
	attempt *attempt
	log     string // of the last connection
	deaths  []time.Time
	lost    int // errors in a row
	retry   retry
	asking  int // questions to the user that are under way
	// reported is how many changes of tools there were.
	reported int

	lists
}

// New returns servers, of which there are none yet.
func New(cfg Config) *Servers {
	cfg.Local, cfg.Remote = cmp.Or(cfg.Local, 3), cmp.Or(cfg.Remote, 20)
	cfg.Connect, cfg.Call = cmp.Or(cfg.Connect, 30*time.Second), cmp.Or(cfg.Call, 10*time.Minute)
	b := &board{cfg: cfg, local: batch{limit: cfg.Local}, remote: batch{limit: cfg.Remote}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return &Servers{board: b, tier: &tier{}}
}

// Start begins to connect to servers, and returns at once.
func (s *Servers) Start(entries []*roster.Entry) {
	s.mu.Lock()
	defer s.unlock()
	s.take(entries)
}

// Set makes the roster be entries: servers that are no longer among them, or differ, are closed, new ones are
// connected to. It waits for those until ctx is done. Errs are those of servers that could not be connected to.
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

// take makes the roster be entries, with the lock held. It returns the servers that are new, which are being connected
// to, and those that are gone, which the caller releases.
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
		sv := &server{board: s.board, home: s.tier, entry: e, key: key, state: Pending}
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
	s.board.version++
	if len(fresh)+len(before) > 0 {
		s.news = append(s.news, news{})
	}
	return fresh, before
}

// entryKey returns what tells one server from another: its name and all of its configuration.
func entryKey(e *roster.Entry) string {
	same := *e
	same.File, same.Raw, same.Problem, same.Warnings = "", nil, nil, nil
	data, err := json.Marshal(struct {
		roster.Entry
		Problem string
	}{same, errorText(e.Problem)})
	if err != nil { // an entry has nothing that cannot be written
		panic(err)
	}
	return string(data)
}

// recordKey returns what tools are remembered under: the server as it is written, without the values of variables.
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

// Wait waits until no server is being connected to for the first time or again, or ctx is done.
func (s *Servers) Wait(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		a := s.underWay()
		s.mu.Unlock()
		if a == nil {
			return
		}
		a.wait(ctx) // ok: the state of the server says what came of it
	}
}

// List returns how the servers stand, in the order of the roster.
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

// Tools returns the tools of the servers that are connected, or will be again when they are used. It returns the same
// slice until something changes, which must not be modified.
func (s *Servers) Tools() []Offered {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == s.board.version {
		return s.offered
	}
	s.offered = nil
	for _, sv := range s.all() {
		for _, t := range sv.tools {
			if sv.entry.Offers(t.Name) {
				s.offered = append(s.offered, Offered{sv.entry, t})
			}
		}
	}
	s.version = s.board.version
	return s.offered
}

// Reconnect closes the connection to a server and makes a new one, whatever became of earlier attempts.
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

// SignedIn says that the user has signed in to a server, and connects to it. When ctx ends it goes on connecting.
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

// Enable makes a server be used or not, for as long as the servers last.
func (s *Servers) Enable(name string, on bool) error {
	s.mu.Lock()
	sv, err := s.find(name)
	var leaving []Conn
	switch {
	case err != nil:
	case on && sv.state != Disabled:
		err = sv.startable() // such as one that waits for approval
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

// startable returns why a server must not be connected to, or nil.
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

// RootsChanged tells the servers that the directories of a conversation changed.
func (s *Servers) RootsChanged() {
	s.mu.Lock()
	defer s.unlock()
	for _, sv := range s.all() {
		if conn := sv.conn; conn != nil {
			s.spawn(func() {
				ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Connect)
				defer cancel()
				if err := conn.RootsChanged(ctx); err != nil && s.cfg.Log != nil {
					s.cfg.Log.Debug("mcp server was not told of directories", "name", sv.entry.Name, "err", err)
				}
			})
		}
	}
}

// spawn runs f in a goroutine that Close waits for. It is called with the lock held.
func (b *board) spawn(f func()) {
	if !b.closed {
		b.work.Go(f)
	}
}

// Close ends all connections, and the programs behind them, within 600 ms. Those of a conversation are closed before those
// of its workspace.
func (s *Servers) Close() {
	s.mu.Lock()
	var leaving []Conn
	for _, sv := range s.list {
		sv.gone = true
		leaving = append(leaving, sv.release()...)
	}
	s.list = nil
	s.board.version++
	if s.below != nil {
		s.news = append(s.news, news{})
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

// closeAll closes connections, all at once.
func closeAll(conns []Conn) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.Close() }) // ok: it is of no more use in any case
	}
	wg.Wait()
}
