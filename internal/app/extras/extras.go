// Package extras keeps what a conversation knows of tools that are not in its requests: whether there are any, what the
// model is told of them and of the servers that offer them, and which of them it has come across. How tools are found and
// run is left to others.
package extras

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/app/settings"
	"adze/internal/brief"
	"adze/internal/mcp"
	"adze/internal/tool"
	"adze/internal/tool/deferral"
	"adze/internal/tools/extratools"
)

// A Config is what extras are made from. Settings and Say are required.
type Config struct {
	Settings func() settings.Extra
	// Model returns the model of the next request. May be nil: none is asked.
	Model func() deferral.Model
	// Unlisted reports whether the conversation has begun without a tool; may be nil.
	Unlisted func(tool string) bool
	// Count asks the provider how many tokens a text is; may be nil.
	Count func(ctx context.Context, text string) (int, error)
	// Servers are those of the workspace; nil if there are none.
	Servers *mcp.Servers
	// InSystem tells what servers say in the system prompt, as far as they are connected when it is written.
	InSystem bool
	Say      func(string)
	// Note keeps a note with the session, and Last are those that were kept last, by kind. They may be nil.
	Note func(kind string, fields map[string]any)
	Last map[string]json.RawMessage
}

// The kinds of notes: under "on" that tools are deferred because there are many, and under "names" the tools that the model
// has come across, oldest first.
const (
	deferralKind   = "tool-deferral"
	discoveredKind = "discovered-tools"
)

// Extras are those of one conversation. They are safe for concurrent use.
type Extras struct {
	cfg        Config
	policy     *deferral.Policy
	core       map[string]bool
	Discovered deferral.Discovered
	changes    atomic.Int64 // of servers
	stop       func()

	open    Open
	finder  *extratools.Finder
	warming sync.WaitGroup // of the index, beside the conversation

	mu       sync.Mutex
	inSystem map[string]string // what servers say, as the system prompt has it
	last     *brief.Extras     // that were told, as of what follows
	of       []tool.Tool
	by       string
	at       int64
}

// New returns the extras of a conversation. Close gives back what they hold.
func New(c Config) *Extras {
	x := &Extras{cfg: c, core: map[string]bool{}, stop: func() {}, inSystem: map[string]string{}}
	for _, name := range coreTools() {
		x.core[name] = true
	}
	var begun struct{ On bool }
	json.Unmarshal(c.Last[deferralKind], &begun) // ok: then it begins again when there are many
	var found struct{ Names []string }
	json.Unmarshal(c.Last[discoveredKind], &found) // ok: then some are suggested again
	x.Discovered.Restore(found.Names)
	x.policy = deferral.New(deferral.Config{
		Core:     func(name string) bool { return x.core[name] },
		Settings: x.settings, Unlisted: c.Unlisted,
		Model: c.Model, Count: c.Count, Warn: c.Say,
		Begun: func() { x.note(deferralKind, map[string]any{"on": true}) },
	}, begun.On)
	if c.Servers != nil {
		x.stop = c.Servers.Watch(func() { x.changes.Add(1) })
	}
	return x
}

// Close keeps what is known, ends the watch over servers, and waits for what is done beside the conversation.
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

// Save keeps which tools the model has come across.
func (x *Extras) Save() {
	if names, changed := x.Discovered.Changes(); changed {
		x.note(discoveredKind, map[string]any{"names": names})
	}
}

// Configure makes a registry leave out what is deferred, and say why a tool of a server is missing.
func (x *Extras) Configure(r *tool.Registry) {
	r.Deferred, r.Defers, r.Missing = x.policy.Deferred, x.policy.Defers, x.missing
}

// missing says why there is no tool of that name, if it is one of a server that is not connected.
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

// InSystem returns what servers say, for the system prompt that is being written.
func (x *Extras) InSystem() []brief.Server {
	if x == nil || !x.cfg.InSystem || x.cfg.Servers == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.inSystem)
	var all []brief.Server
	for _, s := range x.cfg.Servers.List() {
		if s.State == mcp.Connected && s.About.Instructions != "" {
			x.inSystem[s.Name] = s.About.Instructions
			all = append(all, brief.Server{Name: s.Name, Text: s.About.Instructions})
		}
	}
	x.last = nil
	return all
}

// told returns what the model is to be told of extras, given the tools of the next request and the tool that runs others.
func (x *Extras) told(pool *tool.Pool, runner string) *brief.Extras {
	x.mu.Lock()
	defer x.mu.Unlock()
	deferred, at := pool.Deferred(), x.changes.Load()
	same := len(deferred) == len(x.of) && (len(deferred) == 0 || &deferred[0] == &x.of[0])
	if x.last != nil && same && at == x.at && x.by == pool.Finder() {
		return x.last
	}
	x.of, x.at, x.by = deferred, at, pool.Finder()
	x.last = &brief.Extras{Groups: x.groups(deferred)}
	if x.by != "" {
		x.last.Finder, x.last.Runner = x.by, runner
	}
	return x.last
}

// groups returns tools by the servers that offer them, in the order of the roster, after those that are built in. The
// caller holds the lock.
func (x *Extras) groups(deferred []tool.Tool) []brief.ExtraGroup {
	names := map[string][]string{}
	for _, t := range deferred {
		server, _ := strings.CutPrefix(t.Traits().Origin, "mcp:")
		names[server] = append(names[server], t.Spec().Name)
	}
	for _, list := range names {
		slices.Sort(list)
	}
	var all []brief.ExtraGroup
	if built := names[""]; len(built) > 0 {
		all = append(all, brief.ExtraGroup{Names: built})
	}
	if x.cfg.Servers == nil {
		return all
	}
	for _, s := range x.cfg.Servers.List() {
		g := brief.ExtraGroup{Server: s.Name, Names: names[s.Name]}
		switch s.State {
		case mcp.Connected:
			if g.Words = s.About.Instructions; x.inSystem[s.Name] == g.Words {
				g.Words = ""
			}
		case mcp.Pending:
			g.State = brief.Connecting
		case mcp.NeedsAuth:
			g.State = brief.WantsLogin
		case mcp.Failed:
			g.State = brief.Unavailable
		default: // the user does not want it
			continue
		}
		if len(g.Names) > 0 {
			g.State = "" // they can be called, and the server is restarted then
		}
		if len(g.Names) > 0 || g.State != "" || g.Words != "" {
			all = append(all, g)
		}
	}
	return all
}
