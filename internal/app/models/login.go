package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/model/providers"
	"adze/internal/model/wire"
	"adze/internal/platform/net/keyring"
	"adze/internal/platform/net/pkce"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
	"adze/internal/setup"
)

// A Login stores a key for one provider.
type Login struct {
	// Provider is its name, and Host the only host its key is sent to.
	Provider, Host string
	// Page is the URL where the user creates a key; may be empty.
	Page string
	// Browser is true if a key can be obtained by signing in with a web browser.
	Browser bool

	c       Config
	row     *provider
	account providers.Account
	http    *http.Client
}

// checkLimit is the timeout for checking a key.
const checkLimit = 15 * time.Second

// NewLogin returns a login for the named provider.
func NewLogin(c Config, name string) (*Login, error) {
	rows := newTable(c.Settings, c.Say)
	row := rows.row(name)
	if row == nil {
		return nil, rows.unknown(name, StoredSource)
	}
	a := row.account
	l := &Login{Provider: name, c: c, row: row, Host: row.host(c.Settings), account: a, Page: a.Page, Browser: a.Authorize != ""}
	switch {
	case l.row.own != nil && (l.row.own.APIKeyEnv != "" || l.row.own.APIKeyHelper != ""):
		return nil, setup.Errorf("the settings define the key source of %s; remove apiKeyEnv or apiKeyHelper there to store a key", name)
	case l.row.own == nil && l.row.key == "":
		return nil, setup.Errorf("%s has no API key to store: it uses cloud credentials or none; see docs/models.md", name)
	case l.row.service == nil:
		return nil, setup.Errorf("this version does not support the provider %s", name)
	}
	if err := checkAddresses(c.Settings); err != nil {
		return nil, err
	}
	n, err := Network(c.Settings, c.Say)
	if err != nil {
		return nil, err
	}
	l.http = &http.Client{
		Transport:     transport.New(n),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return l, nil
}

func (l *Login) service() wire.Service {
	return l.row.service(l.c.Settings, l.row.address(l.c.Settings))
}

// Store stores a key.
func (l *Login) Store(ctx context.Context, key string, to keyring.Place) (keyring.Entry, error) {
	if l.c.Keys.store == nil {
		return keyring.Entry{}, setup.Errorf("no state home to store the key in; set HOME or ADZE_HOME")
	}
	return l.c.Keys.store.Set(ctx, l.Provider, l.Host, key, to)
}

// ErrNoKey reports an empty key.
var ErrNoKey = setup.Errorf("no key was given")

// CheckKey returns an error if key is malformed.
func CheckKey(key string) error {
	switch {
	case key == "":
		return ErrNoKey
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		what := "a character that no key has"
		switch {
		case strings.ContainsAny(key, "\r\n"):
			what = "a line break"
		case strings.ContainsAny(key, " \t"):
			what = "a space"
		}
		return setup.Errorf("that is not a key: it contains %s", what)
	}
	return nil
}

// ErrRejected reports that the provider does not accept a key.
var ErrRejected = errors.New("the provider does not accept the key")

// Check asks the provider whether it accepts the key, at no cost. An error other than
// [ErrRejected] means that the check failed.
func (l *Login) Check(ctx context.Context, key string) error {
	if l.account.Probe == "" {
		return errors.New("the provider has no request for that")
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	req, err := l.request(ctx, http.MethodGet, l.account.Probe, nil)
	if err != nil {
		return err
	}
	s := l.service()
	for name, values := range s.Header {
		req.Header[name] = values
	}
	if s.KeyHeader == "Authorization" {
		req.Header.Set(s.KeyHeader, "Bearer "+key)
	} else {
		req.Header.Set(s.KeyHeader, key)
	}
	status, body, err := l.send(req)
	switch {
	case err != nil:
		return err
	case status < 300:
		return nil
	}
	e := s.Dialect.Error(status, body)
	if status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusBadRequest {
		return fmt.Errorf("%w: %s", ErrRejected, strings.ReplaceAll(e.Message, key, "***"))
	}
	return fmt.Errorf("it answered with HTTP %d", status)
}

// SignIn obtains a key from the provider. show presents a URL for the user to open in a web
// browser.
func (l *Login) SignIn(ctx context.Context, show func(address string) error) (string, error) {
	if !l.Browser {
		return "", setup.Errorf("%s has no public way to sign in with a browser; store a key instead", l.Provider)
	}
	flow, err := pkce.Begin()
	if err != nil {
		return "", err
	}
	at, err := url.Parse(l.account.Authorize)
	if err != nil {
		return "", err
	}
	if base, err := url.Parse(l.row.endpoint(l.c.Settings)); err == nil && !l.service().Serves(base.String()) { // a gateway with the same pages
		at.Scheme, at.Host = base.Scheme, base.Host
	}
	at.RawQuery = url.Values{"callback_url": {flow.Callback()}, "code_challenge": {flow.Challenge()}, "code_challenge_method": {"S256"}}.Encode()
	if err := show(at.String()); err != nil {
		return "", err
	}
	code, err := flow.Wait(ctx)
	if err != nil {
		return "", err
	}
	return l.redeem(ctx, flow, code)
}

// redeem exchanges a code for a key.
func (l *Login) redeem(ctx context.Context, flow *pkce.Flow, code string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	body, err := json.Marshal(map[string]string{"code": code, "code_verifier": flow.Verifier(), "code_challenge_method": "S256"})
	if err != nil {
		return "", err
	}
	req, err := l.request(ctx, http.MethodPost, l.account.Exchange, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	status, text, err := l.send(req)
	var got struct {
		Key string `json:"key"`
	}
	switch {
	case err != nil:
		return "", err
	case status >= 300:
		return "", fmt.Errorf("%s did not exchange the code for a key: %s (HTTP %d)", l.Provider, l.service().Dialect.Error(status, text).Message, status)
	case json.Unmarshal(text, &got) != nil || got.Key == "":
		return "", fmt.Errorf("%s sent no key", l.Provider)
	}
	return got.Key, nil
}

// request returns a request to the provider's API.
func (l *Login) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	base := strings.TrimRight(l.row.endpoint(l.c.Settings), "/")
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("the base URL of %s is not a URL", l.Provider)
	case u.Scheme != "https" && !wire.IsLocal(base) && !settings.DecodeProviders(l.c.Settings).Network.AllowInsecure:
		return nil, setup.Errorf("the base URL would send the key to %s unencrypted; use https, or set ADZE_ALLOW_INSECURE_HTTP=1", u.Host)
	}
	if !strings.HasSuffix(base, "/"+l.account.Version) {
		base += "/" + l.account.Version
	}
	req, err := http.NewRequestWithContext(ctx, method, base+"/"+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", wire.UserAgent(l.c.Version))
	return req, nil
}

// send returns a response's status and the beginning of its body.
func (l *Login) send(req *http.Request) (status int, body []byte, err error) {
	defer l.http.CloseIdleConnections()
	res, err := l.http.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, body, err
}

// Recommended is the provider that the first start recommends.
const Recommended = "anthropic"

// Logins returns the providers for which a key can be stored.
func Logins() (names []string) {
	for i := range builtIn() {
		if p := &builtIn()[i]; p.key != "" && p.service != nil {
			names = append(names, p.name)
		}
	}
	return names
}
