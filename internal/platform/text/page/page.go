// Package page converts web pages to text for a model: HTML to Markdown without text that is
// invisible to a reader, other text to UTF-8. Pages are untrusted, so time and memory are
// bounded for any input.
package page

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
)

// Limits for one page.
const (
	maxNodes   = 45_000  // tree nodes
	maxText    = 1 << 20 // bytes of text in the tree
	maxToken   = 4 << 20 // bytes in a tag, or in text or a script without tags
	maxOpen    = 2000    // open elements
	maxDepth   = 150     // nested elements
	maxIndent  = 10      // nested lists and quotations
	maxColumns = 40      // table columns
	maxValue   = 2000    // bytes in an attribute
	maxLink    = 500     // bytes in a link

	// MaxChars is the approximate amount of text converted per page, in bytes.
	MaxChars   = 150_000
	maxConvert = 25_000 // nodes to convert
)

// A Doc is the text of a page.
type Doc struct {
	Title    string
	Markdown string
	// Cut means that the page has more text.
	Cut bool
}

// A Converter converts HTML to Markdown. It is safe for concurrent use.
type Converter struct {
	library func() *converter.Converter // created for the first page
}

// NewConverter returns a converter.
func NewConverter() *Converter {
	return &Converter{sync.OnceValue(func() *converter.Converter {
		return converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
			base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), strikethrough.NewStrikethroughPlugin(),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), // a wide cell doesn't pad the others
				table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithHeaderPromotion(true),
			),
		))
	})}
}

// Markdown converts an HTML page, reduced to its main content if that can be identified. Links
// are resolved against base. Broken HTML is converted as far as possible. Markdown returns
// early when ctx is done.
func (c *Converter) Markdown(ctx context.Context, body []byte, contentType string, base *url.URL) Doc {
	t := build(ctx, decoded(body, contentType, true), base)
	root := content(t.root)
	cut := prune(root)
	if ctx.Err() != nil {
		return Doc{}
	}
	d := Doc{Title: strings.Join(strings.Fields(t.title), " "), Cut: cut || t.cut}
	text, err := c.library().ConvertNode(root)
	if err != nil {
		text = []byte(plainText(root)) // ok: fall back to the plain text
	}
	d.Markdown = strings.TrimSpace(string(text))
	return d
}

// Text converts text other than HTML to UTF-8 and removes invisible characters. It returns at
// least the first [MaxChars] characters.
func Text(body []byte, contentType string) string {
	text, err := io.ReadAll(io.LimitReader(decoded(body, contentType, false), MaxChars*utf8.UTFMax))
	if err != nil { // ok: text in a broken encoding is returned unchanged
		text = body[:min(len(body), MaxChars*utf8.UTFMax)]
	}
	return visible(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// IsText reports whether a body with no or a generic content type is text.
func IsText(body []byte) bool {
	head := body[:min(len(body), 2048)]
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return true
	}
	for _, b := range head {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1b {
			return false
		}
	}
	return true
}
