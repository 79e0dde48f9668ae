package tool

import (
	"strings"
	"unicode"
)

// Facts holds a call's capabilities. A capability that is absent or panics counts as the
// cautious answer.
type Facts struct {
	ReadOnly    bool
	Destructive bool
	OpenWorld   bool
	Concurrent  bool
}

// FactsOf queries c's capabilities.
func FactsOf(c Call) Facts {
	return Facts{
		ReadOnly:    ask(c, false, func(r ReadOnly) bool { return r.ReadOnly() }, false),
		Destructive: ask(c, false, func(d Destructive) bool { return d.Destructive() }, true),
		OpenWorld:   ask(c, true, func(o OpenWorld) bool { return o.OpenWorld() }, true),
		Concurrent:  ask(c, false, func(s Concurrent) bool { return s.Concurrent() }, false),
	}
}

// ask returns the answer of c's capability T, absent if c lacks it, and failed if it panics.
func ask[T, V any](c Call, absent V, answer func(T) V, failed V) (v V) {
	defer func() {
		if recover() != nil {
			v = failed
		}
	}()
	t, ok := As[T](c)
	if !ok {
		return absent
	}
	return answer(t)
}

// TitleOf returns one line for dialogs and logs.
func TitleOf(name string, c Call) string {
	return orName(name, ask(c, "", func(t Titler) string { return t.Title() }, ""))
}

// ActivityOf returns a present-tense phrase of at most 80 characters for a spinner.
func ActivityOf(name string, c Call) string {
	return orName(name, ask(c, "", func(a Activity) string { return a.Activity() }, ""))
}

// PastOf returns a verb and its object describing a completed c. The object defaults to the
// title.
func PastOf(name string, c Call) (verb, object string) {
	p := ask(c, [2]string{}, func(p Past) [2]string { verb, object := p.Past(); return [2]string{verb, object} }, [2]string{})
	if object = OneLine(p[1], maxObject); object == "" {
		return "", TitleOf(name, c)
	}
	return OneLine(p[0], maxLine), object
}

// DisplayNameOf returns the name to show for c.
func DisplayNameOf(name string, c Call) string {
	return orName(name, ask(c, "", func(n Named) string { return n.DisplayName() }, ""))
}

// FoldOf returns how c is folded in the display.
func FoldOf(c Call) Fold {
	return ask(c, NoFold, func(f Folder) Fold { return f.Fold() }, NoFold)
}

// PathOf returns the single file c acts on, if it declares one.
func PathOf(c Call) (string, bool) {
	p := ask(c, "", func(p Pather) string { return p.Path() }, "")
	return p, p != ""
}

// Matches reports whether a rule's content applies to c. A call without a matcher matches only
// empty content. If matching fails, it returns true with the error, and the caller decides: a
// hook, for example, runs.
func Matches(c Call, content string) (matched bool, err error) {
	if content == "" {
		return true, nil
	}
	type answer struct {
		ok  bool
		err error
	}
	a := ask(c, answer{}, func(m Matcher) answer {
		ok, err := m.Match(content)
		return answer{ok || err != nil, err}
	}, answer{true, errMatcherPanicked})
	return a.ok, a.err
}

// ObservedInput returns the input for hooks and users.
func ObservedInput(c Call) any {
	type result struct{ v any }
	r := ask(c, result{}, func(o Observer) result { return result{o.Observe()} }, result{})
	if r.v == nil {
		return c.Input()
	}
	return r.v
}

const (
	maxLine   = 80
	maxObject = 200
)

func orName(name, s string) string {
	s = OneLine(s, maxLine)
	if s == "" {
		return name
	}
	return s
}

// OneLine returns s without control characters, on one line, truncated to max characters with
// an ellipsis.
func OneLine(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > max {
		s = strings.TrimRight(string(r[:max-1]), " ") + "…"
	}
	return s
}
