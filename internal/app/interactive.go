package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/agent/exec"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/plain"
)

// A desk is where a person talks with sessions, one after the other.
type desk struct {
	env     *Env
	o       *options
	builder *builder
	session *session.Session
	editor  func(path string) error // lets the person edit a file
}

// interact talks with the person at the terminal until they leave.
func interact(ctx context.Context, env *Env, o *options) error {
	if err := meet(ctx, env, o); err != nil {
		return err
	}
	if err := approveIncludes(ctx, env, o); err != nil {
		return err
	}
	if err := offerMemories(env, o); err != nil {
		return err
	}
	d := &desk{env: env, o: o, editor: env.edit}
	defer d.close()
	cfg := plain.Config{
		In: env.Stdin, Out: env.Stdout, Width: env.width, Dir: env.Dir,
		Palette: draw.PaletteFor(env.StdoutTerminal, env.Getenv),
		Open:    d.open,
		First:   strings.TrimSpace(strings.Join(o.args, " ")),
		Explain: func(err error, model string) string { return d.builder.explain(err, model) },
		Services: plain.Services{
			Sessions: d.sessions, Models: d.models, Modes: modeNames, Shell: d.shell,
			Export: d.export, Rename: d.rename, Context: d.context, Memory: d.memory,
			Places: d.places, Add: d.addLine,
			Tasks:   func() *task.Table { return d.builder.tasks },
			WarnUSD: func() float64 { return d.builder.settings.Float("costWarningUsd") },
		},
	}
	if o.pick {
		cfg.First = "/resume"
	}
	restore, err := env.raw()
	cfg.Keys = err == nil
	if cfg.Keys {
		defer func() { restore() }() // another one after a pause
		defer bracketPastes(env)()
		cfg.Suspend = func() { env.suspend(&restore) }
		d.editor = func(path string) error {
			restore()
			defer func() {
				if again, err := env.raw(); err == nil {
					restore = again
				}
			}()
			return env.edit(path)
		}
	} else if env.Interrupts != nil {
		cfg.Interrupts = env.Interrupts()
	}
	history := openPrompts(env)
	cfg.History, cfg.Remember = history.recent(), history.add
	if err := plain.New(cfg).Run(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// bracketPastes asks the terminal to say what is pasted, so that its line ends do not send it. Terminals
// that do not know this ignore it.
func bracketPastes(env *Env) (end func()) {
	env.print("\x1b[?2004h")                   // ok: the screen will show whether it works
	return func() { env.print("\x1b[?2004l") } // ok: nobody is left to tell
}

// open starts a session in place of the one before.
func (d *desk) open(ctx context.Context, resume string) (*plain.Conversation, error) {
	o := *d.o
	if d.builder != nil { // what the command line says of sessions was about the first
		o.resume, o.latest, o.fork, o.session, o.resumeAt = resume, false, false, "", ""
		if resume != "" {
			if _, err := archive.Find(d.builder.home, d.env.Dir, resume); err != nil {
				return nil, err
			}
		}
	}
	d.close()
	b, err := newBuilder(d.env, &o)
	if err != nil {
		return nil, err
	}
	d.builder = b
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
	if d.session, err = b.session(ctx, system); err != nil {
		return nil, err
	}
	b.gate.SetAsk(d.session.Ask)
	return &plain.Conversation{Session: d.session, Greeting: d.greeting(), Shown: 4, Mode: b.gate.Mode}, nil
}

func (d *desk) close() {
	if d.session != nil {
		d.session.Close()
		d.session = nil
	}
	if d.builder != nil {
		d.builder.close()
	}
}

func (d *desk) greeting() string {
	b := d.builder
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

// sessions lists what /resume offers.
func (d *desk) sessions() ([]plain.Choice, error) {
	infos, err := archive.List(d.builder.home, archive.ListOptions{Dir: d.env.Dir})
	if err != nil {
		return nil, err
	}
	var choices []plain.Choice
	for _, i := range infos {
		if i.ID == d.builder.id {
			continue
		}
		about := fmt.Sprintf("%s, %s", age(d.env.Now().Sub(i.Modified)), count(i.Messages, "message"))
		if i.Branch != "" {
			about += ", " + i.Branch
		}
		choices = append(choices, plain.Choice{ID: i.ID, Title: i.Name(), About: about})
	}
	return choices, nil
}

func (d *desk) models() []string { return catalog.Aliases() }

func modeNames() []string {
	var names []string
	for _, m := range permission.Modes() {
		names = append(names, string(m))
	}
	return names
}

var errNotKept = errors.New("this session is not kept on disk")

func (d *desk) rename(_, title string) error {
	if d.builder.log == nil {
		return errNotKept
	}
	title, err := store.CheckTitle(title)
	if err != nil {
		return err
	}
	return d.builder.log.Note(store.Title(title))
}

// export writes the session that is open; what was said last is in its file already.
func (d *desk) export(id, name string) (string, error) {
	if d.builder.log == nil {
		return "", errNotKept
	}
	if name == "" {
		name = "adze-" + id[:min(8, len(id))] + ".md"
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.env.Dir, name)
	}
	if _, err := os.Lstat(name); err == nil {
		return "", fmt.Errorf("%s exists already; name another file", name)
	}
	info := &archive.Info{ID: id, Path: d.builder.log.Path(), Dir: d.env.Dir}
	return name, exportTo(name, info, archive.ExportOptions{Format: formatOf(name)})
}

// shell runs a command that the person typed: nobody has to allow it.
func (d *desk) shell(ctx context.Context, command string) (string, error) {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return "", err
	}
	ex := &exec.Executor{Gates: []exec.Gate{{Name: "permission", Gate: yes{}}}}
	name := "Bash"
	if _, _, ok := d.session.Pool().Lookup(name); !ok {
		name = "PowerShell" // where there is no other shell
	}
	o := execute(ctx, ex, d.session.Pool(), msg.NewToolUse("typed", name, string(input)))
	return msg.PlainText(o.Result.Parts), nil
}

// yes allows everything: it is the gate of what a person typed.
type yes struct{}

func (yes) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Allow, "user", "the person typed it")
	return nil
}
