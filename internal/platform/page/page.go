// Package page turns web pages into text for a model: HTML into Markdown, without what a reader of the page would not
// see, other text into UTF-8. Pages are written by strangers, so that work and memory are bounded whatever they hold.
// Where pages come from is left to others.
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

// Bounds of the work on one page.
const (
	maxNodes   = 45_000  // of the tree
	maxText    = 1 << 20 // bytes of text in the tree
	maxToken   = 4 << 20 // bytes of a tag, or of text or a script without tags
	maxOpen    = 2000    // elements that are not closed
	maxDepth   = 150     // of elements in each other
	maxIndent  = 10      // of lists and quotations in each other
	maxColumns = 40      // of a table
	maxValue   = 2000    // bytes of an attribute
	maxLink    = 500     // bytes of a link

	// MaxChars is about how much of a page is converted, in bytes of text.
	MaxChars   = 150_000
	maxConvert = 25_000 // nodes that are converted
)

// A Doc is the text of a page.
type Doc struct {
	Title    string
	Markdown string
	// Cut says that the page has more text.
	Cut bool
}

// A Converter makes Markdown of HTML. It is safe for concurrent use.
type Converter struct {
	library func() *converter.Converter // made when the first page is converted
}

// NewConverter returns a converter.
func NewConverter() *Converter {
	return &Converter{sync.OnceValue(func() *converter.Converter {
		return converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
			base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), strikethrough.NewStrikethroughPlugin(),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), // a wide cell makes no other one wide
				table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithHeaderPromotion(true),
			),
		))
	})}
}

// Markdown returns the text of an HTML page: its main content, if it can be told from the rest. Links are relative to
// base. What is broken is converted as far as it can be read. It returns early when ctx is done.
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
		text = []byte(plainText(root)) // ok: the words are all that is left
	}
	d.Markdown = strings.TrimSpace(string(text))
	return d
}

// Text returns the beginning of other text than HTML, at least [MaxChars] characters of it, in UTF-8 and without
// characters that cannot be seen.
func Text(body []byte, contentType string) string {
	text, err := io.ReadAll(io.LimitReader(decoded(body, contentType, false), MaxChars*utf8.UTFMax))
	if err != nil { // ok: an encoding that is broken is shown as it is
		text = body[:min(len(body), MaxChars*utf8.UTFMax)]
	}
	return visible(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// IsText reports whether a body that has no type, or a general one, is text.
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
