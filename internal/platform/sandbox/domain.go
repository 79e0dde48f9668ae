package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"adze/internal/platform/web"
)

// A Domain is a host that may be reached, or a group of them.
type Domain struct {
	host string // in lower case; of a group, what its names end in
	wild bool   // any name below host
	port int    // 0 means those of the web, 80 and 443
}

// ParseDomain reads "example.org", "*.example.org" (everything below it), or an address; each may end in
// a port.
func ParseDomain(text string) (Domain, error) {
	var d Domain
	host := text
	i := strings.LastIndexByte(text, ':')
	if i >= 0 && (strings.Count(text, ":") == 1 || strings.HasPrefix(text, "[")) && !strings.HasSuffix(text, "]") {
		port, err := strconv.Atoi(text[i+1:])
		if err != nil || port < 1 || port > 65535 {
			return Domain{}, fmt.Errorf("%q is no port", text[i+1:])
		}
		host, d.port = text[:i], port
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		d.host = addr.Unmap().String()
		return d, nil
	}
	host, d.wild = strings.CutPrefix(host, "*.")
	name, err := hostName(host)
	if err != nil {
		return Domain{}, err
	}
	if d.wild && !strings.Contains(name, ".") {
		return Domain{}, fmt.Errorf("*.%s is too wide: name at least two parts, such as *.example.org", name)
	}
	d.host = name
	return d, nil
}

// matches reports whether the domain covers a host, which was checked, at a port.
func (d Domain) matches(host string, port int) bool {
	if d.port != port && (d.port != 0 || port != 80 && port != 443) {
		return false
	}
	if d.wild {
		return strings.HasSuffix(host, "."+d.host)
	}
	return host == d.host
}

// hostName returns host as it is compared and dialled: in lower case, and of letters, digits and hyphens
// only, so that no later reader can take it differently. Names that some resolvers take for addresses
// are no names.
func hostName(host string) (string, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > 253 {
		return "", errors.New("it is no host name")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", fmt.Errorf("%q is no host name", host)
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return "", fmt.Errorf("%q is no host name", host)
			}
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", fmt.Errorf("%q is no host name", host)
	}
	return host, nil
}

// public reports whether addr is that of a host on the internet, and not of this machine, its network or
// one of the blocks that lead to those.
func public(addr netip.Addr) bool { return web.ClassOf(addr.Unmap()) == web.Public }
