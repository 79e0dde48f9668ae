package glob

// A GitPattern is a pattern from an ignore file, without the marks around it: no leading "!" or
// "/", no trailing "/". It is safe for concurrent use.
type GitPattern struct{ program }

// Git compiles a pattern with git's semantics: characters are bytes, braces are not special,
// and a malformed pattern matches nothing.
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

// Match reports whether the whole path matches.
func (p *GitPattern) Match(path string) bool { return p.match(path) }
