package glob

// A dialect determines how a pattern without braces is parsed.
type dialect struct {
	fold bool
	git  bool // characters are bytes, and case folding follows git
}

// parse converts a pattern to tokens. Positions in its errors count from 1 within chars.
func (d dialect) parse(chars []rune) ([]token, *SyntaxError) {
	any, element := anyChar(), anyButSlash()
	var tokens []token
	for i := 0; i < len(chars); {
		switch c := chars[i]; c {
		case '*':
			end := i + 1
			for end < len(chars) && chars[end] == '*' {
				end++
			}
			t := token{kind: d.stars(chars, i, end), set: element}
			if t.kind != loopElement {
				t.set = any
			}
			tokens = append(tokens, t)
			i = end
		case '?':
			tokens = append(tokens, token{set: element})
			i++
		case '[':
			set, end, err := d.class(chars, i)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{set: set})
			i = end
		case '\\':
			if i+1 == len(chars) {
				return nil, &SyntaxError{Pos: i + 1, Msg: `a \ at the end escapes nothing; write \\ to match it`}
			}
			tokens = append(tokens, d.escaped(chars[i+1]))
			i += 2
		default:
			tokens = append(tokens, d.literal(c))
			i++
		}
	}
	return simplify(tokens), nil
}

// stars returns the meaning of the asterisks from i to end. Two or more cross directories only
// if they stand alone between slashes, as in git.
func (d dialect) stars(chars []rune, i, end int) kind {
	rest := chars[end:]
	slash := len(rest) > 0 && rest[0] == '/'
	escapedSlash := len(rest) > 1 && rest[0] == '\\' && rest[1] == '/'
	alone := end-i > 1 && (i == 0 || chars[i-1] == '/') && (len(rest) == 0 || slash || escapedSlash)
	switch {
	case !alone:
		return loopElement
	case slash:
		return loopElements
	}
	return loopAny
}

// simplify converts **/* to any text, so that the most common patterns need no automaton, and
// **/**/ to **/, so that loops are not adjacent.
func simplify(tokens []token) []token {
	kept := tokens[:0]
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if t.kind == loopElements {
			for i+2 < len(tokens) && tokens[i+2].kind == loopElements {
				i += 2
			}
			if i+2 < len(tokens) && tokens[i+2].kind == loopElement {
				t.kind = loopAny
				i += 2
			}
		}
		kept = append(kept, t)
	}
	return kept
}

func (d dialect) literal(c rune) token {
	if d.git && d.fold && isUpper(c) {
		c += 'a' - 'A'
	}
	return d.escaped(c)
}

// escaped returns the token for a character after a backslash. With fold git compares it
// unchanged with the lowercased text, so an upper-case letter matches nothing.
func (d dialect) escaped(c rune) token {
	if !d.fold {
		return token{char: c}
	}
	set := &charSet{}
	d.addChar(set, c)
	if d.git {
		foldText(set)
	}
	return token{set: set}
}
