package app

import (
	"context"
	"strings"

	"adze/internal/ui/draw"
	"adze/internal/ui/plain"
)

// A terminal is where a user talks with sessions, one after the other.
type terminal struct {
	env    *Env
	o      *options
	opened bool   // a session was: what the flags say of sessions is done with
	close  func() // closes the session
}

// interact talks with the user at the terminal until they leave.
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
	t := &terminal{env: env, o: o, close: func() {}}
	defer func() { t.close() }()
	cfg := plain.Config{
		In: env.Stdin, Out: env.Stdout, Width: env.width, Dir: env.Dir,
		Palette: draw.PaletteFor(env.StdoutTerminal && !o.plain, env.Getenv),
		Open:    t.open,
		First:   strings.TrimSpace(strings.Join(o.args, " ")),
		Edit:    env.edit,
	}
	if o.pick {
		cfg.First = "/resume"
	}
	var restore func()
	if !o.plain {
		var err error
		restore, err = env.raw()
		cfg.Keys = err == nil
	}
	if cfg.Keys {
		defer func() { restore() }() // another one after a pause
		defer bracketPastes(env)()
		cfg.Suspend = func() { env.suspend(&restore) }
		cfg.Edit = func(path string) error {
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
