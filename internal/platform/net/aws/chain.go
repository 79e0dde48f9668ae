package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Chain finds credentials. It tries the environment, a web identity, the profile in the
// shared configuration (keys, an SSO session, another role, a program), the container and the
// machine, in that order. Credentials are refreshed before they expire. A Chain is safe for
// concurrent use.
type Chain struct {
	Env
	// Client sends requests to the token services.
	Client *http.Client
	// Run runs a user-configured shell command and returns its output.
	Run func(ctx context.Context, command string) ([]byte, error)
	// Export, if not empty, is a command that prints credentials. It replaces all other
	// sources.
	Export string

	mu      sync.Mutex
	current Credentials
	source  string
	past    []string // secrets of earlier credentials
}

// fromEnv is the only source whose credentials never change.
const fromEnv = "AWS_ACCESS_KEY_ID"

// early is how long before expiry credentials are replaced.
const early = 5 * time.Minute

// Get returns the current credentials, fetching them if necessary.
func (c *Chain) Get(ctx context.Context) (Credentials, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.KeyID != "" && (c.current.Expires.IsZero() || time.Until(c.current.Expires) > early) {
		return c.current, nil
	}
	got, source, err := c.find(ctx)
	if err != nil {
		return Credentials{}, err
	}
	if got.KeyID == "" || got.Secret == "" {
		return Credentials{}, fmt.Errorf("%s gives no AWS credentials: the access key or its secret is missing", source)
	}
	if c.current.Secret != "" && c.current.Secret != got.Secret {
		c.past = append(c.past, c.current.Secret, c.current.Token)
	}
	c.current, c.source = got, source
	return got, nil
}

// Forget discards the cached credentials if they have the given key ID, because a service
// rejected them. It reports whether the next Get may return others.
func (c *Chain) Forget(keyID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.KeyID != keyID {
		return true
	}
	c.past = append(c.past, c.current.Secret, c.current.Token)
	c.current = Credentials{}
	return c.source != fromEnv
}

// Secrets returns all secret values, which must not be displayed.
func (c *Chain) Secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := append(slices.Clone(c.past), c.current.Secret, c.current.Token)
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// find returns fresh credentials and their source.
func (c *Chain) find(ctx context.Context) (Credentials, string, error) {
	get := c.Getenv
	if c.Export != "" {
		got, err := c.run(ctx, c.Export)
		return got, "awsCredentialExport", err
	}
	if id := get("AWS_ACCESS_KEY_ID"); id != "" {
		return Credentials{KeyID: id, Secret: get("AWS_SECRET_ACCESS_KEY"), Token: get("AWS_SESSION_TOKEN")}, fromEnv, nil
	}
	if file := get("AWS_WEB_IDENTITY_TOKEN_FILE"); file != "" {
		got, err := c.webIdentity(ctx, file, get("AWS_ROLE_ARN"), get("AWS_ROLE_SESSION_NAME"))
		return got, "AWS_WEB_IDENTITY_TOKEN_FILE", err
	}
	p, err := c.load()
	if err != nil {
		return Credentials{}, "", err
	}
	name := c.profile()
	if s := p.profiles[name]; s.hasCredentials() {
		got, err := c.fromProfile(ctx, p, name, nil)
		return got, "the AWS profile " + name, err
	} else if s == nil && name != "default" {
		return Credentials{}, "", fmt.Errorf("no AWS profile %q; check AWS_PROFILE, or create it with `aws configure --profile %s`", name, name)
	}
	if got, found, err := c.container(ctx); found {
		return got, "the container", err
	}
	got, err := c.machine(ctx)
	if errors.Is(err, errNoMetadata) {
		err = errors.New("no AWS credentials were found; set AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, set AWS_PROFILE, or run `aws configure` or `aws sso login`")
	}
	return got, "the role of the machine", err
}

// hasCredentials reports whether a profile specifies a source of credentials.
func (s section) hasCredentials() bool {
	for _, name := range [...]string{"aws_access_key_id", "role_arn", "sso_session", "sso_start_url", "credential_process", "web_identity_token_file"} {
		if s[name] != "" {
			return true
		}
	}
	return false
}

// fromProfile returns a profile's credentials. through lists the profiles that refer to it.
func (c *Chain) fromProfile(ctx context.Context, p *profiles, name string, through []string) (Credentials, error) {
	s := p.profiles[name]
	again := slices.Contains(through, name)
	switch {
	case s == nil:
		return Credentials{}, fmt.Errorf("the AWS profile %s names %q as its source, which does not exist", through[len(through)-1], name)
	case again && s["aws_access_key_id"] == "":
		return Credentials{}, fmt.Errorf("the AWS profile %s leads back to itself by source_profile", name)
	case s["role_arn"] != "" && s["web_identity_token_file"] != "":
		return c.webIdentity(ctx, s["web_identity_token_file"], s["role_arn"], s["role_session_name"])
	case s["role_arn"] != "" && !again:
		return c.role(ctx, p, name, append(through, name))
	case s["aws_access_key_id"] != "":
		return Credentials{KeyID: s["aws_access_key_id"], Secret: s["aws_secret_access_key"], Token: s["aws_session_token"]}, nil
	case s["sso_session"] != "" || s["sso_start_url"] != "":
		return c.signOn(ctx, p, s)
	case s["credential_process"] != "":
		return c.run(ctx, s["credential_process"])
	}
	return Credentials{}, fmt.Errorf("the AWS profile %s has no credentials", name)
}

// role returns credentials for the role that a profile assumes.
func (c *Chain) role(ctx context.Context, p *profiles, name string, through []string) (Credentials, error) {
	s := p.profiles[name]
	if s["mfa_serial"] != "" {
		return Credentials{}, fmt.Errorf("the AWS profile %s wants a code from a device; get credentials with a tool that asks for it, and name that command in awsCredentialExport", name)
	}
	var base Credentials
	var err error
	switch source := s["credential_source"]; {
	case s["source_profile"] != "":
		base, err = c.fromProfile(ctx, p, s["source_profile"], through)
	case source == "Environment":
		base = Credentials{KeyID: c.Getenv("AWS_ACCESS_KEY_ID"), Secret: c.Getenv("AWS_SECRET_ACCESS_KEY"), Token: c.Getenv("AWS_SESSION_TOKEN")}
	case source == "EcsContainer":
		base, _, err = c.container(ctx)
	case source == "Ec2InstanceMetadata":
		base, err = c.machine(ctx)
	default:
		err = fmt.Errorf("the AWS profile %s has a role, but neither source_profile nor credential_source", name)
	}
	if err != nil {
		return Credentials{}, err
	}
	if base.KeyID == "" {
		return Credentials{}, fmt.Errorf("the AWS profile %s has a role, but its source gives no credentials", name)
	}
	return c.assumeRole(ctx, s, base)
}

// A grant is the format in which programs and services return credentials.
type grant struct {
	KeyID      string    `json:"AccessKeyId"`
	Secret     string    `json:"SecretAccessKey"`
	Session    string    `json:"SessionToken"`
	Token      string    `json:"Token"`
	Expiration time.Time `json:"Expiration"`
}

func (g grant) credentials() Credentials {
	token := g.Session
	if token == "" {
		token = g.Token
	}
	return Credentials{KeyID: g.KeyID, Secret: g.Secret, Token: token, Expires: g.Expiration}
}

// run returns the credentials that a command prints, either directly or as a token service
// response.
func (c *Chain) run(ctx context.Context, command string) (Credentials, error) {
	out, err := c.Run(ctx, command)
	if err != nil {
		return Credentials{}, err
	}
	var answer struct {
		grant
		Inner grant `json:"Credentials"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return Credentials{}, fmt.Errorf("the command %q does not print AWS credentials as JSON", command)
	}
	if answer.Inner.KeyID != "" {
		answer.grant = answer.Inner
	}
	if answer.KeyID == "" || answer.Secret == "" {
		return Credentials{}, fmt.Errorf("the command %q prints no AccessKeyId and SecretAccessKey", command)
	}
	got := answer.credentials()
	if got.Expires.IsZero() && got.Token != "" {
		got.Expires = time.Now().Add(time.Hour) // the minimum lifetime of such credentials
	}
	return got, nil
}
