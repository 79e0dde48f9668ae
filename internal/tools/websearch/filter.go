package websearch

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"adze/internal/platform/net/web"
)

// hostName normalizes a domain for comparison. Reduced reports that it was given as a URL, of
// which only the host is used.
func hostName(given string) (host string, reduced bool, err error) {
	host = strings.TrimSpace(given)
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host, reduced = rest, true
	}
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host, reduced = host[:i], true
	}
	host = strings.TrimPrefix(host, "*.")
	if strings.ContainsAny(host, "@:[]%") {
		return "", false, errors.New("it is an address")
	}
	host, err = web.ASCII(host)
	if err == nil && !strings.Contains(host, ".") {
		err = errors.New("it has no dot")
	}
	return host, reduced, err
}

// A filter restricts the hosts of results. Its names are normalized by [hostName].
type filter struct{ allowed, blocked []string }

// keeps reports whether a page may be shown. If there is a filter, a page with an unknown host
// may not.
func (f filter) keeps(p hit) bool {
	if len(f.allowed)+len(f.blocked) == 0 {
		return true
	}
	host := p.site
	if host == "" {
		u, err := url.Parse(p.URL)
		if err != nil {
			return false
		}
		host = u.Hostname()
	}
	host, err := web.ASCII(host)
	if err != nil {
		return false
	}
	under := func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }
	if len(f.allowed) > 0 {
		return slices.ContainsFunc(f.allowed, under)
	}
	return !slices.ContainsFunc(f.blocked, under)
}
