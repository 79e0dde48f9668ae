package oauth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	googleScope = "https://www.googleapis.com/auth/cloud-platform"
	googleToken = "https://oauth2.googleapis.com/token"
)

// A googleFile is a credentials file. Its fields depend on the type.
type googleFile struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	QuotaProject string `json:"quota_project_id"`
	TokenURI     string `json:"token_uri"`

	// service_account
	Email string `json:"client_email"`
	Key   string `json:"private_key"`
	KeyID string `json:"private_key_id"`

	// authorized_user
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`

	// external_account and impersonated_service_account
	Audience      string          `json:"audience"`
	SubjectType   string          `json:"subject_token_type"`
	TokenURL      string          `json:"token_url"`
	Impersonation string          `json:"service_account_impersonation_url"`
	Source        *googleSource   `json:"credential_source"`
	Inner         json.RawMessage `json:"source_credentials"`
}

// A googleSource is the source of another cloud's token.
type googleSource struct {
	File    string            `json:"file"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Format  struct {
		Type  string `json:"type"`
		Field string `json:"subject_token_field_name"`
	} `json:"format"`
}

var errNoGoogle = errors.New("no Google credentials were found; run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file")

// googlePath returns the path of the default credentials file.
func (e Env) googlePath() string {
	if file := e.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); file != "" {
		return file
	}
	dir := e.Getenv("CLOUDSDK_CONFIG")
	if dir == "" && runtime.GOOS == "windows" {
		dir = filepath.Join(e.Getenv("APPDATA"), "gcloud")
	} else if dir == "" {
		dir = filepath.Join(e.Home, ".config", "gcloud")
	}
	return filepath.Join(dir, "application_default_credentials.json")
}

// googleFile reads the default credentials file. It returns nil if the file does not exist.
func (e Env) googleFile() (*googleFile, error) {
	path := e.googlePath()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) && e.Getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the Google credentials: %w", err)
	}
	var f googleFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("the file of Google credentials %s is not JSON", path)
	}
	return &f, nil
}

// GoogleProject returns the user's current project, or "".
func (e Env) GoogleProject() string {
	for _, name := range [...]string{"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "GCP_PROJECT"} {
		if v := e.Getenv(name); v != "" {
			return v
		}
	}
	f, err := e.googleFile()
	if err != nil || f == nil {
		return "" // ok: getting the token uses the same file and reports the error
	}
	if f.ProjectID != "" {
		return f.ProjectID
	}
	return f.QuotaProject
}

// Google returns a token for Google Cloud's default credentials: a file or the machine itself.
func (e Env) Google(ctx context.Context) (Token, error) {
	f, err := e.googleFile()
	switch {
	case err != nil:
		return Token{}, err
	case f == nil:
		return e.googleMachine(ctx)
	}
	t, err := e.googleFrom(ctx, f)
	var r *serviceError
	if errors.As(err, &r) && (r.code == "invalid_grant" || r.code == "invalid_rapt") {
		return Token{}, errors.New("the Google credentials have expired or were withdrawn; run `gcloud auth application-default login`, or name that command in gcpAuthRefresh")
	}
	return t, err
}

func (e Env) googleFrom(ctx context.Context, f *googleFile) (Token, error) {
	if f.TokenURI == "" {
		f.TokenURI = googleToken
	}
	switch f.Type {
	case "service_account":
		assertion, err := f.assertion(time.Now())
		if err != nil {
			return Token{}, err
		}
		return e.post(ctx, f.TokenURI, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}})
	case "authorized_user":
		return e.post(ctx, f.TokenURI, url.Values{
			"grant_type": {"refresh_token"}, "client_id": {f.ClientID}, "client_secret": {f.ClientSecret}, "refresh_token": {f.RefreshToken},
		})
	case "impersonated_service_account":
		var inner googleFile
		if err := json.Unmarshal(f.Inner, &inner); err != nil || inner.Type == f.Type {
			return Token{}, errors.New("the Google credentials of another account have no usable source_credentials")
		}
		t, err := e.googleFrom(ctx, &inner)
		if err != nil {
			return Token{}, err
		}
		return e.impersonate(ctx, f.Impersonation, t)
	case "external_account":
		return e.external(ctx, f)
	}
	return Token{}, fmt.Errorf("Google credentials of type %q are not supported; use a service account, `gcloud auth application-default login`, workload identity with a file or a URL, or the machine's own account", f.Type)
}

// assertion returns a JWT, signed with a service account's key, that requests a token.
func (f *googleFile) assertion(now time.Time) (string, error) {
	block, _ := pem.Decode([]byte(f.Key))
	if block == nil {
		return "", errors.New("the private key of the Google service account cannot be read; create a new key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return "", errors.New("the private key of the Google service account cannot be read; create a new key")
	}
	head, _ := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": f.KeyID})
	claims, _ := json.Marshal(map[string]any{ // ok, as above: it cannot fail
		"iss": f.Email, "scope": googleScope, "aud": f.TokenURI, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("signing with the key of the Google service account: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// external exchanges another cloud's token for a Google token.
func (e Env) external(ctx context.Context, f *googleFile) (Token, error) {
	subject, err := e.subject(ctx, f.Source)
	if err != nil {
		return Token{}, err
	}
	t, err := e.post(ctx, f.TokenURL, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "audience": {f.Audience}, "scope": {googleScope},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "subject_token": {subject}, "subject_token_type": {f.SubjectType},
	})
	if err != nil || f.Impersonation == "" {
		return t, err
	}
	return e.impersonate(ctx, f.Impersonation, t)
}

// subject returns the other cloud's token.
func (e Env) subject(ctx context.Context, s *googleSource) (string, error) {
	var text []byte
	var err error
	switch {
	case s != nil && s.File != "":
		text, err = os.ReadFile(s.File)
	case s != nil && s.URL != "":
		text, err = e.fetch(ctx, s)
	default:
		return "", errors.New("Google credentials of an external account are supported with a file or a URL as their source only")
	}
	if err != nil {
		return "", fmt.Errorf("reading the token of the external account: %w", err)
	}
	if s.Format.Type == "json" {
		var members map[string]any
		if json.Unmarshal(text, &members) != nil {
			return "", errors.New("the token of the external account is not in JSON")
		}
		token, _ := members[s.Format.Field].(string)
		text = []byte(token)
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return "", errors.New("the token of the external account is empty")
	}
	return string(text), nil
}

// fetch returns the response from the URL of s, which can be a local service.
func (e Env) fetch(ctx context.Context, s *googleSource) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range s.Headers {
		req.Header.Set(name, value)
	}
	res, err := e.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxAnswer))
}

// impersonate returns a token for the service account that address identifies.
func (e Env) impersonate(ctx context.Context, address string, as Token) (Token, error) {
	body, _ := json.Marshal(map[string]any{"scope": []string{googleScope}, "lifetime": "3600s"}) // ok: it cannot fail
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Token{}, errors.New("the address of the service account is not one")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+as.Text)
	var got struct {
		Token   string    `json:"accessToken"`
		Expires time.Time `json:"expireTime"`
	}
	if err := ask(e.Client, req, &got); err != nil {
		return Token{}, err
	}
	if got.Token == "" {
		return Token{}, errors.New("the answer for the service account holds no token")
	}
	return Token{got.Token, got.Expires}, nil
}

// googleMachine returns a token for the service account of the machine this process runs on, if
// it is in Google Cloud.
func (e Env) googleMachine(ctx context.Context) (Token, error) {
	host := e.Getenv("GCE_METADATA_HOST")
	if host == "" {
		host = "169.254.169.254"
	}
	var a answer
	err := get(ctx, "http://"+host+"/computeMetadata/v1/instance/service-accounts/default/token", &a, "Metadata-Flavor", "Google")
	switch {
	case ctx.Err() != nil:
		return Token{}, context.Cause(ctx)
	case err != nil:
		return Token{}, errNoGoogle
	}
	return a.token()
}
