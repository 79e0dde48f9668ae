package webfetch

import (
	_ "embed"
	"net/url"
	"strings"
	"sync"
)

//go:embed preapproved.txt
var preapprovedFile string

// sites are hosts, each with the beginnings of the paths that are meant; none means all of them.
type sites map[string][]string

// preapproved returns the list of pages that need no permission. It is read when it is needed first.
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

// has reports whether a page, as [web.Client.Check] returns it, is on the list: over the usual port, and below one of the
// paths of its host.
func (l sites) has(u *url.URL) bool {
	paths, ok := l[u.Host] // with the port, if it is not the usual one
	if !ok || len(paths) == 0 {
		return ok
	}
	if strings.Contains(u.EscapedPath(), "%") || strings.Contains(u.Path, "//") {
		return false // servers differ in what they make of it
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
