package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/prompt"
	"adze/internal/settings"
	"adze/internal/setup"
)

// promptOptions holds the options of adze prompt.
type promptOptions struct {
	project settings.Source
	spec    wire.Spec
	prompt  promptText
	json    bool
}

func (o *promptOptions) flags() []flag {
	table := append([]flag{jsonFlag(&o.json)}, flags.Only(modelFlags(&o.spec.Model), "model")...)
	table = append(table, promptFlags(&o.prompt)...)
	table = append(table, bareFlag(&o.spec.Bare))
	table = append(table, flags.Only(accessFlags(&o.spec.Access), "allowed-tools", "disallowed-tools", "tools", "add-dir")...)
	return append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust", "prompt-size")...)
}

func (*promptOptions) actions() []action {
	return []action{{Name: "show", Doc: "show the first request's content and size"}}
}

// run shows the first request that would be sent.
func (o *promptOptions) run(ctx context.Context, env *Env, in invocation) (err error) {
	if !slices.Equal(in.Args, []string{"show"}) {
		return setup.Errorf("usage: adze prompt show [--json]")
	}
	if err := checkPairs(in); err != nil {
		return err
	}
	if o.spec.Prompt, err = o.prompt.spec(); err != nil {
		return err
	}
	w, err := openWorkspace(env, o.project, in)
	if err != nil {
		return err
	}
	defer w.Close()
	page, err := w.PromptPage(ctx, o.spec)
	if err != nil {
		return err
	}
	if o.json {
		return env.printJSON(page)
	}
	return env.page(promptPageText(page))
}

// promptPageText formats the page as text.
func promptPageText(p *prompt.Page) string {
	var b strings.Builder
	list := func(kind string, items []prompt.PageItem) {
		for _, it := range items {
			fmt.Fprintf(&b, "== %s: %s, %d bytes, about %d tokens\n%s\n\n", kind, it.Name, it.Bytes, it.Tokens, it.Text)
		}
	}
	for _, block := range p.System {
		list("system", block.Sections)
		if block.Cache != "" {
			fmt.Fprintf(&b, "-- cached up to here for %s\n\n", block.Cache)
		}
	}
	list("tool", p.Tools)
	list("context", p.Context)
	for _, problem := range p.Problems {
		b.WriteString("note: " + problem + "\n")
	}
	fmt.Fprintf(&b, "bytes as sent: system %d, tools %d, messages %d, request %d\n", p.Sizes.System, p.Sizes.Tools, p.Sizes.Context, p.Sizes.Request)
	return b.String()
}
