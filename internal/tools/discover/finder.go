package discover

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/domain/skill"
	"adze/internal/platform/text/rank/tfidf"
	"adze/internal/tool"
	"adze/internal/tool/suggest"
)

// The weights of the indexed fields of a skill.
const (
	nameWeight = 3.0
	whenWeight = 1.5
	docWeight  = 1.0
)

const (
	// maxIndexed limits the indexed bytes of a text: the purpose of a skill comes first.
	maxIndexed = 1000
	// leastShare is the minimum score of a hit, as a share of the best score. Lower hits share
	// only a common word.
	leastShare = 1.0 / 3
	// maxLine limits the text of a suggestion, in characters.
	maxLine = 160
)

// Config configures a Finder. Skills and Runner are required.
type Config struct {
	// Skills returns the skills that the model may run. It returns the same slice until
	// something changes.
	Skills func() []*skill.Skill
	// Runner is the name of the tool that runs skills.
	Runner string
	// Many reports whether there are so many skills that the model needs to search; nil means
	// always.
	Many func() bool
	// Seen, if not nil, records the skills that were found.
	Seen suggest.Seen
}

// A Finder searches skills. It builds its index on first use. It is safe for concurrent use.
type Finder struct {
	Config

	mu   sync.Mutex
	last *catalog
}

// NewFinder returns a Finder.
func NewFinder(c Config) *Finder { return &Finder{Config: c} }

// A catalog is an immutable index of skills.
type catalog struct {
	skills []*skill.Skill
	index  *tfidf.Index
}

var (
	errNone = errors.New("no skill can be searched")
	errFew  = errors.New("all skills are listed and described")
)

// enabled returns an error if the tool is not offered. A nil finder has no skills.
func (f *Finder) enabled() error {
	switch {
	case f == nil:
		return errNone
	case f.Many != nil && !f.Many():
		return errFew
	}
	return nil
}

// catalog returns the index of the current skills. It is cached until they change.
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

// find returns up to n skills that match words, best first.
func (c *catalog) find(words string, n int) (found []*skill.Skill) {
	hits := tfidf.Best(c.index.Scores(tfidf.Document{{Text: words, Weight: 1}}), n)
	for _, hit := range hits {
		if hit.Score >= hits[0].Score*leastShare {
			found = append(found, c.skills[hit.Doc])
		}
	}
	return found
}

// Suggest returns up to n skills related to a text, with at least the given similarity. It
// omits skills for which skip returns true.
func (f *Finder) Suggest(text string, atLeast float64, n int, skip func(name string) bool) (found []suggest.Suggestion) {
	if unrelated(text, f.Skills()) {
		return nil
	}
	c := f.catalog()
	scores := c.index.Scores(tfidf.Document{{Text: text, Weight: 1}})
	return suggested(scores, suggestOptions{atLeast, n, skip}, func(doc int) string { return c.skills[doc].Name }, func(doc int) string { return lineOf(c.skills[doc]) })
}

// A suggestOptions selects the skills to suggest: up to n with at least the given score, without those
// for which skip returns true.
type suggestOptions struct {
	atLeast float64
	n       int
	skip    func(name string) bool // may be nil
}

// suggested returns the best skills by score, given the name and the line of each.
func suggested(scores []float64, w suggestOptions, name, line func(doc int) string) (found []suggest.Suggestion) {
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

// lineOf returns the text of a suggested skill.
func lineOf(s *skill.Skill) string { return tool.OneLine(skill.Words(s), maxLine) }

// maxQuick is the maximum number of words of a text for which scanning all skills is faster
// than building an index.
const maxQuick = 3

// unrelated reports whether a short text certainly has no word in common with any skill. It
// uses no index.
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

// mayHave reports whether a skill may have a word that starts with root, which is ASCII.
func mayHave(s *skill.Skill, root string) bool {
	for _, text := range []string{s.Name, s.Description, s.When} {
		for i := range len(text) {
			switch c := text[i]; {
			case c|0x20 == root[0] && len(text)-i >= len(root) && strings.EqualFold(text[i:i+len(root)], root),
				c >= utf8.RuneSelf && (strings.HasPrefix(text[i:], "\u0130") || strings.HasPrefix(text[i:], "\u212a")): // lower-case to i and k
				return true
			}
		}
	}
	return false
}

// entry formats a skill as a line of a result.
func entry(s *skill.Skill) string {
	line := "- " + tool.OneLine(s.Name, maxLine)
	if words := skill.Words(s); words != "" {
		line += ": " + words
	}
	return line
}
