// Package deferred tracks a conversation's deferred tools: whether there are any, how they and
// their servers are announced, and which ones the model has discovered.
package deferred

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/mcp"
	"adze/internal/prompt"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tool/deferral"
	"adze/internal/tools/extratools"
)

// Config configures extras. Settings and Say are required.
type Config struct {
	Settings func() settings.Extra
	// Model returns the next request's model; nil without a model.
	Model func() deferral.Model
	// Unlisted reports whether the conversation started without a tool; may be nil.
	Unlisted func(tool string) bool
	// Count returns the number of tokens of a text, as counted by the provider; may be nil.
	Count func(ctx context.Context, text string) (int, error)
	// Servers are the workspace's servers; may be nil.
	Servers *mcp.Servers
	// InSystem puts the instructions of servers that are connected when the system prompt is
	// written into it.
	InSystem bool
	Say      func(string)
	// Note saves a note with the session, and Last holds the latest notes by kind. Both may be
	// nil.
	Note func(kind string, fields map[string]any)
	Last map[string]json.RawMessage
}

// Kinds of notes: "on" records that tools are deferred because there are many; "names" lists
// the tools the model has discovered, oldest first.
const (
	deferralKind   = "tool-deferral"
	discoveredKind = "discovered-tools"
)

// Extras tracks one conversation's deferred tools. It is safe for concurrent use.
type Extras struct {
	cfg        Config
	policy     *deferral.Policy
	Discovered deferral.Discovered
	changes    atomic.Int64 // server change count
	stop       func()

	open    Conversation
	finder  *extratools.Finder
	warming sync.WaitGroup // background indexing

	mu       sync.Mutex
	inSystem map[string]string     // server instructions in the system prompt
	last     *prompt.DeferredTools // last announcement, computed from the fields below
	of       []tool.Tool
	by       string
	at       int64
}

// New returns a conversation's extras. Close releases their resources.
func New(c Config) *Extras {
	x := &Extras{cfg: c, stop: func() {}, inSystem: map[string]string{}}
	var begun struct{ On bool }
	json.Unmarshal(c.Last[deferralKind], &begun) // ok: deferral starts again when there are many
	var found struct{ Names []string }
	json.Unmarshal(c.Last[discoveredKind], &found) // ok: some are suggested again
	x.Discovered.Restore(found.Names)
	x.policy = deferral.New(deferral.Config{
		Settings: x.settings, Unlisted: c.Unlisted,
		Model: c.Model, Count: c.Count, Warn: c.Say,
		Begun: func() { x.note(deferralKind, map[string]any{"on": true}) },
	}, begun.On)
	if c.Servers != nil {
		x.stop = c.Servers.Watch(func() { x.changes.Add(1) })
	}
	return x
}

// Close saves the state, stops watching servers, and waits for background work.
func (x *Extras) Close() {
	x.Save()
	x.stop()
	x.warming.Wait()
}

func (x *Extras) settings() deferral.Settings {
	s := x.cfg.Settings()
	return deferral.Settings{Mode: s.Mode.Text, By: s.Mode.Origin, Never: s.Never}
}

func (x *Extras) note(kind string, fields map[string]any) {
	if x.cfg.Note != nil {
		x.cfg.Note(kind, fields)
	}
}

// Save stores which tools the model has discovered.
func (x *Extras) Save() {
	if names, changed := x.Discovered.Changes(); changed {
		x.note(discoveredKind, map[string]any{"names": names})
	}
}

// Configure makes a registry omit deferred tools, and explain why a server's tool is missing.
func (x *Extras) Configure(r *tool.Registry) {
	r.Deferred, r.Defers, r.Missing = x.policy.Deferred, x.policy.Defers, x.missing
}

// missing explains why a tool is missing if it belongs to a server that is not connected.
func (x *Extras) missing(name string) string {
	if x.cfg.Servers == nil || !strings.HasPrefix(name, "mcp__") {
		return ""
	}
	var owner *mcp.Status
	for _, s := range x.cfg.Servers.List() {
		if strings.HasPrefix(name, "mcp__"+s.Name+"__") && (owner == nil || len(s.Name) > len(owner.Name)) {
			owner = &s
		}
	}
	if owner == nil {
		return ""
	}
	switch owner.State {
	case mcp.Pending:
		return fmt.Sprintf("The server %s is still connecting: do something else, and try again later.", owner.Name)
	case mcp.NeedsAuth:
		return fmt.Sprintf("The server %s is not connected: the user has to sign in first, with /mcp.", owner.Name)
	case mcp.Disabled:
		return fmt.Sprintf("The server %s is switched off; the user can switch it on with /mcp.", owner.Name)
	case mcp.Unapproved:
		return fmt.Sprintf("The server %s waits for the user's approval.", owner.Name)
	case mcp.Failed:
		return fmt.Sprintf("The server %s is not connected: %s.", owner.Name, strings.TrimSuffix(tool.OneLine(fmt.Sprint(cmp.Or(owner.Err, errUnknown)), 200), "."))
	}
	return ""
}

var errUnknown = fmt.Errorf("it failed")

// Pending returns the servers that are still connecting, sorted.
func (x *Extras) Pending() []string {
	if x.cfg.Servers == nil {
		return nil
	}
	var names []string
	for _, s := range x.cfg.Servers.List() {
		if s.State == mcp.Pending {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// InSystem returns the server instructions for a system prompt about to be written.
func (x *Extras) InSystem() []prompt.Server {
	if x == nil || !x.cfg.InSystem || x.cfg.Servers == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.inSystem)
	var all []prompt.Server
	for _, s := range x.cfg.Servers.List() {
		if s.State == mcp.Connected && s.About.Instructions != "" {
			x.inSystem[s.Name] = s.About.Instructions
			all = append(all, prompt.Server{Name: s.Name, Text: s.About.Instructions})
		}
	}
	x.last = nil
	return all
}

// told returns the deferred tools to announce, given the next request's tools and the tool that
// runs others.
func (x *Extras) told(pool *tool.Pool, runner string) *prompt.DeferredTools {
	x.mu.Lock()
	defer x.mu.Unlock()
	deferred, at := pool.Deferred(), x.changes.Load()
	same := len(deferred) == len(x.of) && (len(deferred) == 0 || &deferred[0] == &x.of[0])
	if x.last != nil && same && at == x.at && x.by == pool.Finder() {
		return x.last
	}
	x.of, x.at, x.by = deferred, at, pool.Finder()
	x.last = &prompt.DeferredTools{Groups: x.groups(deferred)}
	if x.by != "" {
		x.last.Finder, x.last.Runner = x.by, runner
	}
	return x.last
}

// groups returns tools grouped by server, in roster order, after the built-in ones. The caller
// holds the lock.
func (x *Extras) groups(deferred []tool.Tool) []prompt.DeferredGroup {
	names := map[string][]string{}
	for _, t := range deferred {
		server, _ := strings.CutPrefix(t.Traits().Origin, "mcp:")
		names[server] = append(names[server], t.Spec().Name)
	}
	for _, list := range names {
		slices.Sort(list)
	}
	var all []prompt.DeferredGroup
	if built := names[""]; len(built) > 0 {
		all = append(all, prompt.DeferredGroup{Names: built})
	}
	if x.cfg.Servers == nil {
		return all
	}
	for _, s := range x.cfg.Servers.List() {
		g := prompt.DeferredGroup{Server: s.Name, Names: names[s.Name]}
		switch s.State {
		case mcp.Connected:
			if g.Words = s.About.Instructions; x.inSystem[s.Name] == g.Words {
				g.Words = ""
			}
		case mcp.Pending:
			g.State = prompt.Connecting
		case mcp.NeedsAuth:
			g.State = prompt.WantsLogin
		case mcp.Failed:
			g.State = prompt.Unavailable
		default: // disabled by the user
			continue
		}
		if len(g.Names) > 0 {
			g.State = "" // callable: the server is restarted then
		}
		if len(g.Names) > 0 || g.State != "" || g.Words != "" {
			all = append(all, g)
		}
	}
	return all
}
