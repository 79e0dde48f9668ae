package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"adze/internal/app/wire"
	"adze/internal/platform/term"
	"adze/internal/settings"
	"adze/internal/setup"
	"adze/internal/ui/console"
	"adze/internal/ui/draw"
)

// An Env is the environment of the program: its arguments, streams, terminal and directories.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTerminal and StdoutTerminal report whether the stream is a terminal; Width is the
	// terminal's width.
	StdinTerminal, StdoutTerminal bool
	Width                         int
	// Keys switches the terminal to raw mode; may be nil. Size returns the terminal's current
	// width and height; may be nil.
	Keys func() (restore func(), err error)
	Size func() (width, height int)
	// Interrupts diverts the user's interrupts to a channel until release is called; may be
	// nil.
	Interrupts func() (interrupts <-chan struct{}, release func())
	Getenv     func(string) string
	// Environ returns all environment variables, including ones withheld from programs; nil
	// means the process's environment.
	Environ func() []string
	// Dir is the absolute working directory. Managed is the directory of managed settings; may
	// be empty.
	Dir, Managed string
	// Lost is the reason why Dir is unknown, or nil.
	Lost error
	// Program is the path used to start this program again; empty means that it must not be
	// started.
	Program string
	Version string
	// Downloads is the address of the releases, and ReleaseKey their public key; see package
	// update. Builds from source have none.
	Downloads, ReleaseKey string
	Now                   func() time.Time

	messenger *messenger      // may be nil
	done      <-chan struct{} // closed on interrupt; may be nil
}

// A messenger sends messages to the front end instead of standard error, and asks with a dialog
// instead of lines. Nil and the zero value do neither.
type messenger struct {
	mu  sync.Mutex
	say func(string)
	// ask asks questions before a conversation; nil asks on lines. Other text typed in the
	// meantime is kept for the conversation.
	ask   func(q console.Choice) (int, error)
	typed []byte
}

func (v *messenger) set(say func(string)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.say = say
}

// send passes text to the front end and reports whether there is one.
func (v *messenger) send(text string) bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.say != nil {
		v.say(text)
	}
	return v.say != nil
}

// lost returns the error for an unknown working directory.
func (env *Env) lost() error {
	return setup.Errorf("the working directory no longer exists (%v); change to another directory", env.Lost)
}

// Say shows the user a message: through the front end that owns the terminal, if any, or else
// on standard error, word-wrapped if that is a terminal.
func (env *Env) Say(text string) {
	text = "adze: " + term.Sanitize(text)
	if !env.messenger.send(text) {
		env.tell(text)
	}
}

// tell writes text to standard error.
func (env *Env) tell(text string) {
	if f, ok := env.Stderr.(*os.File); ok && term.IsTerminal(f) {
		width, _ := term.Size(f)
		text = draw.Fold(text, width-1)
	}
	fmt.Fprintln(env.Stderr, text)
}

// streams returns the streams as a Console.
func (env *Env) streams() *console.Console {
	c := &console.Console{
		Stdin: env.Stdin, Stdout: env.Stdout, StdinTerminal: env.StdinTerminal, StdoutTerminal: env.StdoutTerminal,
		Getenv: env.Getenv, Height: env.height, Say: env.Say, Done: env.done,
	}
	if env.messenger != nil {
		c.Dialog = env.messenger.ask
	}
	return c
}

func (env *Env) print(text string) error { return env.streams().Print(text) }

// page shows a text that may be long; see [console.Console.Page].
func (env *Env) page(text string) error { return env.streams().Page(text) }

// printJSON writes v as JSON to standard output.
func (env *Env) printJSON(v any) error { return env.streams().PrintJSON(v) }

// show writes untrusted text to standard output; see [console.Console.Show].
func (env *Env) show(text string) error { return env.streams().Show(text) }

// sanitizer returns the function that makes the model's text safe for a terminal, or nil if
// standard output is not one: then the text is written verbatim.
func (env *Env) sanitizer() func(string) string {
	if env.StdoutTerminal {
		return term.Sanitize
	}
	return nil
}

// source completes src, which holds a command's flags, with the environment.
func (env *Env) source(src settings.Source) settings.Source {
	src.Dir, src.Managed, src.Getenv = env.Dir, env.Managed, env.Getenv
	return src
}

// wire returns the environment as a wire.Env.
func (env *Env) wire() wire.Env {
	return wire.Env{
		Dir: env.Dir, Getenv: env.Getenv, Environ: env.Environ, Now: env.Now, Say: env.Say, Program: env.Program, Version: env.Version,
	}
}

// raw switches the terminal to raw mode, unless it is dumb.
func (env *Env) raw() (restore func(), err error) {
	if env.Keys == nil || env.Getenv("TERM") == "dumb" {
		return nil, errors.ErrUnsupported
	}
	return env.Keys()
}

// width returns the terminal's current width; 0 means unknown.
func (env *Env) width() int {
	width, _ := env.size()
	return width
}

func (env *Env) height() int { _, height := env.size(); return height }

func (env *Env) size() (width, height int) {
	if env.Size == nil {
		return env.Width, 0
	}
	return env.Size()
}

// confirm asks a yes-or-no question; no answer counts as no.
func (env *Env) confirm(question string) (bool, error) { return env.streams().Confirm(question) }

// agree asks a yes-or-no question with what the user should know to answer it.
func (env *Env) agree(q console.Choice) (bool, error) { return env.streams().Agree(q) }

// edit opens a file in the user's editor and waits for the editor to exit.
func (env *Env) edit(path string) error {
	in, ok := env.Stdin.(*os.File)
	out, okOut := env.Stdout.(*os.File)
	if !ok || !okOut || !env.StdinTerminal || !env.StdoutTerminal {
		return fmt.Errorf("an editor needs a terminal; the file is %s", path)
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if value := env.Getenv(name); value != "" {
			editor = value
		}
	}
	words := strings.Fields(editor)
	cmd := exec.Command(words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	if env.Environ != nil {
		cmd.Env = env.Environ()
	}
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("%s was not found; set EDITOR to an editor, or open %s yourself", words[0], path)
		}
		return fmt.Errorf("editing %s: %w", path, err)
	}
	return nil
}
