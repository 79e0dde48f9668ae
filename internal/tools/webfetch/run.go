package webfetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/net/web"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/page"
	"adze/internal/platform/text/pdf"
	"adze/internal/tool"
)

// maxChars is the maximum number of characters of a page passed to the small model, and to the
// model.
const maxChars = 100_000

// Output is the structured result, in a format that hooks and clients know.
type Output struct {
	URL         string `json:"url"` // after redirects
	Code        int    `json:"code"`
	CodeText    string `json:"codeText"`
	ContentType string `json:"contentType"`
	Bytes       int    `json:"bytes"`
	Result      string `json:"result"`
	File        string `json:"file,omitempty"`
	Cached      bool   `json:"cached,omitempty"`
	DurationMs  int64  `json:"durationMs"`
}

// Run fetches the page and answers the prompt.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if c.Offline {
		return tool.Result{}, errors.New("the network is not used in offline mode (ADZE_OFFLINE)")
	}
	began := time.Now()
	say := func(text string) { report(tool.Progress{Display: tool.Plain{Text: text}}) }
	key := c.url.String()
	doc, hit := c.cache.get(key), true
	if doc == nil {
		hit = false
		say("Fetching " + key)
		var keep bool
		var err error
		doc, keep, err = c.fetch(ctx)
		var moved *web.Redirect
		if errors.As(err, &moved) {
			return c.elsewhere(moved, time.Since(began)), nil
		}
		if err != nil {
			return tool.Result{}, err
		}
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		if keep {
			c.cache.put(key, doc)
		}
	}
	say("Reading " + amount.Bytes(int64(doc.bytes)))
	text, err := c.answer(ctx, doc)
	if err != nil {
		return tool.Result{}, err
	}
	res := tool.Text(text)
	res.Structured = Output{
		URL: doc.url, Code: doc.status, CodeText: http.StatusText(doc.status), ContentType: doc.contentType, Bytes: doc.bytes,
		Result: text, File: doc.file, Cached: hit, DurationMs: time.Since(began).Milliseconds(),
	}
	res.Display = tool.Plain{Text: fmt.Sprintf("Received %s (%d %s)", amount.Bytes(int64(doc.bytes)), doc.status, http.StatusText(doc.status))}
	return res, nil
}

// elsewhere returns the result for a redirect to another host, which needs its own permission.
func (c *call) elsewhere(r *web.Redirect, took time.Duration) tool.Result {
	text := fmt.Sprintf("%s redirects elsewhere (status %d %s):\n%s\nNothing was fetched from there. To follow, call %s again with that URL.",
		r.From, r.Status, http.StatusText(r.Status), r.To, Name)
	if to, err := url.Parse(r.To); err == nil && isLogin(to) {
		text += "\n" + loginHint
	}
	res := tool.Text(text)
	res.Structured = Output{URL: r.To, Code: r.Status, CodeText: http.StatusText(r.Status), Result: text, DurationMs: took.Milliseconds()}
	res.Display = tool.Plain{Text: fmt.Sprintf("Redirected to %s (%d)", r.To, r.Status)}
	return res
}

// loginHint explains a login page.
const loginHint = "That looks like a login page. Pages that need a login cannot be fetched: use the service's own command line, such as gh or glab, if it is installed, or ask the user for the content."

// isLogin reports whether a URL looks like a login page.
func isLogin(u *url.URL) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(u.Hostname()+"/"+u.Path), func(r rune) bool { return r == '/' || r == '.' || r == '_' || r == '-' }) {
		switch word {
		case "login", "signin", "logon", "sso", "oauth", "oauth2", "saml", "saml2", "auth", "authorize", "accounts", "idp":
			return true
		}
	}
	return strings.Contains(u.Path, "sign_in") || strings.Contains(u.Path, "sign-in")
}

// fetch fetches the page and converts it to text. Keep reports whether it can be cached.
func (c *call) fetch(ctx context.Context) (doc *document, keep bool, err error) {
	if err := c.domains.check(ctx, c.url.Hostname()); err != nil {
		return nil, false, err
	}
	resp, err := c.Client.Get(ctx, c.url, web.FetchOptions{Plain: !c.Preapproved(), Follow: c.follows})
	if err != nil {
		return nil, false, err
	}
	type outcome struct {
		doc *document
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		doc, err := c.convert(ctx, resp)
		done <- outcome{doc, err}
	}()
	select {
	case <-ctx.Done(): // abandon the conversion, which ends by itself
		return nil, false, context.Cause(ctx)
	case o := <-done:
		if o.err != nil {
			return nil, false, o.err
		}
		if resp.Status/100 != 2 {
			return nil, false, failure(resp, o.doc.text)
		}
		return o.doc, !resp.Personal, nil
	}
}

// failure returns the error for a response without a page.
func failure(r *web.Response, text string) error {
	const most = 500
	problem := fmt.Sprintf("%s answered with status %d %s", r.URL, r.Status, http.StatusText(r.Status))
	if r.RetryAfter != "" && (r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable) {
		problem += "; try again after " + tool.OneLine(r.RetryAfter, 60)
		if strings.Trim(r.RetryAfter, "0123456789") == "" {
			problem += " seconds"
		}
	}
	if text = strings.TrimSpace(text); text != "" {
		problem += ":\n" + cut(text, most, "…")
	}
	if r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden {
		problem += "\nPages that need a login cannot be fetched. Use the service's own command line, such as gh or glab, if it is installed."
	}
	return errors.New(problem)
}

// cut returns at most n characters of a text, followed by the mark if there are more.
func cut(text string, n int, mark string) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	i := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return text[:i] + mark
}

// convert converts a response to text. A file that is not text is saved.
func (c *call) convert(ctx context.Context, r *web.Response) (*document, error) {
	d := &document{url: r.URL, status: r.Status, bytes: len(r.Body)}
	kind := r.Type
	if kind == "" || kind == "application/octet-stream" || kind == "binary/octet-stream" || kind == "text/plain" && !page.IsText(r.Body) {
		kind = sniff(r.Body)
	}
	d.contentType = kind
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		base, err := url.Parse(r.URL)
		if err != nil {
			return nil, err
		}
		converted := c.pages.Markdown(ctx, r.Body, r.ContentType, base)
		d.title, d.text, d.cut = converted.Title, converted.Markdown, converted.Cut
	case isText(kind):
		d.text = page.Text(r.Body, r.ContentType)
		d.markdown = kind == "text/markdown" || kind == "text/x-markdown" || kind == "text/plain" && strings.HasSuffix(strings.ToLower(path.Ext(c.url.Path)), ".md")
	case r.Status/100 != 2:
	default:
		return d, c.save(ctx, d, r)
	}
	return d, nil
}

// sniff detects the type of a body without a useful content type.
func sniff(body []byte) string {
	kind, _, err := mime.ParseMediaType(http.DetectContentType(body))
	switch {
	case err != nil:
		return "application/octet-stream"
	case strings.HasPrefix(kind, "text/") && !page.IsText(body):
		return "application/octet-stream"
	case kind == "application/octet-stream" && page.IsText(body):
		return "text/plain"
	}
	return kind
}

// isText reports whether a media type is text that needs no conversion.
func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/typescript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/jsonl", "application/ld+json", "application/graphql",
		"application/sql", "application/x-sh", "application/x-httpd-php", "application/rtf", "application/x-subrip", "application/x-tex", "application/x-latex":
		return true
	}
	return false
}

// save saves a file that is not text. The text of a PDF is also extracted.
func (c *call) save(ctx context.Context, d *document, r *web.Response) error {
	what := fmt.Sprintf("%s is %s of %s", r.URL, d.contentType, amount.Bytes(int64(len(r.Body))))
	if c.Save == nil {
		return fmt.Errorf("%s, not text, and there is no directory to save it in. Download it with curl in a shell", what)
	}
	sum := sha256.Sum256(r.Body)
	name := fileName(r) + "-" + hex.EncodeToString(sum[:4])
	saved, err := c.Save(name, extension(d.contentType), bytes.NewReader(r.Body))
	if err != nil {
		return fmt.Errorf("%s, not text, and saving it failed: %w", what, err)
	}
	d.file = saved
	if d.contentType == "application/pdf" || pdf.IsPDF(r.Body) {
		d.text = pdfText(ctx, r.Body)
	}
	return nil
}

// fileName returns a file name: letters, digits and hyphens from the server's name or the URL.
func fileName(r *web.Response) string {
	name := r.Name
	if u, err := url.Parse(r.URL); err == nil && name == "" {
		name = path.Base(u.Path)
	}
	name = strings.ReplaceAll(name, `\`, "/")
	name = path.Base(name)
	name = strings.TrimSuffix(name, path.Ext(name))
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
	if name == "" {
		name = "file"
	}
	return "web-" + name[:min(len(name), 40)]
}

// extension returns the usual file extension of a media type.
func extension(kind string) string {
	switch kind {
	case "application/pdf":
		return "pdf"
	case "application/zip", "application/x-zip-compressed":
		return "zip"
	case "application/gzip", "application/x-gzip":
		return "gz"
	case "application/x-tar":
		return "tar"
	case "image/png":
		return "png"
	case "image/jpeg":
		return "jpg"
	case "image/gif":
		return "gif"
	case "image/webp":
		return "webp"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return "docx"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return "xlsx"
	case "application/vnd.openxmlformats-officedocument.presentationml.presentation":
		return "pptx"
	case "application/msword":
		return "doc"
	case "application/wasm":
		return "wasm"
	}
	return "bin"
}

// pdfTimeout limits the work on a document.
const pdfTimeout = 15 * time.Second

// pdfText returns the readable text of a PDF, up to the amount that is used.
func pdfText(ctx context.Context, body []byte) string {
	ctx, cancel := context.WithTimeout(ctx, pdfTimeout)
	defer cancel()
	d, err := pdf.Open(ctx, body)
	if err != nil {
		return "" // ok: the file is saved
	}
	var text strings.Builder
	for n := 1; n <= d.Pages() && text.Len() < maxChars*utf8.UTFMax; n++ {
		one, err := d.Text(ctx, n)
		if err != nil {
			break // ok: the text so far is used
		}
		if one = strings.TrimSpace(one); one != "" {
			fmt.Fprintf(&text, "## Page %d\n\n%s\n\n", n, one)
		}
	}
	return strings.TrimSpace(page.Text([]byte(text.String()), "text/plain; charset=utf-8"))
}
