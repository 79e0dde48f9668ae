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
	"adze/internal/app/toolbox"
	"adze/internal/domain/instruct"
	"adze/internal/feature"
	"adze/internal/feature/deferred"
	"adze/internal/feature/instructions"
	"adze/internal/feature/memory"
	"adze/internal/feature/skills"
	"adze/internal/feature/tasks"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/tools/bash"
)

// A promptState holds the model's context other than messages: the system prompt and the
// announcements of instructions, memories and the date.
type promptState struct {
	ws        *Workspace
	spec      *Spec
	memory    *memory.View
	prompt    *prompt.Prompt          // nil without a model
	git       func() gitinfo.Snapshot // nil if repository state is not sent
	scratch   func() string           // nil if the scratch directory is not mentioned
	announcer *prompt.Announcer       // nil with the small prompt
	texts     *prompt.ToolTexts       // nil until tools exist
	watch     prompt.Watch            // tracks the provider's cache
	debug     *slog.Logger            // may be nil
	style     string                  // output style name
	leftOut   func() []string         // unused workspace configuration; computed once

	extras *deferred.Extras   // deferred tools
	keeper prompt.PrefixStore // persists request prefixes for later processes
	// spare reports whether the model can do without a tool.
	spare func(tool string) bool
	// unattended returns the calls that need no approval in an unattended session.
	unattended func() prompt.Unattended
	// next returns the next turn's model and tools.
	next func() (modelID string, tools []msg.ToolSpec)
}

// openPrompt creates the model's context, and the parts that it describes: deferred tools, skills
// and the directory for temporary files, which agents share with their lead.
func (c *Conversation) openPrompt() {
	if c.scratch == nil && c.spec.Calls == FromModel {
		c.scratch = c.ws.newScratch(c.record, c.keepFiles)
		c.closers.add(c.scratch.Close)
	}
	w, spec := c.ws, &c.spec
	b := &promptState{
		ws: w, spec: spec, debug: c.debug, memory: w.openMemory(spec),
		keeper:  prompt.PrefixStore{Version: w.Version, Language: w.language, Note: c.note},
		leftOut: sync.OnceValue(func() []string { return instructions.LeftOut(w.Project, spec.Instructions()) }),
		spare: func(tool string) bool {
			t, _, ok := c.Session.Pool().Lookup(tool)
			return ok && t.Traits().Spare != nil && t.Traits().Spare()
		},
		unattended: func() prompt.Unattended { return unattendedCalls(c.Gate) },
		next: func() (modelID string, tools []msg.ToolSpec) {
			m, _ := c.model.Resolve(c.Session.Model()) // ok: the turn reports the error
			return m.ID, c.Session.ToolSpecs()
		},
	}
	c.prompt = b
	if spec.worker.fork {
		b.unattended = spec.worker.lead.unattended
	}
	if spec.Calls == FromModel {
		b.prompt = b.newPrompt(c.model.Shared, c.scratch.Path)
	}
	b.extras = c.newDeferred()
	c.jobs, c.listing = c.newSchedule(), c.newListing()
	b.announceWith(c.listing, c.skills.Settle, reportInstructions(c.Hooks))
	b.extras.Attach(deferred.Conversation{Session: c.session, Announcer: b.announcer, Language: w.language})
	if b.prompt != nil {
		b.keeper.Restore(c.record.State().Last, b.prompt, b.announcer)
	}
	b.memory.Changed = func() {
		c.keepFiles()
		if b.announcer != nil {
			b.announcer.Reset()
		}
	}
}

// newPrompt returns the system prompt built from the spec and the settings.
func (b *promptState) newPrompt(shared func() bool, scratch func() string) *prompt.Prompt {
	v, w := b.ws.values(), b.ws
	dir, original := w.Dir, w.Project.Trust.Main
	if g := b.spec.worker.gate; g != nil {
		dir = g.Standing().Config().Dir
	}
	if t := b.spec.Worktree.In; t != nil {
		dir, original = b.spec.Worktree.Dir, t.Root
	}
	_, repository := gitinfo.Branch(dir)
	p := prompt.PromptConfig{
		Choice: promptChoice(b.spec, b.memory, w.language()),
		Layout: prompt.Layout{None: v.Prompt.NoCache, Hour: cachesLong(v.Prompt.CacheHour, b.spec.shownEntry()), Branch: b.spec.worker.fork},
		Size:   promptSizes[v.Size],
		Facts: prompt.Facts{
			Env: prompt.Environment{
				Dir: dir, Extra: b.spec.Access.Dirs, Repository: repository, Original: original,
				Platform: runtime.GOOS + "/" + runtime.GOARCH, System: prompt.SystemVersion(), Date: w.Now().Format(time.DateOnly),
			},
			Guide:     prompt.Guidance{Interactive: b.spec.shownEntry() == Interactive, Verify: v.Loop.Agents.Verify},
			Explained: v.Prompt.Explained,
			Budget:    b.spec.Limits.TokenBudget,
		},
		Memory: b.memory.Told(),
		Shells: toolbox.Shells(), Dedicated: toolbox.Dedicated(), Trackers: tasks.Trackers(),
		Model: func(id string) prompt.Model {
			known, _ := w.Models.Table.Lookup(id)
			m := prompt.Model{ID: id, Name: known.Name, Cutoff: known.Cutoff}
			if micro := w.values().Window.Micro; micro.Total > 0 || known.Known && !known.Bound && known.ContextWindow <= narrowWindow {
				m.Kept = micro.Keep
			}
			return m
		},
		Language: w.language,
		Answer:   func() string { return w.values().Prompt.Answer },
		Shared:   shared,
		Note:     w.Say,
		Alone:    b.unattended,
		Spare:    b.spare,
		Foreign:  func(tool string) bool { return strings.HasPrefix(tool, "mcp__") },
		Keeper:   &b.keeper,
	}
	if shell, err := bash.Find(); err == nil { // the shell that runs commands, not the user's login shell
		p.Facts.Env.Shell = strings.TrimSuffix(filepath.Base(shell.Path), ".exe")
	}
	s := w.styles().Chosen()
	if b.style = s.Name; s.Text != "" {
		p.Facts.Style = &prompt.Style{Name: s.Name, Text: s.Text, Coding: s.Coding}
	}
	if v.MCP.InSystem {
		p.Facts.Servers = func() []prompt.Server { return b.extras.InSystem() }
	}
	if v.Prompt.Attribution {
		p.Layout.Client = fmt.Sprintf("adze/%s (%s)", w.Version, b.spec.shownEntry())
	}
	if v.Size != settings.SmallPrompt && p.Choice.Custom == nil && b.spec.Definition == nil && !b.spec.OmitInstructions && repository {
		b.git = w.snapshot(dir)
	}
	d := agentDefinition(b.spec)
	if c := p.Choice; c.Coordinator == nil && (c.Agent != nil || c.Custom == nil && c.Override == nil) && (d == nil || d.Creates(toolbox.Creators())) { // a coordinator instructs its workers itself
		b.scratch = scratch
	}
	return prompt.NewPrompt(p)
}

// promptSizes maps the setting's values to prompt sizes; any other value means full.
var promptSizes = map[settings.PromptSize]prompt.Size{settings.SmallPrompt: prompt.Small, settings.MediumPrompt: prompt.Medium}

// narrowWindow is the largest context window, in tokens, for which the prompt mentions that old
// results are cleared.
const narrowWindow = 256_000

// cachesLong reports whether the conversation's requests are cached for an hour. It uses the
// settings at the start of the conversation, so that lifetimes are never mixed.
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

// language returns the current prompt language from the settings.
func (w *Workspace) language() texts.Language { return texts.Language(w.values().Prompt.Language) }

// announceWith creates the announcer, unless the prompt is small. listing may be nil; settle waits
// until skill files have been read. loaded is called with the instruction files read.
func (b *promptState) announceWith(listing *skills.Listing, settle func(), loaded func(context.Context, []instruct.File)) {
	v := b.ws.values()
	if v.Size == settings.SmallPrompt {
		return
	}
	a := prompt.AnnouncerConfig{
		Memory: b.memory.Told(), Git: b.git, Scratch: b.scratch, Paths: paths.Base{Dir: b.ws.Dir, Home: b.ws.Project.User},
		Language: b.ws.language, Now: b.ws.Now, Note: b.ws.Say, Loaded: loaded,
		Keeper: &b.keeper, Extras: func() *prompt.DeferredTools { return b.extras.Told() },
	}
	if listing != nil {
		a.Skills, a.Settle = listing.Told, settle
	}
	if !v.Prompt.NoInstructions && !b.spec.OmitInstructions {
		in := instructions.Config(b.ws.Project, b.spec.Instructions())
		a.Instructions = &in
	}
	if b.spec.Entry != Interactive {
		a.Problems = instruct.OutsideReporter(b.ws.Say)
	}
	b.announcer = prompt.NewAnnouncer(a)
}

// begin returns the system prompt and tools for a turn's requests.
func (b *promptState) begin(_ context.Context, m agent.Model, tools []msg.ToolSpec) session.RequestHead {
	begun := b.prompt.Begin(m.ID, tools)
	return session.RequestHead{System: begun.System, Cache: begun.Cache, Tools: begun.Tools, Renewed: begun.Renewed}
}

// describe returns the tools with descriptions in the prompt's language.
func (b *promptState) describe(specs []msg.ToolSpec) []msg.ToolSpec {
	return b.texts.In(b.ws.language(), specs)
}

// part returns the prompt's contribution to a conversation. A fork announces nothing: its requests
// must match its lead's except for the directive.
func (b *promptState) part() feature.Part {
	p := feature.Part{Name: "instructions", Compacted: b.reset, Rewound: b.rewound}
	if !b.spec.worker.fork {
		p.PromptHook = b.promptHook
	}
	if b.announcer != nil {
		p.After = b.announcer
	}
	return p
}

// promptHook announces changes since the last turn to the model.
func (b *promptState) promptHook(ctx context.Context, _ session.Prompt) (h session.HookResult) {
	var news []string
	if b.prompt != nil {
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

// answered logs cache misses at the provider and their cause.
func (b *promptState) answered(req *model.Request, u msg.Usage) {
	sent := *req
	sent.Tools = b.describe(req.Tools)
	if lost, ok := b.watch.Answered(&sent, u); ok && b.debug != nil {
		b.debug.Info("the provider's cache was lost", "changed", strings.Join(lost.Changed, ","), "request", lost.Request, "message", lost.Message, "tokens", lost.Lost)
	}
}

// reset makes the next request announce everything again, after a compaction.
func (b *promptState) reset() {
	if b.announcer != nil {
		b.announcer.Reset()
	}
	b.prompt.Reset()
}

// rewound announces everything again that may have been in the removed part of the
// conversation.
func (b *promptState) rewound() {
	b.watch.Rewound()
	if b.announcer != nil {
		b.announcer.Rewound()
	}
}

// instructions returns the text of the instruction files.
func (b *promptState) instructions() string {
	if b.announcer == nil {
		return ""
	}
	var all []string
	for _, f := range b.announcer.Files() {
		if f.Kind >= instruct.Project && !b.ws.Project.Trust.Trusted() {
			continue // an untrusted project must not influence the classifier
		}
		all = append(all, f.Text)
	}
	return strings.Join(all, "\n\n")
}
