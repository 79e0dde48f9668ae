package skill

import (
	"fmt"
	"strconv"
	"strings"
)

// Vars holds the values of the variables in a prompt. The ADZE_ and CLAUDE_ prefixes are
// equivalent, as in ${ADZE_SKILL_DIR} and ${CLAUDE_SKILL_DIR}. Variables with an empty value
// are not replaced.
type Vars struct {
	SkillDir, SessionID, Effort, ProjectDir string
	// PluginRoot and PluginData are the directories of the skill's plugin.
	PluginRoot, PluginData string
	// Options are that plugin's options, for ${user_config.NAME}. They must not contain
	// secrets, because prompts are sent to the model.
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

// Fill returns text with its variables replaced.
func (v *Vars) Fill(text string) string {
	f := filler{vars: v}
	return f.text(text)
}

// A Piece is part of an expanded prompt: text, or a command to be replaced by its output.
type Piece struct {
	Text    string
	Command bool
}

// maxCommands is the maximum number of commands embedded in a prompt.
const maxCommands = 100

// Expand returns a skill's prompt with its arguments and variables filled in. Commands are
// found in the prompt as written: arguments are never interpreted as commands, variables or
// placeholders. In a command, arguments are quoted; where that is impossible, only values that
// can't be code are accepted. Prompts from servers and fetched prompts are not expanded;
// arguments are appended to them.
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

// split finds the commands in a prompt: !`command` at the beginning of a line or after a blank,
// and blocks whose fence is followed by an exclamation mark.
func split(body string) (pieces []Piece) {
	add := func(text string, command bool) {
		if text != "" {
			pieces = append(pieces, Piece{text, command})
		}
	}
	done, at := 0, 0 // end of the last piece, and search position
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

// block returns the command block whose exclamation mark is at i: the start of its fence, the
// commands, and where the text continues after it. An unterminated block is not a block.
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
	raw   string   // all arguments, unsplit
	words []string // split arguments
	names []string
	used  bool // an argument was filled in
}

// A place is a placeholder in a prompt.
type place struct {
	start, end int
	value      string
	argument   bool
	all        bool // represents all arguments
	literal    bool // escaped by a backslash
}

// places finds the placeholders in a text. Unknown names are not placeholders.
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

// place parses a placeholder after its dollar sign; its end is relative to text.
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

// subscript parses a number in brackets and returns its end.
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

// word returns the i-th argument, counting from 0, or "" if it is missing.
func (f *filler) word(i int) string {
	if i < 0 || i >= len(f.words) {
		return ""
	}
	return f.words[i]
}

// text fills in a text in one pass: inserted values are not expanded again.
func (f *filler) text(text string) string {
	places := f.places(text)
	if len(places) == 0 {
		return text
	}
	return f.put(text, places, func(p place) string { return p.value })
}

// put replaces each place with the result of value.
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

// SplitArguments splits the text after a skill's name like a shell: blanks separate, quotes
// group. If a quote is unterminated, the rest is one argument, verbatim.
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

// nextArgument returns the first argument and the remaining text, or false if a quote is
// unterminated.
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

// escapable reports whether a backslash before c is an escape. Other backslashes are literal,
// because Windows paths and regular expressions are full of them.
func escapable(c, quote byte) bool {
	if quote == '"' {
		return c == '"' || c == '\\'
	}
	return strings.IndexByte(" \t'\"\\", c) >= 0
}
