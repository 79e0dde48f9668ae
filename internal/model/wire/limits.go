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

// Limits implements [model.Limited].
func (p *Provider) Limits() []model.Limit { return p.client.limits.all() }

// limits keeps what the answers of a server say of its limits.
type limits struct {
	host string
	note func(string) // may be nil

	mu     sync.Mutex
	known  []model.Limit
	warned map[string]int // the last warning about a limit, in percent
}

// limitHeaders are the headers that say how much of what there is and is left, and when it is renewed.
var limitHeaders = [...]struct{ name, most, left, reset string }{
	{"requests", "Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"tokens", "Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"input tokens", "Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"output tokens", "Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
	{"requests", "X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"tokens", "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
}

// The shares of a limit at which the user is warned, in percent.
const (
	muchUsed   = 80
	mostlyUsed = 95
)

// read takes in the headers of an answer, and warns once for each share of a limit.
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

// warning returns what to tell the user of a limit, or nothing.
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

// renewal returns when a limit is renewed, said as a date, as a duration or in seconds; the zero time if it makes no sense.
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
