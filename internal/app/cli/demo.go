package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/app/cli/demo"
	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/setup"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen/svg"
	"adze/internal/ui/tui"
)

// demoOptions holds the options of adze demo.
type demoOptions struct {
	fast, keep, animated bool
	svg                  string // file for a picture; empty shows the demo
	theme                string
}

// Themes of pictures.
const (
	darkTheme  = "dark"
	lightTheme = "light"
)

func (o *demoOptions) flags() []flag {
	return []flag{
		{Name: "fast", Doc: "skip the pauses", Set: flags.SetBool(&o.fast)},
		{Name: "keep", Doc: "keep the temporary directory", Set: flags.SetBool(&o.keep)},
		{Name: "svg", Value: "FILE", Doc: "draw the screen with the question about the edit as a picture, in FILE; needs no terminal", Set: flags.SetText(&o.svg)},
		{Name: "animated", Doc: "with --svg, draw the whole demo as an animation", Set: flags.SetBool(&o.animated)},
		flags.OneOf(flag{Name: "theme", Value: "NAME", Doc: "with --svg, the theme: dark or light"}, &o.theme, darkTheme, lightTheme),
	}
}

// run shows a scripted model at work with real tools: in the full front end at a terminal, as text
// elsewhere, or as a picture.
func (o *demoOptions) run(ctx context.Context, env *Env, in invocation) error {
	if len(in.Args) > 0 {
		return setup.Errorf("adze demo takes no arguments, but got %q", in.Args[0])
	}
	if o.svg == "" && (o.animated || o.theme != "") {
		return setup.Errorf("--animated and --theme need --svg")
	}
	if o.svg != "" && (o.fast || o.keep) {
		return setup.Errorf("--fast and --keep have no effect on a picture; remove them")
	}
	project, err := demo.FindProject()
	if err != nil {
		return setup.Errorf("the demo needs a shell: %v", err)
	}
	root, err := o.layOut(env, project)
	if err != nil {
		return err
	}
	if !o.keep {
		defer os.RemoveAll(root) // ok: a leftover temporary directory is harmless
	}
	switch {
	case o.svg != "":
		return o.draw(ctx, env, project, root)
	case env.StdinTerminal && env.StdoutTerminal:
		err = o.play(ctx, env, project, root)
	default:
		err = o.print(ctx, env, project, root)
	}
	if err == nil && o.keep {
		err = env.print("The project is in " + filepath.Join(root, demoFolder) + ".\n")
	}
	return err
}

// print shows the turn as text, without questions. It fails unless the sample project's test
// passes afterward.
func (o *demoOptions) print(ctx context.Context, env *Env, project demo.Project, root string) error {
	dir := filepath.Join(root, demoFolder)
	script, err := os.ReadFile(filepath.Join(root, demoModel))
	if err != nil {
		return fmt.Errorf("reading the demo: %w", err)
	}
	s, done, err := wire.Scripted(ctx, "demo/model.replay", script, dir, filepath.Join(root, "state"))
	if err != nil {
		return err
	}
	defer done()
	forced := env.Getenv("CLICOLOR_FORCE")
	coloured := env.StdoutTerminal || forced != "" && forced != "0"
	stage := &demo.Stage{
		Out:  func(text string) { env.print(text) }, // ok: a reader who left sees nothing more
		Warn: env.Say, Dir: dir, Project: project, Style: draw.PaletteFor(coloured, draw.AutoTheme, env.Getenv), Width: env.Width,
	}
	stage.Open()
	if err := s.Submit(ctx, session.Prompt{Parts: []msg.Part{&msg.Text{Text: project.Prompt()}}}); err != nil {
		return err
	}
	reason := stage.Play(s.Entries(ctx, 0, session.Every))
	if !reason.OK() {
		return &Ended{reason}
	}
	test := exec.CommandContext(ctx, project.Check[0], project.Check[1:]...)
	test.Dir = dir
	if err := test.Run(); err != nil {
		return fmt.Errorf("the demo did not fix the project: its test still fails (%w)", err)
	}
	stage.Close()
	return nil
}

// play runs the turn in the front end for the user's terminal. It ends with the turn, or when the
// user leaves.
func (o *demoOptions) play(ctx context.Context, env *Env, project demo.Project, root string) error {
	variables := env.Environ
	if variables == nil {
		variables = os.Environ
	}
	stage := *env
	stage.messenger = nil
	waited := false
	r := &recital{ended: func(ev session.Finished) (text string, leave bool) {
		rejected := ev.Reason == agent.AbortedTools && ev.Detail != ""
		switch {
		case ev.Local != nil:
			return "", false
		case !rejected:
			return "", true
		case waited:
			return "", false
		}
		waited = true
		return "After a No adze waits for you. Say what to do instead, and the script goes on; Ctrl-D leaves.", false
	}}
	if err := r.run(ctx, &stage, demo.NewMachine(root, variables()), project.Prompt(), nil); err != nil {
		return err
	}
	const next = "That was the demo. To work on your own code, run adze in its directory: it asks which model to use."
	return env.print("\n" + draw.Fold(next, max(20, env.width()-1)) + "\n")
}

// draw writes a picture of the turn.
func (o *demoOptions) draw(ctx context.Context, env *Env, project demo.Project, root string) error {
	theme, looks := darkTheme, svg.Dark()
	if o.theme == lightTheme {
		theme, looks = lightTheme, svg.Light()
	}
	film := demo.NewFilm(ctx, project.Prompt())
	film.Brief = !o.animated
	var said bytes.Buffer
	stage := Env{
		Stdin: film.In, Stdout: film.Terminal, Stderr: &said, StdinTerminal: true, StdoutTerminal: true, Width: demo.FilmWidth,
		Size: func() (int, int) { return demo.FilmWidth, demo.FilmHeight }, Keys: func() (func(), error) { return func() {}, nil },
		Program: env.Program, Version: "0.1.0", Now: time.Now,
	}
	machine := demo.NewMachine(root, []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TERM_PROGRAM=adze", "PATH=" + env.Getenv("PATH")})
	err := (&recital{ended: film.Ended, film: film}).run(ctx, &stage, machine, "", map[string]any{"theme": theme})
	if err = errors.Join(err, film.Finish()); err != nil {
		return fmt.Errorf("drawing the demo: %w%s", err, strings.TrimSpace("\n"+said.String()))
	}
	picture := svg.Options{Title: "adze demo", Looks: looks}
	data := svg.Still(film.Frames[len(film.Frames)-1].Screen, picture)
	if o.animated {
		data = svg.Animation(film.Frames, picture)
	}
	if err := os.WriteFile(o.svg, data, 0o644); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

// A recital is an interactive conversation with the demo's model.
type recital struct {
	ended func(session.Finished) (text string, leave bool) // see [controller.Config]
	film  *demo.Film                                       // records the front end; may be nil
}

// run runs the conversation in the machine's home directory, and with settings in addition to the
// demo's own.
func (r *recital) run(ctx context.Context, env *Env, machine *demo.Machine, prompt string, more map[string]any) error {
	settings := map[string]any{"tips": false, "sandbox": map[string]any{"enabled": false}}
	for name, value := range more {
		settings[name] = value
	}
	raw, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("encoding the settings of the demo: %w", err)
	}
	o := &runOptions{recital: r}
	args := []string{"--model", "replay:" + filepath.Join(machine.Home, demoModel), "--no-session-persistence", "--settings", string(raw)}
	if prompt != "" {
		args = append(args, prompt)
	}
	in, err := flags.Parse(o.flags(), args)
	if err != nil {
		return err
	}
	if r.film != nil {
		o.spec.Model.Pause = r.film.Pause
	}
	env.Dir, env.Lost, env.Managed = filepath.Join(machine.Home, demoFolder), nil, ""
	env.Getenv, env.Environ = machine.Getenv, machine.Environ
	return o.run(ctx, env, in)
}

// configure adapts the configuration of the front end; r may be nil.
func (r *recital) configure(cfg *tui.Config) {
	if r == nil {
		return
	}
	cfg.Ended = r.ended
	if r.film != nil {
		cfg.Now, cfg.Follow = r.film.Now, r.film.Follow
	}
}

// start is called before the full front end runs; r may be nil.
func (r *recital) start(front *tui.Front) {
	if r != nil && r.film != nil {
		r.film.Start(front)
	}
}

// Names in the demo's directory. The directory is also the home directory.
const (
	demoFolder = "leap"
	demoModel  = "model.replay"
)

// layOut writes the sample project and the model's script to a temporary directory, which also
// holds the demo's state. The project looks like a repository without commits.
func (o *demoOptions) layOut(env *Env, project demo.Project) (root string, _ error) {
	script, err := project.Script()
	if err != nil {
		return "", err
	}
	sources, err := project.Files()
	if err != nil {
		return "", err
	}
	root, err = os.MkdirTemp("", "adze-demo-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the demo: %w", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil { // so that paths in it look alike
		return "", fmt.Errorf("making a directory for the demo: %w", err)
	}
	files := map[string][]byte{demoModel: o.paced(env, script), demoFolder + "/.git/HEAD": []byte("ref: refs/heads/main\n")}
	for name, data := range sources {
		files[demoFolder+"/"+name] = data
	}
	for _, dir := range []string{"/.git/objects", "/.git/refs"} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(root, demoFolder+dir), 0o755)
		}
	}
	for name, data := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), data, 0o755)
		}
	}
	if err != nil {
		os.RemoveAll(root) // ok: already failing
		return "", fmt.Errorf("laying out the demo: %w", err)
	}
	return root, nil
}

// paced returns the model's script with the pauses that are wanted.
func (o *demoOptions) paced(env *Env, script []byte) []byte {
	switch {
	case o.svg != "": // the film has its own pauses between pieces of text
		return piecePattern.ReplaceAll(script, nil)
	case o.fast || !env.StdoutTerminal:
		return pausePattern.ReplaceAll(script, nil)
	}
	return script
}

// Patterns for the pauses of the script: all of them, and those within a text.
var (
	pausePattern = regexp.MustCompile(`(?m)^(delay|fragments) .*\n`)
	piecePattern = regexp.MustCompile(` every=\S+`)
)
