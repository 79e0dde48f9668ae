package webfetch

import (
	_ "embed"
	"net/url"
	"strings"
	"sync"
)

//go:embed preapproved.txt
var preapprovedFile string

// sites maps hosts to path prefixes; none means all paths.
type sites map[string][]string

// preapproved returns the list of pages that need no permission, loaded on first use.
func preapproved() func() sites {
	return sync.OnceValue(func() sites { return parseSites(preapprovedFile) })
}

func parseSites(file string) sites {
	l := sites{}
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		host, path, partial := strings.Cut(line, "/")
		if partial {
			l[host] = append(l[host], "/"+path)
		} else {
			l[host] = nil
		}
	}
	return l
}

// has reports whether a page, as returned by [web.Client.Check], is on the list: on the default
// port, and below any of its host's paths.
func (l sites) has(u *url.URL) bool {
	paths, ok := l[u.Host] // includes a non-default port
	if !ok || len(paths) == 0 {
		return ok
	}
	if strings.Contains(u.EscapedPath(), "%") || strings.Contains(u.Path, "//") {
		return false // servers interpret it differently
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == ".." || segment == "." {
			return false
		}
	}
	for _, path := range paths {
		if u.Path == path || strings.HasPrefix(u.Path, path+"/") {
			return true
		}
	}
	return false
}
