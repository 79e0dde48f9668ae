package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/confine"
)

func sandboxFlags() []flag {
	flags := []flag{{name: "json", doc: "print JSON", set: setBool(func(o *options) *bool { return &o.json })}}
	for _, f := range supportedFlags() {
		if slices.Contains([]string{"add-dir", "settings", "setting-sources", "trust", "help"}, f.name) {
			flags = append(flags, f)
		}
	}
	return flags
}

// runSandbox reports what confines commands, and shows it by trying.
func runSandbox(ctx context.Context, env *Env, o *options) error {
	if len(o.args) > 1 || len(o.args) == 1 && o.args[0] != "status" {
		return setupErrorf("write adze sandbox status")
	}
	b, err := newBuilder(env, o)
	if err != nil {
		return err
	}
	defer b.close()
	s := b.sandbox.Status(ctx)
	if o.json {
		err = env.print(marshal(s))
	} else {
		err = env.print(sandboxText(s))
	}
	if err == nil && !s.Holds() {
		err = &endedError{}
	}
	return err
}

// sandboxText returns the status as text for the user.
func sandboxText(s confine.Status) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	switch {
	case s.Enabled && s.Problem != "":
		line("sandbox", "switched on, but not in force: %s", s.Problem)
	case s.Enabled:
		line("sandbox", "on")
	case s.Problem != "":
		line("sandbox", "off, and it would not work here: %s", s.Problem)
	default:
		line("sandbox", "off; switch it on with: adze config set sandbox.enabled true")
	}
	if s.Limits == nil {
		return b.String()
	}
	line("tier", "%s: %s", s.Tier, s.Limits.Means)
	if s.Limits.Weaker != "" {
		line("", "a stronger one does not work: %s", s.Limits.Weaker)
	}
	switch {
	case s.AutoAllow:
		line("questions", "none about commands in the sandbox, except by rules that deny or ask")
	case s.Limits.Tier.Protects():
		line("questions", "as without a sandbox")
	default:
		line("questions", "as without a sandbox, since this tier cannot protect .git and the like in working directories")
	}
	line("writable", "%s", strings.Join(s.Limits.Writable, ", "))
	if len(s.Limits.ReadOnly) > 0 {
		line("protected", "%d names in them, there or not: .git, .adze, .claude, ... (--json lists them)", len(s.Limits.ReadOnly))
	}
	line("hidden", "%s", some(s.Limits.Hidden, "nothing is there to hide"))
	line("network", "%s", some(s.Network, "no hosts in the settings; rules for WebFetch count, and others are asked about"))
	line("excluded", "%s", some(s.Excluded, "no commands"))
	b.WriteString("\ntried from the inside\n")
	for _, a := range s.Attempts {
		word := "held"
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

// some returns a list as text, or none if it is empty.
func some(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}
