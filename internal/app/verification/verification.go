// Package verification makes sure that larger changes are judged by the verification agent before they are called done.
// Running that agent is left to others, and what it does to its definition.
package verification

import (
	"context"
	_ "embed"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/agentdef/builtin"
	"adze/internal/desk"
	"adze/internal/platform/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

const (
	// least is how many changed files make a change that must be verified.
	least = 3
	// shown is how many of them the model is told by name.
	shown = 20
)

// A Contract notes which files are changed in a turn, and sends the model back to work once if it wants to end the turn
// without a verdict on them. Nil asks for nothing. It is safe for concurrent use.
type Contract struct {
	// Holds reports whether a verdict is asked for and can be had.
	Holds func() bool
	// Busy reports whether a verifier is at work.
	Busy func() bool
	// Beside reports whether a file is not part of the work, such as a temporary one.
	Beside   func(path string) bool
	Language func() texts.Language

	mu    sync.Mutex
	files []string // without a verdict
	sent  bool     // the model was sent back in this turn
}

// Changed notes a file that was changed, by whomever.
func (c *Contract) Changed(_ context.Context, path string) error {
	if c == nil || c.Beside(path) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.files, path) {
		c.files = append(c.files, path)
	}
	return nil
}

// Judged says that a verifier has reported. What is changed from now on needs another verdict.
func (c *Contract) Judged() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = nil
}

// Stop implements [agent.Stopper].
func (c *Contract) Stop(context.Context, agent.StopCheck) (v agent.StopVerdict, err error) {
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
	return agent.StopVerdict{Hook: "verification", Block: catalogue.Text(c.Language(), "wanted", strconv.Itoa(len(c.files)), names)}, nil
}

// Ended says that the turn has ended.
func (c *Contract) Ended() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files, c.sent = nil, false
}

// In returns what reports whether a path is in one of the directories, of which some may be "".
func In(dirs func() []string) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(dirs(), func(dir string) bool {
			rel, err := filepath.Rel(dir, path)
			return dir != "" && err == nil && filepath.IsLocal(rel)
		})
	}
}

// AtWork reports whether one of the agents is a verifier.
func AtWork(agents []desk.AtWork) bool {
	return slices.ContainsFunc(agents, func(a desk.AtWork) bool { return a.Type == builtin.Verification })
}
