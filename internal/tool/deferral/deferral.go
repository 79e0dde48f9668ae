// Package deferral decides which tools are left out of requests, so that a model looks them up when it needs them.
// How they are looked up, run and told of is left to others.
package deferral

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/tool"
)

// A Mode says when tools are deferred.
type Mode struct {
	kind    kind
	percent int // of the context window, for auto
}

type kind uint8

const (
	always kind = iota // also called tst
	auto               // tst-auto
	never              // standard
)

// defaultPercent is from which part of the context window on tools are deferred automatically.
const defaultPercent = 10

// ParseMode reads a mode: true, false, auto or auto:N; nothing means true. What cannot be read is an error, with the
// mode that counts in its place.
func ParseMode(text string) (Mode, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	percent, given := strings.CutPrefix(word, "auto:")
	switch {
	case word == "", word == "tst", isTrue(word):
		return Mode{kind: always}, nil
	case word == "standard", isFalse(word):
		return Mode{kind: never}, nil
	case word == "auto", word == "tst-auto":
		return Mode{auto, defaultPercent}, nil
	case !given:
		return Mode{kind: always}, fmt.Errorf("%q is not true, false, auto or auto:N; using true", text)
	}
	switch n, err := strconv.Atoi(percent); {
	case err != nil || n < 0 || n > 100:
		return Mode{auto, defaultPercent}, fmt.Errorf("%q needs a number from 0 to 100 after auto:; using auto:%d", text, defaultPercent)
	case n == 0:
		return Mode{kind: always}, nil
	case n == 100:
		return Mode{kind: never}, nil
	default:
		return Mode{auto, n}, nil
	}
}

func isTrue(word string) bool  { return slices.Contains([]string{"true", "1", "yes", "on"}, word) }
func isFalse(word string) bool { return slices.Contains([]string{"false", "0", "no", "off"}, word) }

// Settings are what the user wants. They may change while a conversation lasts.
type Settings struct {
	Mode string // see [ParseMode]
	By   string // where the mode is set, for warnings; may be empty
	// Never defers nothing, whatever Mode says.
	Never bool
}

// A Model is what counts of the model that is asked.
type Model struct {
	Name, ID string // as the user calls it, and as it is asked for
	Window   int    // in tokens; 0 if it is not known
	// NoSearch says that it is not relied on to look tools up.
	NoSearch bool
}

// A Config is what a [Policy] decides by.
type Config struct {
	// Core reports whether a tool is one of those that are never deferred, but for late ones: see [tool.Traits].
	Core func(name string) bool
	// Unlisted reports whether the conversation has begun without a tool; may be nil.
	Unlisted func(name string) bool
	Settings func() Settings
	// Model returns the model of the next request. May be nil: none is asked.
	Model func() Model
	// Count asks the provider how many tokens a text is. May be nil: they are estimated.
	Count func(ctx context.Context, text string) (int, error)
	Warn  func(string)
	// Begun is called when tools are deferred from now on because there are many. May be nil.
	Begun func()
}

// A Policy decides for one conversation. It is safe for concurrent use.
type Policy struct {
	cfg Config

	mu     sync.Mutex
	begun  bool // in the automatic mode, and then for good
	text   string
	mode   Mode // that text is
	read   bool
	set    []tool.Tool // that was measured last
	key    uint64      // of set
	tokens map[measured]int
}

// measured is a set of tools as a model counts it.
type measured struct {
	set   uint64
	model string
}

// New returns the policy of a conversation. Begun says that tools were deferred automatically in an earlier process.
func New(c Config, begun bool) *Policy {
	return &Policy{cfg: c, begun: begun, tokens: map[measured]int{}}
}

// Deferred reports whether a tool is one of those that are deferred. See [tool.Registry].
func (p *Policy) Deferred(name string, t *tool.Traits) bool {
	late := t.Late && p.cfg.Unlisted != nil && p.cfg.Unlisted(name)
	return !t.AlwaysLoad && (late || !p.cfg.Core(name))
}

// Defers reports whether tools are deferred now, given those that would be. See [tool.Registry].
func (p *Policy) Defers(deferred []tool.Tool) bool {
	s := p.cfg.Settings()
	var m Model
	if p.cfg.Model != nil {
		m = p.cfg.Model()
	}
	if s.Never || m.NoSearch {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch mode := p.modeOf(s); mode.kind {
	case never:
		return false
	case auto:
		if !p.begun && p.exceeds(deferred, m, mode.percent) {
			p.begun = true
			if p.cfg.Begun != nil {
				p.cfg.Begun()
			}
		}
		return p.begun
	}
	return true
}

// modeOf returns the mode in force, and warns of one that cannot be read. The caller holds the lock.
func (p *Policy) modeOf(s Settings) Mode {
	if p.read && p.text == s.Mode {
		return p.mode
	}
	mode, err := ParseMode(s.Mode)
	if err != nil {
		where := s.By
		if where == "" {
			where = "tools.deferral"
		}
		p.cfg.Warn(where + ": " + err.Error())
	}
	p.text, p.mode, p.read = s.Mode, mode, true
	return mode
}

const (
	// unknownWindow is the context window of a model of which it is not known.
	unknownWindow = 128_000
	// charsPerToken is how much of a definition a token is, where it is not counted.
	charsPerToken = 2.5
	// countTime is how long the provider may take to count.
	countTime = 2 * time.Second
	// near is how far from the threshold an estimate decides by itself, as a factor.
	near = 4
)

// exceeds reports whether definitions take more than a part of the context window. The caller holds the lock.
func (p *Policy) exceeds(tools []tool.Tool, m Model, percent int) bool {
	if len(tools) == 0 {
		return false
	}
	window := m.Window
	if window <= 0 {
		window = unknownWindow
	}
	if len(p.set) != len(tools) || &p.set[0] != &tools[0] {
		p.set, p.key = tools, keyOf(tools)
	}
	id := measured{p.key, m.ID}
	n, known := p.tokens[id]
	if !known {
		n = p.measure(tools, window*percent/100)
		p.tokens[id] = n
	}
	return n*100 > window*percent
}

// measure returns how many tokens definitions are. What is far from the limit is estimated.
func (p *Policy) measure(tools []tool.Tool, limit int) int {
	chars := 0
	for _, t := range tools {
		s := t.Spec()
		chars += len([]rune(s.Name)) + len([]rune(s.Description)) + len([]rune(string(s.Schema)))
	}
	estimate := int(float64(chars) / charsPerToken)
	if p.cfg.Count == nil || estimate > near*limit || estimate < limit/near {
		return estimate
	}
	var text strings.Builder
	for _, t := range tools {
		s := t.Spec()
		fmt.Fprintf(&text, "%s\n%s\n%s\n\n", s.Name, s.Description, s.Schema)
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTime)
	defer cancel()
	if n, err := p.cfg.Count(ctx, text.String()); err == nil {
		return n
	}
	return estimate
}

// keyOf returns a hash of definitions.
func keyOf(tools []tool.Tool) uint64 {
	h := fnv.New64a()
	for _, t := range tools {
		s := t.Spec()
		fmt.Fprintf(h, "%q%q%q", s.Name, s.Description, s.Schema) // ok: a hash takes everything
	}
	return h.Sum64()
}
