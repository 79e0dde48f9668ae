package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/brief"
	"adze/internal/desk"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/platform/replace"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/tool"
	"adze/internal/ui/plain"
)

// This file makes the front ends' desk from the builder of a session. No other file of the front ends knows the
// builder.

// desk returns what front ends offer for the session. At a terminal that is more than elsewhere.
func (b *builder) desk(s *session.Session) *desk.Desk {
	cfg := desk.Config{
		Terminal: interactive(b.env, b.o),
		Session:  s, Dir: b.env.Dir, Home: b.home, Now: b.env.Now, Log: b.log, Catalog: b.table, Mode: b.gate.Mode, Tasks: b.tasks,
		Preamble: desk.Preamble{
			Resolve: b.resolve, Describe: b.describeTools, Watch: &b.watch,
			Blocks: func(m agent.Model, specs []msg.ToolSpec) []brief.Block {
				blocks, _ := b.prompts.Blocks(m.ID, specs)
				return blocks
			},
		},
		Memory: &desk.Memory{Folder: b.memory.folder, Never: b.memory.never, Off: b.memory.off.Load, Set: b.memory.set},
		Shell:  func(ctx context.Context, command string) (string, error) { return typed(ctx, s.Pool(), command) },
		Short:  b.shortPath,
	}
	if a := b.announcer; a != nil {
		cfg.Preamble.First = a.Preview
		if a.Instructed() {
			cfg.Instructions = &instructions{a, replace.New(filepath.Join(b.home, "locks"))}
		}
	}
	return desk.New(cfg)
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
