package glob

import (
	"fmt"
	"slices"
)

// Limits for the brace expansion of a pattern.
const (
	maxAlternatives = 1024
	maxExpanded     = 1 << 18 // total number of characters
)

// expand returns the brace expansion of a pattern, after validating all of it. Positions in its
// errors count from 1 within chars.
func expand(chars []rune) ([][]rune, *SyntaxError) {
	if err := check(chars); err != nil {
		return nil, err
	}
	done := [][]rune{}
	todo := [][]rune{chars}
	for len(todo) > 0 {
		chars := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, parts, end := firstGroup(chars)
		if open < 0 {
			done = append(done, chars)
		}
		for _, part := range slices.Backward(parts) {
			todo = append(todo, slices.Concat(chars[:open], part, chars[end:]))
		}
		if n := len(done) + len(todo); n > maxAlternatives || n > 1 && n*len(chars) > maxExpanded {
			return nil, &SyntaxError{Pos: 1, Msg: fmt.Sprintf(
				"the braces stand for more than %d patterns; use fewer of them, or *", maxAlternatives)}
		}
	}
	return done, nil
}

// check finds the first incomplete bracket, brace or escape.
func check(chars []rune) *SyntaxError {
	var open []int
	for i := 0; i < len(chars); {
		switch chars[i] {
		case '{':
			open = append(open, i)
		case '}':
			if len(open) == 0 {
				return &SyntaxError{Pos: i + 1, Msg: `the } closes nothing; write \} to match it`}
			}
			open = open[:len(open)-1]
		}
		next, err := skip(chars, i)
		if err != nil {
			return err
		}
		i = next
	}
	if len(open) > 0 {
		return &SyntaxError{Pos: open[len(open)-1] + 1, Msg: `the { is not closed; write \{ to match it`}
	}
	return nil
}

// firstGroup finds the first brace group: its position, its parts, and the position after it.
// Without a group, open is -1.
func firstGroup(chars []rune) (open int, parts [][]rune, end int) {
	open = -1
	depth, from := 0, 0
	for i := 0; i < len(chars); {
		switch c := chars[i]; {
		case c == '{':
			if depth == 0 {
				open, from = i, i+1
			}
			depth++
		case c == ',' && depth == 1:
			parts = append(parts, chars[from:i])
			from = i + 1
		case c == '}':
			depth--
			if depth == 0 {
				return open, append(parts, chars[from:i]), i + 1
			}
		}
		i, _ = skip(chars, i) // ok: check has validated the whole pattern
	}
	return open, nil, 0
}

// skip returns the end of the pattern element that begins at i. An escape and a class are each
// one element, regardless of content.
func skip(chars []rune, i int) (int, *SyntaxError) {
	switch chars[i] {
	case '\\':
		if i+1 == len(chars) {
			return 0, &SyntaxError{Pos: i + 1, Msg: `a \ at the end escapes nothing; write \\ to match it`}
		}
		return i + 2, nil
	case '[':
		_, end, err := dialect{}.class(chars, i)
		return end, err
	}
	return i + 1, nil
}
