package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/lsp"
	"adze/internal/platform/text/amount"
)

// Sections returns the command that shows the servers, in its /help section.
func (d *Diagnostics) Sections() []commands.Section {
	return []commands.Section{{Name: "Extensions", Commands: []commands.Command{{
		Name: "lsp", Args: "[restart]", Doc: "show the language servers, or stop them so that they start afresh", Rare: true,
		Run: func(_ context.Context, _ *commands.Registry, arg string) (commands.Answer, error) {
			if d == nil {
				return nil, errors.New("language servers are off here; see the setting languageServers.enabled")
			}
			switch arg = strings.TrimSpace(arg); arg {
			case "":
				return d.page(), nil
			case "restart":
				n := d.cfg.Servers.Stop()
				return commands.Say(fmt.Sprintf("Stopped %s. They start again when a file of their language is edited.", amount.Of(n, "language server", "language servers"))), nil
			}
			return nil, fmt.Errorf("unknown argument %q; use /lsp or /lsp restart", arg)
		},
		Complete: func(*commands.Registry, string) []string { return []string{"restart"} },
	}}}}
}

// page shows the used and the installed servers.
func (d *Diagnostics) page() commands.Page {
	used := d.cfg.Servers.List()
	var p commands.Page
	if len(used) > 0 {
		t := commands.Table{Columns: []commands.Column{{Name: "server"}, {Name: "state"}, {Name: "memory", Right: true}, {Name: "files", Right: true}, {Name: "project", Cut: true}}}
		for _, s := range used {
			t.Rows = append(t.Rows, []string{s.Name, state(s), memory(s.Memory), fmt.Sprint(s.Files), s.Root})
		}
		p.Add(t)
	}
	for _, s := range used {
		if s.Problem != "" {
			p.Add(commands.Notice(s.Name + ": " + s.Problem))
		}
	}
	if len(used) == 0 {
		p.Add(commands.Text("No language server has been used yet. One starts when a file of its language is edited."))
	}
	p.Add(commands.Text("Installed: " + installed(d.cfg.Servers) + ". The setting languageServers.enabled switches all off."))
	return p
}

func state(s lsp.Status) string {
	switch {
	case s.Off:
		return "off after " + amount.Of(s.Crashes, "failure", "failures")
	case s.State == lsp.Running:
		return "running for " + amount.Age(time.Since(s.Since))
	}
	return string(s.State)
}

func memory(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}

// installed lists the installed servers.
func installed(servers *lsp.Servers) string {
	all, _ := servers.Installed()
	var names []string
	for _, s := range all {
		if s.Origin != "" {
			s.Name += " (" + s.Origin + ")"
		}
		names = append(names, s.Name)
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Check returns a check of the servers for adze doctor. Off is the reason they are not used, or
// empty; problems lists invalid definitions.
func Check(servers *lsp.Servers, off string, problems []string) commands.Check {
	c := commands.Check{Name: "language servers", Fine: off, Problems: problems}
	if off != "" {
		return c
	}
	c.Fine = "installed: " + installed(servers)
	for _, s := range servers.List() {
		if s.State == lsp.Running {
			c.Fine += fmt.Sprintf("; %s uses %s", s.Name, memory(s.Memory))
		}
		if s.Problem != "" {
			c.Problems = append(c.Problems, s.Name+": "+s.Problem)
		}
	}
	return c
}
