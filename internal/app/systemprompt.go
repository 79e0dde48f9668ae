package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/brief"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/tools/bash"
)

// An assembler writes the system prompt of a turn.
type assembler = func(context.Context, agent.Model, []msg.ToolSpec) ([]msg.Part, []model.Mark)

// prompt makes the system prompt of the session and returns what assembles it for each turn.
func (b *builder) prompt() (assembler, error) {
	p, err := b.newPrompt()
	if err != nil {
		return nil, err
	}
	b.prompts = p
	return func(_ context.Context, m agent.Model, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
		return p.Parts(m.ID, tools)
	}, nil
}

// newPrompt returns the system prompt that flags and settings make.
func (b *builder) newPrompt() (*brief.Prompt, error) {
	choice, err := b.promptChoice()
	if err != nil {
		return nil, err
	}
	_, repository := gitinfo.Branch(b.env.Dir)
	c := brief.PromptConfig{
		Choice: choice,
		Layout: brief.Layout{None: b.settings.Bool("ADZE_DISABLE_PROMPT_CACHING"), Hour: b.cachesLong()},
		Simple: b.settings.Bool("ADZE_SIMPLE"),
		Facts: brief.Facts{
			Env: brief.Environment{
				Dir: b.env.Dir, Extra: b.o.dirs, Repository: repository,
				Original: b.prefs.workspace.Main, Platform: runtime.GOOS + "/" + runtime.GOARCH, System: systemVersion(), Date: b.env.Now().Format(time.DateOnly),
			},
			Guide:     brief.Guidance{Interactive: interactive(b.env, b.o)},
			Explained: b.settings.Text("communication") == "explained",
			Budget:    b.o.tokenBudget,
			Kept:      b.settings.Int("microCompact.keepResults"),
			NoteDown:  true,
		},
		Memory: b.memory.told(),
		Model: func(id string) brief.Model {
			known, _ := b.table.Lookup(id)
			return brief.Model{ID: id, Name: known.Name, Cutoff: known.Cutoff}
		},
		Language: b.promptLanguage,
		Answer:   func() string { return b.prefs.live.Settings().Text("language") },
		Shared:   func() bool { return b.backend == nil || b.backend.shared },
		Note:     b.env.say,
	}
	if shell, err := bash.Find(); err == nil { // the one that runs commands, not the user's own
		c.Facts.Env.Shell = strings.TrimSuffix(filepath.Base(shell.Path), ".exe")
	}
	if b.settings.Bool("attributionHeader") {
		c.Layout.Client = "adze/" + Version + " (" + b.entryPoint() + ")"
	}
	if !c.Simple && choice.Custom == nil && repository {
		c.Git = b.snapshot()
	}
	return brief.NewPrompt(c), nil
}

// promptChoice returns what the user wants in the system prompt, or in its place.
func (b *builder) promptChoice() (c brief.Choice, err error) {
	replaced, err := textOrFile(b.o.system, b.o.systemFile, "--system-prompt-file")
	if err != nil {
		return c, err
	}
	if b.o.given["system-prompt"] || b.o.given["system-prompt-file"] {
		c.Custom = &replaced
	}
	c.Append, err = textOrFile(b.o.appended, b.o.appendedFile, "--append-system-prompt-file")
	return c, err
}

// entryPoint says how the program is used.
func (b *builder) entryPoint() string {
	switch {
	case interactive(b.env, b.o):
		return "interactive"
	case b.o.input == inputStream:
		return "sdk"
	}
	return "headless"
}

// cachesLong reports whether requests of the main conversation are cached for an hour. The settings that
// the session began with decide, so that lifetimes are never mixed.
func (b *builder) cachesLong() bool {
	source := "sdk"
	if interactive(b.env, b.o) {
		source = "repl_main_thread"
	}
	return slices.ContainsFunc(b.settings.Strings("cache1h"), func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == source || open && strings.HasPrefix(source, prefix)
	})
}

// promptLanguage returns the language of the prompt as the settings have it now.
func (b *builder) promptLanguage() texts.Language {
	return texts.Language(b.prefs.live.Settings().Text("promptLanguage"))
}

// describeTools returns tools as they are described in the language of the prompt.
func (b *builder) describeTools(specs []msg.ToolSpec) []msg.ToolSpec {
	return b.toolTexts.In(b.promptLanguage(), specs)
}

// watchCache logs when the provider has to read anew what it had cached, with what made it so.
func (b *builder) watchCache(cfg *session.Config) {
	cfg.Listeners.Answered = func(req *model.Request, u msg.Usage) {
		sent := *req
		sent.Tools = b.describeTools(req.Tools)
		if lost, ok := b.watch.Answered(&sent, u); ok && cfg.Debug != nil {
			cfg.Debug.Info("the provider's cache was lost", "changed", strings.Join(lost.Changed, ","), "request", lost.Request, "message", lost.Message, "tokens", lost.Lost)
		}
	}
}

// snapshot asks git about the workspace, once, while other things are made ready. It returns what waits for
// the answer. A workspace that is not trusted is not asked.
func (b *builder) snapshot() func() brief.Git {
	if b.git != nil || !b.prefs.workspace.Trusted() {
		return b.git
	}
	ctx, cancel := context.WithCancel(context.Background())
	var answer brief.Git
	var asked sync.WaitGroup
	asked.Go(func() { answer = brief.Git(gitinfo.Take(ctx, &b.runner, b.env.Dir, environ(b.settings))) })
	b.closers = append(b.closers, func() { cancel(); asked.Wait() })
	b.git = func() brief.Git { asked.Wait(); return answer }
	return b.git
}

// systemVersion returns the name and version of the operating system, where they can be read at once.
func systemVersion() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return "Linux " + strings.TrimSpace(string(release))
}

func textOrFile(text, file, flag string) (string, error) {
	if file == "" {
		return text, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", setupErrorf("%s: reading %s: %v", flag, file, err)
	}
	return string(data), nil
}
