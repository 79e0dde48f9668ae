package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/app/settings"
	"adze/internal/brief"
	"adze/internal/hook"
	"adze/internal/instruct"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/paths"
	"adze/internal/platform/texts"
	"adze/internal/platform/trust"
	"adze/internal/tools/bash"
)

// openBrief makes what the model is told beside the conversation: the system prompt, and the announcer of
// instructions, memories and the date.
func (c *Conversation) openBrief(context.Context) error {
	c.memory = c.ws.openMemory(c.spec.Bare)
	c.memory.changed = func() {
		c.keepFiles()
		if c.announcer != nil {
			c.announcer.Reset()
		}
	}
	c.prompt = c.newPrompt()
	if c.ws.values().Simple {
		return nil
	}
	a := c.announcements()
	a.Loaded = c.instructionsLoaded
	if c.spec.Entry != Interactive {
		a.Problems = c.ws.leftOut()
	}
	c.announcer = brief.NewAnnouncer(a)
	return nil
}

// newPrompt returns the system prompt that the spec and the settings make.
func (c *Conversation) newPrompt() *brief.Prompt {
	v, w := c.ws.values(), c.ws
	_, repository := gitinfo.Branch(w.Dir)
	p := brief.PromptConfig{
		Choice: brief.Choice{Custom: c.spec.Prompt.System, Append: c.spec.Prompt.Append},
		Layout: brief.Layout{None: v.Prompt.NoCache, Hour: cachesLong(v.Prompt.CacheHour, c.spec.Entry)},
		Simple: v.Simple,
		Facts: brief.Facts{
			Env: brief.Environment{
				Dir: w.Dir, Extra: c.spec.Access.Dirs, Repository: repository, Original: w.Project.Trust.Main,
				Platform: runtime.GOOS + "/" + runtime.GOARCH, System: systemVersion(), Date: w.Now().Format(time.DateOnly),
			},
			Guide:     brief.Guidance{Interactive: c.spec.Entry == Interactive},
			Explained: v.Prompt.Explained,
			Budget:    c.spec.Limits.TokenBudget,
			Kept:      v.Window.Micro.Keep,
			NoteDown:  true,
		},
		Memory: c.memory.told(),
		Model: func(id string) brief.Model {
			known, _ := w.Models.table.Lookup(id)
			return brief.Model{ID: id, Name: known.Name, Cutoff: known.Cutoff}
		},
		Language: w.language,
		Answer:   func() string { return w.values().Prompt.Answer },
		Shared:   c.model.shared,
		Note:     w.Say,
	}
	if shell, err := bash.Find(); err == nil { // the one that runs commands, not the user's own
		p.Facts.Env.Shell = strings.TrimSuffix(filepath.Base(shell.Path), ".exe")
	}
	if v.Prompt.Attribution {
		p.Layout.Client = fmt.Sprintf("adze/%s (%s)", w.Version, c.spec.Entry)
	}
	if !v.Simple && p.Choice.Custom == nil && repository {
		p.Git = w.snapshot()
	}
	return brief.NewPrompt(p)
}

// cachesLong reports whether requests of the conversation are cached for an hour. The settings that it began
// with decide, so that lifetimes are never mixed.
func cachesLong(patterns []string, e Entry) bool {
	source := "sdk"
	if e == Interactive {
		source = "repl_main_thread"
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == source || open && strings.HasPrefix(source, prefix)
	})
}

// systemVersion returns the name and version of the operating system, where they can be read at once.
func systemVersion() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return "Linux " + strings.TrimSpace(string(release))
}

// language returns the language of prompts as the settings have it now.
func (w *Workspace) language() texts.Language { return texts.Language(w.values().Prompt.Language) }

// describe returns tools as they are described in the language of the prompt.
func (c *Conversation) describe(specs []msg.ToolSpec) []msg.ToolSpec {
	return c.toolTexts.In(c.ws.language(), specs)
}

// answered logs when the provider has lost what it had cached, with what made it so.
func (c *Conversation) answered(req *model.Request, u msg.Usage) {
	sent := *req
	sent.Tools = c.describe(req.Tools)
	if lost, ok := c.watch.Answered(&sent, u); ok && c.debug != nil {
		c.debug.Info("the provider's cache was lost", "changed", strings.Join(lost.Changed, ","), "request", lost.Request, "message", lost.Message, "tokens", lost.Lost)
	}
}

// announcements says what the model is told of instructions and memories.
func (c *Conversation) announcements() brief.AnnouncerConfig {
	a := brief.AnnouncerConfig{
		Memory: c.memory.told(), Paths: paths.Base{Dir: c.ws.Dir, Home: c.ws.Project.User},
		Language: c.ws.language, Now: c.ws.Now, Note: c.ws.Say,
	}
	if !c.ws.values().Prompt.NoInstructions {
		in := instructions(c.ws.Project, c.spec)
		a.Instructions = &in
	}
	return a
}

// instructionsLoaded tells the hooks which files were read.
func (c *Conversation) instructionsLoaded(ctx context.Context, files []instruct.File) {
	if !c.hooks.Has(hook.InstructionsLoaded) {
		return
	}
	for _, f := range files {
		c.hooks.Fire(ctx, hook.OnInstructionsLoaded(f.Path, f.Kind.String(), string(f.Reason), f.Globs))
	}
}

// instructions says where instructions are looked for. What a project includes from outside was approved by
// the user, or is left out.
func instructions(p *settings.Project, spec Spec) instruct.Config {
	src := p.Source()
	c := instruct.Config{
		Managed: src.Managed, User: p.Home, Other: p.Other, Home: p.User,
		Dir: src.Dir, Root: p.Trust.Root, Extra: spec.Access.Dirs, Bare: spec.Bare, Trusted: p.Trust.Trusted(),
		Excludes: p.Values().Prompt.Excludes,
		Approve: func(path string) bool {
			return slices.Contains(spec.Includes, path) || p.Trust.Kept(trust.Include(path))
		},
	}
	if src.Root != "" {
		c.Dir = src.Root
	}
	if real, err := filepath.EvalSymlinks(c.Dir); err == nil {
		c.Dir = real
	}
	return c
}

// Includes returns the files that the instructions of a workspace would include from outside, if it were
// trusted and the user approved of them.
func Includes(p *settings.Project, spec Spec) []settings.Include {
	if v := p.Values(); v.Prompt.NoInstructions || v.Simple {
		return nil
	}
	c := instructions(p, spec)
	c.Trusted = true
	outside := map[string]bool{}
	c.Approve = func(path string) bool { outside[path] = true; return true }
	var all []settings.Include
	for _, f := range instruct.New(c).Load() {
		if real, err := filepath.EvalSymlinks(f.Path); err == nil && outside[real] {
			all = append(all, settings.Include{Path: real, By: f.Parent})
		}
	}
	return all
}

// leftOut returns what tells the user, once for each, which files from outside are left out because the
// user cannot be asked about them.
func (w *Workspace) leftOut() func([]instruct.Problem) {
	var told []string
	return func(problems []instruct.Problem) {
		for _, problem := range problems {
			if problem.Outside != "" && !slices.Contains(told, problem.Outside) {
				told = append(told, problem.Outside)
				w.Say(fmt.Sprintf("%s %s; adze trust approves of it", problem.Path, problem.Text))
			}
		}
	}
}
