package shelf

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTexts checks that texts of any length can be read in any order.
func TestTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Shelf
		var texts []string
		var kept []Text
		for range rapid.IntRange(1, 40).Draw(t, "texts") {
			piece := rapid.StringN(0, 20, 40).Draw(t, "piece")
			text := strings.Repeat(piece, rapid.SampledFrom([]int{0, 1, 100, 10_000, 40_000}).Draw(t, "times"))
			texts, kept = append(texts, text), append(kept, s.Put(text))
		}
		for range 50 {
			i := rapid.IntRange(0, len(texts)-1).Draw(t, "read")
			if got := kept[i].String(); got != texts[i] {
				t.Fatalf("text %d has %d bytes, not %d, or others", i, len(got), len(texts[i]))
			}
		}
	})
	if got := (Text{}).String(); got != "" {
		t.Errorf("a text that is nowhere is %q", got)
	}
}

// TestRoom checks that texts take less memory than uncompressed.
func TestRoom(t *testing.T) {
	var s Shelf
	boxes := map[*box]bool{}
	size := 0
	for range 1000 {
		text := strings.Repeat("ok  \tadze/internal/platform\t0.412s\n", 100)
		size += len(text)
		boxes[s.Put(text).box] = true
	}
	room := 0
	for b := range boxes {
		room += cap(b.plain) + cap(b.packed)
	}
	if room > size/4 {
		t.Errorf("%d bytes of text take %d", size, room)
	}
}

func BenchmarkPut(b *testing.B) {
	text := strings.Repeat("a line of output that is to be shown 17\n", 500)
	b.SetBytes(int64(len(text)))
	var s Shelf
	for b.Loop() {
		s.Put(text)
	}
}

func BenchmarkRead(b *testing.B) {
	var s Shelf
	var texts []Text
	for range 100 {
		texts = append(texts, s.Put(strings.Repeat("a line of output that is to be shown 17\n", 500)))
	}
	b.SetBytes(int64(texts[0].to))
	for i := 0; b.Loop(); i++ {
		_ = texts[i%len(texts)].String()
	}
}
