package regex

import (
	"testing"

	"adze/internal/platform/search/regextest"
)

// benchmarks are the query classes, each of which must be fast.
func benchmarks() []struct {
	name, pattern string
	fold          bool
} {
	return []struct {
		name, pattern string
		fold          bool
	}{
		{"literal", "Handler", false},
		{"common literal", "return", false},
		{"folded", "handler", true},
		{"folded beyond ascii", "sockets", true},
		{"alternation", "foo|bar|baz", false},
		{"markers", "TODO|FIXME|XXX|HACK", false},
		{"inner literal", `\bfunc\s+\w+Handler\b`, false},
		{"classes", `[A-Z]{3,}_[A-Z]+`, false},
		{"assignment", `\w+\s*=\s*\d+`, false},
		{"no literal", `[a-z]+\d[a-z]+\d[a-z]+`, false},
		{"dense", `\)\s*\{$`, false},
		{"no match", `[a-z]{20}\d{5}Q`, false},
	}
}

func BenchmarkLines(b *testing.B) {
	text := regextest.Source(b, 8<<20)
	for _, bench := range benchmarks() {
		q, err := Compile(bench.pattern, Options{IgnoreCase: bench.fold})
		if err != nil {
			b.Fatal(err)
		}
		for name, m := range variants(q) {
			b.Run(bench.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					m.Start(b.Context(), text)
					for _, _, ok := m.Next(); ok; _, _, ok = m.Next() {
					}
				}
			})
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, bench := range benchmarks() {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(bench.pattern, Options{IgnoreCase: bench.fold}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
