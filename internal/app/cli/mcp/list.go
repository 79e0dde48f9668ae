package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/redact"
)

// listWait returns how long a list waits for servers, given that few are started at a time.
func listWait(servers int) time.Duration {
	return min(5*time.Second+2*time.Second*time.Duration(servers), 30*time.Second)
}

// A serverOutput is a server in JSON output.
type serverOutput struct {
	Name     string            `json:"name"`
	Scope    roster.Scope      `json:"scope"`
	File     string            `json:"file,omitempty"`
	Type     roster.Type       `json:"type"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	URL      string            `json:"url,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	State    mcp.State         `json:"state,omitempty"`
	Error    string            `json:"error,omitempty"`
	Tools    *int              `json:"tools,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	Log      string            `json:"log,omitempty"`
}

// show returns a server without secrets.
func show(s *mcp.Status) serverOutput {
	e := s.Written()
	out := serverOutput{
		Name: s.Name, Scope: s.Scope, File: s.File, Type: s.Type, Command: e.Command, Args: e.Args, URL: e.URL,
		Env: e.Env, Headers: e.Headers, State: s.State, Log: redact.String(s.Log),
	}
	if s.Err != nil {
		out.Error = redact.String(s.Err.Error())
	}
	if s.State == mcp.Connected {
		n := len(s.Tools)
		out.Tools = &n
	}
	out.Warnings = slices.Concat(s.Warnings, s.Cut, s.Changes)
	if s.Same != "" {
		out.Warnings = append(out.Warnings, "it is the same server as "+s.Same+", which is used")
	}
	return out
}

// statuses connects to servers, and returns their status after the given wait. Zero means the
// connection timeout.
func (t *Task) statuses(ctx context.Context, entries []*roster.Entry, wait time.Duration) ([]mcp.Status, error) {
	if t.NoConnect || !slices.ContainsFunc(entries, (*roster.Entry).Usable) {
		var list []mcp.Status
		for _, e := range entries {
			list = append(list, idle(e))
		}
		return list, nil
	}
	s, done, err := t.Open(entries, true)
	if err != nil {
		return nil, err
	}
	defer done()
	if wait > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	s.Wait(ctx)
	return s.List(), nil
}

// idle returns the status of a server that is not connected.
func idle(e *roster.Entry) mcp.Status {
	s := mcp.Status{Entry: e, Err: e.Problem}
	switch {
	case e.Disabled:
		s.State = mcp.Disabled
	case e.Unapproved:
		s.State = mcp.Unapproved
	case e.Problem != nil:
		s.State = mcp.Failed
	}
	return s
}

func list(ctx context.Context, t *Task) error {
	r, err := t.load()
	if err != nil {
		return err
	}
	all, err := t.statuses(ctx, r.Entries, listWait(len(r.Entries)))
	if err != nil {
		return err
	}
	rows := make([]serverOutput, len(all))
	for i := range all {
		rows[i] = show(&all[i])
		rows[i].Log = ""
	}
	if t.JSON {
		return t.PrintJSON(rows)
	}
	if len(rows) == 0 {
		t.Say("no servers are configured; adze mcp add NAME -- COMMAND adds one")
		return nil
	}
	name, what := 0, 0
	for i := range rows {
		name, what = max(name, len(rows[i].Name)), max(what, len(rows[i].status()))
	}
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "%-*s  %-7s  %-*s  %s\n", name, rows[i].Name, rows[i].Scope, what, rows[i].status(), rows[i].target())
		for _, line := range append(rows[i].advice(t.Project.Trust.Trusted()), rows[i].Warnings...) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return t.Page(b.String())
}

// status returns the human-readable state.
func (s *serverOutput) status() string {
	switch {
	case s.State == mcp.Connected:
		return "connected, " + amount.Of(*s.Tools, "tool", "tools")
	case s.State == mcp.Pending:
		return "no answer yet"
	case s.State == mcp.NeedsAuth:
		return "needs a login"
	}
	return cmp.Or(string(s.State), "not tried")
}

// target returns the server's command or URL.
func (s *serverOutput) target() string {
	return strings.Join(slices.Concat([]string{cmp.Or(s.URL, s.Command)}, s.Args), " ")
}

// advice describes the problem and the next step.
func (s *serverOutput) advice(trusted bool) (lines []string) {
	if s.Error != "" {
		lines = append(lines, strings.Split(s.Error, "\n")...)
	}
	switch s.State {
	case mcp.Pending:
		lines = append(lines, "adze mcp get "+s.Name+" waits longer; a program that is fetched first takes its time")
	case mcp.NeedsAuth:
		lines = append(lines, "adze mcp login "+s.Name+" signs in")
	case mcp.Unapproved:
		if trusted {
			lines = append(lines, "adze asks about it when it starts at a terminal")
		} else {
			lines = append(lines, "the workspace is not trusted; run adze trust to review its servers")
		}
	}
	return lines
}

func get(ctx context.Context, t *Task) error {
	r, err := t.load()
	if err != nil {
		return err
	}
	e, err := find(r, t.Args[0])
	if err != nil {
		return err
	}
	all, err := t.statuses(ctx, []*roster.Entry{e}, 0)
	if err != nil {
		return err
	}
	s := show(&all[0])
	if t.JSON {
		return t.PrintJSON(s)
	}
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-8s %s\n", name, value)
		}
	}
	row("server", s.Name)
	row("scope", string(s.Scope))
	row("file", s.File)
	row("type", string(s.Type))
	row("command", strings.TrimSpace(s.Command+" "+strings.Join(s.Args, " ")))
	row("url", s.URL)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		row("env", name+"="+s.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		row("header", name+": "+s.Headers[name])
	}
	row("state", s.status())
	for _, line := range append(s.advice(t.Project.Trust.Trusted()), s.Warnings...) {
		row("", line)
	}
	if a := all[0].About; a.Name != "" {
		row("about", strings.TrimSpace(strings.Join([]string{cmp.Or(a.Title, a.Name), a.Version}, " ")))
	}
	if s.Log != "" {
		fmt.Fprintf(&b, "its standard error ends with:\n%s\n", strings.TrimRight(s.Log, "\n"))
	}
	return t.Page(b.String())
}
