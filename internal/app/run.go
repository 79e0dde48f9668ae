package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/ui/headless"
)

// run runs the turns that the command line or the host asks for.
func run(ctx context.Context, env *Env, o *options) error {
	if o.rewind != "" {
		return rewind(ctx, env, o)
	}
	single := o.print || !env.StdinTerminal || !env.StdoutTerminal || o.input == inputStream
	switch {
	case !single && (o.given["output-format"] || o.given["input-format"]):
		return setupErrorf("--output-format and --input-format at a terminal need -p")
	case single && o.pick:
		return setupErrorf("--resume alone offers a list, which needs a terminal; name the session by its id or its title (adze sessions list shows them)")
	case !single:
		return interact(ctx, env, o)
	}
	b, err := newBuilder(env, o)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.expectFlag(); err != nil {
		return err
	}
	if err := b.resume(ctx); err != nil {
		return err
	}
	system, err := b.prompt()
	if err != nil {
		return err
	}
	if err := b.chooseModel(); err != nil {
		return err
	}
	s, err := b.session(ctx, system)
	if err != nil {
		return err
	}
	d := b.desk(s)
	commands := d
	if o.noCommands {
		commands = nil
	}
	front := headless.New(headless.Config{
		Session: s, Desk: commands, Format: o.output, Stdout: env.Stdout, Stderr: env.Stderr,
		Verbose: o.verbose, Partial: o.partial, Replay: o.replay, Hooks: o.hookEvents,
		Shown: env.shown(), ShownErr: term.Sanitize, Explain: b.explain, Now: env.Now,
		Info: func() headless.Info {
			m, _ := b.resolve(s.Model()) // ok: the session has it already
			return headless.Info{
				Dir: env.Dir, Model: m.ID, Mode: b.gate.Mode(), KeySource: b.backend.keySource, Version: Version + " (adze)",
			}
		},
	})
	b.hooks.Show(front)
	if o.input == inputStream {
		return ended(ctx, front.Serve(ctx, env.Stdin, b.host(d)))
	}
	text, err := readPrompt(ctx, env, o)
	if err != nil {
		return err
	}
	return ended(ctx, front.Turn(ctx, &msg.Text{Text: text}))
}

// ended turns an outcome into an error, or nil if all went well.
func ended(ctx context.Context, out headless.Outcome) error {
	if out.Unread {
		return &endedError{agent.AbortedStreaming} // whoever wanted the answer left
	}
	if out.Failed || out.BadInput || ctx.Err() != nil {
		return &endedError{out.Reason}
	}
	return nil
}

// shown returns what makes text of the model fit for standard output: a terminal obeys what it is
// told, anything else gets the text as it is.
func (env *Env) shown() func(string) string {
	if env.StdoutTerminal {
		return term.Sanitize
	}
	return nil
}

// maxPrompt bounds the text on standard input, in bytes.
const maxPrompt = 10 << 20

// readPrompt returns what is asked: the text on standard input, then that of the arguments.
func readPrompt(ctx context.Context, env *Env, o *options) (string, error) {
	text := strings.Join(o.args, " ")
	if !env.StdinTerminal {
		piped, err := readStdin(ctx, env)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(piped) != "" {
			text = strings.TrimRight(piped, "\n") + "\n\n" + text
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", setupErrorf("there is no prompt; write adze -p \"your prompt\", or pipe it in")
	}
	return text, nil
}

// patience is how long an input may be silent before the person is told what is waited for.
const patience = 3 * time.Second

// readStdin reads all of standard input, but no longer than ctx lasts.
func readStdin(ctx context.Context, env *Env) (string, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(env.Stdin, maxPrompt+1))
		done <- read{data, err}
	}()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		select {
		case r := <-done:
			switch {
			case r.err != nil:
				return "", fmt.Errorf("reading stdin: %w", r.err)
			case len(r.data) > maxPrompt:
				return "", setupErrorf("the text on stdin is longer than %d MB; put it into a file and name the file in the prompt", maxPrompt>>20)
			}
			return string(r.data), nil
		case <-slow.C:
			env.say("waiting for the end of stdin; to send no more than the prompt, add </dev/null")
		case <-ctx.Done():
			return "", errors.Join(context.Cause(ctx))
		}
	}
}
