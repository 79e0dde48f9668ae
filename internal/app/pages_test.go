package app

import (
	"fmt"
	"strings"

	"adze/internal/platform/config"
	"adze/internal/tool"
)

// The pages of docs/reference are made of the tables that the program itself uses.

func flagReference() string {
	var b strings.Builder
	b.WriteString("# Commands and flags\n\nMade from the program's own tables; `go test ./internal/app -update` writes it anew.\n\n")
	b.WriteString("```\n" + helpText() + "```\n\n## Flags with other names\n\n| Flag | Also |\n|---|---|\n")
	for _, f := range supportedFlags() {
		if len(f.aliases) > 0 {
			fmt.Fprintf(&b, "| `--%s` | `--%s` |\n", f.name, strings.Join(f.aliases, "`, `--"))
		}
	}
	b.WriteString("\n## Flags whose part is not there yet\n\nClients send some of these with every run, so they are accepted with a note. The others are refused, because " +
		"ignoring them would do something else than what was asked for.\n\n| Flag | Needs | |\n|---|---|---|\n")
	for _, f := range missingFlags() {
		how := "accepted"
		if f.refused {
			how = "refused"
		}
		fmt.Fprintf(&b, "| `--%s` | %s | %s |\n", f.name, f.missing, how)
	}
	return b.String()
}

func settingsReference() string {
	return "# Settings\n\nMade from the program's own table; `go test ./internal/app -update` writes it anew.\n\n" +
		"Settings are read from `~/.adze/settings.json`, then from `--settings`, then from the environment; what comes later wins. " +
		"Of several variables the first that is set counts. A wrong value is reported once and left out; it never stops the program.\n\n" +
		config.Reference(settingKeys())
}

// toolReference lists the catalogue. The tools that are there are those of present.
func toolReference(present []tool.Tool) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nMade from the program's own catalogue; `go test ./internal/app -update` writes it anew.\n\n" +
		"`core` tools are always offered to the model, `deferred` ones are found by search, `conditional` and `experimental` ones " +
		"depend on the set-up.\n\n| Tool | State | What it does | In this version |\n|---|---|---|---|\n")
	for _, c := range catalogue() {
		name := "`" + c.name + "`"
		if c.aliases != "" {
			name += " (alias `" + c.aliases + "`)"
		}
		there := "no"
		for _, t := range present {
			if t.Spec().Name == c.name {
				there = "yes"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, c.state, c.doc, there)
	}
	return b.String()
}
