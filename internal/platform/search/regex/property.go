package regex

import (
	"strings"
	"sync"
	"unicode"
)

// The sets below follow Unicode's recommendation for regular expressions (UTS 18, annex C),
// like ripgrep's. Go's own sets are ASCII only.
var (
	wordRunes = sync.OnceValue(func() runes {
		return fromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
	})
	digitRunes = sync.OnceValue(func() runes { return fromTables(unicode.Nd) })
	spaceRunes = sync.OnceValue(func() runes { return fromTables(unicode.White_Space) })
)

// perl returns the set for \d, \s or \w, negated for a capital letter.
func perl(c rune) (runes, bool) {
	switch c {
	case 'd':
		return digitRunes(), true
	case 's':
		return spaceRunes(), true
	case 'w':
		return wordRunes(), true
	case 'D':
		return digitRunes().negate(), true
	case 'S':
		return spaceRunes().negate(), true
	case 'W':
		return wordRunes().negate(), true
	}
	return nil, false
}

// asciiClass returns the set for the bracket class [:name:].
func asciiClass(name string) (runes, bool) {
	switch name {
	case "alnum":
		return runes{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, true
	case "alpha":
		return runes{{'A', 'Z'}, {'a', 'z'}}, true
	case "ascii":
		return runes{{0, 0x7f}}, true
	case "blank":
		return runes{{'\t', '\t'}, {' ', ' '}}, true
	case "cntrl":
		return runes{{0, 0x1f}, {0x7f, 0x7f}}, true
	case "digit":
		return runes{{'0', '9'}}, true
	case "graph":
		return runes{{'!', '~'}}, true
	case "lower":
		return runes{{'a', 'z'}}, true
	case "print":
		return runes{{' ', '~'}}, true
	case "punct":
		return runes{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, true
	case "space":
		return runes{{'\t', '\r'}, {' ', ' '}}, true
	case "upper":
		return runes{{'A', 'Z'}}, true
	case "word":
		return runes{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, true
	case "xdigit":
		return runes{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, true
	}
	return nil, false
}

// property returns the set for \p{name}. Names are compared ignoring case, blanks, hyphens,
// underscores and a leading "is".
func property(name string) (runes, bool) {
	kind, value, found := strings.Cut(name, "=")
	if !found {
		kind, value, found = strings.Cut(name, ":")
	}
	if !found {
		kind, value = "", name
	}
	value = loose(value)
	switch loose(kind) {
	case "gc", "generalcategory":
		return category(value)
	case "sc", "script":
		return lookUp(unicode.Scripts, value)
	case "":
		if s, ok := derived(value); ok {
			return s, true
		}
		if s, ok := category(value); ok {
			return s, true
		}
		if s, ok := lookUp(unicode.Scripts, value); ok {
			return s, true
		}
		return lookUp(unicode.Properties, value)
	}
	return nil, false
}

func derived(name string) (runes, bool) {
	switch name {
	case "any":
		return runes(nil).negate(), true
	case "ascii":
		return runes{{0, 0x7f}}, true
	case "assigned":
		return fromTables(unicode.Cn).negate(), true
	case "alphabetic", "alpha":
		return fromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "lowercase", "lower":
		return fromTables(unicode.Ll, unicode.Other_Lowercase), true
	case "uppercase", "upper":
		return fromTables(unicode.Lu, unicode.Other_Uppercase), true
	case "wspace":
		return spaceRunes(), true
	case "cased":
		return fromTables(unicode.Ll, unicode.Lu, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase), true
	case "math":
		return fromTables(unicode.Sm, unicode.Other_Math), true
	case "idstart", "ids":
		return idStart(), true
	case "idcontinue", "idc":
		return idContinue(), true
	case "xidstart", "xids":
		return idStart().minus(normalizedStart()), true
	case "xidcontinue", "xidc":
		return idContinue().minus(normalizedContinue()), true
	case "graphemeextend", "grext":
		return fromTables(unicode.Me, unicode.Mn, unicode.Other_Grapheme_Extend), true
	}
	return nil, false
}

// idStart and idContinue return the characters that an identifier may begin and continue with
// (UAX 31).
func idStart() runes {
	return fromTables(unicode.L, unicode.Nl, unicode.Other_ID_Start).minus(patternRunes())
}

func idContinue() runes {
	more := fromTables(unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
	return union(idStart(), more).minus(patternRunes())
}

func patternRunes() runes { return fromTables(unicode.Pattern_Syntax, unicode.Pattern_White_Space) }

// normalizedContinue returns the identifier characters that are not identifier characters after
// NFKC normalization. normalizedStart returns the characters that can no longer start an
// identifier.
func normalizedContinue() runes {
	out := runes{{0x37a, 0x37a}, {0x309b, 0x309c}, {0xfc5e, 0xfc63}, {0xfdfa, 0xfdfb}}
	for r := rune(0xfe70); r <= 0xfe7e; r += 2 {
		out = append(out, [2]rune{r, r})
	}
	return out
}

func normalizedStart() runes {
	return union(normalizedContinue(), runes{{0xe33, 0xe33}, {0xeb3, 0xeb3}, {0xff9e, 0xff9f}})
}

func category(name string) (runes, bool) {
	for alias, short := range unicode.CategoryAliases {
		if loose(alias) == name {
			name = loose(short)
		}
	}
	return lookUp(unicode.Categories, name)
}

func lookUp(tables map[string]*unicode.RangeTable, name string) (runes, bool) {
	for key, table := range tables {
		if loose(key) == name {
			return fromTables(table), true
		}
	}
	return nil, false
}

func loose(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '_' || r == '-':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
	return strings.TrimPrefix(name, "is")
}
