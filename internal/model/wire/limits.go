package wire

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
)

// Limits implements [model.LimitReporter].
func (p *Provider) Limits() []model.Limit { return p.client.limits.all() }

// limits tracks the rate limits that a server reports in its responses.
type limits struct {
	host string
	note func(string) // may be nil

	mu     sync.Mutex
	known  []model.Limit
	warned map[string]int // last warning per limit, in percent
}

// limitHeaders lists the headers for each limit's total, remaining amount and renewal time.
var limitHeaders = [...]struct{ name, most, left, reset string }{
	{"requests", "Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"tokens", "Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"input tokens", "Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"output tokens", "Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
	{"requests", "X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"tokens", "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
}

// The used percentages of a limit at which the user is warned.
const (
	muchUsed   = 80
	mostlyUsed = 95
)

// read processes the headers of a response and warns once for each threshold of a limit.
func (l *limits) read(h http.Header) {
	now := time.Now()
	var warnings []string
	l.mu.Lock()
	for _, names := range limitHeaders {
		if h[names.most] == nil {
			continue
		}
		most, err := strconv.Atoi(h.Get(names.most))
		left, err2 := strconv.Atoi(h.Get(names.left))
		if err != nil || err2 != nil || most <= 0 || left < 0 || left > most || most > 1e12 {
			continue
		}
		limit := model.Limit{Name: names.name, Most: most, Left: left, Reset: renewal(h.Get(names.reset), now)}
		if i := slices.IndexFunc(l.known, func(k model.Limit) bool { return k.Name == limit.Name }); i >= 0 {
			l.known[i] = limit
		} else {
			l.known = append(l.known, limit)
		}
		if w := l.warning(limit, now); w != "" {
			warnings = append(warnings, w)
		}
	}
	l.mu.Unlock()
	for _, w := range warnings {
		l.note(w)
	}
}

// warning returns a warning about a limit for the user, or "".
func (l *limits) warning(limit model.Limit, now time.Time) string {
	share := 0
	switch used := limit.Used(); {
	case used >= mostlyUsed:
		share = mostlyUsed
	case used >= muchUsed:
		share = muchUsed
	}
	if share <= l.warned[limit.Name] || l.note == nil {
		return ""
	}
	if l.warned == nil {
		l.warned = map[string]int{}
	}
	l.warned[limit.Name] = share
	text := fmt.Sprintf("%s: %d%% of the rate limit for %s is used", l.host, limit.Used(), limit.Name)
	if d := limit.Reset.Sub(now); !limit.Reset.IsZero() && d > 0 {
		text += "; it is renewed in " + d.Round(time.Second).String()
	}
	return text
}

// renewal parses a limit's renewal time, given as a date, as a duration or in seconds. It
// returns the zero time if the value is implausible.
func renewal(text string, now time.Time) time.Time {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d < 0 || d > 31*24*time.Hour {
		return time.Time{}
	}
	return now.Add(d)
}

func (l *limits) all() []model.Limit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.known)
}
