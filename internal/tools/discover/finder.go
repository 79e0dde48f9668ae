package discover

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/platform/tfidf"
	"adze/internal/skill"
	"adze/internal/tool"
	"adze/internal/tool/suggest"
)

// The weights of what a skill is found by.
const (
	nameWeight = 3.0
	whenWeight = 1.5
	docWeight  = 1.0
)

const (
	// maxIndexed bounds the bytes of a text that are indexed: what a skill is for is said first.
	maxIndexed = 1000
	// leastShare is how much of the best score a hit has at least. What is far below it has a common word.
	leastShare = 1.0 / 3
	// maxLine bounds what is said of a suggestion, in characters.
	maxLine = 160
)

// A Config is what skills are found with. Skills and Runner are required.
type Config struct {
	// Skills returns those that the model may run: the same slice until something changes.
	Skills func() []*skill.Skill
	// Runner is the tool that runs them.
	Runner string
	// Many reports whether there are so many skills that the model needs to search; nil means always.
	Many func() bool
	// Seen is told which skills were found; may be nil.
	Seen suggest.Seen
}

// A Finder finds skills by words. It makes its index when it is first asked. It is safe for concurrent use.
type Finder struct {
	Config

	mu   sync.Mutex
	last *catalog
}

// NewFinder returns a finder.
func NewFinder(c Config) *Finder { return &Finder{Config: c} }

// A catalog is the index of some skills. It does not change.
type catalog struct {
	skills []*skill.Skill
	index  *tfidf.Index
}

var (
	errNone = errors.New("no skill can be searched")
	errFew  = errors.New("all skills are listed and described")
)

// enabled returns why the tool is not offered, or nil. The finder may be nil: then there are no skills.
func (f *Finder) enabled() error {
	switch {
	case f == nil:
		return errNone
	case f.Many != nil && !f.Many():
		return errFew
	}
	return nil
}

// catalog returns the index of the skills that there are now. It is kept as long as they are the same.
func (f *Finder) catalog() *catalog {
	skills := f.Skills()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || len(f.last.skills) != len(skills) || len(skills) > 0 && &f.last.skills[0] != &skills[0] {
		f.last = &catalog{skills, index(skills)}
	}
	return f.last
}

func index(skills []*skill.Skill) *tfidf.Index {
	docs, fields := make([]tfidf.Document, len(skills)), make([]tfidf.Field, 3*len(skills))
	for i, s := range skills {
		d := fields[3*i : 3*i+3]
		d[0] = tfidf.Field{Text: s.Name, Weight: nameWeight}
		d[1] = tfidf.Field{Text: clip(s.When), Weight: whenWeight}
		d[2] = tfidf.Field{Text: clip(s.Description), Weight: docWeight}
		docs[i] = d
	}
	return tfidf.New(docs)
}

func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxIndexed)], "") }

// find returns up to n skills that words are about, the best first.
func (c *catalog) find(words string, n int) (found []*skill.Skill) {
	hits := tfidf.Best(c.index.Scores(tfidf.Document{{Text: words, Weight: 1}}), n)
	for _, hit := range hits {
		if hit.Score >= hits[0].Score*leastShare {
			found = append(found, c.skills[hit.Doc])
		}
	}
	return found
}

// Suggest returns up to n skills that a text is about, with at least that similarity. Those that skip answers true for are
// left out.
func (f *Finder) Suggest(text string, atLeast float64, n int, skip func(name string) bool) (found []suggest.Suggestion) {
	if unrelated(text, f.Skills()) {
		return nil
	}
	c := f.catalog()
	scores := c.index.Scores(tfidf.Document{{Text: text, Weight: 1}})
	return suggested(scores, wish{atLeast, n, skip}, func(doc int) string { return c.skills[doc].Name }, func(doc int) string { return lineOf(c.skills[doc]) })
}

// A wish says which skills are to be suggested: up to n with at least that score, without those that skip answers true for.
type wish struct {
	atLeast float64
	n       int
	skip    func(name string) bool // may be nil
}

// suggested returns the best skills by their scores, given the name and the line of each.
func suggested(scores []float64, w wish, name, line func(doc int) string) (found []suggest.Suggestion) {
	for doc, score := range scores {
		if score > 0 && (score < w.atLeast || w.skip != nil && w.skip(name(doc))) {
			scores[doc] = 0
		}
	}
	for _, hit := range tfidf.Best(scores, w.n) {
		found = append(found, suggest.Suggestion{Name: tool.OneLine(name(hit.Doc), maxLine), Line: line(hit.Doc)})
	}
	return found
}

// lineOf returns what is said of a skill that is suggested.
func lineOf(s *skill.Skill) string { return tool.OneLine(skill.Words(s), maxLine) }

// maxQuick is how many words a text may have to be looked for in all skills, which takes less time than an index of them.
const maxQuick = 3

// unrelated reports whether a short text is known to have no word in common with any skill. It uses no index.
func unrelated(text string, skills []*skill.Skill) bool {
	terms := tfidf.Terms(text)
	if len(terms) > maxQuick {
		return false
	}
	for _, term := range terms {
		root, ok := tfidf.Root(term)
		if !ok || slices.ContainsFunc(skills, func(s *skill.Skill) bool { return mayHave(s, root) }) {
			return false
		}
	}
	return true
}

// mayHave reports whether a skill may have a word that begins with a root, which is ASCII.
func mayHave(s *skill.Skill, root string) bool {
	for _, text := range []string{s.Name, s.Description, s.When} {
		for i := range len(text) {
			switch c := text[i]; {
			case c|0x20 == root[0] && len(text)-i >= len(root) && strings.EqualFold(text[i:i+len(root)], root),
				c >= utf8.RuneSelf && (strings.HasPrefix(text[i:], "\u0130") || strings.HasPrefix(text[i:], "\u212a")): // i and k in lower case
				return true
			}
		}
	}
	return false
}

// entry returns a skill as a line of a result.
func entry(s *skill.Skill) string {
	line := "- " + tool.OneLine(s.Name, maxLine)
	if words := skill.Words(s); words != "" {
		line += ": " + words
	}
	return line
}
