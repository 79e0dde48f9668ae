// Package oauth obtains access tokens for Google Cloud and Azure using the credentials that
// their tools store.
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/platform/net/contacts"
)

// A Token grants access until it expires.
type Token struct {
	Text    string
	Expires time.Time
}

// Env is the environment in which credentials are looked up.
type Env struct {
	// Getenv returns an environment variable, or "".
	Getenv func(string) string
	// Home is the user's home directory.
	Home string
	// Client sends requests to token services.
	Client *http.Client
	// Run runs a shell command and returns its output.
	Run func(ctx context.Context, command string) ([]byte, error)
}

const (
	// maxAnswer limits the size of a response, in bytes.
	maxAnswer = 1 << 20
	// serviceTimeout limits one request to a token service.
	serviceTimeout = 15 * time.Second
	// metadataTimeout limits how long to wait for the metadata service.
	metadataTimeout = time.Second
)

// A serviceError is a token service's error response.
type serviceError struct {
	status int
	code   string // such as invalid_grant
	text   string
}

func (e *serviceError) Error() string {
	switch {
	case e.text != "":
		return fmt.Sprintf("the token service answers with status %d: %s", e.status, e.text)
	case e.code != "":
		return fmt.Sprintf("the token service answers with status %d: %s", e.status, e.code)
	}
	return fmt.Sprintf("the token service answers with status %d", e.status)
}

// ask sends req and decodes the response into v.
func ask(client *http.Client, req *http.Request, v any) error {
	ctx, cancel := context.WithTimeout(req.Context(), serviceTimeout)
	defer cancel()
	res, err := client.Do(req.WithContext(ctx))
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the URL may contain secrets
		}
		return fmt.Errorf("asking for an access token: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("asking for an access token: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return refused(res.StatusCode, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return errors.New("the answer of the token service is not JSON; check the proxy")
	}
	return nil
}

// refused parses an error response. Its error member is a string, or an object with a message.
func refused(status int, body []byte) *serviceError {
	var answer struct {
		Error       json.RawMessage `json:"error"`
		Description string          `json:"error_description"`
	}
	e := &serviceError{status: status}
	if json.Unmarshal(body, &answer) != nil {
		return e
	}
	var inner struct{ Message string }
	if json.Unmarshal(answer.Error, &e.code) != nil && json.Unmarshal(answer.Error, &inner) == nil {
		e.text = inner.Message
	}
	if answer.Description != "" {
		e.text, _, _ = strings.Cut(answer.Description, "\r\n")
	}
	return e
}

// An answer is a token response.
type answer struct {
	AccessToken string `json:"access_token"`
	// ExpiresIn and ExpiresOn are seconds from now or since the epoch, encoded as a number or a
	// string.
	ExpiresIn number `json:"expires_in"`
	ExpiresOn number `json:"expires_on"`
}

func (a answer) token() (Token, error) {
	t := Token{Text: a.AccessToken, Expires: time.Now().Add(time.Duration(a.ExpiresIn) * time.Second)}
	if a.ExpiresOn > 0 {
		t.Expires = time.Unix(int64(a.ExpiresOn), 0)
	}
	if t.Text == "" {
		return Token{}, errors.New("the answer of the token service holds no token")
	}
	return t, nil
}

// A number may be encoded as a string.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	return json.Unmarshal([]byte(strings.Trim(string(text), `"`)), (*float64)(n))
}

// post sends a form to a token service.
func (e Env) post(ctx context.Context, address string, form url.Values) (Token, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return Token{}, errors.New("the address of the token service is not one")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var a answer
	if err := ask(e.Client, req, &a); err != nil {
		return Token{}, err
	}
	return a.token()
}

// get sends a request to a service on this machine or its host, without a proxy. headers
// alternates names and values.
func get(ctx context.Context, address string, v any, headers ...string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	contacts.Add(req.URL.Host, contacts.Cloud)
	client := &http.Client{
		Timeout:   3 * time.Second,
		Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: metadataTimeout}).DialContext, DisableKeepAlives: true, ResponseHeaderTimeout: metadataTimeout},
	}
	return ask(client, req, v)
}
