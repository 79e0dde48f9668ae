package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// A page is a Markdown file.
type page struct {
	source, address string // in the repository and on the site
	title           string
	raw             []byte
	doc             ast.Node
	anchors         map[string]bool
}

func parse(source string, raw []byte) *page {
	p := &page{source: source, raw: raw, address: address(source), anchors: map[string]bool{}}
	ids := &headingIDs{p.anchors}
	p.doc = markdown.Parser().Parse(text.NewReader(raw), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	for n := p.doc.FirstChild(); n != nil && p.title == ""; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			p.title = plain(h, raw)
		}
	}
	return p
}

// address returns the place of a page on the site: docs/x.md is x.html.
func address(source string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(source, "docs/"), ".md")
	switch name {
	case "README":
		if strings.HasPrefix(source, "docs/") {
			return "contents.html"
		}
		return "index.html"
	default:
		return strings.ToLower(name) + ".html"
	}
}

// headingIDs names headings as code hosts do, so that the links in the documentation fit.
type headingIDs struct{ used map[string]bool }

var ignored = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// Generate returns the name of a heading.
func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.ReplaceAll(ignored.ReplaceAllString(strings.ToLower(strings.TrimSpace(string(value))), ""), " ", "-")
	name := id
	for i := 1; h.used[name]; i++ {
		name = fmt.Sprintf("%s-%d", id, i)
	}
	h.used[name] = true
	return []byte(name)
}

// Put records a name that is given explicitly.
func (h *headingIDs) Put(value []byte) { h.used[string(value)] = true }

// plain returns the text of a node.
func plain(n ast.Node, raw []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(raw))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(raw))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// A link leads to another page.
type link struct{ under, text, target string }

// links returns the links to other pages, with the heading of the second level above each.
func (p *page) links() (links []link) {
	under := ""
	ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			under = plain(n, p.raw)
		case *ast.Link:
			if target := string(n.Destination); entering && !external(target) {
				links = append(links, link{under, plain(n, p.raw), path.Join(path.Dir(p.source), target)})
			}
		}
		return ast.WalkContinue, nil
	})
	return links
}

// summary returns the first paragraph.
func (p *page) summary() string {
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindParagraph {
			return plain(n, p.raw)
		}
	}
	return p.title
}

// An entry of the search index is a section of a page.
type entry struct {
	Page    string `json:"p"`
	Heading string `json:"h"`
	Address string `json:"a"`
	Text    string `json:"t"`
}

// entries returns the sections of a page. The specification is not searched: its chapters would
// hide the pages for users.
func (p *page) entries() []entry {
	if strings.HasPrefix(p.source, "docs/spec/") {
		return nil
	}
	entries := []entry{{p.title, "", p.address, ""}}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		last := &entries[len(entries)-1]
		if h, ok := n.(*ast.Heading); ok && h.Level > 1 {
			entries = append(entries, entry{p.title, plain(h, p.raw), p.address + "#" + anchor(h), ""})
		} else if !ok {
			last.Text = strings.TrimSpace(last.Text + " " + plain(n, p.raw))
		}
	}
	return entries
}

// outline returns the headings of the second level.
func (p *page) outline() (items []item) {
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			items = append(items, item{Title: plain(h, p.raw), Address: "#" + anchor(h)})
		}
	}
	return items
}

func anchor(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	name, _ := id.([]byte)
	return string(name)
}

func external(target string) bool { return strings.Contains(target, ":") }

// render returns the page as HTML, and adds the pictures that it shows to files. Links to what the
// site does not contain become text.
func (p *page) render(root fs.FS, pages map[string]*page, files map[string][]byte) ([]byte, error) {
	var problems []error
	var gone []*ast.Link
	ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			target, fragment, _ := strings.Cut(string(n.Destination), "#")
			if external(target) {
				return ast.WalkContinue, nil
			}
			name := p.source
			if target != "" {
				name = path.Join(path.Dir(p.source), target)
			}
			switch to := pages[name]; {
			case to == nil:
				gone = append(gone, n)
				if _, err := fs.Stat(root, name); err != nil {
					problems = append(problems, fmt.Errorf("%s: %s does not exist", p.source, target))
				}
			case fragment != "" && !to.anchors[fragment]:
				problems = append(problems, fmt.Errorf("%s: %s has no heading %s", p.source, name, fragment))
			default:
				n.Destination = []byte(p.relative(to.address))
				if fragment != "" {
					n.Destination = append(n.Destination, "#"+fragment...)
				}
			}
		case *ast.Image:
			name := path.Join(path.Dir(p.source), string(n.Destination))
			data, err := fs.ReadFile(root, name)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", p.source, err))
			}
			files[strings.TrimPrefix(name, "docs/")] = data
			n.Destination = []byte(p.relative(strings.TrimPrefix(name, "docs/")))
		}
		return ast.WalkContinue, nil
	})
	for _, n := range gone {
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, c)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var out bytes.Buffer
	problems = append(problems, markdown.Renderer().Render(&out, p.raw, p.doc))
	body := bytes.ReplaceAll(out.Bytes(), []byte("<table>"), []byte(`<div class="table" tabindex="0"><table>`))
	return bytes.ReplaceAll(body, []byte("</table>"), []byte("</table></div>")), errors.Join(problems...)
}

// relative returns the link from a page to an address.
func (p *page) relative(address string) string {
	return strings.Repeat("../", strings.Count(p.address, "/")) + address
}
