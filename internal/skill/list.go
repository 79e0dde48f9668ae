package skill

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Bounds of what the model is shown of skills, in characters.
const (
	maxWords = 250  // of what a skill says of itself
	minWords = 20   // if each has less room than that, skills are only named
	maxName  = 200  // a longer one is not listed
	maxRead  = 2000 // bytes of a text that are looked at
)

// Budget returns how many characters the list of skills may have in a context window of that many tokens: 1 % of it, at
// four characters a token.
func Budget(window int) int { return window * 4 / 100 }

// A Listing is what the model is shown of skills.
type Listing struct {
	// Text has a line for each skill that is shown, each with its newline.
	Text string
	// Shown are the skills in it, in their order.
	Shown []Shown
	// Left is how many are not in it.
	Left int
}

// A Shown skill is one in a listing. Named says that only its name is in it.
type Shown struct {
	*Skill
	Named bool
}

// List writes the list of skills, which are in the order of their names, within a budget of characters. All are
// described if they fit. Otherwise bundled skills are, and the others share what is left: none is cut that is shorter
// than its share. If a share would be less than 20 characters, the others are only named; and if not even the names fit,
// those with the highest score are named, and of equal ones those of the lower kind. Only bundled skills can exceed the
// budget. Score may be nil.
func List(skills []*Skill, budget int, score func(name string) float64) Listing {
	l := lister{budget: budget, entries: make([]entry, len(skills)), score: score}
	names := 0 // characters, with what surrounds them
	for i, s := range skills {
		e := &l.entries[i]
		if e.skill = s; !listable(s.Name) {
			l.left++
			continue
		}
		e.listed = true
		if s.Origin.Kind == Bundled {
			e.words = Words(s)
			l.budget -= e.cost() + utf8.RuneCountInString(e.words)
		} else {
			names += e.cost()
			l.others = append(l.others, e)
		}
	}
	if names > l.budget {
		l.choose()
	} else {
		l.describe(l.budget - names)
	}
	return l.listing()
}

// A lister writes a listing.
type lister struct {
	budget  int // what is left of it
	entries []entry
	others  []*entry // those that are listed and not bundled
	left    int
	score   func(name string) float64
}

// An entry is a line of the list.
type entry struct {
	skill  *Skill
	listed bool
	words  string // empty if it is only named
}

// cost returns how many characters the line has without the words.
func (e *entry) cost() int {
	n := len("- \n") + len(e.skill.Name)
	if e.words != "" {
		n += len(": ")
	}
	return n
}

// describe shares room among the words of those that are not bundled, or leaves them without.
func (l *lister) describe(room int) {
	sizes := make([]int, 0, len(l.others))
	least := 0 // how much room they need if each has as few words as there can be
	for _, e := range l.others {
		if e.words = Words(e.skill); e.words == "" {
			continue
		}
		size := utf8.RuneCountInString(e.words)
		sizes = append(sizes, size)
		if least += len(": ") + min(size, minWords); least > room {
			for _, e := range l.others {
				e.words = ""
			}
			return
		}
	}
	most := share(sizes, room-len(": ")*len(sizes))
	for _, e := range l.others {
		e.words = shorten(e.words, most)
	}
}

// share returns how much each may have at most, so that all fit into room: maxWords if nothing need be cut.
func share(sizes []int, room int) int {
	slices.Sort(sizes)
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > room {
			return max(room/left, 0)
		}
		room -= size
	}
	return maxWords
}

// choose keeps those whose names fit.
func (l *lister) choose() {
	if l.score != nil {
		scores := make(map[*entry]float64, len(l.others))
		for _, e := range l.others {
			scores[e] = l.score(e.skill.Name)
		}
		slices.SortStableFunc(l.others, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a.skill.Origin.Kind, b.skill.Origin.Kind))
		})
	} else {
		slices.SortStableFunc(l.others, func(a, b *entry) int { return cmp.Compare(a.skill.Origin.Kind, b.skill.Origin.Kind) })
	}
	full := false
	for _, e := range l.others {
		if full = full || e.cost() > l.budget; full {
			e.listed = false
			l.left++
			continue
		}
		l.budget -= e.cost()
	}
}

func (l *lister) listing() Listing {
	made := Listing{Left: l.left}
	made.Shown = make([]Shown, 0, len(l.entries)-l.left)
	size := 0
	for i := range l.entries {
		if e := &l.entries[i]; e.listed {
			size += e.cost() + len(e.words)
		}
	}
	var b strings.Builder
	b.Grow(size)
	for i := range l.entries {
		e := &l.entries[i]
		if !e.listed {
			continue
		}
		b.WriteString("- ")
		b.WriteString(e.skill.Name)
		if e.words != "" {
			b.WriteString(": ")
			b.WriteString(e.words)
		}
		b.WriteByte('\n')
		made.Shown = append(made.Shown, Shown{e.skill, e.words == ""})
	}
	made.Text = b.String()
	return made
}

// listable reports whether a name can stand in a list: it is one that a skill can be called by, and not too long.
func listable(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_:.-", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// Words returns what a skill says of itself as the model is shown it: one line, in which nothing can pass for a reminder,
// and at most 250 characters unless the skill is bundled. It is empty if the skill says nothing.
func Words(s *Skill) string {
	words := line(s.Description)
	if when := line(s.When); when != "" && words != "" {
		words += " - " + when
	} else if words == "" {
		words = when
	}
	words = msg.Neutralise(words)
	if s.Origin.Kind == Bundled {
		return words
	}
	return shorten(words, maxWords)
}

// line returns the beginning of a text on one line, without control characters.
func line(text string) string {
	if len(text) > maxRead {
		text = strings.ToValidUTF8(text[:maxRead], "") + "…"
	}
	for i := range len(text) { // most texts are one line already
		if c := text[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(text)-1 || text[i+1] == ' ') {
			return tool.OneLine(text, maxRead)
		}
	}
	return text
}

// shorten returns the first n characters of a text, with an ellipsis as the last if it has more.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	seen := 0
	end := 0 // of the first n-1 characters
	for i := range text {
		if seen == n-1 {
			end = i
		}
		if seen++; seen > n {
			return strings.TrimRight(text[:end], " ") + "…"
		}
	}
	return text
}
