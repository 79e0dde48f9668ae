package mcp

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/client"
	"adze/internal/mcp/hosted"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/net/transport"
	"adze/internal/platform/proc/osproc"
	"adze/internal/session"
	"adze/internal/settings"
)

// Config configures a workspace's servers.
type Config struct {
	Project *settings.Project
	Flags   Flags
	// Runner runs stdio servers in Dir with the environment from Environ. They are not
	// sandboxed, since the user chose them.
	Runner  *osproc.Runner
	Dir     string
	Environ func() []string
	// Network returns the transport configuration. It is called when the first server is
	// contacted.
	Network func() transport.Config
	Version string
	// Say shows the user a one-line message.
	Say func(string)
}

// A Manager holds a workspace's configured servers and the connections to them.
type Manager struct {
	*mcp.Servers
	cfg  Config
	host hosted.Link // servers in the host program

	start  sync.Once
	dialer *dialer
	logins *logins

	mu     sync.Mutex
	roster *roster.Roster  // configured servers
	guests []*roster.Entry // the host's subset
	begun  []*Client       // started conversations, latest last
}

// Open returns the configured servers without starting any.
func Open(c Config) (*Manager, error) {
	list, err := Load(c.Project, c.Flags)
	if err != nil {
		return nil, err
	}
	f := &Manager{cfg: c, roster: list, logins: newLogins(c)}
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

// Any reports whether any servers are configured or provided by the host.
func (f *Manager) Any() bool { return len(f.configured().Entries) > 0 }

// configured returns the current roster.
func (f *Manager) configured() *roster.Roster {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.roster
}

// Start starts connecting to the roster's servers, once.
func (f *Manager) Start() { f.startAfter(0) }

func (f *Manager) startAfter(pause time.Duration) {
	f.start.Do(func() {
		f.dialer.later.Store(time.Now().Add(pause).UnixNano())
		if list := f.configured().Entries; len(list) > 0 {
			f.Servers.Start(list)
		}
	})
}

// say shows the user a message, in the terminal conversation if there is one.
func (f *Manager) say(text string) {
	f.mu.Lock()
	var latest *Client
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

// upper capitalizes the first letter of text.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// A dialer creates the underlying dialer on first use.
type dialer struct {
	make func() mcp.Dialer
	once sync.Once
	made mcp.Dialer
	// later is the earliest time for the first dial, in Unix nanoseconds, so that servers don't
	// compete with a request the user is waiting for.
	later atomic.Int64
}

// headStart is how long starting stdio servers is delayed in favor of the first request at a
// terminal.
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

// A network opens its transport with the first request.
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

func (c Config) dialer(f *Manager) mcp.Dialer {
	return client.New(client.Config{
		Runner: c.Runner, Dir: c.Dir, Env: c.Environ(), Version: c.Version, Host: &f.host,
		HTTP:      &network{open: func() http.RoundTripper { return transport.New(c.Network()) }},
		Authorize: f.logins.keeper.Carry, Headers: f.logins.keeper.Headers,
	})
}

// Close closes the connections and cancels pending sign-ins.
func (f *Manager) Close() {
	f.logins.close()
	f.Servers.Close()
}
