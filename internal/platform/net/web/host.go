package web

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ASCII normalizes a host name for comparison and lookup: Punycode, lower case, without a
// trailing dot.
func ASCII(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", errors.New("it is not UTF-8")
	}
	ascii, err := profile().ToASCII(name)
	if err != nil {
		return "", errors.New("it is not an international domain name")
	}
	ascii = strings.TrimSuffix(ascii, ".")
	if ascii == "" || len(ascii) > 253 {
		return "", errors.New("it is empty or too long")
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", errors.New("it has a part that is empty, too long, or begins or ends with a hyphen")
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return "", errors.New("it has characters other than letters, digits and hyphens")
			}
		}
	}
	return ascii, nil
}

// profile maps names as if typed by a user, without exceptions.
func profile() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.ValidateLabels(true), idna.CheckHyphens(false),
		idna.CheckJoiners(true), idna.StrictDomainName(true))
}

// endsInNumber reports whether programs may parse an ASCII name as an IP address in some
// notation: decimal, octal, hexadecimal, or with fewer than four parts.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// private reports whether an ASCII name is only meaningful on this machine or in its network.
func private(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch last {
	case name, "localhost", "local", "internal", "localdomain", "lan", "home", "corp", "intranet", "private", "onion", "invalid":
		return true
	}
	return name == "home.arpa" || strings.HasSuffix(name, ".home.arpa")
}

// Hosts are non-public hosts that the user allows, such as a development server. The zero value
// is empty.
type Hosts struct {
	ports map[string]bool // host:port
}

// ParseHosts parses hosts such as "localhost:3000", "192.168.1.5" or "[::1]:8080". A host
// without a port means ports 80 and 443. Invalid hosts are skipped and reported in the error.
func ParseHosts(list []string) (Hosts, error) {
	h := Hosts{ports: map[string]bool{}}
	var errs []error
	for _, text := range list {
		host, port, err := parseHost(text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%q is not a host or host:port: %w", text, err))
		case port != "":
			h.ports[host+":"+port] = true
		default:
			h.ports[host+":80"], h.ports[host+":443"] = true, true
		}
	}
	return h, errors.Join(errs...)
}

func parseHost(text string) (host, port string, err error) {
	host = strings.TrimSpace(text)
	if strings.ContainsAny(host, "/@*") {
		return "", "", errors.New("write the host alone, without scheme, path or wildcard")
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && (strings.Count(host, ":") == 1 || strings.HasSuffix(host[:i], "]")) {
		host, port = host[:i], host[i+1:]
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
			return "", "", errors.New("its port is not a number from 1 to 65535")
		}
	}
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		if a.Zone() != "" {
			return "", "", errors.New("an address with a zone cannot be allowed")
		}
		return a.String(), port, nil
	}
	host, err = ASCII(host)
	return host, port, err
}

// has reports whether h contains a host, which must be normalized by [ASCII] or be an address.
func (h Hosts) has(host, port string) bool { return h.ports[host+":"+port] }
