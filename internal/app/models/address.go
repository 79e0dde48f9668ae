package models

import (
	"net"
	"net/url"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// localAddress returns the base URL of a local server from the user's setting, which may lack
// the scheme, the port or both, or be a listen address. The usual address supplies the missing
// parts.
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
		return said // the client reports the error
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

// normalized returns the base URL for a dialect's relative paths. base may end with a version,
// a slash, or the path itself.
func normalized(d wire.Dialect, base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return base // the client reports the error
	}
	path, _, _ := strings.Cut(d.Path(&model.Request{Model: "m"}), "?")
	at := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/"+path)
	version, _, versioned := strings.Cut(path, "/")
	switch versioned = versioned && strings.HasPrefix(version, "v1"); {
	case versioned: // the dialect's paths include it
		at = strings.TrimSuffix(strings.TrimSuffix(at, "/models"), "/"+version)
	case at == "":
		at = "/v1"
	}
	u.Path, u.RawPath = at, ""
	return u.String()
}
