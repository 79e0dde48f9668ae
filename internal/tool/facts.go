package tool

import (
	"strings"
	"unicode"
)

// Facts are a call's answers about itself. A capability that is absent or panics counts as the
// cautious answer.
type Facts struct {
	ReadOnly    bool
	Destructive bool
	OpenWorld   bool
	Concurrent  bool
}

// FactsOf asks c about itself.
func FactsOf(c Call) Facts {
	return Facts{
		ReadOnly:    ask(c, false, func(r ReadOnly) bool { return r.ReadOnly() }, false),
		Destructive: ask(c, false, func(d Destructive) bool { return d.Destructive() }, true),
		OpenWorld:   ask(c, true, func(o OpenWorld) bool { return o.OpenWorld() }, true),
		Concurrent:  ask(c, false, func(s Concurrent) bool { return s.Concurrent() }, false),
	}
}

// ask returns what capability T of c answers, absent when c lacks it, and failed when it panics.
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

// PastOf returns what c did: a verb and its object, which is the title if c does not tell.
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

// FoldOf returns how c is folded.
func FoldOf(c Call) Fold {
	return ask(c, NoFold, func(f Folder) Fold { return f.Fold() }, NoFold)
}

// PathOf returns the one file c acts on, if it declares one.
func PathOf(c Call) (string, bool) {
	p := ask(c, "", func(p Pather) string { return p.Path() }, "")
	return p, p != ""
}

// Matches reports whether a rule's content applies to c. A call without a matcher matches only an
// empty content. If matching fails the answer is yes, with the error: the caller decides what a
// broken matcher means for it, and for a hook it means to run.
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

// ObservedInput returns the input as hooks and users see it.
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

// OneLine returns s without control characters, on one line, cut to max characters with an ellipsis.
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
