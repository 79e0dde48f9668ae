package oauth

import (
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
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A service simulates the token services of both clouds.
type service struct {
	t     *testing.T
	key   *rsa.PublicKey
	asked string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	r.ParseForm()
	form, h := r.Form, r.Header
	s.asked += r.URL.Path + ";"
	say := func(status int, text string, args ...any) { w.WriteHeader(status); fmt.Fprintf(w, text, args...) }
	switch r.URL.Path {
	case "/token":
		switch form.Get("grant_type") {
		case "urn:ietf:params:oauth:grant-type:jwt-bearer":
			if err := s.check(form.Get("assertion")); err != nil {
				say(400, `{"error":"invalid_grant","error_description":%q}`, err.Error())
				return
			}
			say(200, `{"access_token":"service","expires_in":3599,"token_type":"Bearer"}`)
		case "refresh_token":
			if form.Get("refresh_token") != "good" {
				say(400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`)
				return
			}
			say(200, `{"access_token":"user","expires_in":3599}`)
		case "urn:ietf:params:oauth:grant-type:token-exchange":
			say(200, `{"access_token":"exchanged-%s","expires_in":3599}`, form.Get("subject_token"))
		}
	case "/impersonate":
		say(200, `{"accessToken":"as:%s","expireTime":"2099-01-01T00:00:00Z"}`, strings.TrimPrefix(h.Get("Authorization"), "Bearer "))
	case "/subject":
		say(200, `{"id":"from-%s"}`, h.Get("X-Who"))
	case "/computeMetadata/v1/instance/service-accounts/default/token":
		if h.Get("Metadata-Flavor") != "Google" {
			say(403, "")
			return
		}
		say(200, `{"access_token":"machine","expires_in":3599}`)
	case "/tenant/oauth2/v2.0/token":
		if form.Get("client_secret") == "wrong" {
			say(401, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided.\r\nTrace ID: x"}`)
			return
		}
		say(200, `{"access_token":"app%s%s for %s","expires_in":"3599"}`, form.Get("client_secret"), form.Get("client_assertion"), form.Get("scope"))
	case "/msi":
		say(200, `{"access_token":"site-%s","expires_on":"4070908800"}`, h.Get("X-Identity-Header"))
	case "/metadata/identity/oauth2/token":
		if h.Get("Metadata") != "true" || form.Get("resource") == "" {
			say(400, "")
			return
		}
		say(200, `{"access_token":"vm%s","expires_on":"4070908800","expires_in":"1"}`, form.Get("client_id"))
	case "/page":
		say(200, "<html>sign in</html>")
	default:
		say(404, `{"error":{"message":"Nothing here"}}`)
	}
}

// check verifies a signed assertion.
func (s *service) check(assertion string) error {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return errors.New("not three parts")
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(s.key, crypto.SHA256, sum[:], signature); err != nil {
		return err
	}
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if err := json.Unmarshal(text, &claims); err != nil {
		return err
	}
	if claims.Iss != "me@x" || claims.Scope != googleScope || !strings.HasSuffix(claims.Aud, "/token") || claims.Exp-claims.Iat != 3600 {
		return fmt.Errorf("claims %s", text)
	}
	return nil
}

// Proves PROV-03.
func TestTokens(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	fake := &service{t: t, key: &key.PublicKey}
	server := httptest.NewServer(fake)
	defer server.Close()
	pkcs8, _ := x509.MarshalPKCS8PrivateKey(key)
	account := func(blockType string, der []byte) string {
		text, _ := json.Marshal(map[string]string{
			"type": "service_account", "client_email": "me@x", "private_key_id": "k", "token_uri": server.URL + "/token",
			"private_key": string(pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der})),
		})
		return string(text)
	}
	user := func(refresh string) string {
		return `{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"` + refresh + `","token_uri":"SERVER/token"}`
	}
	const adc = ".config/gcloud/application_default_credentials.json"
	google := func(e Env, ctx context.Context) (Token, error) { return e.Google(ctx) }
	entra := func(e Env, ctx context.Context) (Token, error) { return e.Entra(ctx, "https://r") }
	for name, c := range map[string]struct {
		get    func(Env, context.Context) (Token, error)
		env    []string
		file   string // content of adc
		other  string // content of HOME/other
		az     string // output of the Azure CLI; "!" fails
		want   string
		wrong  string
		noneOf string // must not be in the error
	}{
		"service account":        {get: google, file: account("PRIVATE KEY", pkcs8), want: "service"},
		"service account of old": {get: google, file: account("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), want: "service"},
		"bad key":                {get: google, file: account("PRIVATE KEY", []byte("x")), wrong: "create a new key"},
		"no key":                 {get: google, file: `{"type":"service_account"}`, wrong: "create a new key"},
		"user":                   {get: google, file: user("good"), want: "user"},
		"user, withdrawn":        {get: google, file: user("gone"), wrong: "gcloud auth application-default login", noneOf: "gone"},
		"named file":             {get: google, env: []string{"GOOGLE_APPLICATION_CREDENTIALS", "HOME/other"}, other: user("good"), file: "x", want: "user"},
		"named file is missing":  {get: google, env: []string{"GOOGLE_APPLICATION_CREDENTIALS", "HOME/other"}, wrong: "no such file"},
		"not JSON":               {get: google, file: "secret!", wrong: "is not JSON", noneOf: "secret!"},
		"other type":             {get: google, file: `{"type":"gdch_service_account"}`, wrong: `"gdch_service_account" are not supported`},
		"impersonated":           {get: google, file: `{"type":"impersonated_service_account","service_account_impersonation_url":"SERVER/impersonate","source_credentials":` + user("good") + `}`, want: "as:user"},
		"impersonated, circular": {get: google, file: `{"type":"impersonated_service_account","source_credentials":{"type":"impersonated_service_account"}}`, wrong: "source_credentials"},
		"external file":          {get: google, other: "sub\n", file: `{"type":"external_account","token_url":"SERVER/token","credential_source":{"file":"HOME/other"}}`, want: "exchanged-sub"},
		"external address":       {get: google, file: `{"type":"external_account","token_url":"SERVER/token","service_account_impersonation_url":"SERVER/impersonate","credential_source":{"url":"SERVER/subject","headers":{"X-Who":"me"},"format":{"type":"json","subject_token_field_name":"id"}}}`, want: "as:exchanged-from-me"},
		"external of Amazon":     {get: google, file: `{"type":"external_account","credential_source":{"environment_id":"aws1"}}`, wrong: "file or a URL"},
		"external, empty":        {get: google, other: " ", file: `{"type":"external_account","credential_source":{"file":"HOME/other"}}`, wrong: "is empty"},
		"machine":                {get: google, want: "machine"},
		"no machine":             {get: google, env: []string{"GCE_METADATA_HOST", "127.0.0.1:1"}, wrong: "gcloud auth application-default login"},
		"login page":             {get: google, file: strings.ReplaceAll(user("good"), "/token", "/page"), wrong: "not JSON; check the proxy"},
		"elsewhere":              {get: google, file: strings.ReplaceAll(user("good"), "/token", "/elsewhere"), wrong: "Nothing here"},
		"no token service":       {get: google, file: strings.ReplaceAll(user("good"), "SERVER", "http://127.0.0.1:1"), wrong: "connection refused"},

		"application":        {get: entra, env: []string{"AZURE_TENANT_ID", "tenant", "AZURE_CLIENT_ID", "id", "AZURE_CLIENT_SECRET", "-s"}, want: "app-s for https://r/.default"},
		"application, wrong": {get: entra, env: []string{"AZURE_TENANT_ID", "tenant", "AZURE_CLIENT_ID", "id", "AZURE_CLIENT_SECRET", "wrong"}, wrong: "Invalid client secret provided.", noneOf: "Trace"},
		"workload":           {get: entra, env: []string{"AZURE_TENANT_ID", "tenant", "AZURE_CLIENT_ID", "id", "AZURE_FEDERATED_TOKEN_FILE", "HOME/other"}, other: "-jwt\n", want: "app-jwt for https://r/.default"},
		"workload, missing":  {get: entra, env: []string{"AZURE_TENANT_ID", "tenant", "AZURE_CLIENT_ID", "id", "AZURE_FEDERATED_TOKEN_FILE", "HOME/other"}, wrong: "federated token"},
		"site":               {get: entra, env: []string{"IDENTITY_ENDPOINT", "SERVER/msi", "IDENTITY_HEADER", "h"}, want: "site-h"},
		"signed in":          {get: entra, az: `{"accessToken":"cli","expires_on":4070908800}`, want: "cli"},
		"signed in, old":     {get: entra, az: `{"accessToken":"cli","expiresOn":"2099"}`, want: "cli"},
		"virtual machine":    {get: entra, env: []string{"AZURE_CLIENT_ID", "-id"}, want: "vm-id"},
		"not signed in":      {get: entra, az: "!", env: []string{"AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1"}, wrong: "az login"},
		"nothing":            {get: entra, env: []string{"AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1"}, wrong: "install the Azure CLI"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			real := strings.NewReplacer("SERVER", server.URL, "HOME", home)
			for path, text := range map[string]string{adc: c.file, "other": c.other} {
				if text == "" {
					continue
				}
				path = filepath.Join(home, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(real.Replace(text)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{
				"GCE_METADATA_HOST": strings.TrimPrefix(server.URL, "http://"), "AZURE_AUTHORITY_HOST": server.URL + "/", "AZURE_POD_IDENTITY_AUTHORITY_HOST": server.URL,
			}
			for i := 0; i < len(c.env); i += 2 {
				env[c.env[i]] = real.Replace(c.env[i+1])
			}
			t.Setenv("PATH", home)
			if c.az != "" {
				if err := os.WriteFile(filepath.Join(home, "az"), []byte("#!/bin/sh\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			e := Env{Getenv: func(name string) string { return env[name] }, Home: home, Client: server.Client(),
				Run: func(_ context.Context, command string) ([]byte, error) {
					if !strings.HasPrefix(command, "az account get-access-token") || c.az == "!" {
						return nil, errors.New("not signed in")
					}
					return []byte(c.az), nil
				}}
			got, err := c.get(e, t.Context())
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || c.noneOf != "" && strings.Contains(err.Error(), c.noneOf) {
					t.Errorf("token %v, error %v, want %q", got, err, c.wrong)
				}
				return
			}
			if got.Text != c.want || err != nil || time.Until(got.Expires) < 9*time.Minute {
				t.Errorf("token %+v, error %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestGoogleProject(t *testing.T) {
	for _, c := range []struct{ variable, file, want string }{
		{"", "", ""},
		{"", `{"project_id":"p"}`, "p"},
		{"", `{"quota_project_id":"q"}`, "q"},
		{"", `nonsense`, ""},
		{"v", `{"project_id":"p"}`, "v"},
	} {
		home := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(home, "application_default_credentials.json"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		env := map[string]string{"CLOUDSDK_CONFIG": home, "GOOGLE_CLOUD_PROJECT": c.variable}
		if got := (Env{Getenv: func(name string) string { return env[name] }}).GoogleProject(); got != c.want {
			t.Errorf("%+v: project %q", c, got)
		}
	}
}
