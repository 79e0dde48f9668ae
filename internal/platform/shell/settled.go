package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// In a jail a program can execute only the line's programs and their loader. A loader runs any
// file that it is given, and Landlock cannot distinguish that from its normal work. So no word
// of a program that can be made to run others may become an option, or several words, at run
// time.

// settled returns an error for the first word of a command that may become an option with which
// it runs something else. Its table row is e.
func (p *Part) settled(e *entry, words []Word, n *Needs) error {
	name, _, _ := strings.Cut(e.name, " ")
	loose, value, operands := 0, false, 0
	for _, w := range words {
		v, isValue := w.Value, value
		value = false
		switch {
		case w.Static && loads(v):
			return fmt.Errorf("%s runs other programs", w.Text)
		case isValue:
		case len(v) > 1 && v[0] == '-':
			value = e.takesValue(name, v)
		default:
			operands++
		}
		switch {
		case v == "--" && !isValue && name != "find":
			return nil
		case len(w.holes) == 0:
			continue
		case name == "sed":
			// It runs everything through sh.
			n.Scripted = n.Scripted || p.unsettled(w) || operands == 1 && p.computed(w)
			continue
		case name == "awk" && operands > 0:
			if operands > 1 || isValue { // files, which are never options
				continue
			}
			n.Scripted = n.Scripted || p.computed(w)
		}
		switch {
		case !p.unsettled(w):
		case len(w.gaps) == 0 && isValue:
		case len(w.gaps) == 0 && name == "find" && loose == 0 && p.computed(w):
			loose++ // a single word cannot both begin and end a command
		default:
			return fmt.Errorf("%s may become an option of `%s` that runs a program: put -- or ./ before it", w.shown(), name)
		}
	}
	return nil
}

// takesValue reports whether the next word is the value of an option.
func (e *entry) takesValue(name, option string) bool {
	switch name {
	case "find":
		return findValues(option) || strings.HasPrefix(option, "-newer")
	case "tar":
		return option[1] != '-' && (strings.HasSuffix(option, "f") || strings.HasSuffix(option, "C"))
	case "awk":
		return option == "-F" || option == "-v"
	}
	if separate(e.kinds[option]) {
		return true
	}
	if option[1] == '-' {
		return false
	}
	last := len(option) - 1
	for i := 1; i < last; i++ {
		if kind, ok := e.kinds["-"+option[i:i+1]]; !ok || kind != 0 {
			return false
		}
	}
	return separate(e.kinds["-"+option[last:]])
}

// loads reports whether a word names a dynamic loader.
func loads(word string) bool {
	name := baseName(word)
	return strings.Contains(word, "/") && strings.HasPrefix(name, "ld") && strings.Contains(name, ".so")
}

// shown returns a word as displayed in a prompt.
func (w Word) shown() string {
	if w.Text == "" || w.Text == "''" {
		return "an expansion"
	}
	return w.Text
}

// unsettled reports whether w may become an option or, if it has an unquoted expansion, several
// words including one.
func (p *Part) unsettled(w Word) bool {
	if len(w.gaps) == 0 && w.holes[0] > 1 {
		return false
	}
	if len(w.gaps) == 0 && w.holes[0] == 1 && w.told[0] != '-' {
		return false
	}
	values, open := p.becomes(w)
	return open || slices.ContainsFunc(values, func(v string) bool {
		if len(w.gaps) == 0 {
			return optionLike(v) && v != w.told
		}
		fields := strings.Fields(v)
		return len(fields) > 0 && slices.ContainsFunc(fields[min(1, w.holes[0]):], optionLike)
	})
}

// spreads reports whether w may become several words.
func (p *Part) spreads(w Word) bool {
	values, open := p.becomes(w)
	return len(w.gaps) > 0 && (open || slices.ContainsFunc(values, func(v string) bool { return len(strings.Fields(v)) > 1 }))
}

// computed reports whether the value of w is unknown.
func (p *Part) computed(w Word) bool {
	_, open := p.becomes(w)
	return open
}

// becomes returns the possible values of w, and whether it may have other values. Values from
// the environment or from arithmetic are not controlled by others.
func (p *Part) becomes(w Word) (values []string, open bool) {
	w.Value = w.told
	if w.substs {
		return nil, true
	}
	var held map[string]*variableValues
	if len(w.unset) > 0 {
		held = p.script.holdings()
	}
	for _, name := range w.unset {
		if h := held[name]; h != nil && !h.known || h == nil && !syntax.ValidName(name) && strings.IndexByte("#?$!", name[0]) < 0 {
			return nil, true
		}
	}
	number := &variableValues{values: []string{"1"}, known: true}
	all := make(map[string]*variableValues, len(w.names))
	for _, name := range w.names {
		if all[name] = held[name]; all[name] == nil {
			all[name] = number
		}
	}
	names := slices.Clone(w.names)
	for i, name := range names {
		if name != "" {
			continue
		}
		if len(w.unset) > 0 && slices.ContainsFunc(w.unset, func(name string) bool { return held[name] != nil }) {
			return nil, true // part of a value
		}
		names[i] = "1"
	}
	all["1"] = number
	w.names = names
	values, open, _ = w.fillings(all)
	return values, open
}

// optionLike reports whether a program may take a word for an option, an action, or a file with
// more words.
func optionLike(v string) bool { return v != "" && strings.IndexByte("-+(!@", v[0]) >= 0 }

// OptionLike reports whether a program may take a file name, or a part of it after word
// splitting, for an option.
func OptionLike(name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" \t\n", r) }), optionLike)
}

// Launches reports whether a command in the line has options with which it runs something else.
func (s *Script) Launches() bool {
	for _, p := range s.Parts {
		for _, words := range p.commands() {
			if e, _ := lookup(words); e != nil && e.runs {
				return true
			}
		}
	}
	return false
}

// handedOn returns the words of xargs with the arguments that it adds to the command at skip:
// words known only at run time, at the end or in place of a mark.
func handedOn(words []Word, skip int) []Word {
	words = slices.Clone(words)
	var marks []string
	for i := 1; i < skip; i++ {
		v := words[i].Value
		name, mark, glued := strings.Cut(v, "=")
		switch {
		case name == "--replace" && glued:
			marks = append(marks, mark)
		case v == "--replace" || v == "-i":
			marks = append(marks, "{}")
		case len(v) > 1 && v[0] == '-' && v[1] != '-' && strings.ContainsAny(v, "Ii"):
			if mark = v[strings.IndexAny(v, "Ii")+1:]; mark == "" && i+1 < skip {
				mark = words[i+1].Value
			}
			marks = append(marks, mark)
		}
	}
	if len(marks) == 0 {
		return append(words, Word{Value: "1", Text: "its input", gaps: []int{0}, holes: []int{0}, names: []string{""}, substs: true})
	}
	for i := skip + 1; i < len(words); i++ {
		w := &words[i]
		for _, mark := range marks {
			if at := strings.Index(w.Value, mark); mark != "" && at >= 0 && len(w.holes) == 0 {
				w.told, w.holes, w.names, w.substs, w.Static = w.Value, []int{at}, []string{""}, true, false
			}
		}
	}
	return words
}
