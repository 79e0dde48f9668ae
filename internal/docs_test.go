package internal

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	inCode  = regexp.MustCompile("`[^`\n]*`")
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	ignored = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks checks that every link between documentation pages resolves, including its heading.
// Generated pages are checked where they are generated.
//
// Proves X-147.
func TestLinks(t *testing.T) {
	root := os.DirFS("..")
	pages, err := fs.Glob(root, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(root, "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range broken(root, page, string(text)) {
			t.Error(problem)
		}
	}
	const text = "# One `two`\n[a](no.md), [b](#one-two), [c](#none), [d](docs/x.md#there), [e](docs/x.md#nowhere), `[f](no)`, [g](https://x)\n```\n[h](no)\n```\n"
	small := fstest.MapFS{"README.md": {Data: []byte(text)}, "docs/x.md": {Data: []byte("## There")}}
	want := []string{"README.md: no.md does not exist", "README.md: #none has no such heading", "README.md: docs/x.md#nowhere has no such heading"}
	if got := broken(small, "README.md", text); !slices.Equal(got, want) {
		t.Errorf("of wrong links it finds %q", got)
	}
}

// broken returns a page's broken links.
func broken(root fs.FS, page, text string) (problems []string) {
	prose := inCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, m := range links.FindAllStringSubmatch(prose, -1) {
		if strings.Contains(m[1], ":") {
			continue
		}
		name, anchor, _ := strings.Cut(m[1], "#")
		target := page
		if name != "" {
			target = path.Join(path.Dir(page), name)
		}
		if _, err := fs.Stat(root, target); err != nil {
			problems = append(problems, page+": "+m[1]+" does not exist")
			continue
		}
		if anchor == "" || path.Ext(target) != ".md" {
			continue
		}
		there, err := fs.ReadFile(root, target)
		if err != nil || !anchors(string(there))[anchor] {
			problems = append(problems, page+": "+m[1]+" has no such heading")
		}
	}
	return problems
}

// anchors returns the link anchors of a page's headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		found[strings.ReplaceAll(ignored.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return found
}
