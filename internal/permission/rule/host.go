package rule

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"adze/internal/platform/web"
)

// parseDomain reads the content of a rule for hosts: domain:host, where *.host means the hosts below
// it. A URL is read as its host, with a note.
func parseDomain(content string) (host string, note, err error) {
	host, ok := strings.CutPrefix(content, "domain:")
	if !ok && strings.Contains(content, "://") {
		if host = HostOf(content); host != "" {
			return host, fmt.Errorf("a rule speaks of a host, not of a page; it counts as domain:%s", host), nil
		}
	}
	if !ok {
		return "", nil, errors.New("write domain: and a host, such as domain:example.org")
	}
	host = CleanHost(host)
	if bare := strings.TrimPrefix(host, "*."); bare == "" || strings.ContainsAny(bare, "*/:@ \t") {
		return "", nil, fmt.Errorf("%q is no host; write domain:example.org, or domain:*.example.org for those below it", host)
	}
	return host, nil, nil
}

// HostOf returns the host of a URL, or of a host with a port; empty if there is none.
func HostOf(target string) string {
	if !strings.Contains(target, "://") {
		target = "https://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.User != nil {
		return ""
	}
	return CleanHost(u.Hostname())
}

// CleanHost returns a host, or a pattern of hosts that begins with *., as hosts are compared.
func CleanHost(host string) string {
	host = strings.TrimSpace(host)
	bare, wild := strings.CutPrefix(host, "*.")
	ascii, err := web.ASCII(bare)
	switch {
	case err != nil: // an address, or nothing that could be reached
		return strings.ToLower(strings.TrimSuffix(host, "."))
	case wild:
		return "*." + ascii
	}
	return ascii
}

// A HostIndex finds rules for hosts.
type HostIndex struct {
	byHost map[string][]*Rule // "*.host" for the hosts below
	all    []*Rule            // broken: every host
}

func (x *HostIndex) add(r *Rule) {
	host, _, err := parseDomain(r.Content)
	if err != nil || r.broken != nil {
		x.all = append(x.all, r)
		return
	}
	add(&x.byHost, host, r)
}

// Match returns a rule that speaks of the host. A host that is not known could be any.
func (x *HostIndex) Match(host string) *Rule {
	if len(x.all) > 0 {
		return x.all[0]
	}
	if rules := x.byHost[host]; len(rules) > 0 {
		return rules[0]
	}
	for rest := host; ; {
		_, parent, ok := strings.Cut(rest, ".")
		if !ok {
			return nil
		}
		if rules := x.byHost["*."+parent]; len(rules) > 0 {
			return rules[0]
		}
		rest = parent
	}
}

// Any returns some rule, or nil if there are none.
func (x *HostIndex) Any() *Rule {
	if len(x.all) > 0 {
		return x.all[0]
	}
	for _, rules := range x.byHost {
		return rules[0]
	}
	return nil
}
