package app

import (
	"context"
	"fmt"
	"strings"
)

// printCompletion prints a script that completes commands and flags in a shell.
func printCompletion(_ context.Context, env *Env, o *options) error {
	var words []string
	for _, c := range commands() {
		words = append(words, c.name)
	}
	for _, f := range supportedFlags() {
		words = append(words, "--"+f.name)
	}
	list := strings.Join(words, " ")
	shell := ""
	if len(o.args) == 1 {
		shell = o.args[0]
	}
	switch shell {
	case "bash":
		return env.print(fmt.Sprintf(bashCompletion, list))
	case "zsh":
		return env.print(fmt.Sprintf(zshCompletion, list))
	case "fish":
		return env.print(fmt.Sprintf(fishCompletion, list))
	}
	return setupErrorf("name one shell: adze completion bash, adze completion zsh or adze completion fish")
}

const bashCompletion = `# Completion of adze for bash: eval "$(adze completion bash)"
_adze() {
	COMPREPLY=($(compgen -W '%s' -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _adze adze
`

const zshCompletion = `#compdef adze
# Completion of adze for zsh: eval "$(adze completion zsh)"
_adze() {
	local -a words=(%s)
	compadd -- $words
	_files
}
compdef _adze adze
`

const fishCompletion = `# Completion of adze for fish: adze completion fish | source
complete -c adze -a '%s'
`
