package cli

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/app/setup"
)

// completionOptions belong to adze completion.
type completionOptions struct{}

func (*completionOptions) flags() []flag { return nil }

// run prints a script that completes commands and flags in a shell.
func (*completionOptions) run(_ context.Context, env *Env, in invocation) error {
	var words []string
	for _, c := range commands() {
		words = append(words, c.name)
	}
	for _, f := range (&runOptions{}).supported() {
		words = append(words, "--"+f.name)
	}
	list := strings.Join(words, " ")
	var actions []string
	for _, a := range sessionActions() {
		actions = append(actions, a.name)
	}
	for _, f := range append((&sessionsOptions{}).flags(), helpFlag(new(bool))) {
		actions = append(actions, "--"+f.name)
	}
	sessions := strings.Join(actions, " ")
	shell := ""
	if len(in.args) == 1 {
		shell = in.args[0]
	}
	switch shell {
	case "bash":
		return env.print(fmt.Sprintf(bashCompletion, list, sessions))
	case "zsh":
		return env.print(fmt.Sprintf(zshCompletion, list, sessions))
	case "fish":
		return env.print(fmt.Sprintf(fishCompletion, list, sessions))
	}
	return setup.Errorf("usage: adze completion bash|zsh|fish")
}

const bashCompletion = `# Completion of adze for bash: eval "$(adze completion bash)"
_adze() {
	local words='%s'
	if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == sessions ]]; then
		words='%s'
	fi
	COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _adze adze
`

const zshCompletion = `#compdef adze
# Completion of adze for zsh: eval "$(adze completion zsh)"
_adze() {
	local -a offers=(%s)
	if (( CURRENT > 2 )) && [[ $words[2] == sessions ]]; then
		offers=(%s)
	fi
	compadd -- $offers
	_files
}
compdef _adze adze
`

const fishCompletion = `# Completion of adze for fish: adze completion fish | source
complete -c adze -n 'not __fish_seen_subcommand_from sessions' -a '%s'
complete -c adze -n '__fish_seen_subcommand_from sessions' -a '%s'
`
