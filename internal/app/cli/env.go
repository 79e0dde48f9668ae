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

	"adze/internal/app/console"
	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/app/wire"
	"adze/internal/platform/term"
	"adze/internal/ui/draw"
)

// An Env is the environment of the program: its arguments, streams, terminal and directories.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTerminal and StdoutTerminal say that the stream is a terminal; Width is the terminal's width.
	StdinTerminal, StdoutTerminal bool
	Width                         int
	// Keys makes the terminal deliver every key; it may be nil. Size returns the current width and height of the
	// terminal; it may be nil.
	Keys func() (restore func(), err error)
	Size func() (width, height int)
	// Interrupts diverts the user's interrupts to a channel until release is called; it may be nil.
	Interrupts func() (interrupts <-chan struct{}, release func())
	Getenv     func(string) string
	// Environ returns all variables, also those that are kept from programs; nil means those of the process.
	Environ func() []string
	// Dir is the working directory, absolute. Managed is that of the administrator's settings; it may be
	// empty.
	Dir, Managed string
	// Lost is why Dir is not known, or nil.
	Lost error
	// Program starts this program again; empty means that it must not be started.
	Program string
	Version string
	Now     func() time.Time

	voice *voice          // may be nil
	done  <-chan struct{} // closed when the user interrupts the program; may be nil
}

// A voice is what speaks to the user in place of standard error, and asks in place of lines. Nil and the zero value are none.
type voice struct {
	mu  sync.Mutex
	say func(string)
	// ask asks questions before a conversation; nil asks on lines. Text typed at the same time is for the conversation.
	ask   func(q console.Choice) (int, error)
	typed []byte
}

func (v *voice) set(say func(string)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.say = say
}

// speak reports whether there is a voice, which has said text then.
func (v *voice) speak(text string) bool {
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

// lost returns the error for a working directory that is not known.
func (env *Env) lost() error {
	return setup.Errorf("the working directory is not there any more (%v); change to one that exists", env.Lost)
}

// Say tells the user something: through the front end that has the terminal, if one does, or else on standard error,
// wrapped between words at a terminal and as it is elsewhere.
func (env *Env) Say(text string) {
	text = "adze: " + term.Sanitize(text)
	if !env.voice.speak(text) {
		env.tell(text)
	}
}

// tell writes a text to standard error.
func (env *Env) tell(text string) {
	if f, ok := env.Stderr.(*os.File); ok && term.IsTerminal(f) {
		width, _ := term.Size(f)
		text = draw.Fold(text, width-1)
	}
	fmt.Fprintln(env.Stderr, text)
}

// streams returns the streams in the form that other packages take.
func (env *Env) streams() *console.Console {
	c := &console.Console{Stdin: env.Stdin, Stdout: env.Stdout, StdinTerminal: env.StdinTerminal, StdoutTerminal: env.StdoutTerminal, Say: env.Say, Done: env.done}
	if env.voice != nil {
		c.Dialog = env.voice.ask
	}
	return c
}

// print writes to standard output.
func (env *Env) print(text string) error { return env.streams().Print(text) }

// show writes untrusted text to standard output; see [console.Console.Show].
func (env *Env) show(text string) error { return env.streams().Show(text) }

// sanitizer returns the function that makes the model's text safe for standard output, or nil if it is not a
// terminal: then the text is written as it is.
func (env *Env) sanitizer() func(string) string {
	if env.StdoutTerminal {
		return term.Sanitize
	}
	return nil
}

// source completes src, which holds the flags of a command, with the environment.
func (env *Env) source(src settings.Source) settings.Source {
	src.Dir, src.Managed, src.Getenv = env.Dir, env.Managed, env.Getenv
	return src
}

// wire returns the environment in the form that package wire takes.
func (env *Env) wire() wire.Env {
	return wire.Env{
		Dir: env.Dir, Getenv: env.Getenv, Environ: env.Environ, Now: env.Now, Say: env.Say, Program: env.Program, Version: env.Version,
	}
}

// raw makes the terminal deliver every key, unless it is a dumb one.
func (env *Env) raw() (restore func(), err error) {
	if env.Keys == nil || env.Getenv("TERM") == "dumb" {
		return nil, errors.ErrUnsupported
	}
	return env.Keys()
}

// width and height return the current size of the terminal; 0 means unknown.
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

// edit opens a file in the user's editor and waits for the editor to end.
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
