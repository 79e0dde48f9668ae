package extratools

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"adze/internal/platform/text/rank/tfidf"
	"adze/internal/tool"
	"adze/internal/tool/suggest"
)

// The weights and fields of the index.
const (
	nameWeight = 3.0
	hintWeight = 2.5
	docWeight  = 1.0

	inName = tfidf.Fields(1 << 0)
	inHint = tfidf.Fields(1 << 1)
	inDoc  = tfidf.Fields(1 << 2)
)

// The points of the keyword score.
const (
	equalPoints, equalPointsMCP = 10, 12
	partPoints, partPointsMCP   = 5, 6
	hintPoints                  = 4
	docPoints                   = 2
)

// The weights of the two scores in the rank.
const (
	keywordShare = 0.4
	indexShare   = 0.6
)

// leastShare is the minimum score of a hit, as a share of the best score. Lower hits share only
// a common word, and cost tokens.
const leastShare = 1.0 / 3

// A Finder searches deferred tools. It is safe for concurrent use.
type Finder struct {
	Config
	seed maphash.Seed

	mu   sync.Mutex
	last *catalog
}

// NewFinder returns a Finder.
func NewFinder(c Config) *Finder { return &Finder{Config: c, seed: maphash.MakeSeed()} }

// A catalog is an immutable index of a pool's deferred tools.
type catalog struct {
	of    []tool.Tool // the pool's slice that was indexed
	hash  uint64
	tools []entry // sorted by name
	index *tfidf.Index
}

// An entry is a tool of the catalog.
type entry struct {
	tool tool.Tool
	name string
	mcp  bool
}

// catalog returns the index of the currently deferred tools. It is cached until they change.
func (f *Finder) catalog(pool *tool.Pool) *catalog {
	deferred := pool.Deferred()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil && sameSlice(f.last.of, deferred) {
		return f.last
	}
	entries := make([]entry, len(deferred))
	for i, t := range deferred {
		entries[i] = entry{tool: t, name: t.Spec().Name, mcp: strings.HasPrefix(t.Traits().Origin, mcpOrigin)}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	next := &catalog{of: deferred, hash: f.hash(entries), tools: entries}
	if f.last != nil && f.last.hash == next.hash {
		next.index = f.last.index
	} else {
		next.index = index(entries)
	}
	f.last = next
	return next
}

// mcpOrigin is the prefix of a server tool's origin.
const mcpOrigin = "mcp:"

func sameSlice(a, b []tool.Tool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// hash returns a hash of the tools' indexed and displayed text.
func (f *Finder) hash(entries []entry) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	for _, e := range entries {
		spec := e.tool.Spec()
		for _, s := range []string{spec.Name, e.tool.Traits().Hint, spec.Description} {
			h.WriteString(s)
			h.WriteByte(0)
		}
		h.Write(spec.Schema)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// maxIndexed limits the indexed bytes of a description: the purpose of a tool comes first, the
// rest is about its use.
const maxIndexed = 400

// index returns the index of tools.
func index(entries []entry) *tfidf.Index {
	docs, fields := make([]tfidf.Document, len(entries)), make([]tfidf.Field, 3*len(entries))
	for i, e := range entries {
		d := fields[3*i : 3*i+3]
		d[0] = tfidf.Field{Text: searchName(e.name), Weight: nameWeight}
		d[1] = tfidf.Field{Text: e.tool.Traits().Hint, Weight: hintWeight}
		d[2] = tfidf.Field{Text: clip(e.tool.Spec().Description, maxIndexed), Weight: docWeight}
		docs[i] = d
	}
	return tfidf.New(docs)
}

// searchName returns a tool's name without the common prefix of server tools.
func searchName(name string) string { return strings.TrimPrefix(name, "mcp__") }

// Warm builds the index of the currently deferred tools if needed.
func (f *Finder) Warm() { f.catalog(f.Pool()) }

// Suggest returns up to n tools related to a text, by the index alone, with at least the given
// similarity. It omits tools for which skip returns true. It does not wait if the index is not
// ready.
func (f *Finder) Suggest(text string, atLeast float64, n int, skip func(name string) bool) []suggest.Suggestion {
	deferred := f.Pool().Deferred()
	f.mu.Lock()
	c := f.last
	f.mu.Unlock()
	if c == nil || !sameSlice(c.of, deferred) {
		return nil
	}
	scores := c.index.Scores(tfidf.Document{{Text: text, Weight: 1}})
	for doc, score := range scores {
		if score < atLeast || skip != nil && skip(c.tools[doc].name) {
			scores[doc] = 0
		}
	}
	var found []suggest.Suggestion
	for _, t := range c.best(scores, n) {
		found = append(found, suggest.Suggestion{Name: t.Spec().Name, Line: line(t.Spec().Description)})
	}
	return found
}

// rank returns the tools that match words, best first. Required words must occur in a tool.
func (c *catalog) rank(words, required []string, limit int) []tool.Tool {
	text := strings.Join(append(slices.Clone(words), required...), " ")
	scores := c.index.Scores(query(text))
	scale(scores, indexShare)
	// For a CJK query, a tool with low similarity is not a hit, regardless of keywords.
	keywords := c.keywords(text, required)
	scale(keywords, keywordShare)
	cjk := hasCJK(text)
	for doc, points := range keywords {
		if scores[doc] > 0 || !cjk {
			scores[doc] += points
		}
	}
	for _, word := range required {
		with := c.having(word)
		for doc := range scores {
			if !with[doc] {
				scores[doc] = 0
			}
		}
	}
	found := tfidf.Best(scores, limit)
	for len(found) > 0 && found[len(found)-1].Score < found[0].Score*leastShare {
		found = found[:len(found)-1]
	}
	return c.toolsOf(found)
}

// scale scales scores so that the highest equals share.
func scale(scores []float64, share float64) {
	if len(scores) == 0 {
		return
	}
	if highest := slices.Max(scores); highest > 0 {
		for doc := range scores {
			scores[doc] *= share / highest
		}
	}
}

// query returns a document with a text, its English translation and synonyms.
func query(text string) tfidf.Document {
	return tfidf.Document{{Text: text, Weight: 1}, {Text: inEnglish(text), Weight: 1}, {Text: synonyms(text), Weight: alikeWeight}}
}

// best returns up to n tools with the highest scores, ordered by name if equal.
func (c *catalog) best(scores []float64, n int) []tool.Tool {
	return c.toolsOf(tfidf.Best(scores, n))
}

// toolsOf returns the tools of hits.
func (c *catalog) toolsOf(hits []tfidf.Hit) []tool.Tool {
	var found []tool.Tool
	for _, hit := range hits {
		found = append(found, c.tools[hit.Doc].tool)
	}
	return found
}

// keywords returns the keyword score of each tool.
func (c *catalog) keywords(text string, required []string) []float64 {
	points := make([]float64, len(c.tools))
	short := strings.Join(required, " ")
	seen := map[string]bool{}
	for _, term := range tfidf.Terms(text + " " + inEnglish(text)) {
		if seen[term] || len(term) == 1 && !slices.Contains(tfidf.Terms(short), term) {
			continue
		}
		seen[term] = true
		c.score(term, points)
	}
	return points
}

// score adds the points of a term to each tool.
func (c *catalog) score(term string, points []float64) {
	named := make([]bool, len(points)) // tools with points for their names
	c.index.Each(term, func(doc int, in tfidf.Fields) {
		if in&inName != 0 {
			points[doc] += c.named(doc, equalPoints, equalPointsMCP)
			named[doc] = true
		}
		if in&inHint != 0 {
			points[doc] += hintPoints
		}
		if in&inDoc != 0 {
			points[doc] += docPoints
		}
	})
	for _, longer := range c.index.Containing(term, inName) {
		c.index.Each(longer, func(doc int, in tfidf.Fields) {
			if in&inName != 0 && !named[doc] {
				points[doc] += c.named(doc, partPoints, partPointsMCP)
				named[doc] = true
			}
		})
	}
}

// named returns the points of a tool for its name.
func (c *catalog) named(doc int, builtin, server float64) float64 {
	if c.tools[doc].mcp {
		return server
	}
	return builtin
}

// having reports which tools have all terms of a word, in any field.
func (c *catalog) having(word string) []bool {
	with := make([]bool, len(c.tools))
	for i, term := range tfidf.Terms(word) {
		has := make([]bool, len(c.tools))
		for _, t := range append(c.index.Containing(term, inName), term) {
			c.index.Each(t, func(doc int, in tfidf.Fields) {
				if t == term || in&inName != 0 {
					has[doc] = true
				}
			})
		}
		for doc := range with {
			with[doc] = has[doc] && (i == 0 || with[doc])
		}
	}
	return with
}
