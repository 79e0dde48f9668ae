package extratools

import (
	"context"
	"errors"
	"slices"
	"strings"

	"adze/internal/platform/text/rank/tfidf"
	"adze/internal/tool"
)

// Input is the tool's input.
type Input struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results,omitempty"`
}

// defaultResults is the default number of tools returned.
const defaultResults = 5

// ReadOnly returns true: the call changes nothing.
func (in Input) ReadOnly() bool { return true }

// Concurrent returns true: a search does not affect other calls.
func (in Input) Concurrent() bool { return true }

// OpenWorld returns false: the call reaches nothing outside.
func (in Input) OpenWorld() bool { return false }

// Access returns nil: the call accesses only the list of tools.
func (in Input) Access() []tool.Access { return nil }

// Fold classifies the call as a search.
func (in Input) Fold() tool.Fold { return tool.FoldSearch }

// Title returns a line for dialogs and logs.
func (in Input) Title() string { return tool.OneLine("Search tools: "+in.Query, 80) }

// Activity returns the spinner text.
func (in Input) Activity() string { return tool.OneLine("Searching tools: "+in.Query, 80) }

// A call is a search.
type call struct {
	in     Input
	finder *Finder
}

func (c *call) Input() any { return c.in }

// bind validates a query.
func (f *Finder) bind(in Input) (tool.Call, error) {
	form, rest := in.form()
	switch {
	case form == selecting && len(names(rest)) == 0:
		return nil, errors.New("select: needs names of tools, such as select:mcp__github__create_issue,mcp__slack__post_message")
	case form == discovering && rest == "":
		return nil, errors.New("discover: needs words, such as discover:calendar events")
	case rest == "":
		return nil, errors.New("the query is empty. Its forms: words such as \"slack send message\", of which +word must occur; " +
			"select:NAME,NAME for tools by name; discover:WORDS to look around; a name, or its beginning such as mcp__github")
	}
	return &call{in, f}, nil
}

// A form is the form of a query.
type form uint8

const (
	searching form = iota
	selecting
	discovering
)

// form returns the form of the query, and the rest of it.
func (in Input) form() (form, string) {
	query := strings.TrimSpace(in.Query)
	if rest, ok := cutPrefixFold(query, "select:"); ok {
		return selecting, strings.TrimSpace(rest)
	}
	if rest, ok := cutPrefixFold(query, "discover:"); ok {
		return discovering, strings.TrimSpace(rest)
	}
	return searching, query
}

// cutPrefixFold is [strings.CutPrefix], ignoring the case of ASCII letters.
func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// maxNames is the maximum number of names in a query.
const maxNames = 50

// names returns the names in a comma-separated list, without duplicates in any case.
func names(list string) []string {
	var all []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		known := func(other string) bool { return strings.EqualFold(other, name) }
		if name != "" && !slices.ContainsFunc(all, known) && len(all) < maxNames {
			all = append(all, name)
		}
	}
	return all
}

// Run searches.
func (c *call) Run(_ context.Context, _ func(tool.Progress)) (tool.Result, error) {
	f, limit := c.finder, c.in.MaxResults
	if limit == 0 {
		limit = defaultResults
	}
	pool := f.Pool()
	a := &answer{query: c.in.Query, deferred: len(pool.Deferred()), pool: pool}
	if f.Pending != nil {
		a.pending = f.Pending()
	}
	form, rest := c.in.form()
	switch form {
	case selecting:
		f.choose(a, names(rest))
	case discovering:
		a.browse = true
		c := f.catalog(pool)
		a.found = c.best(c.index.Scores(query(rest)), limit)
	default:
		f.search(a, rest, limit)
	}
	if f.Discovered != nil && len(a.found) > 0 && !a.browse {
		f.Discovered.Add(a.matches()...)
	}
	if f.Instructions != nil {
		a.instructions = f.Instructions
	}
	return a.result(), nil
}

// choose finds tools by their names.
func (f *Finder) choose(a *answer, names []string) {
	a.whole = true
	for _, name := range names {
		t, canonical, ok := a.pool.Fold(name)
		switch {
		case !ok:
			a.missing = append(a.missing, name)
		case !a.pool.IsDeferred(canonical):
			if !slices.Contains(a.loaded, canonical) {
				a.loaded = append(a.loaded, canonical)
			}
		case !slices.Contains(a.found, t):
			a.found = append(a.found, t)
		}
	}
}

// search finds a tool by its name, or tools by a name prefix or by keywords.
func (f *Finder) search(a *answer, text string, limit int) {
	if t, canonical, ok := a.pool.Fold(text); ok {
		a.whole = true
		if a.pool.IsDeferred(canonical) {
			a.found = []tool.Tool{t}
		} else {
			a.loaded = []string{canonical}
		}
		return
	}
	c := f.catalog(a.pool)
	if _, ok := cutPrefixFold(text, "mcp__"); ok {
		for _, e := range c.tools {
			if _, ok := cutPrefixFold(e.name, text); ok {
				a.more++
				if len(a.found) < limit {
					a.found = append(a.found, e.tool)
				}
			}
		}
		a.more -= len(a.found)
		if len(a.found) > 0 {
			return
		}
	}
	var words, required []string
	for word := range strings.FieldsSeq(text) {
		if must, ok := strings.CutPrefix(word, "+"); ok && len(tfidf.Terms(must)) > 0 {
			required = append(required, must)
		} else {
			words = append(words, word)
		}
	}
	a.found = c.rank(words, required, limit)
	if len(a.found) == 0 && len(tfidf.Terms(text)) == 0 {
		a.advice = "The query has no word to search for" + fewer(text) + "."
	}
}

// fewer explains the problem of a query without terms.
func fewer(query string) string {
	if hasCJK(query) {
		return ": one character is too little, add a word"
	}
	return ""
}

// hasCJK reports whether a query has characters of scripts without spaces.
func hasCJK(query string) bool { return strings.ContainsFunc(query, tfidf.IsCJK) }
