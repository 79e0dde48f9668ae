package models

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRefusals checks the user-facing error for each provider's documented refusals: the cause,
// and a remedy that fits the credentials in use.
//
// Proves PROV-55.
func TestRefusals(t *testing.T) {
	const secret = "sk-of-the-user-0123456789abcdef"
	keys := []struct{ provider, address, key string }{
		{"anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}, {"openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"}, {"gemini", "GEMINI_BASE_URL", "GEMINI_API_KEY"},
		{"grok", "XAI_BASE_URL", "XAI_API_KEY"}, {"openrouter", "OPENROUTER_BASE_URL", "OPENROUTER_API_KEY"},
	}
	google := func(code int, status, message, more string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, code, message, status, more)
	}
	const badKey = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`
	tests := []struct {
		provider, name string
		status         int
		body           string
		kind           model.Kind
	}{
		{"anthropic", "wrong key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, model.Auth},
		{"anthropic", "no credit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, model.Quota},
		{"anthropic", "no model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: m-1"}}`, model.NoModel},
		{"openai", "wrong key", 401, `{"error":{"message":"Incorrect API key provided: ` + secret + `. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, model.Auth},
		{"openai", "no quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, model.Quota},
		{"openai", "no model", 404, `{"error":{"message":"The model 'm-1' does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, model.NoModel},
		{"openai", "wrong region", 403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, model.Refused},
		{"gemini", "wrong key", 400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", badKey), model.Auth},
		{"gemini", "expired key", 400, google(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", badKey), model.Auth},
		{"gemini", "wrong region", 400, google(400, "FAILED_PRECONDITION", "User location is not supported for the API use.", ""), model.Refused},
		{"gemini", "no model", 404, google(404, "NOT_FOUND", "models/m-1 is not found for API version v1beta, or is not supported for generateContent.", ""), model.NoModel},
		{"gemini", "no quota", 429, google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.",
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}`), model.Quota},
		{"grok", "wrong key", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***ef. You can obtain an API key from https://console.x.ai."}`, model.Auth},
		{"grok", "no model", 404, `{"code":"Some requested entity was not found","error":"The model m-1 does not exist or your team does not have access to it."}`, model.NoModel},
		{"grok", "no credit", 403, `{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai."}`, model.Quota},
		{"openrouter", "wrong key", 401, `{"error":{"message":"No auth credentials found","code":401}}`, model.Auth},
		{"openrouter", "no credit", 402, `{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/settings/credits","code":402}}`, model.Quota},
		{"openrouter", "no model", 400, `{"error":{"message":"m-1 is not a valid model ID","code":400}}`, model.NoModel},
	}
	var got strings.Builder
	for _, tt := range tests {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost { // local servers are also queried for their type
				asked++
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		}))
		vars := map[string]string{}
		for _, k := range keys {
			if k.provider == tt.provider {
				vars[k.address], vars[k.key] = s.URL, secret
			}
		}
		b, err := Open(Config{Settings: testSettings(t, "", vars), Version: "1", Say: func(string) {}}, tt.provider+"/m-1")
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range b.Provider.Stream(t.Context(), &model.Request{Model: tt.provider + "/m-1", MaxTokens: 10, Messages: []msg.Message{msg.UserText("hi")}}) {
		}
		if model.KindOf(err) != tt.kind || asked != 1 {
			t.Errorf("%s, %s: %v after %d requests, want %v", tt.provider, tt.name, err, asked, tt.kind)
		}
		fmt.Fprintf(&got, "%s, %s: %s\n", tt.provider, tt.name, model.Explain(err, "m-1", true))
		s.Close()
	}
	if strings.Contains(got.String(), secret) {
		t.Error("the key is shown")
	}
	golden := filepath.Join("testdata", "refusals.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestServersSayWhenToTryAgain checks that retry hints are honored in every dialect: in
// headers, and in the body for vendors that put them there.
//
// Proves PROV-50, PROV-56.
func TestServersSayWhenToTryAgain(t *testing.T) {
	const google = `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`
	for _, tt := range []struct {
		name       string
		status     int
		header     string
		body       string
		unattended bool
		want       time.Duration // 0 means no retry
		only       string        // provider
	}{
		{"milliseconds", 429, "Retry-After-Ms: 1500", "", false, 1500 * time.Millisecond, ""},
		{"seconds", 429, "Retry-After: 2", "", false, 2 * time.Second, ""},
		{"overloaded", 503, "Retry-After: 2", "", false, 2 * time.Second, ""},
		{"forbidden", 500, "X-Should-Retry: false", "", false, 0, ""},
		{"demanded", 418, "X-Should-Retry: true", "", false, time.Second / 2, ""},
		{"too long", 429, "Retry-After: 120", "", false, 0, ""},
		{"too long for a user who is there", 429, "Retry-After: 120", "", true, 2 * time.Minute, ""},
		{"in the body", 429, "", google, false, 3 * time.Second, "gemini"},
	} {
		for _, provider := range []string{"anthropic", "openai", "gemini", "grok", "openrouter"} {
			if tt.only != "" && tt.only != provider {
				continue
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if name, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				io.WriteString(w, cmp.Or(tt.body, `{"error":{"message":"not now"}}`))
			}))
			name := strings.ToUpper(strings.Replace(provider, "grok", "xai", 1))
			vars := map[string]string{name + "_BASE_URL": s.URL, name + "_API_KEY": "k"}
			if tt.unattended {
				vars["ADZE_UNATTENDED_RETRY"] = "1"
			}
			b, err := Open(Config{Settings: testSettings(t, "", vars), Version: "1", Say: func(string) {}}, provider+"/m-1")
			if err != nil {
				t.Fatal(err)
			}
			var waits time.Duration
			for e := range b.Provider.Stream(t.Context(), &model.Request{Model: provider + "/m-1", MaxTokens: 10, Messages: []msg.Message{msg.UserText("hi")}}) {
				if again, ok := e.(model.Retrying); ok {
					waits = again.After
					break
				}
			}
			if waits < tt.want || waits > tt.want+tt.want/4 { // up to a quarter more without a hint from the server
				t.Errorf("%s, %s: waits %v, want %v", provider, tt.name, waits, tt.want)
			}
			s.Close()
		}
	}
}
