package draw

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/internal/platform/text/edit"
	shown "adze/internal/tool/change"
)

// TestDiffLanguages checks changes in many languages: unchanged lines and new files are
// syntax-highlighted, and changed words are marked in changed lines.
//
// Proves X-150.
func TestDiffLanguages(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/languages.txtar")
	if err != nil {
		t.Fatal(err)
	}
	before := map[string][]byte{}
	var b strings.Builder
	changed := 0
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "before/"); ok {
			before[name] = f.Data
			continue
		}
		name := strings.TrimPrefix(f.Name, "after/")
		changed++
		hunks, _ := edit.Diff(before[name], f.Data)
		b.WriteString(tagged(Rows(shown.Display(name, false, hunks), Options{Width: 100})) + "\n")
		hunks, _ = edit.Diff(nil, f.Data)
		b.WriteString(tagged(Rows(shown.Display(name, true, hunks), Options{Width: 100})) + "\n")
	}
	if changed < 10 {
		t.Errorf("only %d languages", changed)
	}
	golden(t, "languages.golden", b.String())
}
