package redact

import (
	"strings"
	"testing"
	"time"

	"adze/internal/platform/proc/cputime"
)

// join assembles secrets so that this file does not contain them literally.
func join(parts ...string) string { return strings.Join(parts, "") }

func TestSecrets(t *testing.T) {
	const random = "a8Fk2LqP9xZs4Vn7Bc1Td6Wy"
	pem := join("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nq+8d==\n-----END RSA PRIV", "ATE KEY-----")
	tests := []struct{ name, in, want string }{
		{"anthropic", join("key sk-", "ant-api03-", random, random, " end"), "key [redacted] end"},
		{"openai", join("sk-", random), "[redacted]"},
		{"openai project", join("sk-", "proj-", random, random), "[redacted]"},
		{"aws id", join("AK", "IAIOSFODNN7QX4MPL2"), "[redacted]"},
		{"aws secret", join("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzK4T2QLEKEY"), "aws_secret_access_key = [redacted]"},
		{"github", join("https://x ghp", "_", random, "0123456789AB."), "https://x [redacted]."},
		{"github fine-grained", join("github", "_pat_", random, random), "[redacted]"},
		{"gitlab", join("gl", "pat-", random), "[redacted]"},
		{"slack", join("xox", "b-123456789012-", random), "[redacted]"},
		{"google", join("AI", "zaSyD-", random, random), "[redacted]"},
		{"stripe", join("sk_", "live_", random), "[redacted]"},
		{"npm", join("//registry/:_authToken=npm", "_", random, "abcdef12"), "//registry/:_authToken=[redacted]"},
		{"hugging face", join("hf", "_", random, "abcdef12"), "[redacted]"},
		{"signed token", join("eyJ", "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ", "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"), "[redacted]"},
		{"bearer", "Authorization: Bearer " + random, "Authorization: Bearer [redacted]"},
		{"bearer in a command", `curl -H "Authorization: Bearer ` + random + `" x`, `curl -H "Authorization: Bearer [redacted]" x`},
		{"basic", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted]=="},
		{"header", "x-api-key: " + random, "x-api-key: [redacted]"},
		{"cookie", "Cookie: session-abc123def", "Cookie: [redacted]"},
		{"password", `password = "hunter2!"`, `password = "[redacted]"`},
		{"environment", "DB_PASSWORD=s3cr3tValue99", "DB_PASSWORD=[redacted]"},
		{"json", `{"api_key": "` + random + `", "n": 1}`, `{"api_key": "[redacted]", "n": 1}`},
		{"escaped json", `{\"token\":\"` + random + `\"}`, `{\"token\":\"[redacted]\"}`},
		{"yaml", "client_secret: " + random, "client_secret: [redacted]"},
		{"flag", "--token=" + random, "--token=[redacted]"},
		{"url", "postgres://app:s3cr3t@db.local:5432/x", "postgres://app:[redacted]@db.local:5432/x"},
		{"url without user", "redis://:pw@cache/0", "redis://:[redacted]@cache/0"},
		{"private key", "a\n" + pem + "\nb", "a\n[redacted]\nb"},
		{"private key in JSON", `{"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `","b":1}`, `{"k":"[redacted]","b":1}`},
		{"private key cut off", join("-----BEGIN PRIV", "ATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nq+8d"), "[redacted]"},
		{"two", join("sk-", "ant-", random, " and xox", "b-", random), "[redacted] and [redacted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := String(tt.in); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
			}
			if got := string(Bytes([]byte(tt.in))); got != tt.want {
				t.Errorf("bytes: %s", got)
			}
			if again := String(String(tt.in)); again != tt.want {
				t.Errorf("twice: %s", again)
			}
		})
	}
}

func TestNoSecrets(t *testing.T) {
	for _, s := range []string{
		"", "token := parser.next()", "password: string", "const token = await getToken();", "if secret == nil {",
		`os.Getenv("API_KEY")`, "api_key=${API_KEY}", "password = os.environ['DB_PASSWORD']", "token_count: 1234567",
		"max_tokens=4096", "input_tokens: 120000, output_tokens: 98765", "sk-learn-is-not-a-key-but-a-kebab-name", "task-management-system-2024-roadmap",
		"commit 3f2a9c1e5b7d4e809a610c4d8e2f7b13aa09bb77", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"https://example.com/a:b@c", "http://localhost:8080/path?q=1", "git@github.com:owner/repo.git", "AKIA is a prefix", "eyJ is one too",
		"-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "the password is wrong; try again",
		"Authorization: required", "token: ClassDeclarationKind", "tokenizer = AutoTokenizer.from_pretrained(name)", "secret: v1.Secret",
		"func auth(user User) error", "passwordHash := bcrypt.GenerateFromPassword", "see RFC 6750: Bearer tokens are opaque",
		"3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", "password=<your-password>", "password=********", "export TOKEN=changeme-please-1",
	} {
		if got := String(s); got != s {
			t.Errorf("%s\n became %s", s, got)
		}
	}
}

func TestField(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"api_key", "a8Fk2LqP9xZs4Vn7Bc1Td6Wy", Mark},
		{"password", "hunter2!", Mark},
		{"password", "the word is hunter2!", "the word is hunter2!"},
		{"text", "a8Fk2LqP9xZs4Vn7Bc1Td6Wy", "a8Fk2LqP9xZs4Vn7Bc1Td6Wy"},
		{"text", "password=s3cr3tValue99", "password=" + Mark},
		{"token", "identifier", "identifier"},
		{"", "x", "x"},
	}
	for _, tt := range tests {
		if got := Field(tt.name, tt.value); got != tt.want {
			t.Errorf("%s %s: %s", tt.name, tt.value, got)
		}
	}
	cut := join(`-----BEGIN PRIV`, `ATE KEY-----\nMIIE\"`)
	if got := String(cut); got != Mark+`\"` {
		t.Errorf("the escape after a key is gone: %s", got)
	}
}

func TestUnchangedBytesAreNotCopied(t *testing.T) {
	b := []byte("nothing here")
	if got := Bytes(b); &got[0] != &b[0] {
		t.Error("copied")
	}
}

func TestLinearTime(t *testing.T) {
	for _, piece := range []string{"token=", "a:", "password: \"", "-----BEGIN ", "://a:b", "sk-", "eyJa.", "Bearer ", "=", "token=abc1", "-----BEGIN PRIVATE KEY-----A"} {
		in := strings.Repeat(piece, (1<<20)/len(piece))
		began := cputime.Used()
		String(in)
		if took := cputime.Used() - began; took > 5*time.Second {
			t.Errorf("%q takes %v for %d bytes", piece, took, len(in))
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("password = \"hunter2!\"")
	f.Add("-----BEGIN PRIVATE KEY-----\nabc")
	f.Add("Authorization: Basic ==")
	f.Fuzz(func(t *testing.T, s string) {
		out := String(s)
		if len(s) > 0 && strings.Count(out, Mark) == 0 && out != s {
			t.Fatalf("%q became %q", s, out)
		}
		if got := string(Bytes([]byte(s))); got != out {
			t.Fatalf("%q: %q and %q", s, out, got)
		}
	})
}
