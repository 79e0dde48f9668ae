package models

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"adze/internal/model/wire"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
)

// Chosen describes the provider chosen by a project's settings and the reason. It fails if none
// is configured.
func Chosen(p *settings.Project) (string, error) {
	keys := OpenKeys(p.Home)
	auth, err := Status(p, keys)
	switch {
	case err != nil:
		return "", err
	case keys.Err() != nil:
		return "", keys.Err()
	case !auth.LoggedIn:
		return "", errors.New("none is configured: store a key with adze auth login, or set a variable such as ANTHROPIC_API_KEY")
	}
	return auth.Provider + ", selected by " + auth.Why, nil
}

// Reach checks whether the chosen provider is reachable and describes its answer. No
// credentials are sent; any answer counts.
func Reach(ctx context.Context, c Config) (string, error) {
	rows := newTable(c.Settings, func(string) {}) // errors are reported on open
	chosen, err := rows.choose("", c.Settings, c.Keys)
	switch {
	case err != nil:
		return "", err
	case chosen.provider == nil:
		return "", errors.New("no provider to try")
	}
	at, err := url.Parse(chosen.provider.endpoint(c.Settings))
	if err != nil || at.Host == "" {
		return "the address of " + chosen.provider.name + " depends on the request, so it was not tried", nil
	}
	n, err := Network(c.Settings, c.Say)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, at.Scheme+"://"+at.Host+"/", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", wire.UserAgent(c.Version))
	client := &http.Client{
		Transport:     transport.New(n),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		var known *transport.Error
		if errors.As(err, &known) {
			return "", fmt.Errorf("%s. %s", known.Text, known.Advice)
		}
		return "", err
	}
	resp.Body.Close() // ok: only the existence of an answer matters
	return fmt.Sprintf("%s answers (HTTP %d)", at.Host, resp.StatusCode), nil
}
