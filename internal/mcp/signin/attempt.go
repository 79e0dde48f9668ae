package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/platform/net/browser"
	"adze/internal/platform/net/pkce"
	"adze/internal/tool"
)

// An Attempt is a sign-in to a server in progress. It listens for the browser until Wait
// returns or it is closed.
type Attempt struct {
	// URL is the page for the user to open in a web browser.
	URL string

	holder *holder
	entry  *roster.Entry
	fetch  *fetcher
	flow   *pkce.Flow
	grant  grant // known values before the token
	asked  []string
}

// Begin finds a server's authorization service and prepares the sign-in. Scopes, which may be
// empty, are requested in addition to the server's.
func (k *TokenStore) Begin(ctx context.Context, e *roster.Entry, scopes ...string) (*Attempt, error) {
	if !e.Remote() {
		return nil, fmt.Errorf("the server %s is a program on this machine; there is nothing to sign in to", e.Name)
	}
	if e.Problem != nil {
		return nil, e.Problem
	}
	for name := range e.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil, fmt.Errorf("the configuration of %s has the header Authorization, which is sent in place of a token; remove it to sign in", e.Name)
		}
	}
	f, err := k.fetcher(ctx, e)
	if err != nil {
		return nil, err
	}
	a, err := k.begin(ctx, f, e, scopes)
	if err != nil {
		f.close()
		return nil, fmt.Errorf("signing in to %s: %w", e.Name, clean(err))
	}
	return a, nil
}

func (k *TokenStore) begin(ctx context.Context, f *fetcher, e *roster.Entry, scopes []string) (*Attempt, error) {
	if server, err := canonical(e.URL); err != nil {
		return nil, err
	} else if err := f.check(server.String()); err != nil {
		return nil, fmt.Errorf("tokens are sent over https only: %w", err)
	}
	h := k.holder(e)
	c, known := h.challenged()
	if !known {
		c, known = k.Cache.challenge(e)
	}
	if !known || c.metadata == "" && c.scope == "" {
		var err error
		if c, err = f.challenge(ctx, e); err != nil {
			return nil, err
		}
	}
	there, err := f.discover(ctx, e, c)
	if err != nil {
		return nil, err
	}
	s := there.service
	port := 0
	if e.OAuth != nil {
		port = e.OAuth.CallbackPort
	}
	flow, err := pkce.BeginAt(port, func(q url.Values) error {
		iss := q.Get("iss")
		switch {
		case iss == "" && !s.NamesItself, iss != "" && iss == s.Issuer:
			return nil
		case iss == "":
			return errors.New("the response does not identify its authorization server")
		}
		return fmt.Errorf("the answer is from another authorization server (%s)", tool.OneLine(iss, maxSaid))
	})
	if err != nil {
		return nil, fmt.Errorf("no port to listen for the browser at: %w", err)
	}
	a := &Attempt{holder: h, entry: e, fetch: f, flow: flow}
	a.grant = grant{Server: e.URL, Issuer: s.Issuer, Resource: there.resource, TokenURL: s.Token, RevokeURL: s.Revoke}
	a.asked = union(h.granted(ctx, s.Issuer), there.scopes, scopes)
	if slices.Contains(s.Scopes, "offline_access") {
		a.asked = union(a.asked, []string{"offline_access"})
	}
	if err := a.identify(ctx, &s); err != nil {
		a.Close()
		return nil, err
	}
	if a.URL, err = a.address(s.Authorize); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// union returns the distinct words of all lists, in order, omitting words that cannot be
// scopes.
func union(lists ...[]string) (all []string) {
	for _, list := range lists {
		for _, word := range list {
			odd := strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' })
			if word != "" && !odd && len(word) <= 256 && len(all) < 256 && !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// Client authentication methods.
const (
	byNothing = "none"
	byHeader  = "client_secret_basic"
	byForm    = "client_secret_post"
)

// identify determines the client identity: the configured one, or one registered with the
// service now.
func (a *Attempt) identify(ctx context.Context, s *service) error {
	if o := a.entry.OAuth; o != nil && o.ClientID != "" && (s.Documents || s.Register == "" || !strings.HasPrefix(o.ClientID, "https://")) {
		a.grant.Client, a.grant.Secret = o.ClientID, o.ClientSecret
		a.grant.Method = method(s.Methods, "", o.ClientSecret)
		return nil
	}
	if s.Register == "" {
		return errors.New("the authorization server does not register programs by itself. Register adze there, with the " +
			"redirect address http://localhost:PORT/callback, and put clientId and callbackPort under oauth into the configuration of the server")
	}
	wish := byNothing
	if len(s.Methods) > 0 && !slices.Contains(s.Methods, byNothing) {
		wish = method(s.Methods, "", "a secret")
	}
	metadata := map[string]any{
		"client_name": "adze", "redirect_uris": []string{a.flow.Callback()},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": wish, "application_type": "native",
	}
	if len(a.asked) > 0 {
		metadata["scope"] = strings.Join(a.asked, " ")
	}
	body, err := json.Marshal(metadata)
	if err != nil {
		return err
	}
	var answer struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if err := a.fetch.post(ctx, s.Register, "application/json", string(body), nil, &answer); err != nil {
		return fmt.Errorf("the authorization server does not register adze: %w", err)
	}
	if answer.ID == "" {
		return errors.New("the authorization server does not register adze: it gives it no name")
	}
	a.grant.Client, a.grant.Secret = answer.ID, answer.Secret
	a.grant.Method = method(s.Methods, answer.Method, answer.Secret)
	return nil
}

// method returns the authentication method for a client with or without a secret. Said is the
// service's choice for this client.
func method(offered []string, said, secret string) string {
	switch {
	case secret == "" || said == byNothing:
		return byNothing
	case said == byHeader || said == byForm:
		return said
	case slices.Contains(offered, byForm) && !slices.Contains(offered, byHeader):
		return byForm
	}
	return byHeader
}

// address returns the URL of the page that the user opens.
func (a *Attempt) address(authorize string) (string, error) {
	u, err := url.Parse(authorize)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", a.grant.Client)
	q.Set("redirect_uri", a.flow.Callback())
	q.Set("state", a.flow.State())
	q.Set("code_challenge", a.flow.Challenge())
	q.Set("code_challenge_method", "S256")
	q.Set("resource", a.grant.Resource)
	if len(a.asked) > 0 {
		q.Set("scope", strings.Join(a.asked, " "))
	}
	if slices.Contains(a.asked, "offline_access") {
		q.Set("prompt", "consent") // required for OpenID Connect to honor that scope
	}
	u.RawQuery = q.Encode()
	return u.String(), browser.Check(u.String())
}

// Paste takes the address that the browser was redirected to, if the browser is on another
// machine. It returns an error if the text is not such an address; the attempt then continues.
func (a *Attempt) Paste(text string) error { return a.flow.Paste(text) }

// Close aborts the attempt, unless Wait is running.
func (a *Attempt) Close() {
	a.flow.Close()
	a.fetch.close()
}

// Wait returns when the user has signed in and the token is stored.
func (a *Attempt) Wait(ctx context.Context) error {
	defer a.fetch.close()
	code, err := a.flow.Wait(ctx)
	if err == nil {
		err = a.redeem(ctx, code)
	}
	if err != nil {
		return fmt.Errorf("signing in to %s: %w", a.entry.Name, clean(err))
	}
	a.holder.keeper.Cache.Clear(a.entry)
	return nil
}

// clean returns an error whose text is safe to show even if a server wrote it.
func clean(err error) error {
	if text := err.Error(); tool.OneLine(text, 2*maxSaid) != text {
		return errors.New(tool.OneLine(text, 2*maxSaid))
	}
	return err
}

// redeem exchanges a code for a token and stores it.
func (a *Attempt) redeem(ctx context.Context, code string) error {
	g := a.grant
	g.Scope = strings.Join(a.asked, " ")
	err := g.ask(ctx, a.fetch, a.holder.keeper.c.Now(), url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.flow.Callback()}, "code_verifier": {a.flow.Verifier()},
	})
	if err != nil {
		return err
	}
	return a.holder.take(ctx, &g)
}

// A grant is the user's authorization: a token, and the data needed to refresh it.
type grant struct {
	// Server is the address that the token is for.
	Server    string `json:"server"`
	Issuer    string `json:"issuer"`
	Resource  string `json:"resource"`
	TokenURL  string `json:"tokenUrl"`
	RevokeURL string `json:"revokeUrl,omitempty"`
	Client    string `json:"client"`
	Secret    string `json:"secret,omitempty"`
	Method    string `json:"method"`
	Access    string `json:"access"`
	Refresh   string `json:"refresh,omitempty"`
	Scope     string `json:"scope,omitempty"`
	// Wanted is the additional scope the server requested after the user's authorization proved
	// insufficient.
	Wanted string `json:"wanted,omitempty"`
	// Issued and Expires delimit the token's lifetime; Expires is zero if unknown.
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires,omitzero"`
}

// identified adds the client identity to a form, and returns a function that sets headers.
func (g *grant) identified(form url.Values) func(http.Header) {
	if g.Method == byHeader {
		return func(h http.Header) {
			both := url.QueryEscape(g.Client) + ":" + url.QueryEscape(g.Secret)
			h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(both)))
		}
	}
	form.Set("client_id", g.Client)
	if g.Method == byForm {
		form.Set("client_secret", g.Secret)
	}
	return nil
}

// ask requests a token with a form, and stores it in g.
func (g *grant) ask(ctx context.Context, f *fetcher, now time.Time, form url.Values) error {
	form.Set("resource", g.Resource)
	who := g.identified(form)
	var answer struct {
		Access  string  `json:"access_token"`
		Type    string  `json:"token_type"`
		Refresh string  `json:"refresh_token"`
		Scope   string  `json:"scope"`
		Seconds seconds `json:"expires_in"`
		// Some services refuse with status 200.
		Error string `json:"error"`
		Text  string `json:"error_description"`
	}
	if err := f.post(ctx, g.TokenURL, "application/x-www-form-urlencoded", form.Encode(), who, &answer); err != nil {
		return fmt.Errorf("asking for a token: %w", err)
	}
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	switch {
	case answer.Access == "" && answer.Error != "":
		return fmt.Errorf("asking for a token: %w", &statusError{hostOf(g.TokenURL), http.StatusBadRequest, answer.Error, answer.Text})
	case answer.Access == "" || strings.ContainsFunc(answer.Access, odd) || strings.ContainsFunc(answer.Refresh, odd):
		return errors.New("the authorization server answers without a token that can be used")
	case !strings.EqualFold(answer.Type, "bearer"):
		return fmt.Errorf("the authorization server issues tokens of the type %q, which servers of tools do not take", tool.OneLine(answer.Type, 40))
	}
	g.Access, g.Issued, g.Expires = answer.Access, now, time.Time{}
	if answer.Refresh != "" {
		g.Refresh = answer.Refresh
	}
	if answer.Scope != "" {
		g.Scope = strings.Join(union(strings.Fields(answer.Scope)), " ")
	}
	if answer.Seconds > 0 {
		g.Expires = now.Add(time.Duration(min(float64(answer.Seconds), 10*365*24*3600) * float64(time.Second)))
	}
	return nil
}

// seconds may be written as a string.
type seconds float64

func (s *seconds) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return json.Unmarshal([]byte(strings.Trim(string(text), `"`)), (*float64)(s))
}
