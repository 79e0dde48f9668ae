package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/hosted"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/ui/hostapi"
)

// A hostServer is a server provided by the host, with the host's permissions for its tools, by
// unqualified name.
type hostServer struct {
	*roster.Entry
	ask, deny []string
}

// guestsOf returns the servers in a host's request, sorted by name: servers inside the host and
// others that it configures.
func (f *Manager) guestsOf(servers map[string]json.RawMessage) []hostServer {
	src := roster.Source{Scope: roster.Flag, Getenv: variables(f.cfg.Project)}
	var all []hostServer
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		raw := servers[name]
		var is struct {
			Type    roster.Type
			Timeout float64
			Tools   []struct {
				Name   string
				Policy string `json:"permission_policy"`
			}
		}
		err := json.Unmarshal(raw, &is)
		g := hostServer{Entry: hostEntry(name, time.Duration(is.Timeout)*time.Millisecond)}
		if err != nil || is.Type != roster.Host {
			g.Entry = src.Entry(name, raw)
		}
		if err != nil && g.Problem == nil { // its permissions would be lost
			g.Problem = errors.New("its configuration cannot be read")
		}
		for _, t := range is.Tools {
			switch t.Policy {
			case "", "always_allow": // only user rules can allow
			case "always_deny":
				g.deny = append(g.deny, t.Name)
			default:
				g.ask = append(g.ask, t.Name)
			}
		}
		all = append(all, g)
	}
	return all
}

// hostEntry returns the entry of a server inside the host. It needs no approval, since the host
// is the user's own program.
func hostEntry(given string, timeout time.Duration) *roster.Entry {
	e := &roster.Entry{Name: roster.Name(given), Given: given, Scope: roster.Flag, Type: roster.Host}
	if timeout >= time.Second {
		e.Timeout = timeout
	}
	if e.Name == "" || len(e.Name) > maxGuestName {
		e.Problem = errors.New("the name is empty or too long")
	}
	return e
}

const maxGuestName = 64

// Receive handles a message from a server inside the host.
func (f *Manager) Receive(server string, message json.RawMessage) error {
	return f.host.Receive(server, message)
}

// receiveGuests replaces the roster's guests and connects to the new ones, waiting until ctx is
// done. Names are the host's; errs holds the problems by name.
func (f *Manager) receiveGuests(ctx context.Context, guests []hostServer) (added, removed []string, errs map[string]error, err error) {
	f.mu.Lock()
	f.guests = nil
	for _, g := range guests {
		f.guests = append(f.guests, g.Entry)
	}
	before := f.roster
	f.mu.Unlock()
	r, err := f.load()
	if err != nil {
		return nil, nil, nil, err
	}
	given := map[string]string{}
	for _, e := range slices.Concat(before.Entries, r.Entries) {
		given[e.Name] = e.Given
	}
	f.start.Do(func() {}) // Set starts them
	added, removed, failed := f.Set(ctx, r.Entries)
	errs = map[string]error{}
	for _, g := range guests {
		if g.Problem != nil {
			errs[g.Given] = g.Problem
		}
	}
	for name, err := range failed {
		errs[given[name]] = err
	}
	for _, list := range [][]string{added, removed} {
		for i, name := range list {
			list[i] = given[name]
		}
	}
	return added, removed, errs, nil
}

// Host adds the host's own servers to the session. It does not wait for them: their answers
// arrive on input that is read only after this call.
func (s *Client) Host(from hosted.Servers) error {
	if len(from.Names) == 0 {
		return nil
	}
	if s == nil {
		return &hostapi.Refusal{Code: hostapi.Unsupported, Text: "this session has no MCP servers"}
	}
	wanted := map[string]json.RawMessage{}
	for _, name := range from.Names {
		fields := map[string]json.RawMessage{}
		if c := from.Configs[name]; len(c) > 0 {
			if err := json.Unmarshal(c, &fields); err != nil || fields == nil {
				return &hostapi.Refusal{Code: hostapi.Invalid, Text: fmt.Sprintf("sdkMcpServerConfigs: the value for %q is not an object", name)}
			}
		}
		fields["type"] = json.RawMessage(`"sdk"`)
		raw, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		wanted[name] = raw
	}
	s.host.Connect(from.Send, maps.Clone(from.Manifests))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, _, err := s.bring(ctx, wanted)
	return err
}

// SetGuests handles the request that replaces the host's servers.
func (s *Client) SetGuests() hostapi.Request {
	return hostapi.WithInput(func(ctx context.Context, in struct {
		Servers map[string]json.RawMessage `json:"servers"`
	}) (any, error) {
		added, removed, errs, err := s.bring(ctx, in.Servers)
		if err != nil {
			return nil, err
		}
		texts := map[string]string{}
		for name, err := range errs {
			texts[name] = err.Error()
		}
		return map[string]any{"added": append([]string{}, added...), "removed": append([]string{}, removed...), "errors": texts}, nil
	})
}

// bring adds a host's servers to the session, with the host's rules for their tools.
func (s *Client) bring(ctx context.Context, wanted map[string]json.RawMessage) (added, removed []string, errs map[string]error, err error) {
	guests := s.guestsOf(wanted)
	for _, g := range guests {
		for behavior, tools := range map[permission.Behavior][]string{permission.Ask: g.ask, permission.Deny: g.deny} {
			var rules []permission.RuleValue
			for _, name := range mcp.Names(g.Name, tools) {
				rules = append(rules, permission.RuleValue{Tool: name})
			}
			if len(rules) == 0 {
				continue
			}
			u := permission.Update{Type: permission.AddRules, Rules: rules, Behavior: behavior, Destination: scope.Session}
			if err := s.cfg.Gate.Apply(context.WithoutCancel(ctx), []permission.Update{u}); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	return s.receiveGuests(ctx, guests)
}
