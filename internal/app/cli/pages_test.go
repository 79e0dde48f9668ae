package cli

import (
	"fmt"
	"os"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/feature/skills/bundled"
	"adze/internal/settings"
	"adze/internal/settings/config"
)

// The pages in docs/reference are generated from the tables used by the program.

func flagReference() string {
	var b strings.Builder
	b.WriteString("# Commands and flags\n\nGenerated from the program's tables with `go test ./internal/app/cli -update`.\n\n")
	b.WriteString("```\n" + commandsText(flags.Width) + "```\n\n```\n" + flagsText(flags.Width) + "```\n\n## Flags with other names\n\n| Flag | Also |\n|---|---|\n")
	for _, f := range (&runOptions{}).supported() {
		if len(f.Aliases) > 0 {
			fmt.Fprintf(&b, "| `--%s` | `--%s` |\n", f.Name, strings.Join(f.Aliases, "`, `--"))
		}
	}
	b.WriteString("\n## Flags that are not supported yet\n\nClients send some of these with every run, so they are accepted with a note. The others are refused, because " +
		"ignoring them would change what the run does.\n\n| Flag | Needs | |\n|---|---|---|\n")
	for _, f := range missingFlags() {
		how := "accepted"
		if f.Refused {
			how = "refused"
		}
		fmt.Fprintf(&b, "| `--%s` | %s | %s |\n", f.Name, f.Missing, how)
	}
	return b.String()
}

func settingsReference() string {
	return "# Settings\n\nGenerated from the program's table with `go test ./internal/app/cli -update`.\n\n" +
		"Settings are JSON files; comments and trailing commas are accepted. They are read from these places; later ones win:\n\n" +
		"1. `~/.config/adze/settings.json`: your own; in `~/.adze` if that exists, and on macOS and Windows ([storage](../storage.md));\n" +
		"2. `.adze/settings.json` of the project, at the top of its repository and in the working directory, once you trust the workspace;\n" +
		"3. `.adze/settings.local.json` beside it: your own for this project, if adze wrote it or you confirmed its content (`adze trust`); otherwise it counts as the project's;\n" +
		"4. `--settings`, a file or JSON;\n" +
		"5. the environment; of several variables the first that is set is used;\n" +
		"6. `managed-settings.json` and `managed-settings.d/*.json` of the administrator, in `/etc/adze`, `/Library/Application Support/adze` or `C:\\ProgramData\\adze`.\n\n" +
		"Besides the first three, the ecosystem's `.claude/settings.json` and `.claude/settings.local.json` are read; adze's own files win. " +
		"`--setting-sources` limits which of the three are read. Lists are joined, objects merged, other values replaced. " +
		"In an untrusted workspace only deny and ask rules of the project apply; see `adze trust`. A project can never set what is marked *personal*.\n\n" +
		"An invalid value is reported once and ignored; it never stops the program. A file that is not JSON does, because adze cannot know what it forbids; " +
		"if a file becomes invalid while adze runs, its previous content stays in force. `adze config list` shows what is set and where, `adze config schema` prints a JSON Schema for editors.\n\n" +
		settingsTable(settings.Keys())
}

// commandReference returns the session commands by section, as /help lists them, and the
// built-in skills.
func commandReference() string {
	var b strings.Builder
	b.WriteString("# Slash commands\n\nGenerated from the program's table with `go test ./internal/app/cli -update`.\n\n" +
		"Type them as `/NAME`, at a terminal, in `adze -p` or from a host. They are not sent to the model, except those that expand to a prompt. " +
		"Names are case-insensitive, and Tab completes them. Skills are called in the same way; a built-in command takes precedence over a skill of the same name.\n")
	row := func(cells ...string) {
		for _, cell := range cells {
			b.WriteString("| ")
			b.WriteString(strings.ReplaceAll(cell, "|", `\|`))
			b.WriteString(" ")
		}
		b.WriteString("|\n")
	}
	table := func(title string) {
		b.WriteString("\n## " + title + "\n\n")
		row("Command", "Also", "Arguments", "What it does", "Where")
		b.WriteString("|---|---|---|---|---|\n")
	}
	r := everyCommand()
	for _, section := range r.Sections() {
		table(section.Name)
		for _, c := range section.Commands {
			where := "everywhere"
			switch {
			case c.Terminal:
				where = "at a terminal"
			case c.Switch != "":
				where = "with the setting `" + c.Switch + "`"
			}
			row("`/"+c.Name+"`", quoted(c.Aliases, "/"), quoted(strings.Fields(c.Args), ""), c.Doc, where)
		}
	}
	table("Skills that come with adze")
	bundle := bundled.New(os.TempDir())
	defer bundle.Close()
	for _, s := range bundle.Skills() {
		row("`/"+s.Name+"`", "", quoted(strings.Fields(s.Hint), ""), s.Description, "everywhere")
	}
	return b.String()
}

// quoted formats words as code, each with a prefix.
func quoted(words []string, before string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + before + strings.Join(words, " "+before) + "`"
}

// settingsTable formats the keys as a Markdown table.
func settingsTable(keys []config.Key) string {
	var b strings.Builder
	b.WriteString("| Key or variable | Default | Accepted | Meaning | Requirement |\n|---|---|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		var names []string
		if k.Name != "" {
			names = append(names, "`"+k.Name+"`")
		}
		for _, name := range k.Aliases {
			names = append(names, "`"+name+"`")
		}
		for _, name := range k.Env {
			names = append(names, "`"+name+"`")
		}
		def := "none"
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		doc := k.Doc
		if k.Personal {
			doc += " *(personal)*"
		}
		for _, cell := range []string{strings.Join(names, ", "), def, k.Accepts(), doc, k.Requirement} {
			b.WriteString("| ")
			b.WriteString(strings.ReplaceAll(cell, "|", `\|`))
			b.WriteString(" ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}
