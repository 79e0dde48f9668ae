package skill

import (
	"fmt"
	"strconv"
	"strings"
)

// Vars are what the variables in a prompt stand for. ${ADZE_SKILL_DIR} and ${CLAUDE_SKILL_DIR} are the same, and so on.
// Those that are empty are left as they stand.
type Vars struct {
	SkillDir, SessionID, Effort, ProjectDir string
	// PluginRoot and PluginData are the folders of the plugin that the skill belongs to.
	PluginRoot, PluginData string
	// Options are the options of that plugin, for ${user_config.NAME}. None of them is a secret: texts go to the model.
	Options map[string]string
}

func (v *Vars) value(name string) string {
	if option, ok := strings.CutPrefix(name, "user_config."); ok {
		return v.Options[option]
	}
	rest, ours := strings.CutPrefix(name, "ADZE_")
	if !ours {
		var theirs bool
		if rest, theirs = strings.CutPrefix(name, "CLAUDE_"); !theirs {
			return ""
		}
	}
	switch rest {
	case "SKILL_DIR":
		return v.SkillDir
	case "SESSION_ID":
		return v.SessionID
	case "EFFORT":
		return v.Effort
	case "PROJECT_DIR":
		return v.ProjectDir
	case "PLUGIN_ROOT":
		return v.PluginRoot
	case "PLUGIN_DATA":
		return v.PluginData
	}
	return ""
}

// Fill returns a text with its variables filled in.
func (v *Vars) Fill(text string) string {
	f := filler{vars: v}
	return f.text(text)
}

// A Piece is a piece of an expanded prompt: text, or a command whose output takes its place.
type Piece struct {
	Text    string
	Command bool
}

// maxCommands is how many commands a prompt may embed.
const maxCommands = 100

// Expand returns a prompt of the skill with its arguments and variables filled in. Commands are found in the prompt as it
// was written: what stands in arguments is never a command, a variable or a place for an argument. In a command,
// arguments are quoted; where that is not possible, only those are taken that cannot be code. The words of servers, and
// prompts that were fetched, are left as they are, with the arguments behind them.
func (s *Skill) Expand(body, args string, v Vars) ([]Piece, error) {
	args = strings.TrimSpace(strings.ReplaceAll(args, "\x00", ""))
	f := filler{vars: &v, raw: args, words: SplitArguments(args), names: s.Arguments}
	var pieces []Piece
	if !s.Origin.Own() {
		pieces = []Piece{{Text: body}}
	} else {
		pieces = split(body)
		commands := 0
		for i := range pieces {
			p := &pieces[i]
			if !p.Command {
				p.Text = f.text(p.Text)
				continue
			}
			if commands++; commands > maxCommands {
				return nil, fmt.Errorf("the prompt embeds more than %d commands", maxCommands)
			}
			var err error
			if p.Text, err = f.command(p.Text, s.Shell); err != nil {
				return nil, err
			}
		}
	}
	if args != "" && !f.used {
		pieces = append(pieces, Piece{Text: "\n\nARGUMENTS: " + args})
	}
	return pieces, nil
}

const fence = "```"

// split finds the commands in a prompt: !`command` at the beginning of a line or behind a blank, and blocks whose fence
// is followed by an exclamation mark.
func split(body string) (pieces []Piece) {
	add := func(text string, command bool) {
		if text != "" {
			pieces = append(pieces, Piece{text, command})
		}
	}
	done, at := 0, 0 // what is in pieces, and where to look
	for at < len(body) {
		i := strings.IndexByte(body[at:], '!')
		if i < 0 {
			break
		}
		i += at
		at = i + 1
		if start, command, end, ok := block(body, i); ok {
			add(body[done:start], false)
			add(command, true)
			done, at = end, end
			continue
		}
		if i > 0 && !strings.ContainsRune(" \t\n\r", rune(body[i-1])) || at >= len(body) || body[at] != '`' {
			continue
		}
		line, _, _ := strings.Cut(body[at+1:], "\n")
		n := strings.IndexByte(line, '`')
		if n < 0 || strings.TrimSpace(line[:n]) == "" {
			continue
		}
		add(body[done:i], false)
		add(strings.TrimSpace(line[:n]), true)
		done = at + 1 + n + 1
		at = done
	}
	add(body[done:], false)
	return pieces
}

// block returns the block of commands whose exclamation mark is at i: where its fence begins, the commands, and where
// the text continues behind it. One that does not end is none.
func block(body string, i int) (start int, commands string, end int, ok bool) {
	start = i - len(fence)
	if start < 0 || body[start:i] != fence {
		return 0, "", 0, false
	}
	line := strings.LastIndexByte(body[:start], '\n') + 1
	rest, after, more := strings.Cut(body[i+1:], "\n")
	if strings.TrimSpace(body[line:start]) != "" || strings.TrimSpace(rest) != "" || !more {
		return 0, "", 0, false
	}
	end = i + 1 + len(rest) + 1
	for text := range strings.Lines(after) {
		if strings.TrimSpace(text) == fence {
			ending := len(text) - len(strings.TrimRight(text, "\r\n"))
			commands = strings.TrimSpace(body[i+1+len(rest)+1 : end])
			return start, commands, end + len(text) - ending, commands != ""
		}
		end += len(text)
	}
	return 0, "", 0, false
}

// A filler fills in arguments and variables.
type filler struct {
	vars  *Vars
	raw   string   // all arguments, as they were given
	words []string // each of them
	names []string
	used  bool // an argument has its place
}

// A place is where something is to be filled in.
type place struct {
	start, end int
	value      string
	argument   bool
	all        bool // it stands for all arguments
	literal    bool // the backslash before it says that it stands for itself
}

// places finds the places in a text. Those of names that say nothing are none.
func (f *filler) places(text string) (found []place) {
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '$')
		if i < 0 {
			break
		}
		i += at
		p, ok := f.place(text[i+1:])
		if !ok {
			at = i + 1
			continue
		}
		p.start, p.end = i, i+1+p.end
		at = p.end
		if i > 0 && text[i-1] == '\\' && p.argument {
			p = place{start: i - 1, end: p.end, value: text[i:p.end], literal: true}
		}
		found = append(found, p)
	}
	return found
}

// place returns what a text means that begins behind a dollar sign; its end counts from there.
func (f *filler) place(text string) (place, bool) {
	if name, ok := strings.CutPrefix(text, "{"); ok {
		if f.vars == nil {
			return place{}, false
		}
		n := strings.IndexByte(name[:min(len(name), 64)], '}')
		if n < 0 {
			return place{}, false
		}
		value := f.vars.value(name[:n])
		return place{end: n + 2, value: value}, value != ""
	}
	n := 0
	for n < len(text) && wordByte(text[n]) {
		n++
	}
	name := text[:n]
	switch {
	case name == "":
		return place{}, false
	case name == "ARGUMENTS":
		if index, end, ok := subscript(text[n:]); ok {
			return place{end: n + end, value: f.word(index), argument: true}, true
		}
		return place{end: n, value: f.raw, argument: true, all: true}, true
	}
	if index, err := strconv.Atoi(name); err == nil {
		return place{end: n, value: f.word(index), argument: true}, len(name) < 4
	}
	for i, declared := range f.names {
		if declared == name {
			return place{end: n, value: f.word(i), argument: true}, true
		}
	}
	return place{}, false
}

// subscript reads a number in brackets and returns where it ends.
func subscript(text string) (index, end int, ok bool) {
	rest, ok := strings.CutPrefix(text, "[")
	n := strings.IndexByte(rest[:min(len(rest), 5)], ']')
	if !ok || n < 1 {
		return 0, 0, false
	}
	index, err := strconv.Atoi(rest[:n])
	return index, n + 2, err == nil && index >= 0
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// word returns an argument by its place, from 0; one that is missing is empty.
func (f *filler) word(i int) string {
	if i < 0 || i >= len(f.words) {
		return ""
	}
	return f.words[i]
}

// text fills in a text, in one pass: what it fills in is not looked at again.
func (f *filler) text(text string) string {
	places := f.places(text)
	if len(places) == 0 {
		return text
	}
	return f.put(text, places, func(p place) string { return p.value })
}

// put replaces places by what value returns for them.
func (f *filler) put(text string, places []place, value func(place) string) string {
	var b strings.Builder
	done := 0
	for _, p := range places {
		f.used = f.used || p.argument
		b.WriteString(text[done:p.start])
		b.WriteString(value(p))
		done = p.end
	}
	b.WriteString(text[done:])
	return b.String()
}

// SplitArguments splits what was written behind the name of a skill as a shell would: blanks separate, quotes hold
// together. Where a quote is missing the rest is one argument, as it stands.
func SplitArguments(text string) (words []string) {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return words
		}
		word, rest, ok := nextArgument(text)
		if !ok {
			return append(words, strings.TrimRight(text, " \t\r\n"))
		}
		words, text = append(words, word), rest
	}
}

// nextArgument returns the first argument and what follows it, or false if a quote is missing.
func nextArgument(text string) (word, rest string, ok bool) {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(text) && escapable(text[i+1], quote):
			i++
			b.WriteByte(text[i])
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			return b.String(), text[i:], true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", quote == 0
}

// escapable reports whether a backslash before c is no part of the argument. Other backslashes are: paths of Windows and
// regular expressions are full of them.
func escapable(c, quote byte) bool {
	if quote == '"' {
		return c == '"' || c == '\\'
	}
	return strings.IndexByte(" \t'\"\\", c) >= 0
}
