package cli

import (
	"context"
	"embed"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/setup"
)

// shellInitOptions holds the options of adze shell-init.
type shellInitOptions struct{ key string }

func (o *shellInitOptions) flags() []flag {
	return []flag{{Name: "key", Value: "KEYS", Doc: `the key to bind instead of Alt-A, in the notation of readline: \C-g for Ctrl-G, \ez for Alt-Z`, Set: flags.SetText(&o.key)}}
}

func (*shellInitOptions) actions() []action {
	return []action{
		{Name: "bash", Doc: `for ~/.bashrc: eval "$(adze shell-init bash)"`},
		{Name: "zsh", Doc: `for ~/.zshrc: eval "$(adze shell-init zsh)"`},
		{Name: "fish", Doc: "for config.fish: adze shell-init fish | source"},
	}
}

func (*shellInitOptions) explain() string {
	return "Alt-A starts adze with the text on the command line as the prompt. On an empty line,\n" +
		"it sends the last command to adze if that failed.\n"
}

// run prints a script that binds a key of a shell.
func (o *shellInitOptions) run(_ context.Context, env *Env, in invocation) error {
	shell := ""
	if len(in.Args) == 1 {
		shell = in.Args[0]
	}
	script, err := keyScripts.ReadFile("shellinit/key." + shell)
	if err != nil {
		return setup.Errorf("usage: adze shell-init bash|zsh|fish [--key KEYS]")
	}
	key := `\ea`
	if o.key != "" {
		key = o.key
	}
	if strings.ContainsAny(key, "'\"`$;&|<>() \t\r\n") || strings.HasSuffix(key, `\`) {
		return setup.Errorf(`--key takes keys such as \ea or \C-g, not %q`, key)
	}
	return env.print(strings.ReplaceAll(string(script), "KEY", key))
}

// keyScripts holds a script for each shell. They replace the command line by a call of adze and
// run that, so that it is in the shell's history.
//
//go:embed shellinit
var keyScripts embed.FS
