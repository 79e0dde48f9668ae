package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/mcp/signin"
	"adze/internal/platform/net/browser"
	"adze/internal/tool"
	"adze/internal/tools/mcptool"
	"adze/internal/ui/console"
)

// maxSignIns is the maximum number of sign-ins per operation.
const maxSignIns = 3

// logins tracks pending sign-ins to a fleet's servers.
type logins struct {
	keeper *signin.TokenStore
	getenv func(string) string
	say    func(string)

	mu      sync.Mutex
	under   map[string]*signin.Attempt // attempts in progress, by server
	waiting []*roster.Entry            // servers that need a sign-in
	watched bool
	over    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup
}

func newLogins(c Config) *logins {
	d := &logins{getenv: c.Project.Source().Getenv, say: c.Say, under: map[string]*signin.Attempt{}}
	d.over, d.end = context.WithCancel(context.Background())
	d.keeper = signin.New(signin.Config{
		Home: c.Project.Home, Network: c.Network, Dir: c.Dir, Environ: c.Environ, Version: c.Version, Say: c.Say,
	})
	return d
}

// close cancels sign-ins in progress.
func (d *logins) close() {
	d.end()
	d.work.Wait()
}

// entry returns the named server if the user can sign in to it.
func (f *Manager) entry(name string) (*roster.Entry, error) {
	e := f.configured().Find(name)
	switch {
	case e == nil:
		return nil, fmt.Errorf("no server %s; adze mcp list shows them", roster.Shown(name))
	case e.Unapproved:
		return nil, fmt.Errorf("you have not approved %s, which is a server of the project; start adze at a terminal to do so", e.Name)
	}
	return e, nil
}

// SignIn signs the user in to a server, with or without a terminal, and waits for completion.
func (f *Manager) SignIn(ctx context.Context, name string, c *console.Console) error {
	e, err := f.entry(name)
	if err != nil {
		return err
	}
	a, err := f.logins.keeper.Begin(ctx, e)
	if err != nil {
		return err
	}
	if err := c.Print("Open this address in a web browser within 5 minutes, and sign in to " + e.Name + ":\n\n    " + a.URL + "\n\n"); err != nil {
		a.Close()
		return err
	}
	if f.logins.opens() {
		if err := browser.Open(a.URL, f.logins.getenv); err != nil {
			c.Say("the browser could not be opened: " + err.Error())
		}
	}
	if c.StdinTerminal {
		err = c.Print("If the browser is on another machine, it ends at an address that it cannot open. Paste that address here.\n")
	}
	if err != nil {
		a.Close()
		return err
	}
	go paste(a, c)
	if err := a.Wait(ctx); err != nil {
		return err
	}
	return c.Print("You are signed in to " + e.Name + arrive(ctx, f.Servers, e.Name) + ".\n")
}

// paste reads pasted URLs until the input ends, possibly after the attempt.
func paste(a *signin.Attempt, c *console.Console) {
	lines := bufio.NewScanner(c.Stdin)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		if err := a.Paste(text); err != nil {
			c.Say(err.Error())
		}
	}
}

// opens reports whether a browser can be opened, either $BROWSER or a local desktop's.
func (d *logins) opens() bool {
	if d.getenv("BROWSER") != "" {
		return true
	}
	return d.getenv("SSH_CONNECTION") == "" && (!unixDesktop || d.getenv("DISPLAY") != "" || d.getenv("WAYLAND_DISPLAY") != "")
}

// BeginSignIn prepares a sign-in to a server and returns the URL to open, which stays the same
// until it completes. The user is notified of the outcome, and the server is connected. If open
// is true, the browser is opened; otherwise the URL is shown to the user, since a model may not
// repeat it in full.
func (f *Manager) BeginSignIn(ctx context.Context, name string, open bool) (address string, err error) {
	e, err := f.entry(name)
	if err != nil {
		return "", err
	}
	return f.logins.begin(ctx, f.Servers, e, open)
}

// signIn starts a sign-in to a conversation's server, which may be its agent's.
func signIn(ctx context.Context, s *Client, name string) (address string, err error) {
	if i := slices.IndexFunc(s.agentServers.own, func(e *roster.Entry) bool { return e.Name == name }); i >= 0 && s.agentServers.own[i].Usable() {
		return s.logins.begin(ctx, s.Servers, s.agentServers.own[i], true)
	}
	return s.BeginSignIn(ctx, name, true)
}

// begin starts a sign-in to a server, or returns the one in progress.
func (d *logins) begin(ctx context.Context, all *mcp.Servers, e *roster.Entry, open bool) (address string, err error) {
	d.mu.Lock()
	a := d.under[e.Name]
	d.mu.Unlock()
	if a == nil {
		if a, err = d.keeper.Begin(ctx, e); err != nil {
			return "", err
		}
		a = d.attend(all, e, a)
	}
	if !open {
		d.say("to sign in to " + e.Name + ", open this address in a web browser: " + a.URL)
	} else if d.opens() {
		if err := browser.Open(a.URL, d.getenv); err != nil {
			d.say("the browser could not be opened: " + err.Error())
		}
	}
	return a.URL, nil
}

// attend waits for an attempt in the background, unless another is in progress, and returns the
// active attempt.
func (d *logins) attend(all *mcp.Servers, e *roster.Entry, a *signin.Attempt) *signin.Attempt {
	d.mu.Lock()
	defer d.mu.Unlock()
	if other := d.under[e.Name]; other != nil || d.over.Err() != nil {
		a.Close()
		if other != nil {
			return other
		}
		return a
	}
	d.under[e.Name] = a
	d.work.Go(func() {
		err := a.Wait(d.over)
		d.mu.Lock()
		delete(d.under, e.Name)
		d.mu.Unlock()
		switch {
		case d.over.Err() != nil:
		case err != nil:
			d.say(err.Error())
		default:
			d.say("you are signed in to " + e.Name + arrive(d.over, all, e.Name))
		}
	})
	return a
}

// connectWait is how long to wait for a server after sign-in, so that its tools are available
// when the user reads the confirmation.
const connectWait = 3 * time.Second

// arrive connects to a server after sign-in and returns a message for the user.
func arrive(ctx context.Context, all *mcp.Servers, name string) string {
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	switch err := all.SignedIn(ctx, name); {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return "; it is still connecting"
	default:
		return ", but connecting to it failed: " + err.Error()
	}
}

// SigningIn runs do for a server, signing the user in when the server requires it, a few times
// at most.
func (f *Manager) SigningIn(ctx context.Context, name string, c *console.Console, do func() error) error {
	err := do()
	for range maxSignIns {
		var auth *mcp.AuthError
		if !errors.As(err, &auth) {
			return err
		}
		if err := f.SignIn(ctx, name, c); err != nil {
			return err
		}
		if err = f.Reconnect(ctx, name); err == nil {
			err = do()
		}
	}
	return err
}

// SignOut deletes a server's token. The server need not be configured anymore. It returns
// [signin.ErrNotSignedIn] if no token exists.
func (f *Manager) SignOut(ctx context.Context, name string) error {
	if e := f.configured().Find(name); e != nil {
		name = e.Name
	}
	return f.logins.keeper.Logout(ctx, name)
}

// Waiting returns the servers that need a sign-in. It returns the same slice until that
// changes.
func (f *Manager) Waiting() []*roster.Entry {
	d := f.logins
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.watched {
		d.watched = true
		f.Watch(func() {
			now := f.wanting()
			d.mu.Lock()
			defer d.mu.Unlock()
			if !slices.Equal(now, d.waiting) {
				d.waiting = now
			}
		})
		d.waiting = f.wanting()
	}
	return d.waiting
}

func (f *Manager) wanting() (list []*roster.Entry) {
	for _, s := range f.List() {
		if s.State == mcp.NeedsAuth {
			list = append(list, s.Entry)
		}
	}
	return list
}

// signInTools holds a conversation's sign-in tools, which are placeholders for servers that need a
// sign-in.
type signInTools struct {
	begin mcptool.SignIn // nil if the conversation is too short

	mu      sync.Mutex
	waiting []*roster.Entry // servers the cached tools were built for
	offered []tool.Tool     // other servers' tools
	all     []tool.Tool     // combined
}

// with appends the sign-in tools to the other servers' tools. It returns the same slice until
// something changes.
func (s *signInTools) with(f *Manager, offered []tool.Tool) []tool.Tool {
	waiting := f.Waiting()
	if len(waiting) == 0 {
		return offered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !same(waiting, s.waiting) || !same(offered, s.offered) {
		s.waiting, s.offered, s.all = waiting, offered, slices.Clone(offered)
		for _, e := range waiting {
			s.all = append(s.all, mcptool.NewAuthenticate(e, s.begin))
		}
	}
	return s.all
}

// same reports whether two slices are identical.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
