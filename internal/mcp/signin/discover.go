package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adze/internal/mcp/roster"
	"adze/internal/platform/net/browser"
	"adze/internal/tool"
)

// A resource is a server's metadata (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// A service is an authorization server's metadata (RFC 8414, OpenID Connect Discovery).
type service struct {
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Register  string   `json:"registration_endpoint"`
	Revoke    string   `json:"revocation_endpoint"`
	Scopes    []string `json:"scopes_supported"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"`
	PKCE      []string `json:"code_challenge_methods_supported"`
	// NamesItself means that its redirects carry the issuer (RFC 9207).
	NamesItself bool `json:"authorization_response_iss_parameter_supported"`
	// Documents means that a document's URL can be a client ID.
	Documents bool `json:"client_id_metadata_document_supported"`
}

// A discovery describes where and how the user signs in to a server.
type discovery struct {
	service  service
	resource string
	scopes   []string // scopes to request; may be empty
}

// discover finds where the user signs in to the server of e, given its challenge.
func (f *fetcher) discover(ctx context.Context, e *roster.Entry, c challenge) (discovery, error) {
	server, err := canonical(e.URL)
	if err != nil {
		return discovery{}, err
	}
	r, err := f.describe(ctx, server, c.metadata)
	if err != nil {
		return discovery{}, err
	}
	out := discovery{resource: server.String()}
	issuer := originOf(server)
	if r != nil {
		out.resource, issuer = r.Resource, r.Issuers[0]
	}
	switch {
	case e.OAuth != nil && e.OAuth.MetadataURL != "":
		if err = f.get(ctx, e.OAuth.MetadataURL, &out.service); err == nil && out.service.Issuer == "" {
			err = errors.New("it names no issuer")
		}
		if err != nil {
			return discovery{}, fmt.Errorf("the authServerMetadataUrl of the configuration cannot be used: %w", err)
		}
	default:
		there, err := f.serviceOf(ctx, issuer, r == nil, &out.service)
		if err != nil {
			return discovery{}, err
		}
		if there {
			break
		}
		if r != nil {
			return discovery{}, fmt.Errorf("the authorization server %s does not describe itself", tool.OneLine(issuer, maxSaid))
		}
		// Defaults for servers of revision 2025-03-26, which need no metadata.
		out.service = service{Issuer: issuer, Authorize: issuer + "/authorize", Token: issuer + "/token", Register: issuer + "/register", PKCE: []string{"S256"}}
	}
	if err := f.usable(&out.service); err != nil {
		return discovery{}, err
	}
	switch {
	case e.OAuth != nil && len(e.OAuth.Scopes) > 0:
		out.scopes = e.OAuth.Scopes
	case c.scope != "":
		out.scopes = strings.Fields(c.scope)
	case r != nil:
		out.scopes = r.Scopes
	}
	return out, nil
}

// canonical returns a server's address as a resource name.
func canonical(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("its address cannot be read")
	}
	switch u.Scheme = strings.ToLower(u.Scheme); u.Scheme {
	case "ws":
		u.Scheme = "http"
	case "wss":
		u.Scheme = "https"
	}
	u.Host, u.User, u.Fragment = strings.ToLower(u.Host), nil, ""
	return u, nil
}

// describe returns a server's metadata, or nil if it has none. At is the metadata's URL given
// by the server; may be empty.
func (f *fetcher) describe(ctx context.Context, server *url.URL, at string) (*resource, error) {
	const known = "/.well-known/oauth-protected-resource"
	root := originOf(server) + known
	var places []string
	if at != "" {
		places = append(places, at)
	}
	if path := strings.TrimRight(server.EscapedPath(), "/"); path != "" {
		places = append(places, root+path)
	}
	for _, place := range append(places, root) {
		var r resource
		err := f.get(ctx, place, &r)
		if absent(err, place != at) {
			continue
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("the server's description of itself cannot be used: %w", err)
		case !covers(r.Resource, server):
			return nil, fmt.Errorf("the server describes another one (%s); you are not signed in to it", tool.OneLine(r.Resource, maxSaid))
		case len(r.Issuers) == 0:
			return nil, errors.New("the server provides no authorization metadata")
		}
		return &r, nil
	}
	return nil, nil
}

// covers reports whether a resource is the server or contains it.
func covers(name string, server *url.URL) bool {
	u, err := canonical(name)
	if err != nil || !sameOrigin(u, server) || u.RawQuery != "" && u.RawQuery != server.RawQuery {
		return false
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	return server.EscapedPath() == path || strings.HasPrefix(server.EscapedPath(), path+"/") || path == "" && server.EscapedPath() == ""
}

// serviceOf reads an authorization server's metadata into s, and reports whether it exists. Own
// means that it is the tool server itself, which may name any part of itself as the issuer.
func (f *fetcher) serviceOf(ctx context.Context, issuer string, own bool, s *service) (bool, error) {
	if err := f.check(issuer); err != nil {
		return false, fmt.Errorf("the server sends you elsewhere to sign in: %w", err)
	}
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" {
		return false, errors.New("the address of the authorization server cannot be read")
	}
	origin, path := originOf(u), strings.TrimRight(u.EscapedPath(), "/")
	places := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + "/.well-known/openid-configuration" + path,
	}
	if path != "" {
		places = append(places, origin+path+"/.well-known/openid-configuration")
	}
	for _, place := range places {
		*s = service{}
		err := f.get(ctx, place, s)
		if absent(err, true) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("the description of the authorization server cannot be used: %w", err)
		}
		if !sameIssuer(s.Issuer, issuer) && !(own && sameOriginText(s.Issuer, issuer)) {
			return false, fmt.Errorf("the authorization server %s identifies itself as %s", tool.OneLine(issuer, maxSaid), tool.OneLine(s.Issuer, maxSaid))
		}
		return true, nil
	}
	return false, nil
}

// sameIssuer reports whether two issuer names are equal, ignoring a trailing slash and the
// scheme's default port.
func sameIssuer(a, b string) bool {
	if !sameOriginText(a, b) {
		return false
	}
	x, _ := url.Parse(a) // ok: they have an origin
	y, _ := url.Parse(b)
	return strings.TrimRight(x.EscapedPath(), "/") == strings.TrimRight(y.EscapedPath(), "/") && x.RawQuery == y.RawQuery
}

// sameOriginText is [sameOrigin] for addresses that may be invalid.
func sameOriginText(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && sameOrigin(x, y)
}

// usable returns the reason an authorization server cannot be used, or nil. It clears unusable
// optional addresses.
func (f *fetcher) usable(s *service) error {
	if s.Authorize == "" || s.Token == "" {
		return errors.New("the authorization server's metadata has no endpoints")
	}
	if err := f.check(s.Authorize); err != nil {
		return fmt.Errorf("the page to sign in at is refused: %w", err)
	}
	if err := browser.Check(s.Authorize); err != nil {
		return fmt.Errorf("the page to sign in at is refused: %w", err)
	}
	if err := f.check(s.Token); err != nil {
		return fmt.Errorf("where tokens are issued is refused: %w", err)
	}
	if !slices.Contains(s.PKCE, "S256") {
		return errors.New("the authorization server does not offer PKCE with S256, without which codes can be stolen; it is not used")
	}
	if f.check(s.Register) != nil {
		s.Register = ""
	}
	if f.check(s.Revoke) != nil {
		s.Revoke = ""
	}
	return nil
}

// challenge requests a server's challenge by contacting it without a token.
func (f *fetcher) challenge(ctx context.Context, e *roster.Entry) (challenge, error) {
	u, err := canonical(e.URL)
	if err != nil {
		return challenge{}, err
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"adze","version":"1"}}}`
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	method, body := http.MethodPost, hello
	if e.Type != roster.HTTP {
		method, body = http.MethodGet, ""
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
	if err != nil {
		return challenge{}, errors.New("its address cannot be read")
	}
	for name, value := range e.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", "adze/"+f.version)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := f.http.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return challenge{}, fmt.Errorf("asking %s: %w", u.Host, err)
	}
	res.Body.Close() // ok: only the header counts
	return challengeOf(res.Header), nil
}
