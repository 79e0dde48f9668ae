package app

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"adze/internal/agent"
	agentexec "adze/internal/agent/exec"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/platform/filestate"
	"adze/internal/platform/osproc"
	"adze/internal/platform/search"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/structured"
)

// demoFiles are the sample project and the model's part.
//
//go:embed demo
var demoFiles embed.FS

// demoProject names the files that are laid out for the model to work on.
var demoProject = [...]string{"leap.sh", "test.sh"}

const (
	demoScript = "demo/model.replay"
	demoPrompt = "The test of leap.sh fails. Find out why and fix it."
)

func demoFlags() []flag {
	return append([]flag{
		{name: "fast", doc: "without pauses", set: setBool(func(o *options) *bool { return &o.fast })},
		{name: "keep", doc: "keep the temporary directory", set: setBool(func(o *options) *bool { return &o.keep })},
	}, helpFlags()...)
}

// runDemo shows a turn with a scripted model and real tools. It fails unless the test of the sample
// project passes afterwards.
func runDemo(ctx context.Context, env *Env, o *options) error {
	if len(o.args) > 0 {
		return setupErrorf("adze demo takes no arguments, got %q", o.args[0])
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return setupErrorf("the demo needs a shell, and there is no sh in the PATH")
	}
	root, err := layOutDemo()
	if err != nil {
		return err
	}
	if !o.keep {
		defer os.RemoveAll(root) // ok: a temporary directory that stays does no harm
	}
	dir := filepath.Join(root, "project")
	var runner osproc.Runner
	defer runner.Close()
	s, err := demoSession(ctx, root, &runner, env.StdoutTerminal && !o.fast)
	if err != nil {
		return err
	}
	defer s.Close()
	stage := newDemoStage(env, dir)
	stage.open()
	if err := s.Submit(ctx, session.Prompt{Parts: []msg.Part{&msg.Text{Text: demoPrompt}}}); err != nil {
		return err
	}
	reason := stage.play(s.Entries(ctx, 0, session.Every))
	if !reason.OK() {
		return &endedError{reason}
	}
	test := exec.CommandContext(ctx, shell, "./test.sh")
	test.Dir = dir
	if err := test.Run(); err != nil {
		return fmt.Errorf("the demo did not fix the project: its test still fails (%w)", err)
	}
	stage.close()
	if o.keep {
		stage.say("The project is in " + dir + ".\n")
	}
	return nil
}

// layOutDemo writes the sample project into a temporary directory, which also has room for state.
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
		os.RemoveAll(root) // ok: the error that counts is known
		return "", fmt.Errorf("laying out the demo: %w", err)
	}
	return root, nil
}

// demoSession returns a session that uses nothing of the person's: no settings, no state, no files.
func demoSession(ctx context.Context, root string, runner *osproc.Runner, paced bool) (*session.Session, error) {
	src, err := demoFiles.ReadFile(demoScript)
	if err != nil {
		return nil, fmt.Errorf("reading the demo: %w", err)
	}
	if !paced {
		src = withoutPauses(src)
	}
	script, err := replay.Parse(demoScript, src)
	if err != nil {
		return nil, fmt.Errorf("reading the demo: %w", err)
	}
	settings, _ := config.Load(config.Sources{}, settingKeys()) // ok: without sources nothing is wrong
	box := toolbox{
		settings: settings, dir: filepath.Join(root, "project"), home: filepath.Join(root, "state"),
		runner: runner, state: filestate.New(), engine: search.New(search.Config{Cold: true}), output: new(structured.Output),
	}
	return session.Open(ctx, session.Config{
		Provider: replay.NewPlayer(script).Provider(),
		Tools:    session.Tools{Registry: tool.NewRegistry(box.tools()...)},
		Gates: []agentexec.Gate{{
			Name: "permission",
			Gate: permission.NewGate(permission.GateConfig{Config: permission.Config{Mode: permission.Bypass, Dir: box.dir}}),
		}},
		Models: session.Models{
			Main:    scriptedModel,
			Resolve: func(string) (agent.Model, error) { return agent.Model{ID: scriptedModel}, nil },
		},
	}), nil
}

// withoutPauses returns a script that plays at once.
func withoutPauses(script []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(script)) {
		if !strings.HasPrefix(line, "delay ") && !strings.HasPrefix(line, "fragments ") {
			b.WriteString(line)
		}
	}
	return []byte(b.String())
}
