package cli

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/permission/confine"
	"adze/internal/platform/sandbox"
	"adze/internal/settings"
	"adze/internal/setup"
)

// sandboxOptions holds the options of adze sandbox.
type sandboxOptions struct {
	project settings.Source
	access  wire.AccessSpec
	json    bool
}

func (o *sandboxOptions) flags() []flag {
	table := append([]flag{jsonFlag(&o.json)}, flags.Only(accessFlags(&o.access), "add-dir")...)
	return append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

func (*sandboxOptions) actions() []action {
	return []action{{Name: "status", Doc: "show how commands are sandboxed, and test it"}}
}

// run shows how commands are sandboxed, and tests the sandbox.
func (o *sandboxOptions) run(ctx context.Context, env *Env, in invocation) error {
	if len(in.Args) > 1 || len(in.Args) == 1 && in.Args[0] != "status" {
		return setup.Errorf("usage: adze sandbox status")
	}
	w, err := openWorkspace(env, o.project, in)
	if err != nil {
		return err
	}
	defer w.Close()
	s, err := w.SandboxStatus(ctx, o.access)
	switch {
	case err != nil:
		return err
	case o.json:
		err = env.printJSON(s)
	default:
		err = env.print(sandboxText(s))
	}
	if err == nil && !s.Holds() {
		err = &Ended{}
	}
	return err
}

// sandboxText formats the status for the user.
func sandboxText(s confine.Status) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	if s.JailProblem != "" {
		line("reading", "no jail here: %s. Only commands that are certain to read run without a question", s.JailProblem)
	} else {
		line("reading", "commands that only read run without a question, in a jail (%s)", s.Jail)
	}
	switch {
	case s.Enabled && s.Problem != "":
		line("sandbox", "enabled, but not in force: %s", s.Problem)
	case s.Enabled:
		line("sandbox", "on")
	case s.Problem != "":
		line("sandbox", "off, and not available here: %s", s.Problem)
	default:
		line("sandbox", "off; to enable it: adze config set sandbox.enabled true")
	}
	if s.Limits == nil {
		return b.String()
	}
	line("tier", "%s: %s", s.Tier, s.Limits.Means)
	if s.Limits.Weaker != "" {
		line("", "a stronger tier does not work: %s", s.Limits.Weaker)
	}
	switch {
	case s.AutoAllow:
		line("questions", "none about sandboxed commands, unless a rule denies or asks")
	case s.Limits.Tier.Protects():
		line("questions", "as without a sandbox")
	default:
		line("questions", "as without a sandbox, because this tier cannot protect .git and similar names in working directories")
	}
	line("writable", "%s", strings.Join(s.Limits.Writable, ", "))
	if len(s.Limits.ReadOnly) > 0 {
		line("protected", "%d names in them, existing or not: .git, .adze, .claude, ... (--json lists them)", len(s.Limits.ReadOnly))
	}
	if s.Quarantine != "" && s.Limits.Tier == sandbox.Bubblewrap {
		line("quarantine", "%s, for files created under protected names", s.Quarantine)
	}
	line("hidden", "%s", some(s.Limits.Hidden, "nothing to hide exists"))
	if s.Limits.Tier == sandbox.Landlock {
		line("network", "none: this tier has no way to let single hosts through")
	} else {
		line("network", "%s", some(s.Network, "no hosts in the settings; WebFetch rules apply, and adze asks about other hosts"))
	}
	line("excluded", "%s", some(s.Excluded, "no commands"))
	b.WriteString("\ntested from inside the sandbox\n")
	for _, a := range s.Attempts {
		word := "ok"
		switch {
		case !a.Held && a.Promised:
			word = "BROKEN"
		case !a.Held:
			word = "open"
		}
		fmt.Fprintf(&b, "  %-6s  %-30s %s\n", word, a.Name, a.Detail)
	}
	return b.String()
}

// some joins a list, or returns none if it is empty.
func some(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}
