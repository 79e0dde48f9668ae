package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Entra returns a Microsoft Entra ID token for a resource, such as
// https://cognitiveservices.azure.com. It tries the application configured in the environment,
// the workload, the signed-in user and the machine.
func (e Env) Entra(ctx context.Context, resource string) (Token, error) {
	tenant, client := e.Getenv("AZURE_TENANT_ID"), e.Getenv("AZURE_CLIENT_ID")
	secret, file := e.Getenv("AZURE_CLIENT_SECRET"), e.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "scope": {resource + "/.default"}}
	switch {
	case tenant != "" && client != "" && secret != "":
		form.Set("client_secret", secret)
		return e.directory(ctx, tenant, form)
	case tenant != "" && client != "" && file != "":
		assertion, err := os.ReadFile(file)
		if err != nil {
			return Token{}, fmt.Errorf("reading the federated token: %w", err)
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", strings.TrimSpace(string(assertion)))
		return e.directory(ctx, tenant, form)
	case e.Getenv("IDENTITY_ENDPOINT") != "" && e.Getenv("IDENTITY_HEADER") != "":
		query := url.Values{"api-version": {"2019-08-01"}, "resource": {resource}}
		return managed(ctx, e.Getenv("IDENTITY_ENDPOINT"), query, client, "X-Identity-Header", e.Getenv("IDENTITY_HEADER"))
	}
	_, err := exec.LookPath("az")
	if err == nil {
		var t Token
		if t, err = e.signedIn(ctx, resource); err == nil {
			return t, nil
		}
	}
	host := e.Getenv("AZURE_POD_IDENTITY_AUTHORITY_HOST")
	if host == "" {
		host = "http://169.254.169.254"
	}
	query := url.Values{"api-version": {"2018-02-01"}, "resource": {resource}}
	t, none := managed(ctx, strings.TrimSuffix(host, "/")+"/metadata/identity/oauth2/token", query, client, "Metadata", "true")
	var problem *exec.Error
	switch {
	case none == nil || ctx.Err() != nil:
		return t, none
	case errors.As(err, &problem): // the tool is not installed
		return Token{}, errors.New("no Microsoft credentials were found; set ANTHROPIC_FOUNDRY_API_KEY, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or install the Azure CLI and run `az login`")
	}
	return Token{}, fmt.Errorf("no Microsoft credentials were found; run `az login`, or set ANTHROPIC_FOUNDRY_API_KEY: %w", err)
}

// directory requests a token from a tenant's directory.
func (e Env) directory(ctx context.Context, tenant string, form url.Values) (Token, error) {
	host := e.Getenv("AZURE_AUTHORITY_HOST")
	if host == "" {
		host = "https://login.microsoftonline.com"
	}
	return e.post(ctx, strings.TrimSuffix(host, "/")+"/"+url.PathEscape(tenant)+"/oauth2/v2.0/token", form)
}

// managed returns a token for the machine's identity. client selects an identity if there are
// several; it may be empty.
func managed(ctx context.Context, address string, query url.Values, client string, header ...string) (Token, error) {
	if client != "" {
		query.Set("client_id", client)
	}
	var a answer
	if err := get(ctx, address+"?"+query.Encode(), &a, header...); err != nil {
		return Token{}, err
	}
	return a.token()
}

// signedIn returns a token for the user signed in with the Azure CLI.
func (e Env) signedIn(ctx context.Context, resource string) (Token, error) {
	out, err := e.Run(ctx, "az account get-access-token --output json --resource "+resource)
	if err != nil {
		return Token{}, err
	}
	var got struct {
		Token   string `json:"accessToken"`
		Expires number `json:"expires_on"`
	}
	if json.Unmarshal(out, &got) != nil || got.Token == "" {
		return Token{}, errors.New("the Azure CLI printed no token")
	}
	t := Token{got.Token, time.Unix(int64(got.Expires), 0)}
	if got.Expires == 0 { // old CLI version
		t.Expires = time.Now().Add(10 * time.Minute)
	}
	return t, nil
}
