package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"adze/internal/platform/net/web"
)

// A Domain is a host, or a group of hosts, that may be reached.
type Domain struct {
	host string // lower case; for a group, the common suffix
	wild bool   // matches any name below host
	port int    // 0 means the web ports, 80 and 443
}

// ParseDomain parses "example.org", "*.example.org" (all subdomains) or an IP address, each
// with an optional port.
func ParseDomain(text string) (Domain, error) {
	var d Domain
	host := text
	i := strings.LastIndexByte(text, ':')
	if i >= 0 && (strings.Count(text, ":") == 1 || strings.HasPrefix(text, "[")) && !strings.HasSuffix(text, "]") {
		port, err := strconv.Atoi(text[i+1:])
		if err != nil || port < 1 || port > 65535 {
			return Domain{}, fmt.Errorf("%q is not a port", text[i+1:])
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

// matches reports whether the domain covers a host, which was validated, at a port.
func (d Domain) matches(host string, port int) bool {
	if d.port != port && (d.port != 0 || port != 80 && port != 443) {
		return false
	}
	if d.wild {
		return strings.HasSuffix(host, "."+d.host)
	}
	return host == d.host
}

// hostName returns host normalized for comparing and dialing: lower case, and only letters,
// digits and hyphens, so that it cannot be interpreted differently later. It rejects names that
// some resolvers parse as addresses.
func hostName(host string) (string, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > 253 {
		return "", errors.New("not a host name")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", fmt.Errorf("%q is not a host name", host)
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return "", fmt.Errorf("%q is not a host name", host)
			}
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", fmt.Errorf("%q is not a host name", host)
	}
	return host, nil
}

// public reports whether addr belongs to a host on the internet, as opposed to this machine,
// its network or an address block that leads to them.
func public(addr netip.Addr) bool { return web.ClassOf(addr.Unmap()) == web.Public }
