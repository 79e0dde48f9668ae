// Package deferral decides which tools are omitted from requests, so that a model looks them up
// when it needs them.
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

// A Mode determines when tools are deferred.
type Mode struct {
	kind    kind
	percent int // percentage of the context window, for auto
}

type kind uint8

const (
	always kind = iota // also called tst
	auto               // tst-auto
	never              // standard
)

// defaultPercent is the share of the context window above which auto mode defers tools.
const defaultPercent = 10

// ParseMode parses a mode: true, false, auto or auto:N; "" means true. On error it also returns
// the mode to use instead.
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

// Settings holds the user's settings. They may change during a conversation.
type Settings struct {
	Mode string // see [ParseMode]
	By   string // source of the mode, for warnings; may be empty
	// Never disables deferral, overriding Mode.
	Never bool
}

// A Model describes the relevant properties of the current model.
type Model struct {
	Name, ID string // user-facing name, and ID used in requests
	Window   int    // size in tokens; 0 if unknown
	// NoSearch means that the model is not trusted to look tools up.
	NoSearch bool
}

// Config configures a [Policy].
type Config struct {
	// Unlisted reports whether the conversation has started without a tool; may be nil.
	Unlisted func(name string) bool
	Settings func() Settings
	// Model returns the model of the next request. May be nil.
	Model func() Model
	// Count asks the provider for a text's token count. If nil, it is estimated.
	Count func(ctx context.Context, text string) (int, error)
	Warn  func(string)
	// Begun is called when automatic deferral starts because there are many tools. May be nil.
	Begun func()
}

// A Policy decides for one conversation. It is safe for concurrent use.
type Policy struct {
	cfg Config

	mu     sync.Mutex
	begun  bool // automatic deferral has started; never reset
	text   string
	mode   Mode // parsed form of text
	read   bool
	set    []tool.Tool // tools measured last
	key    uint64      // hash of set
	tokens map[measured]int
}

// measured identifies a set of tools and the model that counts it.
type measured struct {
	set   uint64
	model string
}

// New returns a conversation's policy. Begun means that automatic deferral started in an
// earlier process.
func New(c Config, begun bool) *Policy {
	return &Policy{cfg: c, begun: begun, tokens: map[measured]int{}}
}

// Deferred reports whether a tool may be deferred. See [tool.Registry].
func (p *Policy) Deferred(name string, t *tool.Traits) bool {
	late := t.Late && p.cfg.Unlisted != nil && p.cfg.Unlisted(name)
	return late || !t.Core
}

// Defers reports whether tools are deferred now, given the candidates. See [tool.Registry].
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

// modeOf returns the current mode, and warns if it is invalid. The caller holds the lock.
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
	// unknownWindow is the assumed context window if it is not known.
	unknownWindow = 128_000
	// charsPerToken is the estimated number of characters per token in definitions.
	charsPerToken = 2.5
	// countTime limits the provider's counting time.
	countTime = 2 * time.Second
	// near is the factor from the threshold beyond which the estimate decides.
	near = 4
)

// exceeds reports whether definitions take more than the given share of the context window. The
// caller holds the lock.
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

// measure returns the definitions' token count. Far from the limit it is estimated.
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
