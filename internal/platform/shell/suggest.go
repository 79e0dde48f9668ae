package shell

import "strings"

const maxSuggestions = 5

// Suggest returns at most five rule contents that would allow the line: a rule for each part
// that needs one, or a rule that quotes the whole line if a part cannot be covered or may
// execute its input. None of them is a bare program, a wrapper or an interpreter. If the line
// runs code that it does not spell out, Suggest returns nil.
func (s *Script) Suggest() []string {
	if s.Opaque || strings.TrimSpace(s.Source) == "" || s.unspelled() {
		return nil
	}
	whole := []string{Quote(s.Source)}
	if !s.Simple {
		return whole
	}
	var rules []string
	seen := make(map[string]bool)
	for _, p := range s.Parts {
		if p.WordsReadOnly() == nil || isMove(p) {
			continue
		}
		if p.runsInput() {
			return whole
		}
		rule := p.suggest()
		pat, err := ParsePattern(rule)
		if err != nil || !p.Allowed(pat) {
			return whole
		}
		if !seen[rule] {
			seen[rule] = true
			rules = append(rules, rule)
		}
	}
	return rules[:min(len(rules), maxSuggestions)]
}

// isMove reports whether p only changes the directory, which is judged as a path.
func isMove(p *Part) bool { return p.program() == "cd" }

// suggest returns the rule for one part: its sub-command followed by a star, or its exact text.
func (p *Part) suggest() string {
	forms := p.forms()
	inner := forms[len(forms)-1]
	name := inner.words[0].Value
	n := columns(name).verbs
	prefix := []string{name}
	for _, w := range inner.words[1:] {
		if len(prefix) > n || !plainName(w) {
			break
		}
		prefix = append(prefix, w.Value)
		if Is(strings.Join(prefix, " "), RunsWords) {
			return Quote(inner.text)
		}
		if len(prefix) == 2 && n == 2 && w.Value != "run" && name != "gh" {
			break
		}
	}
	if len(prefix) < 2 || n == 2 && len(prefix) == 2 && prefix[1] == "run" {
		return Quote(inner.text)
	}
	for _, r := range p.Reaches() {
		if dir := p.script.vars.Dir; pathLike(r.Path) && (dir == "" || r.Path != dir && !strings.HasPrefix(r.Path, dir+"/")) {
			return Quote(inner.text) // a rule with a star does not cover the words outside
		}
	}
	return strings.Join(prefix, " ") + ":*"
}

// plainName reports whether w can be a sub-command.
func plainName(w Word) bool {
	if w.Value == "" || w.Glob || w.Value[0] == '-' {
		return false
	}
	return strings.Trim(w.Value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:") == ""
}
