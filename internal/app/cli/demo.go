package cli

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"adze/internal/app/cli/demo"
	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/setup"
	"adze/internal/ui/draw"
)

// demoFiles contains the sample project and the model's script.
//
//go:embed demo
var demoFiles embed.FS

// demoProject lists the files of the sample project.
var demoProject = [...]string{"leap.sh", "test.sh"}

const demoPrompt = "The test of leap.sh fails. Find out why and fix it."

// demoOptions holds the options of adze demo.
type demoOptions struct{ fast, keep bool }

func (o *demoOptions) flags() []flag {
	return []flag{
		{Name: "fast", Doc: "skip the pauses", Set: flags.SetBool(&o.fast)},
		{Name: "keep", Doc: "keep the temporary directory", Set: flags.SetBool(&o.keep)},
	}
}

// run shows a turn with a scripted model and real tools. It fails unless the sample project's
// test passes afterward.
func (o *demoOptions) run(ctx context.Context, env *Env, in invocation) error {
	if len(in.Args) > 0 {
		return setup.Errorf("adze demo takes no arguments, but got %q", in.Args[0])
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return setup.Errorf("the demo needs a shell: sh not found in PATH")
	}
	root, err := layOutDemo()
	if err != nil {
		return err
	}
	if !o.keep {
		defer os.RemoveAll(root) // ok: a leftover temporary directory is harmless
	}
	dir := filepath.Join(root, "project")
	script, err := demoScript(env.StdoutTerminal && !o.fast)
	if err != nil {
		return err
	}
	s, done, err := wire.Scripted(ctx, "demo/model.replay", script, dir, filepath.Join(root, "state"))
	if err != nil {
		return err
	}
	defer done()
	stage := &demo.Stage{
		Out:  func(text string) { env.print(text) }, // ok: a reader who left sees nothing more
		Warn: env.Say, Dir: dir, Prompt: demoPrompt, Style: draw.PaletteFor(env.StdoutTerminal, draw.AutoTheme, env.Getenv), Width: env.Width,
	}
	stage.Open()
	if err := s.Submit(ctx, session.Prompt{Parts: []msg.Part{&msg.Text{Text: demoPrompt}}}); err != nil {
		return err
	}
	reason := stage.Play(s.Entries(ctx, 0, session.Every))
	if !reason.OK() {
		return &Ended{reason}
	}
	test := exec.CommandContext(ctx, shell, "./test.sh")
	test.Dir = dir
	if err := test.Run(); err != nil {
		return fmt.Errorf("the demo did not fix the project: its test still fails (%w)", err)
	}
	stage.Close()
	if o.keep {
		stage.Out("The project is in " + dir + ".\n")
	}
	return nil
}

// layOutDemo writes the sample project to a temporary directory, which also holds the demo's
// state.
func layOutDemo() (root string, err error) {
	root, err = os.MkdirTemp("", "adze-demo-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the demo: %w", err)
	}
	err = os.Mkdir(filepath.Join(root, "project"), 0o755)
	for _, name := range demoProject {
		var data []byte
		if err == nil {
			data, err = demoFiles.ReadFile("demo/" + name)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, "project", name), data, 0o755)
		}
	}
	if err != nil {
		os.RemoveAll(root) // ok: already failing
		return "", fmt.Errorf("laying out the demo: %w", err)
	}
	return root, nil
}

// demoScript returns the model's script.
func demoScript(paced bool) ([]byte, error) {
	src, err := demoFiles.ReadFile("demo/model.replay")
	if err != nil {
		return nil, fmt.Errorf("reading the demo: %w", err)
	}
	if !paced {
		src = withoutPauses(src)
	}
	return src, nil
}

func withoutPauses(script []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(script)) {
		if !strings.HasPrefix(line, "delay ") && !strings.HasPrefix(line, "fragments ") {
			b.WriteString(line)
		}
	}
	return []byte(b.String())
}
