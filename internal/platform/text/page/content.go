package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// content returns the main content of a page. Surrounding elements are only dropped if enough
// text remains.
func content(root *html.Node) *html.Node {
	all := size(root, nil)
	rest := size(root, isBoilerplate)
	if rest < 150 || rest < all/5 {
		return root
	}
	remove(root, isBoilerplate)
	if main := largest(root, func(n *html.Node) bool { return n.Data == "main" || attr(n, "role") == "main" }); main != nil {
		if n := size(main, nil); n >= 150 && n >= rest/5 {
			return main
		}
	}
	if article := largest(root, func(n *html.Node) bool { return n.Data == "article" }); article != nil && size(article, nil) >= rest*3/5 {
		return article
	}
	for n := root; ; {
		next := dominant(n)
		if next == nil {
			return n
		}
		n = next
	}
}

// isBoilerplate reports whether an element is not main content, such as navigation or a site-wide
// footer.
func isBoilerplate(n *html.Node) bool {
	switch n.Data {
	case "nav", "footer", "aside":
		return true
	case "header":
		return !inside(n, "article", "main", "header") && !holds(n, "h1")
	case "main", "article", "body":
		return false
	}
	switch attr(n, "role") {
	case "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog":
		return true
	}
	return false
}

func inside(n *html.Node, names ...string) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if slices.Contains(names, up.Data) {
			return true
		}
	}
	return false
}

// size returns the number of bytes of text in n, not counting surrounding blanks and the
// elements for which leave returns true.
func size(n *html.Node, leave func(*html.Node) bool) (sum int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			sum += len(strings.TrimSpace(c.Data))
		case leave == nil || !leave(c):
			sum += size(c, leave)
		}
	}
	return sum
}

// remove removes the elements for which leave returns true.
func remove(n *html.Node, leave func(*html.Node) bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.ElementNode {
			if leave(c) {
				n.RemoveChild(c)
			} else {
				remove(c, leave)
			}
		}
		c = next
	}
}

// largest returns the element with the most text for which pick returns true, or nil.
func largest(root *html.Node, pick func(*html.Node) bool) *html.Node {
	var best *html.Node
	most := 0
	var find func(*html.Node)
	find = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type != html.ElementNode:
			case pick(c):
				if s := size(c, nil); s > most {
					best, most = c, s
				}
			default:
				find(c)
			}
		}
	}
	find(root)
	return best
}

// dominant returns the child of n that has nearly all of its text, or nil.
func dominant(n *html.Node) *html.Node {
	all := size(n, nil)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Data {
		case "div", "section", "article", "main", "center", "form", "span", "font":
			if c.Type == html.ElementNode && size(c, nil) > all*4/5 {
				return c
			}
		}
	}
	return nil
}

// prune removes nodes beyond the conversion limits, and reports whether it removed any.
func prune(root *html.Node) (cut bool) {
	text, nodes := 0, 0
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			if text >= MaxChars || nodes >= maxConvert {
				cut = cut || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" || c.Type == html.ElementNode
				n.RemoveChild(c)
				c = next
				continue
			}
			nodes++
			if c.Type == html.TextNode {
				if room := MaxChars - text; len(c.Data) > room {
					c.Data, cut = limited(c.Data, room), true
				}
				text += len(c.Data)
			} else {
				walk(c)
			}
			c = next
		}
	}
	walk(root)
	return cut
}

// limited truncates a text to at most max bytes.
func limited(s string, max int) string {
	if len(s) > max {
		s = strings.ToValidUTF8(s[:max], "")
	}
	return s
}
