package flags

import (
	"slices"
	"strings"
)

// An Offer is a completion and its meaning.
type Offer struct{ Word, Doc string }

// A Grammar describes the whole command line.
type Grammar struct {
	// Flags are the flags of a run without a command.
	Flags    []Flag
	Commands []Command
	// Source returns the completions of a kind; see [Flag].
	Source func(kind string) []Offer
}

// Words returns the completions of the last word, one per line: the word, a tab and its
// meaning.
func (g *Grammar) Words(words []string) string {
	words, cut := joinValues(words)
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	var b strings.Builder
	for _, o := range g.offers(words[:len(words)-1], last) {
		if strings.HasPrefix(o.Word, last) && !strings.ContainsAny(o.Word, "\t\n") {
			doc := strings.Join(strings.Fields(o.Doc), " ")
			b.WriteString(strings.TrimPrefix(o.Word, cut) + "\t" + doc + "\n")
		}
	}
	return b.String()
}

// joinValues rejoins words that bash splits at equals signs. cut is the part of the last word
// that bash treats as separate.
func joinValues(words []string) (joined []string, cut string) {
	for i, word := range words {
		n := len(joined)
		switch {
		case word == "=" && n > 0 && strings.HasPrefix(joined[n-1], "--"):
			joined[n-1] += "="
			cut = joined[n-1]
		case i > 0 && words[i-1] == "=" && n > 0 && strings.HasSuffix(joined[n-1], "="):
			joined[n-1] += word
		default:
			joined, cut = append(joined, word), ""
		}
	}
	return joined, cut
}

// offers returns completions after words. last is the prefix typed.
func (g *Grammar) offers(words []string, last string) []Offer {
	table := g.Flags
	var c *Command // nil for a run without a command
	if len(words) > 0 {
		if i := slices.IndexFunc(g.Commands, func(c Command) bool { return c.Name == words[0] }); i >= 0 {
			c = &g.Commands[i]
			table, words = c.Flags, words[1:]
		}
	}
	args, waiting, over := positions(table, words)
	if over {
		return nil
	}
	if waiting != nil && (!waiting.Bare || !strings.HasPrefix(last, "-")) {
		return g.values(waiting)
	}
	if !strings.HasPrefix(last, "-") {
		return g.arguments(c, args)
	}
	var list []Offer
	if name, _, ok := strings.Cut(last, "="); ok {
		if f := Find(table, name); f != nil && f.Value != "" {
			for _, o := range g.values(f) {
				list = append(list, Offer{name + "=" + o.Word, o.Doc})
			}
		}
		return list
	}
	for _, f := range table {
		list = append(list, Offer{"--" + f.Name, f.Doc})
	}
	return list
}

// arguments returns completions for the next argument of a command or run.
func (g *Grammar) arguments(c *Command, args []string) (list []Offer) {
	switch {
	case c == nil && len(args) == 0:
		for _, c := range g.Commands {
			list = append(list, Offer{c.Name, c.Doc})
		}
	case c != nil && len(c.Actions) > 0 && len(args) == 0:
		for _, a := range c.Actions {
			list = append(list, Offer{a.Name, a.Doc})
		}
	case c != nil && c.Offers != nil:
		list = c.Offers(args)
	}
	return list
}

// positions returns the positional arguments among words, and the flag whose value comes next,
// or nil. over is true if no more flags are parsed.
func positions(table []Flag, words []string) (args []string, waiting *Flag, over bool) {
	for _, word := range words {
		switch {
		case waiting != nil && (!waiting.Bare || !strings.HasPrefix(word, "-")):
			waiting = nil
		case word == "--":
			return args, nil, true
		case len(word) > 1 && word[0] == '-':
			waiting = nil
			if f := Find(table, word); f != nil && f.Value != "" && !f.Optional {
				waiting = f
			}
		default:
			args = append(args, word)
		}
	}
	return args, waiting, false
}

// values returns completions for a flag's value. For an empty list, the shell completes files.
func (g *Grammar) values(f *Flag) []Offer {
	if f.Source != "" {
		return g.Source(f.Source)
	}
	return Among(f.Choices...)
}

// Among returns the words as offers.
func Among[T ~string](words ...T) (list []Offer) {
	for _, w := range words {
		list = append(list, Offer{string(w), ""})
	}
	return list
}

// Script returns a shell's completion script, or "" for an unknown shell. It gets completions
// from adze completion words -- WORD...
func Script(shell string) string {
	switch shell {
	case "bash":
		return bashCompletion
	case "zsh":
		return zshCompletion
	case "fish":
		return fishCompletion
	case "powershell":
		return powerShellCompletion
	}
	return ""
}

const bashCompletion = `# Completion of adze for bash: eval "$(adze completion bash)"
_adze() {
	local IFS=$'\n'
	COMPREPLY=($("$1" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _adze adze
`

const zshCompletion = `#compdef adze
# Completion of adze for zsh: eval "$(adze completion zsh)" after compinit, or save it as _adze in a folder of fpath.
_adze() {
	local line
	local -a offers
	for line in "${(@f)$("$words[1]" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		if [[ -n $line ]]; then
			offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
		fi
	done
	if (( $#offers )); then
		_describe adze offers
	else
		_files
	fi
}
if [[ $funcstack[1] == _adze ]]; then
	_adze "$@"
else
	compdef _adze adze
fi
`

const fishCompletion = `# Completion of adze for fish: adze completion fish | source
function __adze_offers
	set -l before (commandline -opc)
	set -l current (commandline -ct)
	set -l program $before[1]
	set -e before[1]
	$program completion words -- $before "$current" 2>/dev/null
end
complete -c adze -f -n 'count (__adze_offers) >/dev/null' -a '(__adze_offers)'
complete -c adze -F -n 'not count (__adze_offers) >/dev/null'
`

const powerShellCompletion = `# Completion of adze for PowerShell: adze completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName adze -ScriptBlock {
	param($word, $ast, $cursor)
	$words = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -le $cursor } | Select-Object -Skip 1 | ForEach-Object { "$_" })
	if ($word -eq '') { $words += '""' }
	& $ast.CommandElements[0].Value completion words -- @words 2>$null | ForEach-Object {
		$text, $about = $_ -split "` + "`t" + `", 2
		[System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $(if ($about) { $about } else { $text }))
	}
}
`
