package aws

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cloud simulates the services that issue credentials.
type cloud struct {
	t     *testing.T
	asked []string
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h := r.Header
	const soon = "2099-01-01T00:00:00Z"
	note := r.Method + " " + r.URL.Path
	refuse := func(status int, text string) { w.WriteHeader(status); io.WriteString(w, text) }
	switch {
	case r.URL.Path == "/": // the token service
		form := r.URL.Query()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if r.ParseForm() == nil {
			form = r.PostForm
		}
		action := form.Get("Action")
		note = action + " " + form.Get("RoleArn") + " " + form.Get("RoleSessionName") + " " + form.Get("ExternalId")
		if action == "AssumeRole" && !strings.Contains(h.Get("Authorization"), "/us-east-1/sts/aws4_request") {
			c.t.Error("the request for a role is not signed")
		}
		if form.Get("WebIdentityToken") == "bad" || form.Get("RoleArn") == "arn:none" {
			refuse(403, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you</Message></Error></ErrorResponse>`)
			break
		}
		fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>AKROLE</AccessKeyId>`+
			`<SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken><Expiration>%[2]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action, soon)
	case r.URL.Path == "/federation/credentials":
		note += "?" + r.URL.RawQuery
		if h.Get("X-Amz-Sso_bearer_token") != "access" && h.Get("X-Amz-Sso_bearer_token") != "access-2" {
			refuse(401, `{"message":"Session token not found or invalid"}`)
			break
		}
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"AKSSO","secretAccessKey":"sso-secret","sessionToken":"sso-token","expiration":%d}}`, time.Now().Add(time.Hour).UnixMilli())
	case r.URL.Path == "/token":
		var q map[string]string
		json.Unmarshal(body, &q)
		if q["refreshToken"] != "refresh" || q["clientId"] != "client" || q["grantType"] != "refresh_token" {
			refuse(400, `{"error":"invalid_grant"}`)
			break
		}
		io.WriteString(w, `{"accessToken":"access-2","expiresIn":3600,"refreshToken":"refresh-2"}`)
	case r.URL.Path == "/latest/api/token":
		if r.Method != http.MethodPut || h.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") == "" {
			refuse(400, "")
			break
		}
		io.WriteString(w, "imds")
	case strings.HasPrefix(r.URL.Path, "/latest/meta-data/iam/security-credentials/"):
		if h.Get("X-Aws-Ec2-Metadata-Token") != "imds" {
			refuse(401, "")
			break
		}
		if strings.HasSuffix(r.URL.Path, "/") {
			io.WriteString(w, "my-role\n")
			break
		}
		fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"AKEC2","SecretAccessKey":"ec2-secret","Token":"ec2-token","Expiration":%q}`, soon)
	case r.URL.Path == "/container":
		note += " " + h.Get("Authorization")
		fmt.Fprintf(w, `{"AccessKeyId":"AKECS","SecretAccessKey":"ecs-secret","Token":"ecs-token","Expiration":%q}`, soon)
	default:
		refuse(404, "")
	}
	c.asked = append(c.asked, note)
}

// Proves PROV-03.
func TestChain(t *testing.T) {
	fake := &cloud{t: t}
	server := httptest.NewServer(fake)
	defer server.Close()
	sso := func(name string, token map[string]any) (string, string) {
		sum := sha1.Sum([]byte(name))
		text, _ := json.Marshal(token)
		return ".aws/sso/cache/" + hex.EncodeToString(sum[:]) + ".json", string(text)
	}
	fresh, old := time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "2020-01-01T00:00:00Z"
	session, _ := sso("my-sso", nil)
	_, good := sso("", map[string]any{"accessToken": "access", "expiresAt": fresh})
	_, expired := sso("", map[string]any{"accessToken": "x", "expiresAt": old})
	_, renewable := sso("", map[string]any{"accessToken": "x", "expiresAt": old, "refreshToken": "refresh", "clientId": "client", "clientSecret": "s", "other": "kept"})
	_, withdrawn := sso("", map[string]any{"accessToken": "x", "expiresAt": old, "refreshToken": "gone", "clientId": "client"})
	_, unknown := sso("", map[string]any{"accessToken": "unknown", "expiresAt": fresh})
	legacy, _ := sso("https://start.example", nil)
	const ssoProfile = "[profile p]\nsso_session = my-sso\nsso_account_id = 123\nsso_role_name = Dev\n[sso-session my-sso]\nsso_region = us-east-1\n"
	const nowhere = "http://127.0.0.1:1"
	type files map[string]string
	for name, c := range map[string]struct {
		env    []string
		files  files
		export string
		prints string
		id     string // or
		wrong  string
		asked  []string
	}{
		"environment":        {env: []string{"AWS_ACCESS_KEY_ID", "AKENV", "AWS_SECRET_ACCESS_KEY", "env-secret", "AWS_PROFILE", "p"}, id: "AKENV env-secret "},
		"without its secret": {env: []string{"AWS_ACCESS_KEY_ID", "AKENV"}, wrong: "secret is missing"},
		"profile":            {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/credentials": "; c\n[default]\naws_access_key_id=no\n[p]\naws_access_key_id = AKFILE # c\naws_secret_access_key=file=secret\n"}, id: "AKFILE file=secret "},
		"config file":        {env: []string{"AWS_CONFIG_FILE", "HOME/other"}, files: files{"other": "[default]\ns3 =\n  aws_access_key_id = no\naws_access_key_id = AKCONF\naws_secret_access_key = conf\n[preview]\naws_access_key_id = no\n"}, id: "AKCONF conf "},
		"no such profile":    {env: []string{"AWS_PROFILE", "q"}, files: files{".aws/config": "[profile p]\nregion = x\n"}, wrong: `no AWS profile "q"`},
		"role":               {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:r\nsource_profile = base\nexternal_id = ext\nrole_session_name = me\n", ".aws/credentials": "[base]\naws_access_key_id = AKBASE\naws_secret_access_key = base\n"}, id: "AKROLE role-secret role-token", asked: []string{"AssumeRole arn:r me ext"}},
		"role of a role":     {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:2\nsource_profile = q\n[profile q]\nrole_arn = arn:1\nsource_profile = q\naws_access_key_id = AKQ\naws_secret_access_key = q\n"}, id: "AKROLE role-secret role-token", asked: []string{"AssumeRole arn:1 adze ", "AssumeRole arn:2 adze "}},
		"role in a circle":   {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:2\nsource_profile = q\n[profile q]\nrole_arn = arn:1\nsource_profile = p\n"}, wrong: "leads back to itself"},
		"role of nothing":    {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:2\nsource_profile = q\n"}, wrong: `names "q" as its source`},
		"role with a code":   {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:2\nsource_profile = p\nmfa_serial = x\n"}, wrong: "awsCredentialExport"},
		"role refused":       {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:none\ncredential_source = Ec2InstanceMetadata\n"}, wrong: "Not you"},
		"role of a machine":  {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": "[profile p]\nrole_arn = arn:r\ncredential_source = Ec2InstanceMetadata\n"}, id: "AKROLE role-secret role-token"},
		"web identity":       {env: []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token", "AWS_ROLE_ARN", "arn:w"}, files: files{"token": "jwt\n"}, id: "AKROLE role-secret role-token", asked: []string{"AssumeRoleWithWebIdentity arn:w adze "}},
		"bad web identity":   {env: []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token", "AWS_ROLE_ARN", "arn:w"}, files: files{"token": "bad"}, wrong: "Not you"},
		"no web identity":    {env: []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/none", "AWS_ROLE_ARN", "arn:w"}, wrong: "web identity token"},
		"sign-on":            {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": ssoProfile, session: good}, id: "AKSSO sso-secret sso-token", asked: []string{"GET /federation/credentials?account_id=123&role_name=Dev"}},
		"sign-on of old":     {files: files{".aws/config": "[default]\nsso_start_url = https://start.example\nsso_region = us-east-1\nsso_account_id = 1\nsso_role_name = R\n", legacy: good}, id: "AKSSO sso-secret sso-token"},
		"sign-on renewed":    {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": ssoProfile, session: renewable}, id: "AKSSO sso-secret sso-token", asked: []string{"POST /token", "GET /federation/credentials?account_id=123&role_name=Dev"}},
		"sign-on expired":    {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": ssoProfile, session: expired}, wrong: "aws sso login"},
		"sign-on withdrawn":  {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": ssoProfile, session: withdrawn}, wrong: "aws sso login"},
		"sign-on unknown":    {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": ssoProfile, session: unknown}, wrong: "aws sso login"},
		"never signed on":    {env: []string{"AWS_PROFILE", "p"}, files: files{".aws/config": ssoProfile}, wrong: "aws sso login"},
		"program":            {files: files{".aws/config": "[default]\ncredential_process = print me\n"}, prints: `{"Version":1,"AccessKeyId":"AKPROC","SecretAccessKey":"p"}`, id: "AKPROC p "},
		"bad program":        {files: files{".aws/config": "[default]\ncredential_process = print me\n"}, prints: `secret!`, wrong: "as JSON"},
		"failing program":    {files: files{".aws/config": "[default]\ncredential_process = print me\n"}, prints: "!", wrong: "it failed"},
		"exported":           {env: []string{"AWS_ACCESS_KEY_ID", "no"}, export: "export", prints: `{"Credentials":{"AccessKeyId":"AKEXP","SecretAccessKey":"e","SessionToken":"t"}}`, id: "AKEXP e t"},
		"container":          {env: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "SERVER/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok"}, id: "AKECS ecs-secret ecs-token", asked: []string{"GET /container tok"}},
		"container far away": {env: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.example/x", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok"}, wrong: "without https"},
		"machine":            {id: "AKEC2 ec2-secret ec2-token", asked: []string{"PUT /latest/api/token", "GET /latest/meta-data/iam/security-credentials/", "GET /latest/meta-data/iam/security-credentials/my-role"}},
		"no machine":         {env: []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT", nowhere}, wrong: "no AWS credentials were found"},
		"machine forbidden":  {env: []string{"AWS_EC2_METADATA_DISABLED", "true"}, wrong: "no AWS credentials were found", asked: []string{}},
		"no token service":   {env: []string{"AWS_ENDPOINT_URL_STS", nowhere, "AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token", "AWS_ROLE_ARN", "arn:w"}, files: files{"token": "jwt"}, wrong: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(home, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": server.URL, "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL}
			for i := 0; i < len(c.env); i += 2 {
				env[c.env[i]] = strings.NewReplacer("HOME/", home+"/", "SERVER/", server.URL+"/").Replace(c.env[i+1])
			}
			fake.asked = []string{}
			runs := 0
			chain := &Chain{
				Env: Env{Getenv: func(name string) string { return env[name] }, Home: home}, Client: server.Client(), Export: c.export,
				Run: func(_ context.Context, command string) ([]byte, error) {
					if runs++; c.prints == "!" {
						return nil, errors.New("it failed")
					}
					return []byte(c.prints), nil
				},
			}
			got, err := chain.Get(t.Context())
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret!") {
					t.Errorf("credentials %v, error %v, want %q", got, err, c.wrong)
				}
			} else if id := got.KeyID + " " + got.Secret + " " + got.Token; id != c.id || err != nil {
				t.Errorf("credentials %q, error %v, want %q", id, err, c.id)
			}
			if c.asked != nil && !slices.Equal(fake.asked, c.asked) {
				t.Errorf("asked %q", fake.asked)
			}
			if err != nil {
				return
			}
			before := len(fake.asked)
			if _, err := chain.Get(t.Context()); err != nil || len(fake.asked) != before || runs > 1 {
				t.Errorf("asked again: %q, error %v", fake.asked[before:], err)
			}
			if !slices.Contains(chain.Secrets(), got.Secret) {
				t.Error("the secret is not kept from being shown")
			}
			if more := chain.Forget(got.KeyID); more == (name == "environment") {
				t.Errorf("others can be had: %v", more)
			}
			if _, err := chain.Get(t.Context()); err != nil || !slices.Contains(chain.Secrets(), got.Secret) {
				t.Errorf("error %v after they were refused", err)
			}
			if name == "sign-on renewed" {
				text, _ := os.ReadFile(filepath.Join(home, session))
				if !strings.Contains(string(text), "access-2") || !strings.Contains(string(text), "refresh-2") || !strings.Contains(string(text), "kept") {
					t.Errorf("kept %s", text)
				}
			}
		})
	}
}

func TestRegion(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".aws", "config"), []byte("[default]\nregion=a-1\n[profile \"my one\"]\nregion = b-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "a-1"},
		{map[string]string{"AWS_PROFILE": "my one"}, "b-1"},
		{map[string]string{"AWS_PROFILE": "none"}, ""},
		{map[string]string{"AWS_DEFAULT_REGION": "c-1"}, "c-1"},
		{map[string]string{"AWS_DEFAULT_REGION": "c-1", "AWS_REGION": "d-1"}, "d-1"},
	} {
		if got := (Env{Getenv: func(name string) string { return c.env[name] }, Home: home}).Region(); got != c.want {
			t.Errorf("%v: region %q, want %q", c.env, got, c.want)
		}
	}
}

// TestNoMetadataSoon checks that the chain gives up quickly on a machine outside the cloud.
func TestNoMetadataSoon(t *testing.T) {
	began := time.Now()
	chain := &Chain{Env: Env{Getenv: func(name string) string {
		return map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://192.0.2.1"}[name] // nothing answers there
	}, Home: t.TempDir()}}
	if _, err := chain.Get(t.Context()); err == nil || time.Since(began) > time.Minute {
		t.Errorf("error %v after %v", err, time.Since(began))
	}
}
