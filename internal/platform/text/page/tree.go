package page

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A tree is the visible part of a page. Each tag creates at most one node, so the tree is never
// larger than the page.
type tree struct {
	root  *html.Node
	title string
	cut   bool

	base  *url.URL
	open  []element
	count map[string]int // open elements by name

	skipped int // number of open elements when the element being skipped began; 0 if none
	nodes   int
	text    int
	depth   int // node depth
	indent  int // depth of lists and quotations
}

// An element is an open element.
type element struct {
	name string
	// node receives the element's content; it may belong to an outer element.
	node  *html.Node
	own   bool // node belongs to this element
	cells int  // number of cells in a row
}

// build parses a page.
func build(ctx context.Context, r io.Reader, base *url.URL) *tree {
	t := &tree{root: &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}, base: base, count: map[string]int{}}
	t.open = append(t.open, element{name: "html", node: t.root})
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxToken)
	inTitle := false
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return t
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			t.cut = errors.Is(z.Err(), html.ErrBufferExceeded)
			return t
		}
		if t.nodes >= maxNodes || t.text >= maxText {
			t.cut = true
			return t
		}
		switch kind {
		case html.TextToken:
			switch {
			case inTitle && t.title == "":
				t.title = visible(string(head(z.Text(), 300)))
			case !inTitle && t.skipped == 0:
				t.write(z.Text())
			}
			inTitle = false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := start{name: intern(name), closed: kind == html.SelfClosingTagToken}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				tag.take(key, value)
			}
			if inTitle = tag.name == "title" && t.skipped == 0; !inTitle {
				t.start(&tag)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			inTitle = false
			t.end(intern(name))
		}
	}
}

// head truncates a text to at most n bytes.
func head(text []byte, n int) []byte {
	if len(text) > n {
		return bytes.ToValidUTF8(text[:n], nil)
	}
	return text
}

// intern returns an element's name. Standard HTML names are not copied.
func intern(name []byte) string {
	if a := atom.Lookup(name); a != 0 {
		return a.String()
	}
	return string(name[:min(len(name), 100)])
}

// A start is a start tag with its relevant attributes.
type start struct {
	name, href, src, alt, class, role, style, span, rows, first string
	lang                                                        string
	closed, hidden                                              bool
}

// take stores a relevant attribute. An overlong attribute is only relevant if it may hide the
// element.
func (s *start) take(key, value []byte) {
	v := ""
	if len(value) <= maxValue || string(key) == "style" {
		v = string(value[:min(len(value), maxValue)])
	}
	switch string(key) {
	case "href":
		s.href = v
	case "src":
		s.src = v
	case "alt":
		s.alt = v
	case "class":
		s.class = v
	case "role":
		s.role = strings.ToLower(strings.TrimSpace(v))
	case "style":
		s.style = v
	case "colspan":
		s.span = v
	case "rowspan":
		s.rows = v
	case "start":
		s.first = v
	case "data-lang", "data-language":
		s.lang = v
	case "hidden":
		s.hidden = s.hidden || !strings.EqualFold(v, "until-found")
	case "aria-hidden":
		s.hidden = s.hidden || strings.EqualFold(strings.TrimSpace(v), "true")
	case "type":
		s.hidden = s.hidden || s.name == "input"
	}
}

// write adds text.
func (t *tree) write(raw []byte) {
	if room := maxText - t.text; len(raw) > room {
		raw, t.cut = head(raw, room), true
	}
	t.text += len(raw)
	text := visible(string(raw))
	if text == "" {
		return
	}
	if t.count["td"]+t.count["th"] > 0 {
		text = strings.ReplaceAll(text, "|", `\|`) // an unescaped bar would end the cell
	}
	t.add(&html.Node{Type: html.TextNode, Data: text})
}

func (t *tree) add(n *html.Node) {
	t.nodes++
	t.open[len(t.open)-1].node.AppendChild(n)
}

// start opens an element.
func (t *tree) start(s *start) {
	if s.name == "base" && t.skipped == 0 {
		if u, err := t.base.Parse(s.href); err == nil && s.href != "" {
			t.base = u
		}
	}
	t.imply(s.name)
	leaf := void(s.name)
	if !leaf && len(t.open) >= maxOpen {
		return
	}
	if t.skipped > 0 {
		if !leaf && !s.closed {
			t.push(element{name: s.name, node: t.root})
		}
		return
	}
	outer := t.open[len(t.open)-1].node
	out := dropped(s.name) || s.name != "html" && s.name != "body" && (s.hidden || hidden(s))
	switch {
	case out && (leaf || s.closed && s.name == "svg"):
	case out:
		t.push(element{name: s.name, node: t.root})
		t.skipped = len(t.open)
	case leaf:
		if n := t.leaf(s); n != nil {
			t.add(n)
		}
	case s.closed && atom.Lookup([]byte(s.name)) == 0:
	case s.name == "html" || s.name == "body" || s.name == "head" || t.depth >= maxDepth || indents(s.name) && t.indent >= maxIndent || !t.cell(s):
		t.push(element{name: s.name, node: outer})
	default:
		n := t.node(s)
		t.add(n)
		t.push(element{name: s.name, node: n, own: true})
	}
}

func (t *tree) push(e element) {
	t.open = append(t.open, e)
	t.count[e.name]++
	if e.own {
		t.depth++
		if indents(e.name) {
			t.indent++
		}
	}
}

func (t *tree) pop() {
	last := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	t.count[last.name]--
	if last.own {
		t.depth--
		if indents(last.name) {
			t.indent--
		}
		finish(last.node)
	}
	if len(t.open) < t.skipped {
		t.skipped = 0
	}
}

// cell counts a row's cells and reports whether the table has room for another.
func (t *tree) cell(s *start) bool {
	if s.name != "td" && s.name != "th" {
		return true
	}
	row := &t.open[len(t.open)-1]
	row.cells++
	return row.cells <= maxColumns
}

// end closes an element and the open elements inside it.
func (t *tree) end(name string) {
	if name == "br" && t.skipped == 0 {
		t.add(&html.Node{Type: html.ElementNode, Data: "br", DataAtom: atom.Br})
		return
	}
	if name == "html" || name == "body" {
		return // later content still belongs to it
	}
	t.close(name, !tabular(name))
}

// reach limits how many open elements are searched for the element to close. Only pages
// designed to be slow have more.
const reach = 400

// close closes the innermost element with that name inside the current table or, if within is
// set, inside the current table cell.
func (t *tree) close(name string, within bool) {
	if t.count[name] == 0 {
		return
	}
	for i := len(t.open) - 1; i > 0 && i > len(t.open)-reach; i-- {
		e := t.open[i].name
		if e == name {
			for len(t.open) > i {
				t.pop()
			}
			return
		}
		if e == "table" || within && (e == "td" || e == "th" || e == "caption") {
			return
		}
	}
}

// imply closes the elements that are implicitly ended by a start tag with that name.
func (t *tree) imply(name string) {
	switch name {
	case "li":
		t.closeIn("ul ol menu", "li")
	case "dt", "dd":
		t.closeIn("dl", "dt")
		t.closeIn("dl", "dd")
	case "td", "th":
		t.closeIn("tr table", "td")
		t.closeIn("tr table", "th")
	case "tr":
		t.closeIn("table", "tr")
	case "thead", "tbody", "tfoot":
		for _, other := range []string{"thead", "tbody", "tfoot"} {
			t.closeIn("table", other)
		}
	case "a":
		t.closeIn("td th table", "a")
	}
	if ends(name) {
		t.closeIn("td th table button", "p")
	}
}

// closeIn closes the innermost element with that name, unless it is outside an element named in
// bounds.
func (t *tree) closeIn(bounds, name string) {
	if t.count[name] == 0 {
		return
	}
	for i := len(t.open) - 1; i > 0 && i > len(t.open)-reach; i-- {
		e := t.open[i].name
		if e == name {
			for len(t.open) > i {
				t.pop()
			}
			return
		}
		for bound := range strings.FieldsSeq(bounds) {
			if e == bound {
				return
			}
		}
	}
}

// ends reports whether an element ends the paragraph before it.
func ends(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "center", "details", "dialog", "div", "dl", "fieldset", "figcaption", "figure",
		"footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "menu", "nav", "ol", "p", "pre", "section",
		"summary", "table", "ul", "li", "dt", "dd":
		return true
	}
	return false
}

func void(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "param", "frame", "keygen":
		return true
	}
	return false
}

// dropped reports whether an element contains no readable text.
func dropped(name string) bool {
	switch name {
	case "script", "style", "template", "svg", "iframe", "object", "embed", "canvas", "noscript", "noembed", "noframes", "textarea",
		"select", "datalist", "audio", "video", "map", "button", "link", "meta", "input", "annotation", "annotation-xml", "rp", "title":
		return true
	}
	return false
}

func tabular(name string) bool {
	switch name {
	case "table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption":
		return true
	}
	return false
}

func indents(name string) bool {
	return name == "ul" || name == "ol" || name == "blockquote" || name == "dl"
}

// leaf returns a node for an element without content, or nil.
func (t *tree) leaf(s *start) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: s.name, DataAtom: atom.Lookup([]byte(s.name))}
	switch s.name {
	case "br", "hr":
		return n
	case "img":
		src, alt := t.link(s.src), strings.TrimSpace(visible(s.alt))
		if src == "" || alt == "" {
			return nil
		}
		n.Attr = []html.Attribute{{Key: "src", Val: src}, {Key: "alt", Val: alt}}
		return n
	}
	return nil
}

// node returns a node for an element, with the attributes needed later.
func (t *tree) node(s *start) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: s.name, DataAtom: atom.Lookup([]byte(s.name))}
	set := func(key, value string) {
		if value != "" {
			n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
		}
	}
	switch s.name {
	case "a":
		if strings.HasPrefix(s.href, "#") {
			set("href", "#") // see finish
		} else {
			set("href", t.link(s.href))
		}
	case "pre", "code", "div", "figure":
		if l := language(s); l != "" {
			set("class", "language-"+l)
		}
	case "td", "th":
		set("colspan", small(s.span))
		set("rowspan", small(s.rows))
	case "ol":
		set("start", small(s.first))
	}
	set("role", s.role)
	return n
}

// small returns text if it is a small number, otherwise "".
func small(text string) string {
	if n, err := strconv.Atoi(text); err == nil && n > 1 && n <= maxColumns {
		return strconv.Itoa(n)
	}
	return ""
}

// link returns a link as an absolute URL, or "" if it does not lead to a page.
func (t *tree) link(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	u, err := t.base.Parse(ref)
	if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	if text := u.String(); len(text) <= maxLink {
		return visible(text)
	}
	return ""
}

// language returns the code language that an element specifies, or "".
func language(s *start) string {
	name := s.lang
	for class := range strings.FieldsSeq(s.class) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-", "brush:"} {
			if l, ok := strings.CutPrefix(class, prefix); ok && name == "" {
				name = l
			}
		}
	}
	if len(name) > 20 || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789+-#.") != "" {
		return ""
	}
	return name
}

// finish cleans up an element once it is complete.
func finish(n *html.Node) {
	switch n.Data {
	case "a":
		href, text := attr(n, "href"), plainText(n)
		empty := strings.TrimSpace(text) == "" && !holds(n, "img")
		switch {
		case n.Parent != nil && (empty || href == "#" && mark(text)): // such as a link from a heading to itself
			n.Parent.RemoveChild(n)
			return
		case href != "" && href != "#":
			return
		}
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
	case "pre":
		if attr(n, "class") != "" {
			return
		}
		for up := n.Parent; up != nil && (up.Data == "div" || up.Data == "figure"); up = up.Parent {
			if l := attr(up, "class"); l != "" {
				n.Attr = append(n.Attr, html.Attribute{Key: "class", Val: l})
				return
			}
		}
	}
}

// holds reports whether n contains an element with that name.
func holds(n *html.Node, name string) bool {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			return true
		}
	}
	return false
}

// mark reports whether a link's text is only a link symbol.
func mark(text string) bool {
	switch strings.TrimSpace(text) {
	case "", "#", "¶", "§", "🔗", "\uf0c1", "link", "Link", "Permalink":
		return true
	}
	return false
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// plainText returns the text in n.
func plainText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
