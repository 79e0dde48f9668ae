//go:build unix

package read

import (
	"strings"
	"testing"
)

func BenchmarkRead90KB(b *testing.B) {
	d := dir(b, map[string]string{"a.txt": strings.Repeat("00000000 the quick brown fox jumps over the lazy dog, again and again, until it is tired of it\n", 950)})
	tl := in(d)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run(b, tl, `{"file_path":"a.txt"}`); err != nil {
			b.Fatal(err)
		}
	}
}
