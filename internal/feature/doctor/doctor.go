// Package doctor diagnoses an installation, its settings and a workspace for adze doctor and
// /doctor. It changes nothing, and sends nothing unless asked to contact the provider.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"adze/internal/commands"
	"adze/internal/commands/extensions"
	"adze/internal/commands/rules"
	"adze/internal/domain/instruct"
	"adze/internal/domain/memdir"
	"adze/internal/domain/skill/library"
	"adze/internal/hook"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/platform/text/amount"
	"adze/internal/settings"
)

// Config configures the checks. Checks whose function is nil are skipped.
type Config struct {
	Project *settings.Project
	// Version is the program's version, and Program its path, or empty.
	Version, Program string
	Getenv           func(string) string
	// Terminal reports whether the user is at a terminal.
	Terminal bool
	// Provider describes the selected provider, and Reach contacts it; Reach is nil unless
	// requested.
	Provider func() (string, error)
	Reach    func(context.Context) (string, error)
	// Search, Shell and Sandbox describe the implementation in use.
	Search, Shell, Sandbox func() (string, error)
	Policy                 func() (*permission.Policy, error)
	// Hooks returns the hooks, and HookProblems lists their syntax errors.
	Hooks        func() []hook.Listing
	HookProblems []hook.Problem
	// Servers returns the configured MCP servers.
	Servers func() (*roster.Roster, error)
	// Instructions returns the instruction files and problems with them.
	Instructions func(context.Context) ([]instruct.File, []instruct.Problem)
	Memory       *memdir.Folder
	Skills       func(context.Context) *library.Set
	// Further holds additional checks.
	Further []func(context.Context) commands.Check
}

// Examine runs all checks.
func Examine(ctx context.Context, c Config) []commands.Check {
	checks := []commands.Check{
		{Name: "version", Fine: c.Version + " for " + platform()},
		c.installation(),
		c.terminal(),
		c.locale(),
		c.home(),
		c.settings(),
		c.trust(),
		c.experiments(),
		program("provider", c.Provider),
	}
	if c.Reach != nil {
		checks = append(checks, program("network", func() (string, error) { return c.Reach(ctx) }))
	}
	checks = append(checks,
		program("search", c.Search),
		program("shell", c.Shell),
		git(),
		program("sandbox", c.Sandbox),
		c.rules(),
		c.hooks(),
	)
	if c.Servers != nil {
		checks = append(checks, c.servers())
	}
	if c.Instructions != nil {
		checks = append(checks, instructions(c.Instructions(ctx)))
	}
	if c.Memory != nil {
		checks = append(checks, memories(*c.Memory))
	}
	if c.Skills != nil {
		set := c.Skills(ctx)
		checks = append(checks, commands.Check{Name: "skills", Fine: amount.Of(len(set.Skills), "skill", "skills"), Problems: extensions.SkillProblems(set)})
	}
	for _, further := range c.Further {
		checks = append(checks, further(ctx))
	}
	return checks
}

// program returns a check that reports the result of find.
func program(name string, find func() (string, error)) commands.Check {
	check := commands.Check{Name: name, Fine: "not looked at"}
	if find == nil {
		return check
	}
	fine, err := find()
	check.Fine = fine
	if err != nil {
		check.Problems = []string{err.Error()}
	}
	return check
}

// experiments lists the feature switches.
func (c Config) experiments() commands.Check {
	check := commands.Check{Name: "experiments"}
	var on, off []string
	for _, k := range settings.Keys() {
		name, ok := strings.CutPrefix(k.Name, "experimental.")
		switch {
		case !ok:
		case c.Project.Settings().Bool(k.Name):
			on = append(on, name)
		default:
			off = append(off, name)
		}
	}
	var parts []string
	if len(on) > 0 {
		parts = append(parts, "on: "+strings.Join(on, ", "))
	}
	if len(off) > 0 {
		parts = append(parts, "off: "+strings.Join(off, ", "))
	}
	check.Fine = strings.Join(parts, "; ")
	return check
}

// git checks for git, which is optional.
func git() commands.Check {
	path, err := exec.LookPath("git")
	if err != nil {
		return commands.Check{Name: "git", Fine: "none", Notes: []string{"git was not found in PATH, so the model does not see branches and changes; install it"}}
	}
	return commands.Check{Name: "git", Fine: path}
}

// rules finds permission rules that are ineffective or misleading.
func (c Config) rules() commands.Check {
	check := commands.Check{Name: "permission rules"}
	policy, err := c.Policy()
	if err != nil {
		check.Problems = []string{err.Error()}
		return check
	}
	check.Fine = amount.Of(len(policy.Rules()), "rule", "rules")
	check.Problems = rules.Problems(policy)
	return check
}

// hooks finds hooks that are invalid, do not run or are slow.
func (c Config) hooks() commands.Check {
	list := c.Hooks()
	check := commands.Check{Name: "hooks", Fine: amount.Of(len(list), "hook", "hooks")}
	for _, p := range c.HookProblems {
		check.Problems = append(check.Problems, p.Error())
	}
	for _, l := range list {
		if l.Idle != "" {
			check.Notes = append(check.Notes, l.Label+" does not run: "+l.Idle)
		}
		if l.Slow {
			check.Notes = append(check.Notes, l.Label+" is slow and delays "+string(l.Event))
		}
	}
	return check
}

// servers finds problems in the MCP configuration. No server is started, and an untrusted
// workspace's servers are skipped.
func (c Config) servers() commands.Check {
	check := commands.Check{Name: "MCP servers"}
	r, err := c.Servers()
	if err != nil {
		check.Problems = []string{err.Error()}
		return check
	}
	check.Fine = fmt.Sprintf("%d configured", len(r.Entries))
	for _, p := range r.Problems {
		check.Problems = append(check.Problems, p.String())
	}
	for _, e := range r.Entries {
		if e.Scope == roster.Project && !c.Project.Trust.Trusted() {
			continue
		}
		if e.Problem != nil {
			check.Problems = append(check.Problems, fmt.Sprintf("%s in %s: %v", e.Name, cmp.Or(e.File, "the command line"), e.Problem))
		}
		for _, text := range e.Warnings {
			check.Notes = append(check.Notes, e.Name+": "+text)
		}
	}
	return check
}

// instructions finds instruction files that are not used in full, and large ones.
func instructions(files []instruct.File, problems []instruct.Problem) commands.Check {
	check := commands.Check{Name: "instructions", Fine: amount.Of(len(files), "file", "files")}
	for _, p := range problems {
		check.Problems = append(check.Problems, p.Path+" "+p.Text)
	}
	return check
}

func memories(f memdir.Folder) commands.Check {
	check := commands.Check{Name: "memory", Fine: f.Dir}
	found, err := f.Check()
	if err != nil {
		check.Problems = append(check.Problems, err.Error())
	}
	for _, x := range found {
		check.Notes = append(check.Notes, x.String())
	}
	return check
}
