// Package web fetches pages from the public internet only: names are checked before they are
// resolved, the address of each connection is vetted when it is made, redirects stay on the
// same host, and size and time are limited.
package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxURL limits the length of a URL, in characters.
const maxURL = 2000

// A Refusal is the reason, for the model, why something is not fetched. Nothing was sent.
type Refusal struct{ Text string }

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

func refusef(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Check returns the parsed URL if it may be fetched: its host must be public and given by name,
// or be in h. The result's host is normalized by [ASCII], and it has no fragment. The error is
// a [*Refusal].
func (h Hosts) Check(text string) (*url.URL, error) {
	text = strings.Trim(text, " ")
	u, err := parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return nil, refusef("only http and https can be fetched, not %q", u.Scheme)
	}
	if u.User != nil {
		u.User = nil
		return nil, refusef("the URL has a user name or password; write it without, as %s", clip(u.String()))
	}
	if u.Opaque != "" || u.Host == "" || u.Hostname() == "" {
		return nil, refusef("%q names no host; write it as https://example.org/page", clip(text))
	}
	port := u.Port()
	host, err := h.checkHost(u, portOf(u))
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(u.Host, ":") || port != "" && !validPort(port) {
		return nil, refusef("%q has no valid port", u.Host)
	}
	if port == defaultPort(u.Scheme) {
		port = ""
	}
	if u.Host = host; strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != "" {
		u.Host += ":" + port
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// parse parses a URL and rejects any that other parsers might read differently.
func parse(text string) (*url.URL, error) {
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return nil, refusef("the URL is empty")
	case n > maxURL:
		return nil, refusef("the URL has %d characters; at most %d are possible", n, maxURL)
	case !utf8.ValidString(text):
		return nil, refusef("the URL is not UTF-8")
	}
	for _, r := range text {
		switch {
		case r == '\\':
			return nil, refusef("the URL has a backslash; use / instead, or %%5C if it is part of a name")
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return nil, refusef("the URL has a control or invisible character, %U", r)
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		var why *url.Error
		if errors.As(err, &why) {
			err = why.Err
		}
		if i := strings.LastIndexByte(text, '@'); i >= 0 { // ok: the part before it may be a password
			return nil, refusef("the URL %q cannot be read", "***"+clip(text[i:]))
		}
		return nil, refusef("the URL %q cannot be read: %v", clip(text), err)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	return u, nil
}

// checkHost returns a URL's host, normalized for comparison.
func (h Hosts) checkHost(u *url.URL, port string) (string, error) {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		a, err := netip.ParseAddr(host)
		if err == nil && a.Zone() == "" && h.has(a.String(), port) {
			return a.String(), nil
		}
		return "", literal(host)
	}
	name, err := ASCII(host)
	switch {
	case err != nil && strings.ContainsAny(host, "%[]"):
		return "", refusef("%q is not a host name", clip(host))
	case err != nil:
		return "", refusef("%q is not a host name: %v", clip(host), err)
	case h.has(name, port) && (!endsInNumber(name) || name == host):
		return name, nil
	case endsInNumber(name):
		return "", literal(host)
	case private(name):
		return "", refusef("%s is not a public host. %s", name, local)
	}
	return name, nil
}

// local is advice for hosts that are not public.
const local = "For a local server use curl in a shell; the user can also name it in webFetch.allowedPrivateHosts of their own settings."

func literal(host string) error {
	return refusef("%s is an address; only host names can be fetched. %s", clip(host), local)
}

func validPort(port string) bool {
	n := 0
	for _, c := range []byte(port) {
		if c < '0' || c > '9' || n > 65535 {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return n > 0 && n <= 65535 && port[0] != '0'
}

// portOf returns a URL's port.
func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return defaultPort(u.Scheme)
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// clip shortens a text for a message.
func clip(text string) string {
	const most = 100
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
