package walk_test

import (
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/search/walk"
)

// trees are large trees available on every machine with Go.
func trees(b *testing.B) map[string]string {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		b.Fatal(err)
	}
	return map[string]string{
		"goroot":   build.Default.GOROOT,
		"modcache": filepath.Clean(strings.TrimSpace(string(cache))),
	}
}

func BenchmarkList(b *testing.B) {
	for name, root := range trees(b) {
		for _, ignoring := range []string{"all", "ignore"} {
			b.Run(name+"/"+ignoring, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					stats, err := walk.Walk(b.Context(), walk.Options{Root: root, Hidden: true, Ignore: ignoring == "ignore"}, func(int, *walk.Batch) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(stats.Files), "files")
				}
			})
		}
	}
}

func BenchmarkNewest(b *testing.B) {
	for name, root := range trees(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := walk.Newest(b.Context(), walk.Options{Root: root, Hidden: true, Ignore: true}, 250); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRipgrep is the reference for the others. It needs rg in PATH.
func BenchmarkRipgrep(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Logf("nothing to compare with: %v", err)
		return
	}
	for name, root := range trees(b) {
		for query, args := range map[string][]string{
			"list":   {"--files", "--hidden"},
			"newest": {"--files", "--hidden", "--sortr", "modified"},
		} {
			b.Run(query+"/"+name, func(b *testing.B) {
				for b.Loop() {
					cmd := exec.Command(rg, append(args, root)...)
					cmd.Stderr = os.Stderr
					if _, err := cmd.Output(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
