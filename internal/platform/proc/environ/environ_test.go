package environ

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// join assembles secrets so that this file does not contain them literally.
func join(parts ...string) string { return strings.Join(parts, "") }

func TestTake(t *testing.T) {
	t.Setenv("ENVIRON_TEST_TOKEN", "a")
	t.Setenv("ENVIRON_TEST_HEADERS", "X-Gate: open sesame")
	t.Setenv("ENVIRON_TEST_URL", "postgres://app:hunter2@db/x")
	t.Setenv("ENVIRON_TEST_PROXY", "http://me:hunter2@proxy:1")
	t.Setenv("ENVIRON_TEST_PLAIN", "b")
	v := Take()
	for _, tt := range []struct{ name, value, ours string }{
		{"ENVIRON_TEST_TOKEN", "a", ""},
		{"ENVIRON_TEST_HEADERS", "X-Gate: open sesame", ""},
		{"ENVIRON_TEST_URL", "postgres://app:hunter2@db/x", ""},
		{"ENVIRON_TEST_PROXY", "http://me:hunter2@proxy:1", "http://me:hunter2@proxy:1"}, // kept for the standard library
		{"ENVIRON_TEST_PLAIN", "b", "b"},
		{"ENVIRON_TEST_NONE", "", ""},
	} {
		if got := v.Get(tt.name); got != tt.value {
			t.Errorf("Get(%s) = %q", tt.name, got)
		}
		if got := os.Getenv(tt.name); got != tt.ours {
			t.Errorf("the process has %s=%q", tt.name, got)
		}
		if listed := slices.Contains(v.List(), tt.name+"="+tt.value); listed != (tt.value != "") {
			t.Errorf("%s is listed: %v", tt.name, listed)
		}
	}
}

// Proves SH-04.
func TestSecret(t *testing.T) {
	const random = "a8Fk2LqP9xZs4Vn7Bc1Td6Wy"
	for _, entry := range []string{
		"GITHUB_TOKEN=x", "GH_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_ACCESS_KEY_ID=x", "AWS_SESSION_TOKEN=x", "NPM_TOKEN=x", "PGPASSWORD=x",
		"db_password=x", "MYSQL_PWD=x", "AZURE_DEVOPS_EXT_PAT=x", "GOOGLE_APPLICATION_CREDENTIALS=/k.json", "REDISCLI_AUTH=x", "HTTP_AUTHORIZATION=x",
		"GPG_PASSPHRASE=x", "SSH_PRIVATE_KEY=x", "KEYRING_PASSWORD=x", "AUTHOR_TOKEN=x", "KEY=x", "DOCKER_AUTH_CONFIG={}",
		"SMTP_PASS=x", "PASS=x", "AZURE_PAT=x", "API_CREDS=x", "MY_JWT=x", "SESSION_COOKIE=x", "npm_config__auth=x", "VSCODE_GIT_IPC_AUTH_TOKEN=x",
		"GIT_CONFIG_VALUE_0=AUTHORIZATION: basic dXNlcjpwYXNzd29yZA==",
		join("MINE=ghp", "_", random, "0123456789"), join("MINE=sk-", "ant-", random), join("MINE=prefix AK", "IAIOSFODNN7QX4MPL2"),
		"MINE=Bearer " + random, join("MINE=-----BEGIN PRIV", "ATE KEY-----\nMIIE"), join("MINE=a,gl", "pat-", random),
	} {
		if name, value, _ := strings.Cut(entry, "="); !Secret(name, value) {
			t.Errorf("%s is not a secret", entry)
		}
	}
	for _, entry := range []string{
		"PATH=/bin", "HOME=/h", "SSH_AUTH_SOCK=/s", "XAUTHORITY=/x", "ICEAUTHORITY=/x", "GIT_AUTHOR_NAME=me", "GIT_AUTHOR_EMAIL=me@x", "KEYBOARD_LAYOUT=de",
		"KEYMAP=de", "TOKENIZERS_PARALLELISM=false", "GNOME_KEYRING_CONTROL=/k", "PYTHON_KEYRING_BACKEND=x", "KEYTIMEOUT=1", "PWD=/w", "OLDPWD=/w", "SSH_ASKPASS=/a",
		"GPG_TTY=/dev/tty", "GIT_ASKPASS=/a", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=/w", "GOAUTH=netrc", "LESSKEY=/l", "BYPASS=1", "PATTERN=x", "DB_PATH=/d", "GOPATH=/g", "EDITOR=vi", "LS_COLORS=*.tar=01;31", "HTTPS_PROXY=http://me:hunter2@proxy:1", "DATABASE_URL=postgres://a:b@db/x",
		"A=", "COMMIT=3f2a9c1e5b7d4e809a610c4d8e2f7b13aa09bb77",
	} {
		if name, value, _ := strings.Cut(entry, "="); Secret(name, value) {
			t.Errorf("%s is a secret", entry)
		}
	}
}

func TestWithhold(t *testing.T) {
	env := []string{"PATH=/bin", "GITHUB_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s", "AWS_SESSION_TOKEN=s", "NPM_TOKEN=n", "AWS_REGION=x"}
	for _, tt := range []struct{ keep, want []string }{
		{nil, []string{"PATH=/bin", "AWS_REGION=x"}},
		{[]string{"GITHUB_TOKEN", "AWS_*"}, []string{"PATH=/bin", "GITHUB_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s", "AWS_SESSION_TOKEN=s", "AWS_REGION=x"}},
		{[]string{"GITHUB", "TOKEN", "NPM_TOKENS", ""}, []string{"PATH=/bin", "AWS_REGION=x"}},
		{[]string{"*"}, env},
	} {
		got, withheld := Withhold(env, tt.keep)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.keep, diff)
		}
		if len(got)+len(withheld) != len(env) || slices.Contains(withheld, "PATH") {
			t.Errorf("%v: withheld %v", tt.keep, withheld)
		}
	}
	if len(env) != 6 || env[1] != "GITHUB_TOKEN=t" {
		t.Error("the given list was changed")
	}
}

// Proves SH-04.
func TestNotes(t *testing.T) {
	var n Notes
	if got := n.About("gh pr list", []string{"gh"}, true); got != "" {
		t.Errorf("without variables: %q", got)
	}
	n.Set([]string{"GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "DEPLOY_KEY", "NPM_TOKEN", "KEY"})
	for _, tt := range []struct {
		line, program string
		failed        bool
		want          string // variables mentioned
	}{
		{"gh pr list", "gh", false, ""},
		{"echo $MY_GITHUB_TOKEN $GITHUB_TOKENS", "echo", true, ""},
		{"make release", "make", true, ""},
		{"grep KEY file", "grep", true, ""},
		{"echo ${KEY}", "echo", false, "KEY"},
		{"/usr/bin/gh pr list", "/usr/bin/gh", true, "GITHUB_TOKEN"},
		{"gh pr list", "gh", true, ""}, // noted only once
		{"aws s3 ls", "aws", true, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"},
		{`curl -H "X-Key: ${DEPLOY_KEY}" x`, "curl", false, "DEPLOY_KEY"},
		{"NPM_TOKEN_FILE=x; test -n \"$NPM_TOKEN\"", "test", false, "NPM_TOKEN"},
	} {
		got := n.About(tt.line, []string{tt.program}, tt.failed)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) || tt.want != "" && !strings.Contains(got, "shell.passEnv") {
			t.Errorf("%s: %q", tt.line, got)
		}
	}
}

// Git fails if it is promised a value that it does not get.
func TestGitConfigurationInTheEnvironment(t *testing.T) {
	env := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=Authorization: Basic dXNlcjpwYXNzd29yZA=="}
	rest, withheld := Withhold(env, nil)
	if diff := cmp.Diff([]string{"GIT_CONFIG_KEY_0=http.extraheader"}, rest); diff != "" || len(withheld) != 1 {
		t.Errorf("withheld %v (-want +got):\n%s", withheld, diff)
	}
	if rest, withheld := Withhold(env, []string{"GIT_CONFIG_*"}); len(rest) != 3 || len(withheld) != 0 {
		t.Errorf("%v, %v", rest, withheld)
	}
	plain := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=/w"}
	if rest, _ := Withhold(plain, nil); len(rest) != 3 {
		t.Errorf("%v", rest)
	}
}
