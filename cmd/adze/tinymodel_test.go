//go:build local

package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// tinyModel returns a language model with random weights in the GGUF format, which declares a
// context window of that many tokens. Its tokenizer is fitted to the corpus.
func tinyModel(window int, corpus string) []byte {
	const embedding, forward = 32, 64
	tokens, merges := vocabulary(corpus, 400)
	kinds := make([]uint32, len(tokens))
	for i := range kinds {
		kinds[i] = 1 // normal
	}
	specials := []string{"<|begin|>", "<|end|>", "<|role|>", "<|over|>"}
	begin := uint32(len(tokens))
	tokens = append(tokens, specials...)
	kinds = append(kinds, slices.Repeat([]uint32{3}, len(specials))...) // control

	var m gguf
	m.text("general.architecture", "llama")
	m.text("general.name", "tiny")
	m.number("general.file_type", 0)
	m.number("llama.context_length", uint32(window))
	m.number("llama.embedding_length", embedding)
	m.number("llama.block_count", 1)
	m.number("llama.feed_forward_length", forward)
	m.number("llama.attention.head_count", 1)
	m.number("llama.attention.head_count_kv", 1)
	m.number("llama.rope.dimension_count", embedding)
	m.number("llama.vocab_size", uint32(len(tokens)))
	m.key("llama.attention.layer_norm_rms_epsilon", typeFloat)
	m.meta.u32(math.Float32bits(1e-5))
	m.text("tokenizer.ggml.model", "gpt2")
	m.text("tokenizer.ggml.pre", "gpt-2")
	m.texts("tokenizer.ggml.tokens", tokens)
	m.key("tokenizer.ggml.token_type", typeList)
	m.meta.u32(typeSigned)
	m.meta.u64(len(kinds))
	for _, k := range kinds {
		m.meta.u32(k)
	}
	m.texts("tokenizer.ggml.merges", merges)
	m.number("tokenizer.ggml.bos_token_id", begin)
	m.number("tokenizer.ggml.eos_token_id", begin+1)
	m.text("tokenizer.chat_template", "{% for m in messages %}<|role|>{{ m.role }}\n{{ m.content }}<|over|>\n{% endfor %}<|role|>assistant\n")

	m.tensor("token_embd.weight", embedding, len(tokens))
	m.tensor("output_norm.weight", embedding)
	m.tensor("output.weight", embedding, len(tokens))
	m.tensor("blk.0.attn_norm.weight", embedding)
	for _, name := range []string{"q", "k", "v", "output"} {
		m.tensor("blk.0.attn_"+name+".weight", embedding, embedding)
	}
	m.tensor("blk.0.ffn_norm.weight", embedding)
	m.tensor("blk.0.ffn_gate.weight", embedding, forward)
	m.tensor("blk.0.ffn_up.weight", embedding, forward)
	m.tensor("blk.0.ffn_down.weight", forward, embedding)
	return m.file()
}

// vocabulary returns the tokens of a byte-pair encoding with up to n merges, in the GPT-2
// tokenizer's notation.
func vocabulary(corpus string, n int) (tokens, merges []string) {
	letters := make([]string, 256)
	unprintable := rune(256)
	for c := range letters {
		r := rune(c)
		if c <= ' ' || c >= 0x7f && c < 0xa1 || c == 0xad {
			r = unprintable
			unprintable++
		}
		letters[c] = string(r)
	}
	tokens = slices.Clone(letters)
	words := map[string]int{}
	for _, w := range strings.SplitAfter(corpus, " ") {
		words[w]++
	}
	spelled := map[*[]string]int{}
	for w, count := range words {
		pieces := make([]string, 0, len(w))
		for _, c := range []byte(w) {
			pieces = append(pieces, letters[c])
		}
		spelled[&pieces] = count
	}
	for range n {
		pairs := map[[2]string]int{}
		for pieces, count := range spelled {
			for i := range len(*pieces) - 1 {
				pairs[[2]string{(*pieces)[i], (*pieces)[i+1]}] += count
			}
		}
		var best [2]string
		for pair, count := range pairs {
			if c := pairs[best]; count > c || count == c && slices.Compare(pair[:], best[:]) < 0 {
				best = pair
			}
		}
		if pairs[best] < 2 {
			break
		}
		merges = append(merges, best[0]+" "+best[1])
		tokens = append(tokens, best[0]+best[1])
		for pieces := range spelled {
			*pieces = join(*pieces, best)
		}
	}
	return tokens, merges
}

// join returns pieces with each occurrence of a pair merged.
func join(pieces []string, pair [2]string) []string {
	joined := pieces[:0]
	for i := 0; i < len(pieces); i++ {
		if i+1 < len(pieces) && pieces[i] == pair[0] && pieces[i+1] == pair[1] {
			joined = append(joined, pair[0]+pair[1])
			i++
		} else {
			joined = append(joined, pieces[i])
		}
	}
	return joined
}

// A gguf is a GGUF file under construction.
type gguf struct {
	meta, directory, data little
	keys, tensors         int
	random                *rand.Rand
}

// Value types.
const (
	typeNumber = 4
	typeSigned = 5
	typeFloat  = 6
	typeText   = 8
	typeList   = 9
)

func (g *gguf) key(name string, kind uint32) {
	g.keys++
	g.meta.text(name)
	g.meta.u32(kind)
}

func (g *gguf) number(name string, v uint32) {
	g.key(name, typeNumber)
	g.meta.u32(v)
}

func (g *gguf) text(name, v string) {
	g.key(name, typeText)
	g.meta.text(v)
}

func (g *gguf) texts(name string, list []string) {
	g.key(name, typeList)
	g.meta.u32(typeText)
	g.meta.u64(len(list))
	for _, s := range list {
		g.meta.text(s)
	}
}

// tensor adds random weights; one-dimensional tensors are all ones.
func (g *gguf) tensor(name string, dimensions ...int) {
	if g.random == nil {
		g.random = rand.New(rand.NewPCG(1, 2))
	}
	g.tensors++
	g.directory.text(name)
	g.directory.u32(uint32(len(dimensions)))
	size := 1
	for _, d := range dimensions {
		g.directory.u64(d)
		size *= d
	}
	g.directory.u32(0) // 32-bit floats
	g.directory.u64(g.data.Len())
	for range size {
		v := float32(1)
		if len(dimensions) > 1 {
			v = float32(g.random.NormFloat64() / 10)
		}
		g.data.u32(math.Float32bits(v))
	}
	g.data.align()
}

func (g *gguf) file() []byte {
	var f little
	f.WriteString("GGUF")
	f.u32(3)
	f.u64(g.tensors)
	f.u64(g.keys)
	f.Write(g.meta.Bytes())
	f.Write(g.directory.Bytes())
	f.align()
	f.Write(g.data.Bytes())
	return f.Bytes()
}

// little is a buffer of little-endian values.
type little struct{ bytes.Buffer }

func (b *little) u32(v uint32)  { b.Write(binary.LittleEndian.AppendUint32(nil, v)) }
func (b *little) u64(v int)     { b.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }
func (b *little) text(s string) { b.u64(len(s)); b.WriteString(s) }
func (b *little) align()        { b.Write(make([]byte, -b.Len()&31)) }
