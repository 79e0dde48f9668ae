package model

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden file")

var command = regexp.MustCompile(`(^|[ ;])/[a-z]+`)

// TestExplain checks that the texts mention only features available where they are read
// (sections 3.6 and 2.10 of the reviews).
//
// Proves PROV-55.
func TestExplain(t *testing.T) {
	page := "<html><body><h1>502</h1></body></html>"
	tests := []struct {
		name string
		err  error
	}{
		{"unknown", errors.New("disk on fire")},
		{"network", &Error{Kind: Network, Message: "dial tcp: no such host"}},
		{"tls", &Error{Kind: TLS, Message: "x509: certificate signed by unknown authority"}},
		{"broken", &Error{Kind: Broken, Message: "no data for 90 s", RequestID: "req_1"}},
		{"rate limit", &Error{Kind: RateLimited, Status: 429, RequestID: "req_1"}},
		{"rate limit with a time", &Error{Kind: RateLimited, RetryAfter: 89 * time.Second, HasRetryAfter: true, Message: "Too many tokens per minute."}},
		{"overloaded", &Error{Kind: Overloaded, Status: 529, Message: "Overloaded"}},
		{"server fault", &Error{Kind: ServerFault, Status: 502, Message: page, RequestID: "req_1"}},
		{"too long", &Error{Kind: TooLong, Message: "prompt is too long"}},
		{"too long, with numbers", &Error{Kind: TooLong, Input: 2500130, Window: 200000}},
		{"too long for the server", &Error{Kind: TooLong, Input: 40000, Window: 128000}},
		{"over window", &Error{Kind: OverWindow, Input: 190000, Output: 20000, Window: 200000}},
		{"media", &Error{Kind: MediaTooLarge, Media: "messages.3.content.1", Message: "image exceeds 5 MB maximum"}},
		{"signature", &Error{Kind: BadSignature, Message: "Invalid signature"}},
		{"auth", &Error{Kind: Auth, Status: 401, Message: "invalid x-api-key", RequestID: "req_1"}},
		{"quota", &Error{Kind: Quota, Message: "Your credit balance is too low"}},
		{"no model", &Error{Kind: NoModel, Status: 404, Message: "model: m-1"}},
		{"refused", &Error{Kind: Refused, Message: "Output blocked by content filtering policy"}},
		{"no tools", &Error{Kind: NoTools, Message: "it cannot call tools"}},
		{"invalid", &Error{Kind: Invalid, Status: 400, Message: "tools.0: wrong"}},
		{"wrapped", fmt.Errorf("asking: %w", &Error{Kind: Overloaded})},
		{"stack", &Error{Kind: Unknown, Message: "panic: x\n\ngoroutine 1 [running]:\nmain.main()"}},
		{"interrupted", context.Canceled},
	}
	var got strings.Builder
	for _, tt := range tests {
		s, run := Explain(tt.err, "m-1", true), Explain(tt.err, "m-1", false)
		for _, s := range []string{s, run} {
			if strings.ContainsAny(s, "<>\n\x1b") || strings.Contains(s, "goroutine") || strings.Contains(s, "log in") {
				t.Errorf("%s: %q has markup, a stack or a login", tt.name, s)
			}
		}
		if command.MatchString(run) {
			t.Errorf("%s: %q names a command where none can be typed", tt.name, run)
		}
		fmt.Fprintf(&got, "%s: %s\n", tt.name, s)
		if run != s {
			fmt.Fprintf(&got, "%s, in a run: %s\n", tt.name, run)
		}
	}
	golden := filepath.Join("testdata", "explain.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("explanations (-want +got):\n%s", diff)
	}
}

func TestExplainEdges(t *testing.T) {
	if got := Explain(nil, "m-1", true); got != "" {
		t.Errorf("no error is explained as %q", got)
	}
	if got := Explain(&Error{Kind: Overloaded}, "", true); !strings.HasPrefix(got, "The model is overloaded") {
		t.Errorf("without a name: %q", got)
	}
	long := Explain(&Error{Kind: Invalid, Message: strings.Repeat("很", 1000)}, "m", true)
	if n := len([]rune(long)); n > 600 {
		t.Errorf("an explanation of %d characters", n)
	}
	for d, want := range map[time.Duration]string{
		time.Millisecond: "1 second", 30 * time.Second: "30 seconds", time.Minute: "1 minute", 89 * time.Second: "2 minutes",
		time.Hour: "1 hour", 5*time.Hour + 3*time.Minute: "5 hours 3 minutes",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
