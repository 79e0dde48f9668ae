package providers

import (
	"net"
	"net/url"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// localAddress returns the base URL of a server on this machine for what the user says about it, which may lack the
// scheme, the port or both, or be where the server listens. The usual address fills in the rest.
func localAddress(said, usual string) string {
	if said == "" {
		return ""
	}
	if !strings.Contains(said, "://") {
		said = "http://" + said
	}
	own, _ := url.Parse(usual) // ok: a constant
	u, err := url.Parse(said)
	if err != nil {
		return said // the client says what is wrong with it
	}
	host, port := u.Hostname(), u.Port()
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = own.Hostname()
	}
	if port == "" && u.Scheme == "http" {
		port = own.Port()
	}
	u.Host = host
	if port != "" {
		u.Host = net.JoinHostPort(host, port)
	}
	return u.String()
}

// normalized returns a base URL that the paths of a dialect are relative to, for one as users write it: with or without the
// version, a slash, or the path itself at its end.
func normalized(d wire.Dialect, base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return base // the client says what is wrong with it
	}
	path, _, _ := strings.Cut(d.Path(&model.Request{Model: "m"}), "?")
	at := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/"+path)
	version, _, versioned := strings.Cut(path, "/")
	switch versioned = versioned && strings.HasPrefix(version, "v1"); {
	case versioned: // the dialect's paths begin with it
		at = strings.TrimSuffix(strings.TrimSuffix(at, "/models"), "/"+version)
	case at == "":
		at = "/v1"
	}
	u.Path, u.RawPath = at, ""
	return u.String()
}
