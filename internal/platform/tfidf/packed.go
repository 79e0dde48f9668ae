package tfidf

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"adze/internal/platform/textlist"
)

// Packed is an index as it can be kept in a file, and searched there without decoding more than the terms of a query: its terms
// in order, each before its postings. It does not know in which fields of a document a term is.
type Packed struct {
	// List has the terms and their postings.
	List textlist.List
	// Docs is how many documents there are.
	Docs int
}

// postingSize is how many bytes a posting has.
const postingSize = 8

// Pack returns the index as it can be kept.
func (x *Index) Pack() Packed {
	ids := make([]int32, len(x.terms))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Compare(x.terms[a], x.terms[b]) })
	all := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		data := make([]byte, 0, postingSize*(x.first[id+1]-x.first[id]))
		for _, p := range x.posts[x.first[id]:x.first[id+1]] {
			data = binary.LittleEndian.AppendUint32(data, uint32(p.doc))
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(p.weight))
		}
		all = append(all, x.terms[id], string(data))
	}
	return Packed{textlist.Of(all...), x.docs}
}

// Scores returns what [Index.Scores] of the same documents does.
func (p Packed) Scores(query Document) []float64 { return scores(p.Docs, p.postings, query) }

// postings returns the postings of a term. Those that are damaged are left out.
func (p Packed) postings(term []byte) []posting {
	n := p.List.Len() / 2
	i := sort.Search(n, func(i int) bool { return p.List.At(2*i) >= string(term) })
	if i == n || p.List.At(2*i) != string(term) {
		return nil
	}
	data := []byte(p.List.At(2*i + 1))
	posts := make([]posting, 0, len(data)/postingSize)
	for ; len(data) >= postingSize; data = data[postingSize:] {
		doc, weight := binary.LittleEndian.Uint32(data), math.Float32frombits(binary.LittleEndian.Uint32(data[4:]))
		if doc < uint32(p.Docs) && weight >= 0 && weight <= 1 {
			posts = append(posts, posting{int32(doc), weight})
		}
	}
	return posts
}
