package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"
)

// TestBuild checks that every link of the rendered pages leads somewhere on the site, and that
// the pages load nothing from elsewhere.
//
// Proves X-147.
func TestBuild(t *testing.T) {
	out, again := t.TempDir(), t.TempDir()
	n, err := build(os.DirFS("../.."), out)
	if err != nil || n < 40 {
		t.Fatalf("%d pages: %v", n, err)
	}
	if _, err := build(os.DirFS("../.."), again); err != nil {
		t.Fatal(err)
	}
	type use struct{ page, link string }
	ids, uses := map[string]bool{}, []use{}
	err = fs.WalkDir(os.DirFS(out), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		if second, err := os.ReadFile(filepath.Join(again, name)); err != nil || !bytes.Equal(data, second) {
			t.Errorf("%s differs between two builds (%v)", name, err)
		}
		ids[name] = true
		if path.Ext(name) != ".html" {
			return nil
		}
		doc, err := html.Parse(bytes.NewReader(data))
		if err != nil {
			return err
		}
		headings := 0
		for n := range doc.Descendants() {
			if n.Data == "h1" {
				headings++
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "id":
					ids[name+"#"+a.Val] = true
				case a.Key == "src" || a.Key == "href" && n.Data == "link":
					uses = append(uses, use{name, a.Val})
				case a.Key == "href" && !strings.Contains(a.Val, ":"):
					uses = append(uses, use{name, a.Val})
				}
			}
		}
		if headings != 1 {
			t.Errorf("%s has %d titles", name, headings)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		target, fragment, _ := strings.Cut(u.link, "#")
		if target = path.Join(path.Dir(u.page), target); strings.HasPrefix(u.link, "#") {
			target = u.page
		}
		if fragment != "" {
			target += "#" + fragment
		}
		if !ids[target] {
			t.Errorf("%s: %s leads nowhere", u.page, u.link)
		}
	}
	index, err := os.ReadFile(filepath.Join(out, "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	if err := json.Unmarshal(bytes.TrimSuffix(bytes.TrimPrefix(index, []byte("const searchIndex = ")), []byte(";\n")), &entries); err != nil || len(entries) < 150 {
		t.Errorf("%d sections in the index: %v", len(entries), err)
	}
	for _, e := range entries {
		if !ids[e.Address] {
			t.Errorf("the index leads to %s, which does not exist", e.Address)
		}
	}
}

// TestProblems checks that wrong links, and pages that nothing leads to, are errors.
//
// Proves X-147.
func TestProblems(t *testing.T) {
	const contents = "# Contents\n## Start\n- [a](a.md)\n"
	for name, c := range map[string]struct {
		text, problem string
	}{
		"good":     {"# A *b*\n\n[a](#a-b) [code](../main.go) [out](https://x.example) `[d](no.md)`\n\n    [c](no.md)\n", ""},
		"missing":  {"# A\n[b](b.md)\n", "docs/a.md: b.md does not exist"},
		"heading":  {"# A\n[b](#b)\n", "docs/a.md: docs/a.md has no heading b"},
		"picture":  {"# A\n![b](b.svg)\n", "docs/a.md: open docs/b.svg: file does not exist"},
		"unlisted": {"", "docs/b.md is not in docs/README.md"},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"docs/README.md": {Data: []byte(contents)}, "docs/a.md": {Data: []byte(c.text)}, "main.go": {}}
			if c.text == "" {
				files["docs/b.md"] = &fstest.MapFile{Data: []byte("# B")}
			}
			out := t.TempDir()
			_, err := build(files, out)
			if c.problem == "" {
				page, readErr := os.ReadFile(filepath.Join(out, "a.html"))
				if err != nil || readErr != nil {
					t.Fatal(err, readErr)
				}
				if !bytes.Contains(page, []byte(`<a href="a.html#a-b">a</a> code <a href="https://x.example">out</a>`)) {
					t.Errorf("the page is\n%s", page)
				}
			} else if err == nil || err.Error() != c.problem {
				t.Errorf("%v, want %s", err, c.problem)
			}
		})
	}
}
