package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/settings"
)

// canaries returns a value, by name, for each variable that may hold a secret: the keys of all
// providers, and other common secrets in users' environments.
func canaries() map[string]string {
	values := map[string]string{}
	add := func(names ...string) {
		for _, name := range names {
			values[name] = "canary-" + strings.ToLower(name) + "-0123456789abcdef"
		}
	}
	for _, k := range settings.Keys() {
		if strings.HasPrefix(k.Accepted, "a secret") {
			add(k.Env...)
		}
	}
	add("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_CLIENT_SECRET", "ANTHROPIC_FOUNDRY_API_KEY",
		"GITHUB_TOKEN", "MISTRAL_API_KEY", "HF_TOKEN")
	return values
}

// TestKeysStayWithTheirProvider checks that a run with the keys of all providers in the
// environment sends each server only its own key, connects to no other host, and writes or
// prints none of them, even if the server echoes everything it received.
//
// Proves PROV-04.
func TestKeysStayWithTheirProvider(t *testing.T) {
	secrets := canaries()
	var mu sync.Mutex
	var elsewhere []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		elsewhere = append(elsewhere, r.Method+" "+r.Host)
	}))
	defer proxy.Close()
	secrets["the headers"] = "canary-headers-0123456789abcdef"
	secrets["the proxy"] = "canary-proxy-0123456789abcdef"
	address := strings.Replace(proxy.URL, "http://", "http://me:"+secrets["the proxy"]+"@", 1)

	for _, tt := range []struct{ provider, address, key string }{
		{"anthropic", "ANTHROPIC_BASE_URL", "ADZE_AUTH_TOKEN"},
		{"openai", "OPENAI_BASE_URL", "ADZE_OPENAI_API_KEY"},
		{"gemini", "GEMINI_BASE_URL", "ADZE_GEMINI_API_KEY"},
		{"grok", "XAI_BASE_URL", "ADZE_XAI_API_KEY"},
		{"openrouter", "OPENROUTER_BASE_URL", "ADZE_OPENROUTER_API_KEY"},
	} {
		t.Run(tt.provider, func(t *testing.T) {
			var got []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var all bytes.Buffer
				r.Header.Write(&all) // ok: a buffer
				all.WriteString(r.URL.String())
				mu.Lock()
				got = append(got, all.String())
				mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusUnauthorized)
				json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": "authentication_error", "message": "no: " + all.String()}})
			}))
			defer server.Close()
			home := t.TempDir()
			cmd := exec.Command(os.Args[0], "-p", "hi", "--provider", tt.provider, "--model", tt.provider+"/m-1", "--record-requests", "rec", "--debug", "--verbose", "--output-format", "stream-json")
			cmd.Args[0], cmd.Dir = "adze", home
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ADZE_HOME=" + filepath.Join(home, "state"), "HTTP_PROXY=" + address, "HTTPS_PROXY=" + address, "ANTHROPIC_CUSTOM_HEADERS=X-Gate: " + secrets["the headers"], tt.address + "=" + server.URL}
			for name, value := range secrets {
				if !strings.Contains(name, " ") {
					cmd.Env = append(cmd.Env, name+"="+value)
				}
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("it ended with %v:\n%s", err, out.String())
			}
			if len(got) == 0 || !strings.Contains(out.String(), "no: ") {
				t.Fatalf("the server was asked %d times:\n%s", len(got), out.String())
			}
			for _, request := range got {
				for name, value := range secrets {
					own := name == tt.key || name == "the headers" && tt.provider == "anthropic"
					if strings.Contains(request, value) != own {
						t.Errorf("the value of %s in the request:\n%s", name, request)
					}
				}
			}
			written := map[string]string{"the output": out.String()}
			err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				written[path] = string(data)
				return err
			})
			if err != nil || len(written) < 4 {
				t.Errorf("%d files, %v", len(written), err)
			}
			for where, text := range written {
				for name, value := range secrets {
					if strings.Contains(text, value) {
						t.Errorf("%s has the value of %s:\n%s", where, name, text)
					}
				}
			}
		})
	}
	if slices.Sort(elsewhere); len(elsewhere) > 0 {
		t.Errorf("it asked elsewhere: %q", elsewhere)
	}
}
