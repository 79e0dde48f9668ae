package aws

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/fs/replace"
	"adze/internal/platform/net/contacts"
)

// maxAnswer limits the size of a response, in bytes.
const maxAnswer = 1 << 20

// serviceTimeout limits one request to a token service.
const serviceTimeout = 15 * time.Second

// ask sends req and returns the response body. name identifies the service in errors.
func ask(client *http.Client, req *http.Request, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(req.Context(), serviceTimeout)
	defer cancel()
	res, err := client.Do(req.WithContext(ctx))
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the URL may contain secrets
		}
		return nil, fmt.Errorf("asking %s for AWS credentials: %w", name, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("asking %s for AWS credentials: %w", name, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, &serviceError{name, res.StatusCode, errorMessage(body)}
	}
	return body, nil
}

// A serviceError is a response without credentials.
type serviceError struct {
	service string
	status  int
	text    string
}

func (e *serviceError) Error() string {
	s := fmt.Sprintf("%s gives no AWS credentials (status %d)", e.service, e.status)
	if e.text != "" {
		s += ": " + e.text
	}
	return s
}

// errorMessage returns the message of a JSON or XML error response.
func errorMessage(body []byte) string {
	var x struct {
		Message string `xml:"Error>Message"`
	}
	var j struct {
		Message          string `json:"message"`
		ErrorDescription string `json:"error_description"`
	}
	switch {
	case json.Unmarshal(body, &j) == nil && j.Message != "":
		return j.Message
	case j.ErrorDescription != "":
		return j.ErrorDescription
	case xml.Unmarshal(body, &x) == nil:
		return x.Message
	}
	return ""
}

// endpoint returns a service's URL. An environment variable can override it.
func (c *Chain) endpoint(variable, host, region string) string {
	for _, name := range [...]string{"AWS_ENDPOINT_URL_" + variable, "AWS_ENDPOINT_URL"} {
		if v := c.Getenv(name); v != "" {
			return strings.TrimSuffix(v, "/")
		}
	}
	return "https://" + host + "." + region + "." + Domain(region)
}

// Domain returns the domain of a region's services.
func Domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

const sessionName = "adze"

// assumeRole returns credentials for a profile's role.
func (c *Chain) assumeRole(ctx context.Context, s section, base Credentials) (Credentials, error) {
	form := url.Values{"Action": {"AssumeRole"}, "Version": {"2011-06-15"}, "RoleArn": {s["role_arn"]}, "RoleSessionName": {sessionName}}
	for setting, name := range map[string]string{"role_session_name": "RoleSessionName", "external_id": "ExternalId", "duration_seconds": "DurationSeconds"} {
		if v := s[setting]; v != "" {
			form.Set(name, v)
		}
	}
	region := s["region"]
	if r := c.Region(); r != "" {
		region = r
	}
	return c.tokenService(ctx, form, region, &base)
}

// webIdentity exchanges a token from a file for a role's credentials.
func (c *Chain) webIdentity(ctx context.Context, file, role, session string) (Credentials, error) {
	if role == "" {
		return Credentials{}, errors.New("there is a web identity token, but no role; set AWS_ROLE_ARN")
	}
	token, err := os.ReadFile(file)
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the web identity token: %w", err)
	}
	if session == "" {
		session = sessionName
	}
	return c.tokenService(ctx, url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role},
		"RoleSessionName": {session}, "WebIdentityToken": {strings.TrimSpace(string(token))},
	}, c.Region(), nil)
}

// tokenService sends a request to the token service. It signs the request if base is not nil.
func (c *Chain) tokenService(ctx context.Context, form url.Values, region string, base *Credentials) (Credentials, error) {
	if region == "" {
		region = "us-east-1"
	}
	body := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint("STS", "sts", region)+"/", strings.NewReader(body))
	if err != nil {
		return Credentials{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	if base != nil {
		Sign(req, sha256.Sum256([]byte(body)), *base, Target{region, "sts"}, time.Now())
	}
	answer, err := ask(c.Client, req, "the AWS token service")
	if err != nil {
		return Credentials{}, err
	}
	type credentials struct {
		KeyID      string    `xml:"AccessKeyId"`
		Secret     string    `xml:"SecretAccessKey"`
		Token      string    `xml:"SessionToken"`
		Expiration time.Time `xml:"Expiration"`
	}
	var result struct {
		Role     credentials `xml:"AssumeRoleResult>Credentials"`
		Identity credentials `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if err := xml.Unmarshal(answer, &result); err != nil {
		return Credentials{}, fmt.Errorf("the answer of the AWS token service cannot be read: %w", err)
	}
	got := result.Role
	if got.KeyID == "" {
		got = result.Identity
	}
	return Credentials{KeyID: got.KeyID, Secret: got.Secret, Token: got.Token, Expires: got.Expiration}, nil
}

// A signOnToken is a token cached by `aws sso login`. Unknown members are preserved when it is
// written back.
type signOnToken struct {
	AccessToken  string    `json:"accessToken"`
	ExpiresAt    time.Time `json:"expiresAt"`
	RefreshToken string    `json:"refreshToken"`
	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret"`
}

// signOn returns credentials for a profile that uses SSO.
func (c *Chain) signOn(ctx context.Context, p *profiles, s section) (Credentials, error) {
	session, region := s, s["sso_region"]
	key := s["sso_start_url"]
	if name := s["sso_session"]; name != "" {
		if session = p.sessions[name]; session == nil {
			return Credentials{}, fmt.Errorf("no sso-session %q in the AWS configuration", name)
		}
		region, key = session["sso_region"], name
	}
	for _, name := range [...]string{"sso_account_id", "sso_role_name"} {
		if s[name] == "" {
			return Credentials{}, fmt.Errorf("the AWS profile has no %s; run `aws configure sso`", name)
		}
	}
	token, err := c.signOnToken(ctx, key, region, s["sso_session"] != "")
	if err != nil {
		return Credentials{}, err
	}
	at := c.endpoint("SSO", "portal.sso", region) + "/federation/credentials?" +
		url.Values{"account_id": {s["sso_account_id"]}, "role_name": {s["sso_role_name"]}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return Credentials{}, err
	}
	req.Header.Set("X-Amz-Sso_bearer_token", token)
	answer, err := ask(c.Client, req, "the AWS sign-on service")
	var refused *serviceError
	if errors.As(err, &refused) && refused.status == http.StatusUnauthorized {
		return Credentials{}, errSignedOut
	}
	if err != nil {
		return Credentials{}, err
	}
	var result struct {
		Role struct {
			KeyID      string `json:"accessKeyId"`
			Secret     string `json:"secretAccessKey"`
			Token      string `json:"sessionToken"`
			Expiration int64  `json:"expiration"`
		} `json:"roleCredentials"`
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return Credentials{}, fmt.Errorf("the answer of the AWS sign-on service cannot be read: %w", err)
	}
	r := result.Role
	return Credentials{KeyID: r.KeyID, Secret: r.Secret, Token: r.Token, Expires: time.UnixMilli(r.Expiration)}, nil
}

var errSignedOut = errors.New("the AWS session has expired; run `aws sso login`, or name that command in awsAuthRefresh")

// signOnToken returns a session's token from the AWS CLI cache. If the token has expired and is
// renewable, it is renewed and written back to the cache for all tools.
func (c *Chain) signOnToken(ctx context.Context, key, region string, renewable bool) (string, error) {
	sum := sha1.Sum([]byte(key)) // #nosec: used as a file name
	file := filepath.Join(c.Home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", errSignedOut
	}
	var token signOnToken
	if json.Unmarshal(text, &token) != nil || token.AccessToken == "" {
		return "", errSignedOut
	}
	switch {
	case time.Until(token.ExpiresAt) > time.Minute:
		return token.AccessToken, nil
	case !renewable || token.RefreshToken == "" || token.ClientID == "":
		return "", errSignedOut
	}
	return c.renewSignOn(ctx, file, text, token, region)
}

func (c *Chain) renewSignOn(ctx context.Context, file string, text []byte, token signOnToken, region string) (string, error) {
	body, _ := json.Marshal(map[string]string{ // ok: marshaling strings cannot fail
		"clientId": token.ClientID, "clientSecret": token.ClientSecret, "grantType": "refresh_token", "refreshToken": token.RefreshToken,
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint("SSO_OIDC", "oidc", region)+"/token", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := ask(c.Client, req, "the AWS sign-on service")
	if errors.As(err, new(*serviceError)) {
		return "", errSignedOut
	}
	if err != nil {
		return "", err
	}
	var got struct {
		AccessToken  string `json:"accessToken"`
		ExpiresIn    int    `json:"expiresIn"`
		RefreshToken string `json:"refreshToken"`
	}
	all := map[string]any{}
	if json.Unmarshal(answer, &got) != nil || got.AccessToken == "" || json.Unmarshal(text, &all) != nil {
		return "", errSignedOut
	}
	all["accessToken"], all["expiresAt"] = got.AccessToken, time.Now().Add(time.Duration(got.ExpiresIn)*time.Second).UTC().Format(time.RFC3339)
	if got.RefreshToken != "" {
		all["refreshToken"] = got.RefreshToken
	}
	if text, err = json.Marshal(all); err == nil {
		err = replace.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keeping the new AWS session: %w", err)
	}
	return got.AccessToken, nil
}

// direct returns a client for link-local services. It does not use a proxy and fails fast if
// nothing answers.
func direct(limit time.Duration) *http.Client {
	return &http.Client{
		Timeout: limit,
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: metadataTimeout}).DialContext, DisableKeepAlives: true,
		},
	}
}

// metadataTimeout limits how long to wait for the metadata service.
const metadataTimeout = time.Second

// container returns the credentials of the container this process runs in, if any.
func (c *Chain) container(ctx context.Context) (got Credentials, found bool, err error) {
	at := c.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if relative := c.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); relative != "" {
		at = "http://169.254.170.2" + relative
	}
	if at == "" {
		return Credentials{}, false, nil
	}
	if err := checkContainerURI(at); err != nil {
		return Credentials{}, true, err
	}
	token := c.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := c.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return Credentials{}, true, fmt.Errorf("reading the token of the container: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return Credentials{}, true, err
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	contacts.Add(req.URL.Host, contacts.Cloud)
	got, err = grantFrom(ask(direct(5*time.Second), req, "the container"))
	return got, true, err
}

// checkContainerURI rejects URIs that would send the container's token unencrypted to another
// machine.
func checkContainerURI(at string) error {
	u, err := url.Parse(at)
	if err != nil {
		return errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI is not an address")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsLinkLocalUnicast() || u.Hostname() == "fd00:ec2::23") {
		return nil
	}
	return fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI names %s without https; no credentials are requested there", u.Host)
}

func grantFrom(answer []byte, err error) (Credentials, error) {
	if err != nil {
		return Credentials{}, err
	}
	var g grant
	if err := json.Unmarshal(answer, &g); err != nil {
		return Credentials{}, fmt.Errorf("the AWS credentials cannot be read: %w", err)
	}
	return g.credentials(), nil
}

var errNoMetadata = errors.New("this machine has no metadata service")

// machine returns the credentials of the machine this process runs on, using IMDSv2.
func (c *Chain) machine(ctx context.Context) (Credentials, error) {
	if strings.EqualFold(c.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return Credentials{}, errNoMetadata
	}
	base := strings.TrimSuffix(c.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "/")
	if base == "" {
		base = "http://169.254.169.254"
	}
	client := direct(metadataTimeout)
	query := func(method, path, header, value string) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, method, base+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set(header, value)
		contacts.Add(req.URL.Host, contacts.Cloud)
		return ask(client, req, "the machine")
	}
	token, err := query(http.MethodPut, "/latest/api/token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
	switch {
	case ctx.Err() != nil:
		return Credentials{}, context.Cause(ctx)
	case err != nil:
		return Credentials{}, errNoMetadata
	}
	const path, header = "/latest/meta-data/iam/security-credentials/", "X-Aws-Ec2-Metadata-Token"
	role, err := query(http.MethodGet, path, header, string(token))
	name, _, _ := strings.Cut(strings.TrimSpace(string(role)), "\n")
	if err != nil || name == "" {
		return Credentials{}, errors.New("this machine has no role with AWS credentials; attach one, or set AWS_PROFILE")
	}
	return grantFrom(query(http.MethodGet, path+url.PathEscape(name), header, string(token)))
}
