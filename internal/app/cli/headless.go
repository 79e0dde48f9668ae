package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"adze/internal/agent"
	"adze/internal/app/wire"
	mcpfeature "adze/internal/feature/mcp"
	"adze/internal/mcp"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/term"
	"adze/internal/ui/headless"
	"adze/internal/ui/streamjson"
)

// headless runs a single turn, or a session driven by a host.
func (o *runOptions) headless(ctx context.Context, env *Env, in invocation) error {
	o.extensions.ahead = func(w *wire.Workspace) { w.LookAhead(&o.spec) }
	w, err := openExtended(env, o.project, in, &o.extensions)
	if err != nil {
		return err
	}
	defer w.Close()
	if text := mcpfeature.Waiting(w.Project, w.Env.Servers.Loaded); text != "" {
		env.Say(text)
	}
	c, err := w.Converse(ctx, o.spec)
	if err != nil {
		return err
	}
	defer c.Close()
	r := c.Commands()
	commands := r
	if o.noCommands {
		commands = nil
	}
	front := headless.New(headless.Config{
		Session: c.Session, Commands: commands, Format: o.output, Stdout: env.Stdout, Stderr: env.Stderr,
		Verbose: o.verbose, Partial: o.spec.Raw, Replay: o.replay, Hooks: o.hookEvents,
		Servers: func() []mcp.Status { return c.Servers.Awaited(ctx) },
		Shown:   env.sanitizer(), ShownErr: term.Sanitize, Explain: c.Explain, Now: env.Now,
		Info: func() streamjson.Info {
			f := c.Facts()
			return streamjson.Info{
				Dir: env.Dir, Model: f.ModelID, Mode: f.Mode, KeySource: f.KeySource, Version: env.Version + " (adze)",
				LeftOut: f.LeftOut(), Style: f.Style, Skills: f.Skills, Agents: f.Agents, Plugins: f.Plugins, PluginErrors: f.PluginErrors,
			}
		},
	})
	if observer := front.Observer(); observer != nil {
		c.Hooks.Show(observer)
	}
	if o.input == inputStream {
		return ended(ctx, front.Serve(ctx, env.Stdin, c.Host(r)))
	}
	text, err := readPrompt(ctx, env, in.Args)
	if err != nil {
		return err
	}
	out := front.Turn(ctx, &msg.Text{Text: w.FirstPrompt(&o.spec, text)})
	if c.Facts().Mode == string(permission.Plan) {
		if _, err := os.Stat(c.PlanFile()); err == nil {
			env.Say("the plan is in " + c.PlanFile())
		}
	}
	return ended(ctx, out)
}

// ended returns the error for an outcome, or nil if the run succeeded.
func ended(ctx context.Context, out headless.Outcome) error {
	switch {
	case out.Err != nil && !errors.Is(out.Err, syscall.EPIPE) && !errors.Is(out.Err, os.ErrClosed):
		return fmt.Errorf("the answer could not be written: %w", out.Err) // e.g. the disk is full
	case out.Unread:
		return &Ended{agent.AbortedStreaming} // the reader of the answer left
	}
	if out.Failed || out.BadInput || ctx.Err() != nil {
		return &Ended{out.Reason}
	}
	return nil
}
