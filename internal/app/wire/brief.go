package wire

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/app/coordinator"
	"adze/internal/app/extras"
	"adze/internal/app/instructions"
	"adze/internal/app/memories"
	"adze/internal/app/schedules"
	"adze/internal/app/settings"
	"adze/internal/app/skills"
	"adze/internal/app/tasklists"
	"adze/internal/app/teams"
	"adze/internal/app/toolbox"
	"adze/internal/brief"
	"adze/internal/instruct"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/paths"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/tools/bash"
)

// A briefing is what the model of a conversation is told beside what is said: the system prompt, and the
// announcements of instructions, memories and the date.
type briefing struct {
	ws        *Workspace
	spec      *Spec
	memory    *memories.View
	prompt    *brief.Prompt           // nil without a model
	git       func() gitinfo.Snapshot // nil if the model is not told about the repository
	scratch   func() string           // nil if the model is not told about the directory for temporary files
	announcer *brief.Announcer        // nil with the small prompt
	texts     *brief.ToolTexts        // nil before there are tools
	watch     brief.Watch             // over the provider's cache
	debug     *slog.Logger            // may be nil
	style     string                  // the name of the output style
	leftOut   func() []string         // workspace configuration that is not used; computed once

	extras *extras.Extras // the tools that can be looked up; nil where nothing is opened
	skills *skills.Listing
	settle func() // waits until the files of skills were looked at
	tasks  *tasklists.Lists
	jobs   *schedules.Runner // the prompts that run later; nil if none can be scheduled
	team   teams.Part

	workers *coordinator.Mode // tells of workers; nil if there is no coordinator

	keeper brief.Keeper // keeps how requests begin for later processes
	// spare reports whether the model can do without a tool; next returns what the next turn is about. They may be
	// nil where there is none.
	spare func(tool string) bool
	// alone returns the calls that need no approval in a session without a user.
	alone func() brief.Alone
	next  func() (modelID string, tools []msg.ToolSpec)
}

// newBriefing returns the briefing of a conversation. Shared reports whether the provider can share a cache
// between users. Where no model is asked there is no prompt.
func newBriefing(w *Workspace, spec *Spec, shared func() bool, scratch func() string) *briefing {
	b := &briefing{ws: w, spec: spec, memory: w.openMemory(spec), keeper: brief.Keeper{Version: w.Version, Language: w.language}, alone: func() brief.Alone { return brief.Alone{} }}
	b.leftOut = sync.OnceValue(func() []string { return instructions.LeftOut(w.Project, spec.Instructions()) })
	if spec.Calls == FromModel {
		b.prompt = b.newPrompt(shared, scratch)
	}
	return b
}

// newPrompt returns the system prompt that the spec and the settings make.
func (b *briefing) newPrompt(shared func() bool, scratch func() string) *brief.Prompt {
	v, w := b.ws.values(), b.ws
	dir, original := b.spec.dir(w), w.Project.Trust.Main
	if t := b.spec.Worktree.In; t != nil {
		dir, original = b.spec.Worktree.Dir, t.Root
	}
	_, repository := gitinfo.Branch(dir)
	p := brief.PromptConfig{
		Choice: promptChoice(b.spec, b.memory, w.language()),
		Layout: brief.Layout{None: v.Prompt.NoCache, Hour: cachesLong(v.Prompt.CacheHour, b.spec.door()), Branch: b.spec.Worker.fork()},
		Size:   promptSizes[v.Size],
		Facts: brief.Facts{
			Env: brief.Environment{
				Dir: dir, Extra: b.spec.Access.Dirs, Repository: repository, Original: original,
				Platform: runtime.GOOS + "/" + runtime.GOARCH, System: brief.SystemVersion(), Date: w.Now().Format(time.DateOnly),
			},
			Guide:     brief.Guidance{Interactive: b.spec.door() == Interactive, Verify: v.Loop.Agents.Verify},
			Explained: v.Prompt.Explained,
			Budget:    b.spec.Limits.TokenBudget,
		},
		Memory: b.memory.Told(),
		Shells: toolbox.Shells(), Dedicated: toolbox.Dedicated(), Trackers: tasklists.Trackers(),
		Model: func(id string) brief.Model {
			known, _ := w.Models.Table.Lookup(id)
			m := brief.Model{ID: id, Name: known.Name, Cutoff: known.Cutoff}
			if micro := w.values().Window.Micro; micro.Total > 0 || known.Known && !known.Bound && known.ContextWindow <= narrowWindow {
				m.Kept = micro.Keep
			}
			return m
		},
		Language: w.language,
		Answer:   func() string { return w.values().Prompt.Answer },
		Shared:   shared,
		Note:     w.Say,
		Alone:    func() brief.Alone { return b.alone() },
		Spare:    func(tool string) bool { return b.spare != nil && b.spare(tool) },
		Foreign:  func(tool string) bool { return strings.HasPrefix(tool, "mcp__") },
		Keeper:   &b.keeper,
	}
	if shell, err := bash.Find(); err == nil { // the one that runs commands, not the user's own
		p.Facts.Env.Shell = strings.TrimSuffix(filepath.Base(shell.Path), ".exe")
	}
	s := w.styles().Chosen()
	if b.style = s.Name; s.Text != "" {
		p.Facts.Style = &brief.Style{Name: s.Name, Text: s.Text, Coding: s.Coding}
	}
	if v.MCP.InSystem {
		p.Facts.Servers = func() []brief.Server { return b.extras.InSystem() }
	}
	if v.Prompt.Attribution {
		p.Layout.Client = fmt.Sprintf("adze/%s (%s)", w.Version, b.spec.door())
	}
	if v.Size != settings.SmallPrompt && p.Choice.Custom == nil && b.spec.Definition == nil && !b.spec.OmitInstructions && repository {
		b.git = w.snapshot(dir)
	}
	d := holder(b.spec)
	if c := p.Choice; c.Coordinator == nil && (c.Agent != nil || c.Custom == nil && c.Override == nil) && (d == nil || d.Creates()) { // a coordinator tells its workers
		b.scratch = scratch
	}
	return brief.NewPrompt(p)
}

// promptSizes are the sizes of the settings; any other is full.
var promptSizes = map[settings.PromptSize]brief.Size{settings.SmallPrompt: brief.Small, settings.MediumPrompt: brief.Medium}

// narrowWindow is the largest context window in which old results are cleared soon enough to say so, in tokens.
const narrowWindow = 256_000

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

// language returns the language of prompts as the settings have it now.
func (w *Workspace) language() texts.Language { return texts.Language(w.values().Prompt.Language) }

// announceWith makes the announcer, unless the prompt is small. Loaded is told which instruction files were
// read; it may be nil.
func (b *briefing) announceWith(loaded func(context.Context, []instruct.File)) {
	v := b.ws.values()
	if v.Size == settings.SmallPrompt {
		return
	}
	a := brief.AnnouncerConfig{
		Memory: b.memory.Told(), Git: b.git, Scratch: b.scratch, Paths: paths.Base{Dir: b.ws.Dir, Home: b.ws.Project.User},
		Language: b.ws.language, Now: b.ws.Now, Note: b.ws.Say, Loaded: loaded,
		Keeper: &b.keeper, Extras: func() *brief.Extras { return b.extras.Told() },
	}
	if b.skills != nil {
		a.Skills, a.Settle = b.skills.Told, b.settle
	}
	if !v.Prompt.NoInstructions && !b.spec.OmitInstructions {
		in := instructions.Config(b.ws.Project, b.spec.Instructions())
		a.Instructions = &in
	}
	if b.spec.Entry != Interactive {
		a.Problems = instruct.TellOutside(b.ws.Say)
	}
	b.announcer = brief.NewAnnouncer(a)
}

// begin returns what the requests of a turn begin with.
func (b *briefing) begin(_ context.Context, m agent.Model, tools []msg.ToolSpec) session.Beginning {
	begun := b.prompt.Begin(m.ID, tools)
	return session.Beginning{System: begun.System, Cache: begun.Cache, Tools: begun.Tools, Renewed: begun.Renewed}
}

// describe returns tools as they are described in the language of the prompt.
func (b *briefing) describe(specs []msg.ToolSpec) []msg.ToolSpec {
	return b.texts.In(b.ws.language(), specs)
}

// hear tells the model at the beginning of a turn what has changed since the last.
func (b *briefing) hear(ctx context.Context, _ session.Prompt) (h session.Hearing) {
	var news []string
	if b.prompt != nil && b.next != nil {
		news = b.prompt.News(b.next())
	}
	if b.announcer != nil {
		news = append(news, b.announcer.News(ctx)...)
	}
	for _, text := range news {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	b.keeper.Save()
	return h
}

// answered logs when the provider has lost what it had cached, with what made it so.
func (b *briefing) answered(req *model.Request, u msg.Usage) {
	sent := *req
	sent.Tools = b.describe(req.Tools)
	if lost, ok := b.watch.Answered(&sent, u); ok && b.debug != nil {
		b.debug.Info("the provider's cache was lost", "changed", strings.Join(lost.Changed, ","), "request", lost.Request, "message", lost.Message, "tokens", lost.Lost)
	}
}

// reset makes the next request tell what holds then, after a compaction.
func (b *briefing) reset() {
	if b.announcer != nil {
		b.announcer.Reset()
	}
	b.workers.Reset()
	b.prompt.Reset()
}

// rewound tells again what may have been told in the part of the conversation that is gone.
func (b *briefing) rewound() {
	b.watch.Rewound()
	b.workers.Reset()
	if b.announcer != nil {
		b.announcer.Rewound()
	}
}
