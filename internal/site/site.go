package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// contents is the page that lists the others; its headings and links are the navigation.
const contents = "docs/README.md"

//go:embed page.html style.css site.js
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "page.html"))

// build renders the pages of a repository into a directory, and returns their number. It fails if
// a link leads nowhere, or if a page is not in the contents.
func build(root fs.FS, out string) (int, error) {
	pages, err := readPages(root)
	if err != nil {
		return 0, err
	}
	menu, err := readMenu(pages)
	if err != nil {
		return 0, err
	}
	files := map[string][]byte{}
	var index []entry
	var problems []error
	for _, source := range slices.Sorted(maps.Keys(pages)) {
		p := pages[source]
		body, err := p.render(root, pages, files)
		problems = append(problems, err)
		index = append(index, p.entries()...)
		var text bytes.Buffer
		err = layout.Execute(&text, map[string]any{
			"Page": p, "Title": p.title, "Summary": p.summary(), "Body": template.HTML(body), "Menu": menu.of(p), "Outline": p.outline(),
			"Root": strings.Repeat("../", strings.Count(p.address, "/")),
		})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.source, err)
		}
		files[p.address] = text.Bytes()
	}
	if err := errors.Join(problems...); err != nil {
		return 0, err
	}
	for _, name := range []string{"style.css", "site.js"} {
		if files[name], err = assets.ReadFile(name); err != nil {
			return 0, err
		}
	}
	encoded, err := json.Marshal(index)
	if err != nil {
		return 0, err
	}
	files["index.js"] = []byte("const searchIndex = " + string(encoded) + ";\n") // a script, because pages in files may not fetch
	for name, data := range files {
		target := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			return 0, err
		}
	}
	return len(pages), nil
}

// readPages parses the Markdown files of the documentation, and those at the root.
func readPages(root fs.FS) (map[string]*page, error) {
	sources, err := fs.Glob(root, "*.md")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			sources = append(sources, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	pages := map[string]*page{}
	for _, source := range sources {
		text, err := fs.ReadFile(root, source)
		if err != nil {
			return nil, err
		}
		pages[source] = parse(source, text)
	}
	return pages, nil
}

// A menu is the navigation: sections with the pages in them.
type menu []section

type section struct {
	Title string
	Items []item
}

type item struct {
	Title, Address string
	Current        bool
}

// readMenu reads the contents.
func readMenu(pages map[string]*page) (menu, error) {
	list := pages[contents]
	if list == nil {
		return nil, fmt.Errorf("%s does not exist", contents)
	}
	listed := map[string]bool{contents: true}
	var m menu
	for _, l := range list.links() {
		if len(m) == 0 || m[len(m)-1].Title != l.under {
			m = append(m, section{Title: l.under})
		}
		target := pages[l.target]
		if target == nil {
			return nil, fmt.Errorf("%s: %s does not exist", contents, l.target)
		}
		listed[l.target] = true
		last := &m[len(m)-1]
		last.Items = append(last.Items, item{Title: l.text, Address: target.address})
	}
	for source := range pages {
		if !listed[source] && !strings.HasPrefix(source, "docs/spec/") && strings.HasPrefix(source, "docs/") {
			return nil, fmt.Errorf("%s is not in %s", source, contents)
		}
	}
	return m, nil
}

// of returns the menu of a page.
func (m menu) of(p *page) menu {
	var marked menu
	for _, s := range m {
		var items []item
		for _, i := range s.Items {
			i.Current = i.Address == p.address
			items = append(items, i)
		}
		marked = append(marked, section{s.Title, items})
	}
	return marked
}
