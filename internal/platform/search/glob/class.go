package glob

// A classReader parses one bracket expression. It treats special characters exactly as git
// does.
type classReader struct {
	dialect
	chars []rune
	open  int // position of the bracket
	at    int // position of the next character
	set   charSet
	prev  rune // possible start of a range, or 0
}

// class parses the bracket expression that begins at open, and returns its end.
func (d dialect) class(chars []rune, open int) (*charSet, int, *SyntaxError) {
	r := classReader{dialect: d, chars: chars, open: open, at: open + 1}
	negated := r.peek(0) == '!' || r.peek(0) == '^'
	if negated {
		r.at++
	}
	for first := true; first || r.peek(0) != ']'; first = false {
		if err := r.item(); err != nil {
			return nil, 0, err
		}
	}
	if d.git && d.fold {
		foldText(&r.set)
	}
	if negated {
		r.set.negate()
	}
	r.set.remove('/')
	return &r.set, r.at + 1, nil
}

// peek returns the character n after the next one, or 0 at the end.
func (r *classReader) peek(n int) rune {
	if r.at+n < len(r.chars) {
		return r.chars[r.at+n]
	}
	return 0
}

// item parses a character, a range or a named class.
func (r *classReader) item() *SyntaxError {
	c := r.peek(0)
	switch {
	case r.at >= len(r.chars):
		return r.unclosed()
	case c == '-' && r.prev != 0 && r.at+1 < len(r.chars) && r.peek(1) != ']':
		r.at++
		return r.rangeTo()
	case c == '[' && r.peek(1) == ':':
		return r.named()
	case c == '\\':
		r.at++
	}
	if r.at >= len(r.chars) {
		return r.unclosed()
	}
	r.char()
	return nil
}

func (r *classReader) unclosed() *SyntaxError {
	return &SyntaxError{Pos: r.open + 1, Msg: `the [ is not closed; write \[ to match it`}
}

// char takes the next character literally.
func (r *classReader) char() {
	r.prev = r.chars[r.at]
	r.addChar(&r.set, r.prev)
	r.at++
}

// rangeTo takes the range that ends with the next character.
func (r *classReader) rangeTo() *SyntaxError {
	if r.peek(0) == '\\' {
		r.at++
	}
	if r.at >= len(r.chars) {
		return r.unclosed()
	}
	last := r.chars[r.at]
	if r.prev > last && !r.git {
		return &SyntaxError{Pos: r.at + 1, Msg: "the range in [] goes backwards"}
	}
	r.addRange(&r.set, r.prev, last)
	r.prev = 0
	r.at++
	return nil
}

// named takes a class such as [:alpha:]. Text that only begins like one is taken literally.
func (r *classReader) named() *SyntaxError {
	from := r.at + 2
	end := from
	for end < len(r.chars) && r.chars[end] != ']' {
		end++
	}
	if end == len(r.chars) {
		return r.unclosed()
	}
	if end == from || r.chars[end-1] != ':' {
		r.char()
		return nil
	}
	ranges, ok := posixClass(string(r.chars[from : end-1]))
	if !ok {
		return &SyntaxError{Pos: r.at + 1, Msg: "no class " + string(r.chars[r.at:end+1]) +
			"; there are [:alpha:], [:digit:], [:alnum:], [:upper:], [:lower:], [:space:], [:punct:] and others"}
	}
	for _, rg := range ranges {
		r.addRange(&r.set, rg.lo, rg.hi)
	}
	r.prev = 0
	r.at = end + 1
	return nil
}

func (d dialect) addChar(s *charSet, c rune) {
	if d.fold && !d.git {
		s.addFolded(c, c)
		return
	}
	s.add(c, c)
}

func (d dialect) addRange(s *charSet, lo, hi rune) {
	if d.fold && !d.git {
		s.addFolded(lo, hi)
		return
	}
	s.add(lo, hi)
	if d.fold {
		for c := max(lo, 'A'); c <= min(hi, 'Z'); c++ {
			s.add(c+'a'-'A', c+'a'-'A')
		}
	}
}

// foldText makes the set contain an upper-case letter if and only if it contains the lower-case
// one: git lowercases the text before comparing.
func foldText(s *charSet) {
	for c := 'A'; c <= 'Z'; c++ {
		if s.has(c + 'a' - 'A') {
			s.add(c, c)
		} else {
			s.remove(c)
		}
	}
}
