package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/brief"
	"adze/internal/desk"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fileindex"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/platform/replace"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/tool"
	"adze/internal/ui/headless"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/plain"
)

// This file makes the front ends' desk from the builder of a session. No other file of the front ends knows the
// builder.

// desk returns what front ends offer for the session. At a terminal that is more than elsewhere.
func (b *builder) desk(s *session.Session) *desk.Desk {
	cfg := desk.Config{
		Terminal: interactive(b.env, b.o),
		Session:  s, Dir: b.env.Dir, Home: b.home, Now: b.env.Now, Log: b.log, Catalog: b.table, Tasks: b.tasks,
		Version: Version, Thinking: b.think,
		Permission: desk.Permission{
			Mode: b.gate.Mode, Dirs: b.o.dirs,
			Rules: func() []rule.Rule { return b.gate.Policy().Rules() },
		},
		Files: desk.Files{
			Dir: b.env.Dir, History: b.files, State: b.state,
			Index:   fileindex.New(fileindex.Config{Dir: b.env.Dir, All: !b.settings.Bool("respectGitignore")}),
			MayRead: func(ctx context.Context, path string) error { return mayRead(ctx, s.Pool(), b.gate, path) },
		},
		Settings: b.effective,
		Hooks:    func() desk.Hooks { return desk.Hooks{List: b.hooks.List(), Policy: b.hookPolicy()} },
		Preamble: desk.Preamble{
			Resolve: b.resolve, Describe: b.describeTools, Watch: &b.watch,
			Blocks: func(m agent.Model, specs []msg.ToolSpec) []brief.Block {
				blocks, _ := b.prompts.Blocks(m.ID, specs)
				return blocks
			},
		},
		Memory:  &desk.Memory{Folder: b.memory.folder, Never: b.memory.never, Off: b.memory.off.Load, Set: b.memory.set},
		Execute: func(ctx context.Context, command string) (string, error) { return typed(ctx, s.Pool(), command) },
		Short:   b.shortPath,
	}
	if a := b.announcer; a != nil {
		cfg.Preamble.First = a.Preview
		if a.Instructed() {
			cfg.Instructions = &instructions{a, replace.New(filepath.Join(b.home, "locks"))}
		}
	}
	b.closers = append(b.closers, cfg.Files.Index.Close)
	return desk.New(cfg)
}

// think returns how the model thinks with a budget of tokens, or as flags and settings say.
func (b *builder) think(budget *int) model.Thinking {
	switch {
	case budget == nil:
		return b.thinking()
	case *budget == 0:
		return model.Thinking{}
	}
	return model.Thinking{Mode: model.ThinkingBudget, Budget: max(*budget, fit.LeastBudget)}
}

// effective returns the settings in effect. Variables are not among them: they hold keys.
func (b *builder) effective() desk.Settings {
	s := desk.Settings{Values: map[string]json.RawMessage{}, Effort: b.o.effort, AutoCompact: b.settings.Bool("autoCompact")}
	for _, key := range settingKeys() {
		if key.Name != "" && b.settings.Origin(key.Name) != "" {
			s.Values[key.Name] = b.settings.JSON(key.Name)
		}
	}
	return s
}

// host returns what is offered to a program that drives the session.
func (b *builder) host(d *desk.Desk) headless.Host {
	asks := b.o.asker == askHost
	if asks {
		b.gate.SetAsk(d.Session.AskPermission)
	}
	h := headless.Host{
		DefaultModel: b.model, Asks: asks, Actions: hostapi.Actions(d), Queries: hostapi.Queries(d),
		Initialize: func(_ context.Context, start headless.Start) error { return b.initialize(d, start) },
	}
	for _, name := range catalog.Aliases() {
		if m, ok := b.table.Lookup(name); ok {
			h.Models = append(h.Models, headless.HostModel{Value: name, Name: m.Name, Description: m.ID})
		}
	}
	return h
}

// initialize applies what the host wants. Callbacks that guard calls are refused rather than left out;
// what else is missing is told.
func (b *builder) initialize(d *desk.Desk, start headless.Start) error {
	if err := b.hostHooks(start); err != nil {
		return err
	}
	switch {
	case len(start.Servers) > 0:
		b.env.say("MCP servers of the host are not available in this version: " + strings.Join(start.Servers, ", "))
	case len(start.Agents) > 0:
		b.env.say("sub-agents of the host are not available in this version")
	}
	if err := b.expect(start.JSONSchema); err != nil {
		return &hostapi.Refusal{Code: "invalid_schema", Text: err.Error()}
	}
	if start.Title != "" {
		if err := d.Rename(start.Title); err != nil {
			return err
		}
	}
	if start.SystemPrompt == nil && start.AppendSystemPrompt == "" {
		return nil
	}
	if start.SystemPrompt != nil {
		b.o.system, b.o.systemFile = strings.Join(start.SystemPrompt, "\n\n"), ""
		b.o.given["system-prompt"] = true
	}
	if start.AppendSystemPrompt != "" {
		b.o.appended, b.o.appendedFile = start.AppendSystemPrompt, ""
	}
	choice, err := b.promptChoice()
	if err == nil {
		b.prompts.SetChoice(choice)
	}
	return err
}

// mayRead asks the permission gate about a file as it is asked about a call of the model.
func mayRead(ctx context.Context, pool *tool.Pool, gate tool.Gate, path string) error {
	const name = "Read"
	t, _, ok := pool.Lookup(name)
	if !ok {
		return errors.New("files may not be read in this session")
	}
	input, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		return err
	}
	call, err := t.Bind(input)
	if err != nil {
		return err
	}
	u := &tool.Use{Tool: t, Call: call}
	u.Name, u.Input = name, input
	if err := gate.Before(ctx, u); err != nil {
		return err
	}
	if u.Verdict.Decision != tool.Allow {
		return fmt.Errorf("%s may not be read: %s", path, u.Verdict.Reason)
	}
	return nil
}

// instructions implement [desk.Instructions].
type instructions struct {
	*brief.Announcer
	files *replace.Replacer
}

// Load reads the instructions.
func (i *instructions) Load(ctx context.Context) { i.Opening(ctx) }

// Add adds a line to a file of instructions.
func (i *instructions) Add(ctx context.Context, path, line string) error {
	return i.Announcer.Add(ctx, i.files, path, line)
}

// open starts a session in place of the one before.
func (t *terminal) open(ctx context.Context, resume string) (*plain.Conversation, error) {
	o := *t.o
	if t.opened { // what the command line says of sessions was about the first
		o.resume, o.latest, o.fork, o.session, o.resumeAt = resume, false, false, "", ""
		if resume != "" {
			home, err := fsys.StateHome(t.env.Getenv)
			if err != nil {
				return nil, err
			}
			if _, err := archive.Find(home, t.env.Dir, resume); err != nil {
				return nil, err
			}
		}
	}
	t.close()
	t.opened, t.close = true, func() {}
	b, err := newBuilder(t.env, &o)
	if err != nil {
		return nil, err
	}
	t.close = b.close
	if err := b.resume(ctx); err != nil {
		return nil, err
	}
	system, err := b.prompt()
	if err != nil {
		return nil, err
	}
	if err := b.chooseModel(); err != nil {
		return nil, err
	}
	s, err := b.session(ctx, system)
	if err != nil {
		return nil, err
	}
	t.close = func() { s.Close(); b.close() }
	b.gate.SetAsk(s.AskPermission)
	return &plain.Conversation{
		Session: s, Desk: b.desk(s), Greeting: b.greeting(), Shown: 4,
		Explain: b.explain, WarnUSD: b.settings.Float("costWarningUsd"),
	}, nil
}

// greeting says what the session works with.
func (b *builder) greeting() string {
	m, _ := b.resolve(b.model) // ok: it was chosen
	text := fmt.Sprintf("adze %s, %s in %s", Version, m.ID, b.env.Dir)
	if mode := b.gate.Mode(); mode != string(permission.Default) {
		text += ", permission mode " + mode
	}
	text += ". /help shows what there is besides prompts."
	if b.earlier != nil {
		text += fmt.Sprintf("\nGoing on with session %s.", b.id)
	}
	return text
}

// shortPath returns how a user would write a path, fit for the screen.
func (b *builder) shortPath(path string) string {
	short, home := paths.Relative(b.env.Dir, path), fsys.UserHome(b.env.Getenv)
	if short == path && home != "" && paths.Relative(home, path) != path {
		short = filepath.Join("~", paths.Relative(home, path))
	}
	return term.Sanitize(short)
}

// typed runs a command that the user typed, without a question, and returns what it printed.
func typed(ctx context.Context, pool *tool.Pool, command string) (string, error) {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return "", err
	}
	ex := &exec.Executor{Gates: []exec.Gate{{Name: "permission", Gate: yes{}}}}
	name := "Bash"
	if _, _, ok := pool.Lookup(name); !ok {
		name = "PowerShell" // where there is no other shell
	}
	o := execute(ctx, ex, pool, msg.NewToolUse("typed", name, string(input)))
	return msg.PlainText(o.Result.Parts), nil
}

// yes allows everything: it is the gate of what the user typed.
type yes struct{}

func (yes) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Allow, "user", "the user typed it")
	return nil
}
