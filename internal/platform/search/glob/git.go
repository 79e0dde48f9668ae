package glob

// A GitPattern is a pattern of an ignore file, without the marks around it: no leading "!" or "/",
// no trailing "/". It may be used by several goroutines.
type GitPattern struct{ program }

// Git compiles a pattern with the meaning it has for git: characters are bytes, braces are nothing
// special, and a malformed pattern matches nothing.
func Git(pattern string, o Options) *GitPattern {
	chars := make([]rune, len(pattern))
	for i := range len(pattern) {
		chars[i] = rune(pattern[i])
	}
	d := dialect{fold: o.Fold, git: true}
	tokens, err := d.parse(chars)
	if err != nil {
		return &GitPattern{program{middle: never}}
	}
	return &GitPattern{newProgram(tokens, d)}
}

// Match reports whether path matches as a whole.
func (p *GitPattern) Match(path string) bool { return p.match(path) }
