package wire

import (
	"context"
	"os"
	"path/filepath"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/app/conversation"
	"adze/internal/app/toolbox"
	"adze/internal/model/replay"
	"adze/internal/permission"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/net/web"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/search"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/tool/change"
	"adze/internal/tools/structured"
	"adze/internal/tools/webfetch"
)

// Scripted opens a session with a scripted model and real tools in dir. It uses nothing of the
// user's: no settings, state or files. state is the directory for its data. done closes it.
func Scripted(ctx context.Context, name string, script []byte, dir, state string) (s *session.Session, done func(), err error) {
	parsed, err := replay.Parse(name, script)
	if err != nil {
		return nil, nil, err
	}
	defaults, _ := config.Load(config.Sources{}, settings.Keys()) // ok: cannot fail without sources
	gate := permission.NewGate(permission.GateConfig{Config: permission.Config{Mode: permission.Bypass, Dir: dir, Dirs: []string{dir}}})
	engine := search.New(search.Config{Cold: true})
	known := filestate.New()
	values, runner := settings.Decode(defaults), new(osproc.Runner)
	tools := toolbox.New(toolbox.Config{
		Values: values, Runner: runner, Engine: engine, Gate: gate,
		Shell: conversation.PlainShell(conversation.NewWorkdir(dir, gate), conversation.NewCommandEnv(os.Environ(), values)), State: known,
		Files: &change.Files{
			Dir: func() string { return dir }, State: known, Replacer: replace.New(filepath.Join(state, "locks")),
			Listeners: []change.Listener{searchNews{engine}},
		},
		Output: new(structured.Output), Pages: webfetch.Config{Client: web.New(web.Config{}), Offline: true},
	})
	s = session.Open(ctx, session.Config{
		Provider: replay.NewPlayer(parsed).Provider(),
		Tools:    session.Tools{Registry: toolbox.Registry(tools, gate)},
		Gates:    []exec.Gate{{Name: "permission", Gate: gate}},
		Models: session.Models{Main: ScriptedModel, Resolve: func(string) (agent.Model, error) {
			return agent.Model{ID: ScriptedModel}, nil
		}},
	})
	return s, func() { s.Close(); engine.Close(); runner.Close() }, nil
}
