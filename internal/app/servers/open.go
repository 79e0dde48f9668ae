package servers

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/app/settings"
	"adze/internal/mcp"
	"adze/internal/mcp/client"
	"adze/internal/mcp/hosted"
	"adze/internal/mcp/roster"
	"adze/internal/platform/osproc"
	"adze/internal/platform/replace"
	"adze/internal/platform/transport"
	"adze/internal/platform/trust"
	"adze/internal/session"
)

// A Config is what the servers of a workspace are reached with.
type Config struct {
	Project *settings.Project
	Flags   Flags
	// Runner runs the programs of servers, in Dir and with what Environ returns. They are not confined: the user chose
	// them.
	Runner  *osproc.Runner
	Dir     string
	Environ func() []string
	// Network says how to reach servers; it is called when the first is.
	Network func() transport.Config
	Version string
	// Say tells the user something in one line.
	Say func(string)
}

// A Fleet is the servers of a workspace: those that are configured, and the connections to them.
type Fleet struct {
	*mcp.Servers
	cfg  Config
	host hosted.Link // to servers of the program that drives this one

	start  sync.Once
	dialer *dialer
	logins *logins

	mu     sync.Mutex
	roster *roster.Roster  // those that are configured
	guests []*roster.Entry // of those, the host's
	begun  []*Share        // of conversations that have begun, the latest last
}

// Open returns the servers that are configured. It starts none: without any, nothing more than their absence is known.
func Open(c Config) (*Fleet, error) {
	list, err := Load(c.Project, c.Flags)
	if err != nil {
		return nil, err
	}
	f := &Fleet{cfg: c, roster: list, logins: newLogins(c)}
	f.dialer = &dialer{make: func() mcp.Dialer { return c.dialer(f) }}
	v := c.Project.Values().MCP
	m := mcp.Config{
		Dialer: f.dialer,
		Local:  v.Batch, Remote: v.RemoteBatch, Connect: v.Timeout, Call: v.CallTimeout,
		Samples: func(server string) bool { return slices.Contains(v.Sampling, server) },
		Pushes:  func(server string) bool { return slices.Contains(v.Channels, server) },
		Say:     f.say,
		Auth:    f.logins.keeper.Cache,
	}
	if home := c.Project.Home; home != "" {
		m.Record = trust.OpenTools(home, replace.New(filepath.Join(home, "locks")))
	}
	f.Servers = mcp.New(m)
	return f, nil
}

// Any reports whether servers are configured, or brought by the host.
func (f *Fleet) Any() bool { return len(f.configured().Entries) > 0 }

// configured returns the roster as it is now.
func (f *Fleet) configured() *roster.Roster {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.roster
}

// Start begins to connect to the servers of the roster, once.
func (f *Fleet) Start() { f.startAfter(0) }

func (f *Fleet) startAfter(pause time.Duration) {
	f.start.Do(func() {
		f.dialer.later.Store(time.Now().Add(pause).UnixNano())
		if list := f.configured().Entries; len(list) > 0 {
			f.Servers.Start(list)
		}
	})
}

// say tells the user something: in the conversation at the terminal, if there is one.
func (f *Fleet) say(text string) {
	f.mu.Lock()
	var latest *Share
	for _, s := range f.begun {
		if s.cfg.Patience == 0 {
			latest = s
		}
	}
	f.mu.Unlock()
	if latest == nil || latest.cfg.Session().Submit(context.Background(), session.Tell{Text: upper(text) + "."}) != nil {
		f.cfg.Say(text)
	}
}

// upper begins a sentence.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// A dialer makes the one that it is when the first server is reached.
type dialer struct {
	make func() mcp.Dialer
	once sync.Once
	made mcp.Dialer
	// later is when servers are reached first, in nanoseconds, so that they do not take from what a user waits for.
	later atomic.Int64
}

// headStart is how long the first request of a user at a terminal has before programs of servers are started.
const headStart = 200 * time.Millisecond

// Dial implements [mcp.Dialer].
func (d *dialer) Dial(ctx context.Context, e *roster.Entry, c mcp.Client) (mcp.Conn, error) {
	select {
	case <-time.After(time.Until(time.Unix(0, d.later.Load()))):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.once.Do(func() { d.made = d.make() })
	return d.made.Dial(ctx, e, c)
}

// A network is opened by the first request.
type network struct {
	open   func() http.RoundTripper
	once   sync.Once
	opened http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.once.Do(func() { n.opened = n.open() })
	return n.opened.RoundTrip(r)
}

func (c Config) dialer(f *Fleet) mcp.Dialer {
	return client.New(client.Config{
		Runner: c.Runner, Dir: c.Dir, Env: c.Environ(), Version: c.Version, Host: &f.host,
		HTTP:      &network{open: func() http.RoundTripper { return transport.New(c.Network()) }},
		Authorize: f.logins.keeper.Carry, Headers: f.logins.keeper.Headers,
	})
}

// Close ends the connections, and gives up what the user has not signed in to.
func (f *Fleet) Close() {
	f.logins.close()
	f.Servers.Close()
}
