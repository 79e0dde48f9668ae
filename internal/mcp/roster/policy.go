package roster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"adze/internal/platform/text/wildcard"
)

// A Policy holds an administrator's restrictions on servers. The zero value allows all.
type Policy struct {
	allow      []criterion
	restricted bool // only servers in allow
	deny       []criterion
}

// A criterion matches servers by name, command or address. Empty fields match anything.
type criterion struct {
	Name    string          `json:"serverName"`
	Command json.RawMessage `json:"serverCommand"`
	URL     string          `json:"serverUrl"`

	words []string // command and arguments
}

// Allow adds a list of allowed servers; from then on no others are allowed. Invalid list
// entries are dropped and returned as an error.
func (p *Policy) Allow(raw json.RawMessage) error {
	p.restricted = true
	list, err := criteria(raw)
	p.allow = append(p.allow, list...)
	return err
}

// Deny adds a list of denied servers. On error the list is incomplete, so all servers are
// denied.
func (p *Policy) Deny(raw json.RawMessage) error {
	list, err := criteria(raw)
	p.deny = append(p.deny, list...)
	return err
}

func criteria(raw json.RawMessage) (list []criterion, err error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, errors.New("it is not a list")
	}
	var problems []error
	for i, item := range items {
		c, err := readCriterion(item)
		if err != nil {
			problems = append(problems, fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		list = append(list, c)
	}
	return list, errors.Join(problems...)
}

func readCriterion(raw json.RawMessage) (c criterion, err error) {
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, errors.New("it is not an object with serverName, serverCommand or serverUrl")
	}
	if len(c.Command) > 0 && string(c.Command) != "null" {
		var line string
		if json.Unmarshal(c.Command, &line) == nil {
			c.words = strings.Fields(line)
		} else if json.Unmarshal(c.Command, &c.words) != nil || len(c.words) == 0 {
			return c, errors.New("serverCommand is not a list of a command and its arguments")
		}
	}
	if c.Name == "" && len(c.words) == 0 && c.URL == "" {
		return c, errors.New("it has none of serverName, serverCommand and serverUrl")
	}
	return c, nil
}

// check returns the reason a server may not be used, or nil.
func (p *Policy) check(e *Entry) error {
	if slices.ContainsFunc(p.deny, func(c criterion) bool { return c.matches(e, true) }) {
		return errors.New("an administrator has denied this server (deniedMcpServers)")
	}
	if !p.restricted {
		return nil
	}
	// If commands or addresses are listed, a name is not enough: users choose names.
	byCommand := slices.ContainsFunc(p.allow, func(c criterion) bool { return len(c.words) > 0 })
	byURL := slices.ContainsFunc(p.allow, func(c criterion) bool { return c.URL != "" })
	for _, c := range p.allow {
		switch {
		case !c.matches(e, false):
		case e.Type == Stdio && byCommand && len(c.words) == 0:
		case e.Remote() && byURL && c.URL == "":
		default:
			return nil
		}
	}
	return errors.New("not in the administrator's list of allowed servers (allowedMcpServers)")
}

// matches reports whether the criterion matches a server. If it denies, a command matches with
// or without its directory.
func (c *criterion) matches(e *Entry, denies bool) bool {
	if c.Name != "" && !strings.EqualFold(Name(c.Name), e.Name) && c.Name != e.Given {
		return false
	}
	if len(c.words) > 0 {
		same := e.Command == c.words[0] || denies && base(e.Command) == base(c.words[0])
		if e.Type != Stdio || !same || !slices.Equal(e.Args, c.words[1:]) {
			return false
		}
	}
	if c.URL == "" {
		return true
	}
	return e.Remote() && wildcard.Match(plainURL(e.URL), wildcard.Split(plainPattern(c.URL)), false)
}

// plainURL returns an address normalized for comparison.
func plainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.User, u.Scheme = nil, strings.ToLower(u.Scheme)
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	switch {
	case port != "" && port != map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme]:
		u.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
	default:
		u.Host = host
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return u.String()
}

// plainPattern normalizes the part of a pattern before the path for comparison with [plainURL].
func plainPattern(pattern string) string {
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		return pattern
	}
	host, path, has := strings.Cut(rest, "/")
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "ws": ":80", "https": ":443", "wss": ":443"}[scheme])
	if !has && strings.HasSuffix(host, "*") {
		return scheme + "://" + host // matches any path, too
	}
	return scheme + "://" + host + "/" + path
}
