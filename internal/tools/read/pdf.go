package read

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/text/pdf"
	"adze/internal/platform/text/picture"
	"adze/internal/tool"
)

// pdfTimeout limits the work on a document, which may be malicious.
const pdfTimeout = 20 * time.Second

// parsePages parses the requested pages; empty means the whole document.
func parsePages(s string) (pdf.Range, error) {
	if s == "" {
		return pdf.Range{}, nil
	}
	pages, err := pdf.ParseRange(s)
	if err != nil {
		return pages, &tool.Error{Code: codePages, Text: err.Error()}
	}
	if pages.Len() > maxPages {
		return pages, tooManyPages(s, pages.Len())
	}
	return pages, nil
}

func tooManyPages(s string, n int) error {
	return &tool.Error{Code: codeTooMany, Text: fmt.Sprintf("pages is %q, which is %d pages: ask for at most %d at once", s, n, maxPages)}
}

func (r *fileRead) readPDF(ctx context.Context) (tool.Result, error) {
	data, err := r.whole()
	if err != nil {
		return tool.Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, pdfTimeout)
	defer cancel()
	d, err := pdf.Open(limited, data)
	if err != nil {
		return tool.Result{}, r.explainPDF(ctx, err)
	}
	pages, note, err := r.choosePages(d.Pages())
	if err != nil {
		return tool.Result{}, err
	}
	entry := r.entry(data)
	entry.Content = nil
	whole := pages.Len() == d.Pages()
	if whole && r.repeats(entry) {
		return r.unchanged(), nil
	}
	res, err := r.deliver(limited, &document{d, data, pages})
	if err != nil {
		return tool.Result{}, r.explainPDF(ctx, err)
	}
	if whole {
		r.record(entry)
	}
	if note != "" {
		res.Parts = append(res.Parts, &msg.Text{Text: note})
	}
	return res, nil
}

// explainPDF adds advice to an error from reading the document.
func (r *fileRead) explainPDF(ctx context.Context, err error) error {
	advice := ""
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("reading %s took longer than %v. Extract the text with a shell command such as pdftotext.", r.path, pdfTimeout)
	case errors.Is(err, pdf.ErrNotPDF):
		return binary(err.Error(), "Inspect it with a shell command such as file.")
	case errors.Is(err, pdf.ErrEncrypted):
		advice = ". Ask the user for a version without a password."
	case errors.Is(err, pdf.ErrDamaged):
		advice = ". Try to repair it with a shell command such as qpdf."
	}
	return fmt.Errorf("reading %s: %w%s", r.path, err, advice)
}

// choosePages returns the pages to deliver of n, and a note about them.
func (r *fileRead) choosePages(n int) (pages pdf.Range, note string, err error) {
	if r.in.Pages == "" {
		if n > maxWholePDF {
			return pages, "", fmt.Errorf("%s has %d pages, and at most %d are read at once by default. Give pages, such as \"1-%d\".", r.path, n, maxWholePDF, maxWholePDF)
		}
		return pdf.Range{First: 1, Last: n}, "", nil
	}
	pages, ok := r.pages.Within(n)
	switch {
	case !ok:
		return pages, "", fmt.Errorf("pages is %q, but %s has only %s", r.in.Pages, r.path, counted(n, "page"))
	case pages.Len() > maxPages:
		return pages, "", tooManyPages(r.in.Pages, pages.Len())
	case r.pages.Last > n:
		note = fmt.Sprintf("(The document has only %s.)", counted(n, "page"))
	}
	return pages, note, nil
}

// A document is a PDF document with the pages to deliver.
type document struct {
	*pdf.Document
	data  []byte
	pages pdf.Range
}

// deliver returns the pages in the best form that the model supports: as a document, with
// scanned pages as pictures, or as text only.
func (r *fileRead) deliver(ctx context.Context, d *document) (tool.Result, error) {
	res := tool.Result{
		Display: tool.Plain{Text: counted(d.pages.Len(), "page")},
		Structured: Output{"pdf", pdfOutput{
			FilePath: r.path, OriginalSize: len(d.data), FirstPage: d.pages.First, Count: d.pages.Len(), TotalPages: d.Pages(),
		}},
	}
	if enabled(r.Documents) {
		if data := d.cut(ctx); data != nil && len(data) <= maxDocument {
			res.Parts = []msg.Part{&msg.Document{MediaType: "application/pdf", Title: filepath.Base(r.path), Data: data}}
			if label := d.label(); label != "" {
				res.Parts = append(res.Parts, &msg.Text{Text: label})
			}
			return res, nil
		}
	}
	parts, text, err := r.pageParts(ctx, d)
	if err != nil {
		return tool.Result{}, err
	}
	if err := r.budget().fits(ctx, text, len(text), "Ask for fewer pages."); err != nil {
		return tool.Result{}, err
	}
	for _, p := range parts {
		if _, ok := p.(*msg.Image); ok {
			out := res.Structured.(Output)
			out.Type = "parts"
			res.Structured = out
		}
	}
	res.Parts = parts
	return res, nil
}

// label names the delivered pages, or returns "" if all are delivered.
func (d *document) label() string {
	switch n := d.pages.Len(); {
	case n == d.Pages():
		return ""
	case n == 1:
		return fmt.Sprintf("Page %d of %d.", d.pages.First, d.Pages())
	}
	return fmt.Sprintf("Pages %d to %d of %d.", d.pages.First, d.pages.Last, d.Pages())
}

// cut returns the pages as a separate document, or nil if that fails. Encrypted or damaged
// documents, which others may not be able to read, are rewritten.
func (d *document) cut(ctx context.Context) []byte {
	if d.pages.Len() == d.Pages() && d.Sound() {
		return d.data
	}
	part, err := d.Extract(ctx, d.pages.First, d.pages.Last)
	if err != nil {
		return nil
	}
	return part
}

// pageParts returns the individual pages, and all of their text.
func (r *fileRead) pageParts(ctx context.Context, d *document) (parts []msg.Part, text string, err error) {
	var b, all strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, &msg.Text{Text: b.String()})
			all.WriteString(b.String())
			b.Reset()
		}
	}
	for n := d.pages.First; n <= d.pages.Last; n++ {
		page, err := d.Text(ctx, n)
		if err != nil {
			return nil, "", err
		}
		fmt.Fprintf(&b, "[page %d of %d]\n", n, d.Pages())
		if page != "" {
			b.WriteString(page + "\n\n")
			continue
		}
		p, err := r.scanned(ctx, d.Scan(n), d.pages.Len())
		if err != nil {
			fmt.Fprintf(&b, "(%v)\n\n", err)
			continue
		}
		flush()
		parts = append(parts, p)
	}
	flush()
	return parts, all.String(), nil
}

// scanned returns the picture of a page without text. The pages share the budget of a single
// picture.
func (r *fileRead) scanned(ctx context.Context, data []byte, pages int) (*msg.Image, error) {
	switch {
	case data == nil:
		return nil, errors.New("no text on this page")
	case !enabled(r.Images):
		return nil, errors.New("this page is a picture, and the model in use takes none")
	}
	p, err := picture.Fit(ctx, data, r.MaxTokens/pages)
	if err != nil {
		return nil, err
	}
	return &msg.Image{MediaType: p.MediaType, Data: p.Data}, nil
}
