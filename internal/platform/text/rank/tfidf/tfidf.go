// Package tfidf implements search over documents with weighted fields, ranked by the cosine
// similarity of TF-IDF vectors.
package tfidf

import (
	"math"
	"slices"
	"strings"
)

// A Field is a part of a document. Its terms are counted with its weight.
type Field struct {
	Text   string
	Weight float64
}

// A Document consists of up to eight fields.
type Document []Field

// An Index holds the terms of documents. It is immutable and does not retain their text.
type Index struct {
	docs  int
	ids   map[string]int32
	terms []string
	cjk   []bool
	idf   []float32
	first []int32 // start of each term's postings, plus a final end
	posts []posting
	in    []Fields // fields of each posting
	ever  []Fields // fields of each term, in any document
}

// A posting is a term's weight in a document's unit vector.
type posting struct {
	doc    int32
	weight float32
}

// Fields is a set of fields of a document: bit i represents field i.
type Fields uint8

// An entry is a term of a document.
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
	counts  []float32 // weighted counts in the current document, by term
	in      []Fields
	seen    []int32 // terms of the current document, in order
	entries []entry // entries of all documents
	ends    []int32 // end of each document's entries
	df      []int32
}

// New returns an index of docs. Documents are identified by their index in docs.
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

// word returns the number of a word's term, or a negative number for a stop word.
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

// id returns a term's number, assigning a new one if necessary.
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

// finish groups the entries of all documents by term.
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

// rarity returns the inverse document frequency of a term that occurs in df documents.
func rarity(docs, df int) float64 {
	return math.Log(float64(docs+1)/float64(df+1)) + 1
}

// A Hit is a document with its score.
type Hit struct {
	Doc   int
	Score float64
}

// Best returns up to n of the highest positive scores, highest first; ties keep their order.
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

// Scores returns the cosine similarity of query and each document. If the query has pairs of
// CJK characters, a document must match two of them or another term of the query, because a
// single common pair is likely to be chance.
func (x *Index) Scores(query Document) []float64 { return scores(x.docs, x.postings, query) }

// postings returns the postings of a term.
func (x *Index) postings(term []byte) []posting {
	id, ok := x.ids[string(term)]
	if !ok {
		return nil
	}
	return x.posts[x.first[id]:x.first[id+1]]
}

// scores computes the scores of all documents. postings returns a term's postings.
func scores(docs int, postings func(term []byte) []posting, query Document) []float64 {
	scores := make([]float64, docs)
	var pairs, words []uint8 // number of matching terms of each kind per document; nil without pairs
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
				pairs[p.doc] = max(pairs[p.doc], pairs[p.doc]+1) // saturates
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

// A queryTerm is a term of a query. It has no postings if no document contains it.
type queryTerm struct {
	term   string
	posts  []posting
	weight float64
	cjk    bool
}

// vector returns the terms of a query in order, and the length of their vector.
func vector(docs int, postings func(term []byte) []posting, query Document) ([]queryTerm, float64) {
	var terms []queryTerm
	for _, f := range query {
		scanTerms(f.Text, func(term []byte, cjk bool) {
			for i := range terms {
				if terms[i].term == string(term) {
					terms[i].weight += f.Weight
					return
				}
			}
			if len(terms) < maxTerms {
				terms = append(terms, queryTerm{string(term), postings(term), f.Weight, cjk})
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

// maxTerms limits the number of distinct terms in a query.
const maxTerms = 256

// Each calls yield for each document that contains a term, with the fields it occurs in. The
// term must be in the form returned by [Terms].
func (x *Index) Each(term string, yield func(doc int, in Fields)) {
	id, ok := x.ids[term]
	if !ok {
		return
	}
	for i := x.first[id]; i < x.first[id+1]; i++ {
		yield(int(x.posts[i].doc), x.in[i])
	}
}

// Containing returns the terms in the given fields that contain part and are longer than it.
func (x *Index) Containing(part string, in Fields) []string {
	var found []string
	for id, t := range x.terms {
		if x.ever[id]&in != 0 && len(t) > len(part) && strings.Contains(t, part) {
			found = append(found, t)
		}
	}
	return found
}
