// Package tfidf finds the documents that a few words are about: an index over documents with weighted fields, compared
// with the words by the cosine of their term vectors. What documents are is left to the caller.
package tfidf

import (
	"math"
	"slices"
	"strings"
)

// A Field is a part of a document. Its terms count as often as its weight says.
type Field struct {
	Text   string
	Weight float64
}

// A Document is its fields, of which there are at most eight.
type Document []Field

// An Index holds the terms of documents. It does not change, and keeps nothing of their text.
type Index struct {
	docs  int
	ids   map[string]int32
	terms []string
	cjk   []bool
	idf   []float32
	first []int32 // where the postings of each term begin; one more than there are terms
	posts []posting
	in    []Fields // of each posting
	ever  []Fields // of each term, in any document
}

// A posting says that a term is in a document, with its share of the document's vector, whose length is 1.
type posting struct {
	doc    int32
	weight float32
}

// Fields is a set of fields of a document: bit i is the one at i.
type Fields uint8

// An entry is a term of the document that is being read.
type entry struct {
	term   int32
	weight float32
	in     Fields
}

// A builder collects the terms of documents.
type builder struct {
	x       *Index
	words   *vocabulary
	scanner scanner
	counts  []float32 // by term, of the current document
	in      []Fields
	seen    []int32 // the terms of the current document, in their order
	entries []entry // of all documents
	ends    []int32 // where those of each document end
	df      []int32
}

// New returns the index of documents. They are known by their place in docs.
func New(docs []Document) *Index {
	b := &builder{
		x: &Index{docs: len(docs), ids: make(map[string]int32, min(4*len(docs), 1024))}, words: newVocabulary(min(8*len(docs), 1024)),
		ends: make([]int32, 0, len(docs)), entries: make([]entry, 0, 24*len(docs)),
	}
	for _, d := range docs {
		b.read(d)
	}
	return b.finish()
}

// read counts the terms of a document.
func (b *builder) read(d Document) {
	s := &b.scanner
	for i, f := range d {
		s.scan(f.Text)
		for _, w := range s.words {
			var id int32
			if word := s.text[w.from:w.to]; w.cjk {
				id = b.id(word, true)
			} else if id = b.word(word); id < 0 {
				continue
			}
			if b.in[id] == 0 {
				b.seen = append(b.seen, id)
			}
			b.counts[id] += float32(f.Weight)
			b.in[id] |= 1 << i
		}
	}
	var most float32
	for _, id := range b.seen {
		most = max(most, b.counts[id])
	}
	for _, id := range b.seen {
		b.entries = append(b.entries, entry{id, b.counts[id] / most, b.in[id]})
		b.df[id]++
		b.counts[id], b.in[id] = 0, 0
	}
	b.seen = b.seen[:0]
	b.ends = append(b.ends, int32(len(b.entries)))
}

// word returns the number of a word's term, or a negative one for a stop word.
func (b *builder) word(word []byte) int32 {
	k, ok := b.words.find(word)
	if !ok {
		k.term = -1
		if !stopWord(word) {
			k.term = b.id(stem([]byte(k.word)), false)
		}
	}
	return k.term
}

// id returns the number of a term, which may be new.
func (b *builder) id(term []byte, cjk bool) int32 {
	if id, ok := b.x.ids[string(term)]; ok {
		return id
	}
	name, id := string(term), int32(len(b.x.terms))
	b.x.ids[name] = id
	b.x.terms, b.x.cjk = append(b.x.terms, name), append(b.x.cjk, cjk)
	b.counts, b.in, b.df = append(b.counts, 0), append(b.in, 0), append(b.df, 0)
	return id
}

// finish orders the entries of documents by their terms.
func (b *builder) finish() *Index {
	x := b.x
	x.idf, x.ever = make([]float32, len(x.terms)), make([]Fields, len(x.terms))
	x.first = make([]int32, len(x.terms)+1)
	for id, df := range b.df {
		x.idf[id] = float32(rarity(x.docs, int(df)))
		x.first[id+1] = x.first[id] + df
	}
	x.posts, x.in = make([]posting, len(b.entries)), make([]Fields, len(b.entries))
	next := slices.Clone(x.first)
	begin := int32(0)
	for doc, end := range b.ends {
		entries := b.entries[begin:end]
		begin = end
		var sum float64
		for i := range entries {
			e := &entries[i]
			e.weight *= x.idf[e.term]
			sum += float64(e.weight) * float64(e.weight)
		}
		length := float32(math.Sqrt(sum))
		for _, e := range entries {
			x.posts[next[e.term]], x.in[next[e.term]] = posting{int32(doc), e.weight / length}, e.in
			next[e.term]++
			x.ever[e.term] |= e.in
		}
	}
	return x
}

// rarity is the weight of a term that df of the documents have: the inverse document frequency.
func rarity(docs, df int) float64 {
	return math.Log(float64(docs+1)/float64(df+1)) + 1
}

// A Hit is a document with its score.
type Hit struct {
	Doc   int
	Score float64
}

// Best returns the up to n highest of scores above 0, the highest first and equal ones in their order.
func Best(scores []float64, n int) []Hit {
	var best []Hit
	for doc, score := range scores {
		if score <= 0 || len(best) == n && (n == 0 || score <= best[n-1].Score) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, score, func(h Hit, score float64) int {
			if h.Score >= score {
				return -1
			}
			return 1
		})
		if len(best) == n {
			best = best[:n-1]
		}
		best = slices.Insert(best, at, Hit{doc, score})
	}
	return best
}

// Scores returns the cosine of query and each document. If the query has pairs of CJK characters, a document counts only with
// two of them, or with another term of the query: one pair in common is chance.
func (x *Index) Scores(query Document) []float64 { return scores(x.docs, x.postings, query) }

// postings returns the postings of a term.
func (x *Index) postings(term []byte) []posting {
	id, ok := x.ids[string(term)]
	if !ok {
		return nil
	}
	return x.posts[x.first[id]:x.first[id+1]]
}

// scores returns the scores of so many documents, given the postings of terms.
func scores(docs int, postings func(term []byte) []posting, query Document) []float64 {
	scores := make([]float64, docs)
	var pairs, words []uint8 // how many terms of each kind a document has; nil without pairs
	terms, length := vector(docs, postings, query)
	for _, t := range terms {
		if t.cjk {
			pairs, words = make([]uint8, docs), make([]uint8, docs)
			break
		}
	}
	for _, t := range terms {
		share := t.weight / length
		for _, p := range t.posts {
			scores[p.doc] += share * float64(p.weight)
			switch {
			case pairs == nil:
			case t.cjk:
				pairs[p.doc] = max(pairs[p.doc], pairs[p.doc]+1) // it stays where it is when full
			default:
				words[p.doc] = 1
			}
		}
	}
	for doc := range scores {
		if pairs != nil && pairs[doc] < 2 && words[doc] == 0 {
			scores[doc] = 0
		}
		scores[doc] = min(scores[doc], 1)
	}
	return scores
}

// A wanted is a term of a query. It has no postings if no document has it.
type wanted struct {
	term   string
	posts  []posting
	weight float64
	cjk    bool
}

// vector returns the terms of a query in their order, and the length of their vector.
func vector(docs int, postings func(term []byte) []posting, query Document) ([]wanted, float64) {
	var terms []wanted
	for _, f := range query {
		scanTerms(f.Text, func(term []byte, cjk bool) {
			for i := range terms {
				if terms[i].term == string(term) {
					terms[i].weight += f.Weight
					return
				}
			}
			if len(terms) < maxTerms {
				terms = append(terms, wanted{string(term), postings(term), f.Weight, cjk})
			}
		})
	}
	var most, sum float64
	for _, t := range terms {
		most = max(most, t.weight)
	}
	for i := range terms {
		t := &terms[i]
		t.weight = t.weight / most * rarity(docs, len(t.posts))
		sum += t.weight * t.weight
	}
	return terms, math.Sqrt(sum)
}

// maxTerms bounds the different terms of a query.
const maxTerms = 256

// Each calls yield for each document that has a term, with the fields it is in. The term is one of [Terms].
func (x *Index) Each(term string, yield func(doc int, in Fields)) {
	id, ok := x.ids[term]
	if !ok {
		return
	}
	for i := x.first[id]; i < x.first[id+1]; i++ {
		yield(int(x.posts[i].doc), x.in[i])
	}
}

// Containing returns the terms of given fields that part is in and that are longer than it.
func (x *Index) Containing(part string, in Fields) []string {
	var found []string
	for id, t := range x.terms {
		if x.ever[id]&in != 0 && len(t) > len(part) && strings.Contains(t, part) {
			found = append(found, t)
		}
	}
	return found
}
