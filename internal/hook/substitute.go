package hook

import (
	"fmt"
	"strings"
)

// A value that settings refer to in a command, such as ${user_config.X}, is never put into the text of
// the command: it goes into the environment, and the text refers to it there. So no value can be read
// as code.

// A reference is ${NAME} in a command.
type reference struct {
	text     string // as it was written
	variable string // the environment variable with the value
	value    string
}

const configPrefix = "user_config."

// references finds what the words of a hook refer to. The error names what has no value.
func references(s *spec) ([]reference, error) {
	var refs []reference
	for _, word := range append([]string{s.command}, s.words...) {
		for {
			start := strings.Index(word, "${")
			if start < 0 {
				break
			}
			word = word[start:]
			end := strings.IndexByte(word, '}')
			if end < 0 {
				break
			}
			ref, ok, err := resolve(s.source.Plugin, word[2:end])
			if err != nil {
				return nil, err
			}
			if ok {
				refs = append(refs, ref)
			}
			word = word[end+1:]
		}
	}
	return refs, nil
}

// resolve finds the value of a name. Names that are not ours are the shell's.
func resolve(p *Plugin, name string) (ref reference, ours bool, err error) {
	ref.text = "${" + name + "}"
	if option, ok := strings.CutPrefix(name, configPrefix); ok {
		ref.variable = optionVariable(option)
		if p != nil {
			ref.value, ok = p.Options[option]
		}
		if p == nil || !ok {
			return ref, false, fmt.Errorf("%s has no value: set the plugin's option %s", ref.text, option)
		}
		return ref, true, nil
	}
	short, ours := strings.CutPrefix(name, "ADZE_")
	if !ours {
		short, ours = strings.CutPrefix(name, "CLAUDE_")
	}
	ref.variable = name
	switch {
	case p == nil || !ours:
		return ref, false, nil
	case short == "PLUGIN_ROOT":
		ref.value = p.Root
	case short == "PLUGIN_DATA":
		ref.value = p.Data
	default:
		return ref, false, nil
	}
	return ref, true, nil
}

// optionVariable is the environment variable of a plugin's option.
func optionVariable(option string) string {
	return "ADZE_PLUGIN_OPTION_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(option))
}

// literally puts the values into a word that no shell will read.
func literally(word string, refs []reference) string {
	for _, ref := range refs {
		word = strings.ReplaceAll(word, ref.text, ref.value)
	}
	return word
}

// forShell makes a POSIX shell read the values from the environment, as one word each: where the
// command does not quote the reference itself, quotes are put around it.
func forShell(command string, refs []reference) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(command); {
		if ref, ok := at(command[i:], refs); ok {
			expansion := "${" + ref.variable + "}"
			switch quote {
			case '\'':
				expansion = `'"` + expansion + `"'`
			case 0:
				expansion = `"` + expansion + `"`
			}
			b.WriteString(expansion)
			i += len(ref.text)
			continue
		}
		c := command[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(command):
			b.WriteByte(c)
			i++
			c = command[i]
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// forPowerShell makes PowerShell read the values from the environment.
func forPowerShell(command string, refs []reference) string {
	for _, ref := range refs {
		command = strings.ReplaceAll(command, ref.text, "${env:"+ref.variable+"}")
	}
	return command
}

// at returns the reference that text begins with.
func at(text string, refs []reference) (reference, bool) {
	for _, ref := range refs {
		if strings.HasPrefix(text, ref.text) {
			return ref, true
		}
	}
	return reference{}, false
}
