package rule

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"adze/internal/platform/net/web"
)

// parseDomain parses a host rule's content: domain:host, where *.host means its subdomains,
// with an optional port. A URL is reduced to its host, with a note.
func parseDomain(content string) (host string, note, err error) {
	host, ok := strings.CutPrefix(content, "domain:")
	if !ok && strings.Contains(content, "://") {
		if u, err := url.Parse(content); err == nil && HostOf(content) != "" {
			host = joinPort(CleanHost(u.Hostname()), u.Port())
			return host, fmt.Errorf("a rule names a host, not a page; it is read as domain:%s", host), nil
		}
	}
	if !ok {
		return "", nil, errors.New("write domain: and a host, such as domain:example.org")
	}
	host, port, ported := cutPort(host)
	host = CleanHost(host)
	_, noAddress := netip.ParseAddr(host)
	if bare := strings.TrimPrefix(host, "*."); bare == "" || strings.ContainsAny(bare, "*/@ \t") || noAddress != nil && strings.ContainsAny(bare, "[]:") {
		return "", nil, fmt.Errorf("%q is not a host; write domain:example.org, or domain:*.example.org for its subdomains", host)
	}
	if address, port, ok := endsInPort(strings.TrimPrefix(content, "domain:")); ok {
		return "", nil, fmt.Errorf("%s may be a port or part of the address; write domain:[%s]:%s or domain:[%s]", port, address, port, host)
	}
	if ported {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
			return "", nil, fmt.Errorf("%q is not a port; write domain:%s, or domain:%s for a non-standard port", port, host, joinPort(host, "8080"))
		}
	}
	return joinPort(host, port), nil, nil
}

// cutPort splits a host such as example.org:8080, ::1 or [::1]:8080 into host and port.
func cutPort(target string) (host, port string, ported bool) {
	if rest, ok := strings.CutPrefix(target, "["); ok {
		host, port, ok = strings.Cut(rest, "]")
		port, ported = strings.CutPrefix(port, ":")
		if !ok || port != "" && !ported {
			return target, "", false
		}
		return host, port, ported
	}
	if strings.Count(target, ":") > 1 {
		return target, "", false // an IPv6 address
	}
	return strings.Cut(target, ":")
}

// endsInPort reports whether an IPv6 address without brackets would also be one without its last
// group, which may be a port.
func endsInPort(target string) (address, port string, ok bool) {
	i := strings.LastIndexByte(target, ':')
	if i < 0 || strings.HasPrefix(target, "[") {
		return "", "", false
	}
	_, err := netip.ParseAddr(target[:i])
	_, bad := strconv.Atoi(target[i+1:])
	return target[:i], target[i+1:], strings.Contains(target[:i], ":") && err == nil && bad == nil
}

// joinPort is the inverse of cutPort. The port may be empty.
func joinPort(host, port string) string {
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// HostOf returns the host of a URL or host:port in the form rules use: with the port unless it
// is 443. It is empty if target has no host.
func HostOf(target string) string {
	if !strings.Contains(target, "://") {
		target = "https://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.User != nil || u.Hostname() == "" {
		return ""
	}
	host, port := CleanHost(u.Hostname()), u.Port()
	if port == "" && strings.EqualFold(u.Scheme, "http") {
		port = httpPort
	}
	if port == httpsPort {
		port = ""
	}
	return joinPort(host, port)
}

// Web ports, which a rule without a port covers.
const (
	httpPort  = "80"
	httpsPort = "443"
)

// WebHost returns a host from [HostOf] without the port if it is a web port.
func WebHost(target string) string {
	if host, port, _ := cutPort(target); port == httpPort {
		return host
	}
	return target
}

// CleanHost returns a host, or a host pattern beginning with *., normalized for comparison.
func CleanHost(host string) string {
	host = strings.TrimSpace(host)
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Unmap().WithZone("").String() // one spelling for each address
	}
	bare, wild := strings.CutPrefix(host, "*.")
	ascii, err := web.ASCII(bare)
	switch {
	case err != nil: // an IP address, or an unreachable name
		return strings.ToLower(strings.TrimSuffix(host, "."))
	case wild:
		return "*." + ascii
	}
	return ascii
}

// A HostIndex finds rules for hosts.
type HostIndex struct {
	byHost map[string][]*Rule // "*.host" for subdomains; with a port if the rule has one
	all    []*Rule            // broken rules: apply to every host
}

func (x *HostIndex) add(r *Rule) {
	host, _, err := parseDomain(r.Content)
	if err != nil || r.broken != nil {
		x.all = append(x.all, r)
		return
	}
	add(&x.byHost, host, r)
}

// Match returns a rule that applies to the host, in the form of [HostOf]. A rule without a port
// denies or asks about all ports, but allows only web ports.
func (x *HostIndex) Match(target string) *Rule {
	if len(x.all) > 0 {
		return x.all[0]
	}
	host, port, _ := cutPort(target)
	if port == "" {
		port = httpsPort
	}
	if r := x.at(host, port); r != nil {
		return r
	}
	for rest := host; ; {
		_, parent, ok := strings.Cut(rest, ".")
		if !ok {
			return nil
		}
		if r := x.at("*."+parent, port); r != nil {
			return r
		}
		rest = parent
	}
}

// at returns a rule with exactly this host or host pattern that covers the port.
func (x *HostIndex) at(host, port string) *Rule {
	if rules := x.byHost[joinPort(host, port)]; len(rules) > 0 {
		return rules[0]
	}
	for _, r := range x.byHost[host] {
		if r.Behavior != Allow || port == httpPort || port == httpsPort {
			return r
		}
	}
	return nil
}

// Any returns an arbitrary rule, or nil if the index is empty.
func (x *HostIndex) Any() *Rule {
	if len(x.all) > 0 {
		return x.all[0]
	}
	for _, rules := range x.byHost {
		return rules[0]
	}
	return nil
}
