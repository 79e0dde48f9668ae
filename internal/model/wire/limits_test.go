package wire

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
)

// TestLimits checks that limits are read in several formats and that each of the two warnings
// comes once.
//
// Proves PROV-57.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		l := limits{host: "api.example", note: func(s string) { said = append(said, s) }}
		read := func(lines ...string) {
			h := http.Header{}
			for _, line := range lines {
				name, value, _ := strings.Cut(line, ": ")
				h.Set(name, value)
			}
			l.read(h)
		}
		now := time.Now()
		read("x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 59", "x-ratelimit-reset-requests: 1s",
			"x-ratelimit-limit-tokens: 150000", "x-ratelimit-remaining-tokens: 149984", "x-ratelimit-reset-tokens: 6m0s")
		want := []model.Limit{{Name: "requests", Most: 60, Left: 59, Reset: now.Add(time.Second)}, {Name: "tokens", Most: 150000, Left: 149984, Reset: now.Add(6 * time.Minute)}}
		if diff := cmp.Diff(want, l.all()); diff != "" || said != nil {
			t.Errorf("said %q, limits (-want +got):\n%s", said, diff)
		}
		for _, left := range []string{"21", "20", "10", "5", "1", "100", "0"} { // remaining out of 100
			read("anthropic-ratelimit-input-tokens-limit: 100", "anthropic-ratelimit-input-tokens-remaining: "+left,
				"anthropic-ratelimit-input-tokens-reset: "+now.Add(time.Minute).UTC().Format(time.RFC3339))
		}
		if want := []string{
			"api.example: 80% of the rate limit for input tokens is used; it is renewed in 1m0s",
			"api.example: 95% of the rate limit for input tokens is used; it is renewed in 1m0s",
		}; !slices.Equal(said, want) {
			t.Errorf("said %q", said)
		}
		before := l.all()
		for _, nonsense := range [][2]string{{"0", "0"}, {"x", "1"}, {"10", "-1"}, {"10", "11"}, {"10", ""}, {"99999999999999999999", "1"}} {
			read("x-ratelimit-limit-requests: "+nonsense[0], "x-ratelimit-remaining-requests: "+nonsense[1])
		}
		if diff := cmp.Diff(before, l.all()); diff != "" {
			t.Errorf("nonsense counts: %s", diff)
		}
		for text, want := range map[string]time.Duration{"200ms": 200 * time.Millisecond, "7": 7 * time.Second, "": 0, "soon": 0, "-1s": 0, "9999h": 0} {
			got := renewal(text, now)
			if want == 0 && !got.IsZero() || want != 0 && !got.Equal(now.Add(want)) {
				t.Errorf("%q is %v", text, got)
			}
		}
	})
}
