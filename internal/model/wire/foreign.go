package wire

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/model"
)

// The responses in this file are not from the provider: a proxy, a captive portal, or a server
// at another address answered. Retrying does not help.

const (
	loginHint = "If this network or its proxy has a login page, open any web page in a browser and log in; otherwise check the base URL and HTTPS_PROXY"
	proxyHint = "Put a user name and a password into the variable that names the proxy: HTTP_PROXY=http://user:password@host:port"
)

// foreign returns the error for a response that is not from the provider, or nil.
func foreign(res *http.Response, text []byte) *model.Error {
	e := &model.Error{Kind: model.Invalid, Status: res.StatusCode, Hint: loginHint}
	switch status := res.StatusCode; {
	case status < 400:
		e.Message = "the server sends the request elsewhere"
		if to, err := url.Parse(res.Header.Get("Location")); err == nil && to.Host != "" {
			e.Message = "the server sends the request to " + Clean(to.Host)
		}
		e.Message += ", where the API key does not go"
	case status == http.StatusProxyAuthRequired:
		e.Message, e.Hint = "the proxy wants a user name and a password", proxyHint
	case status == http.StatusNetworkAuthenticationRequired:
		e.Message = "this network wants a login"
	case status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout && mediaType(res.Header) == htmlType:
		e.Message = pageCame(text)
	default:
		return nil
	}
	return e
}

// page returns the error for a web page in place of an answer, and closes the response.
func page(res *http.Response) *model.Error {
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // ok: the page is the error, its title is extra
	return &model.Error{Kind: model.Broken, Lasting: true, RequestID: RequestID(res.Header), Message: pageCame(text), Hint: loginHint}
}

func pageCame(text []byte) string {
	if title := pageTitle(text); title != "" {
		return fmt.Sprintf("a web page with the title %q came back instead of an answer", title)
	}
	return "a web page came back instead of an answer"
}

// pageTitle returns a web page's title as a single line, or "". Invalid UTF-8 is dropped.
func pageTitle(text []byte) string {
	text = text[:min(len(text), 64<<10)]
	const tag = "<title"
	for len(text) > len(tag) && !strings.EqualFold(string(text[:len(tag)]), tag) {
		text = text[1:]
	}
	_, rest, opened := bytes.Cut(text, []byte(">"))
	inside, _, closed := bytes.Cut(rest, []byte("<"))
	if !opened || !closed {
		return ""
	}
	title := []rune(Clean(html.UnescapeString(strings.ToValidUTF8(string(inside), ""))))
	return strings.Trim(string(title[:min(len(title), 80)]), `<>" `)
}

const unservedHint = "The provider does not serve the region that your connection comes from; choose another provider, or a cloud that offers its models there"

// unserved reports whether a server's message means that it does not serve the user's region.
func unserved(message string) bool {
	message = strings.ToLower(message)
	for _, words := range [...]string{"location is not supported", "region, or territory not supported", "not available in your region", "not available in your country", "unsupported country"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// htmlType is the media type of web pages.
const htmlType = "text/html"

func mediaType(h http.Header) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type")) // ok: empty then
	return media
}

// maxSkew is the clock difference beyond which signatures and tokens are rejected.
const maxSkew = 5 * time.Minute

// skew describes the difference between this machine's clock and the server's, or returns "" if
// it is too small to affect credentials.
func skew(h http.Header, now time.Time) string {
	theirs, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return ""
	}
	switch d := now.Sub(theirs); {
	case d > maxSkew:
		return fmt.Sprintf("this machine's clock is %s ahead of the server's, set it first", d.Round(time.Minute))
	case d < -maxSkew:
		return fmt.Sprintf("this machine's clock is %s behind the server's, set it first", (-d).Round(time.Minute))
	}
	return ""
}
