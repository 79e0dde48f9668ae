package textfile

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLines900000 reads 201 lines deep inside a 1 GB file, for comparison with sed -n
// 900000,900200p.
func BenchmarkLines900000(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.txt")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n := 0; n < 1<<30; {
		k, _ := fmt.Fprintf(w, "%08d the quick brown fox jumps over the lazy dog, again and again, until it is tired of it\n", n) // ok: Flush reports errors
		n += k
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.SetBytes(1 << 30)
	b.ReportAllocs()
	for b.Loop() {
		got, err := Read(b.Context(), f, Range{First: 900_000, Count: 201})
		if err != nil || len(got.Lines) != 201 {
			b.Fatal(len(got.Lines), err)
		}
	}
}
