package tfidf

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"adze/internal/platform/text/textlist"
)

// A Packed is an index in serialized form. It can be searched in a file by decoding only the
// terms of a query: terms are in order, each followed by its postings. It does not record in
// which fields of a document a term occurs.
type Packed struct {
	// List contains the terms and their postings.
	List textlist.List
	// Docs is the number of documents.
	Docs int
}

// postingSize is the size of an encoded posting, in bytes.
const postingSize = 8

// Pack serializes the index.
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

// Scores returns the same result as [Index.Scores] for the same documents.
func (p Packed) Scores(query Document) []float64 { return scores(p.Docs, p.postings, query) }

// postings returns a term's postings. Damaged postings are skipped.
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
