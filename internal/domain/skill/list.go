package skill

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Limits for the listing shown to the model, in characters.
const (
	maxWords = 250  // per description
	minWords = 20   // below this, skills are listed by name only
	maxName  = 200  // longer names are not listed
	maxRead  = 2000 // bytes of a text that are examined
)

// Budget returns the maximum size in characters of the skill listing for a context window of
// that many tokens: 1 % of it, at four characters per token.
func Budget(window int) int { return window * 4 / 100 }

// A Listing is the list of skills shown to the model.
type Listing struct {
	// Text has one newline-terminated line per listed skill.
	Text string
	// ListedSkill holds the listed skills in order.
	Shown []ListedSkill
	// Left is the number of skills omitted.
	Left int
}

// A ListedSkill is a listed skill. If Named is true, only its name is listed.
type ListedSkill struct {
	*Skill
	Named bool
}

// List formats skills, which are ordered by name, within a budget of characters. If they fit,
// all have descriptions. Otherwise bundled skills have theirs, and the others share the
// remaining space: a description shorter than its share is not truncated. If the share is below
// 20 characters, the others are listed by name only; if not even the names fit, skills with the
// highest score are listed, and at equal score the lower kind. Only bundled skills can exceed
// the budget. Score may be nil.
func List(skills []*Skill, budget int, score func(name string) float64) Listing {
	l := lister{budget: budget, entries: make([]entry, len(skills)), score: score}
	names := 0 // characters, including delimiters
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

// A lister formats a listing.
type lister struct {
	budget  int // remaining characters
	entries []entry
	others  []*entry // listed skills that are not bundled
	left    int
	score   func(name string) float64
}

// An entry is a line of the listing.
type entry struct {
	skill  *Skill
	listed bool
	words  string // empty if listed by name only
}

// cost returns the length of the line without the description.
func (e *entry) cost() int {
	n := len("- \n") + len(e.skill.Name)
	if e.words != "" {
		n += len(": ")
	}
	return n
}

// describe divides room among the descriptions of the other skills, or removes them.
func (l *lister) describe(room int) {
	sizes := make([]int, 0, len(l.others))
	least := 0 // space needed if each description is as short as possible
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

// share returns the maximum length per description so that all fit into room; maxWords if
// nothing needs truncation.
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

// choose keeps the entries whose names fit.
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
	made.Shown = make([]ListedSkill, 0, len(l.entries)-l.left)
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
		made.Shown = append(made.Shown, ListedSkill{e.skill, e.words == ""})
	}
	made.Text = b.String()
	return made
}

// listable reports whether a name can be listed: it is callable and not too long.
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

// Words returns a skill's description as shown to the model: one line that can't be mistaken
// for a reminder, at most 250 characters unless the skill is bundled. It is empty if the skill
// has no description.
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

// shorten returns the first n characters of a text, the last of which is an ellipsis if the
// text is longer.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	seen := 0
	end := 0 // end of the first n-1 characters
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
