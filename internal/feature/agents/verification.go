package agents

import (
	"context"
	_ "embed"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/feature"
	"adze/internal/feature/agents/builtin"
	"adze/internal/platform/text/texts"
)

var (
	//go:embed verification.en.md
	verifyEnglish string
	//go:embed verification.zh.md
	verifyChinese string

	verifyTexts = texts.New(verifyEnglish, verifyChinese)
)

const (
	// least is the number of changed files that requires verification.
	least = 3
	// shown is the maximum number of files named to the model.
	shown = 20
)

// A Contract records the files changed in a turn, and sends the model back to work once if it
// ends the turn without a verdict on them. Nil requires nothing. It is safe for concurrent use.
type Contract struct {
	// Holds reports whether a verdict is required and possible.
	Holds func() bool
	// Busy reports whether a verifier is running.
	Busy func() bool
	// Unrelated reports whether a file is not part of the work, such as a temporary one.
	Unrelated func(path string) bool
	Language  func() texts.Language

	mu    sync.Mutex
	files []string // changed files without a verdict
	sent  bool     // the model was sent back in this turn
}

// Changed records a changed file, regardless of its author.
func (c *Contract) Changed(_ context.Context, path string) error {
	if c == nil || c.Unrelated(path) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.files, path) {
		c.files = append(c.files, path)
	}
	return nil
}

// Judged records that a verifier has reported. Later changes need another verdict.
func (c *Contract) Judged() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = nil
}

// Part returns the contract's contribution to a conversation.
func (c *Contract) Part() feature.Part {
	return feature.Part{Name: "verification", Stop: c, Ended: func(context.Context, agent.Ended) { c.Ended() }}
}

// Stop implements [agent.StopHook].
func (c *Contract) Stop(context.Context, agent.StopInput) (v agent.StopResult, err error) {
	if c == nil || !c.Holds() || c.Busy() {
		return v, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent || len(c.files) < least {
		return v, nil
	}
	c.sent = true
	names := strings.Join(c.files[:min(len(c.files), shown)], "\n")
	return agent.StopResult{Hook: "verification", Block: verifyTexts.Text(c.Language(), "wanted", strconv.Itoa(len(c.files)), names)}, nil
}

// Ended records that the turn has ended.
func (c *Contract) Ended() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files, c.sent = nil, false
}

// In returns a predicate that reports whether a path is in any of the directories, some of
// which may be "".
func Within(dirs func() []string) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(dirs(), func(dir string) bool {
			rel, err := filepath.Rel(dir, path)
			return dir != "" && err == nil && filepath.IsLocal(rel)
		})
	}
}

// AtWork reports whether any of the agents is a verifier.
func AtWork(agents []commands.RunningAgent) bool {
	return slices.ContainsFunc(agents, func(a commands.RunningAgent) bool { return a.Type == builtin.Verification })
}
