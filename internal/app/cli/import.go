package cli

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/imports"
	"adze/internal/domain/style"
	"adze/internal/feature/instructions"
	"adze/internal/feature/mcp"
	"adze/internal/feature/skills"
	"adze/internal/feature/styles"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/term"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
	"adze/internal/setup"
)

// importOptions holds the options of adze import.
type importOptions struct {
	project settings.Source
	json    bool
}

func (o *importOptions) flags() []flag {
	return append([]flag{jsonFlag(&o.json)}, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

// run lists other tools' configuration for the user and the project. It changes nothing.
func (o *importOptions) run(ctx context.Context, env *Env, _ invocation) error {
	p := openLeniently(env, o.project)
	list, err := mcp.Load(p, mcp.Flags{})
	if err != nil {
		return setup.Wrap(err)
	}
	files, problems := instructions.Load(p, instructions.Spec{})
	found := skills.OpenLibrary(p, env.Dir, nil, skills.Plugins{}, nil)
	defer found.Close()
	chooser := styles.Chooser{Project: p, Language: func() texts.Language { return texts.English }, Plugins: func() []style.Root { return nil }, Say: env.Say}
	all := imports.Find(imports.Config{
		Project: p, Dir: env.Dir, Instructions: files, Problems: problems, Skills: found.Set(ctx), Styles: chooser.All(), Agents: agentsOf(p).Set(), Servers: list,
	})
	if o.json {
		if all == nil {
			all = []imports.Finding{}
		}
		return env.printJSON(all)
	}
	return env.print(importPage(all, env.Dir, p.User))
}

// importPage formats the findings for users.
func importPage(found []imports.Finding, dir, home string) string {
	if len(found) == 0 {
		return "No files of other tools were found, in your home directory or in this project.\n"
	}
	var b strings.Builder
	tool := ""
	for _, f := range found {
		if f.Tool != tool {
			tool = f.Tool
			fmt.Fprintf(&b, "\n%s\n", tool)
		}
		effect := "not used"
		if f.Used {
			effect = "in effect"
		}
		what := f.What
		if f.Count > 0 {
			one := strings.TrimSuffix(what, "s")
			if stem, ok := strings.CutSuffix(what, "ies"); ok {
				one = stem + "y"
			}
			what = amount.Of(f.Count, one, what)
		}
		fmt.Fprintf(&b, "  %-9s  %-16s  %s\n", effect, what, term.Sanitize(short(f.Path, dir, home)))
		if f.Note != "" {
			fmt.Fprintf(&b, "             %s\n", term.Sanitize(f.Note))
		}
		for _, c := range f.Commands {
			fmt.Fprintf(&b, "             %s\n", term.Sanitize(c))
		}
	}
	b.WriteString("\nadze reads these files in place; nothing was copied or changed.\n")
	return strings.TrimPrefix(b.String(), "\n")
}

// short abbreviates a path as users write it.
func short(path, dir, home string) string {
	if rel := paths.Relative(dir, path); rel != path {
		return rel
	}
	if rel := paths.Relative(home, path); home != "" && rel != path {
		return "~/" + rel
	}
	return path
}
