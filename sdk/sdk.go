// Package sdk runs adze from Go programs: it starts the program, sends prompts, and yields
// messages. Functions of the caller can decide about calls, run as hooks, and be
// tools of the model.
//
// [Run] answers one prompt. [Open] starts a [Session] for several.
package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configure a session. The zero value runs adze as it is installed and configured, and
// denies every call that needs a permission.
type Options struct {
	// Start starts the program; nil runs the one named by Program, by default the adze in PATH.
	Start   func(context.Context, Command) (*Process, error)
	Program string
	// Dir is the working directory, by default that of the process.
	Dir string
	// Env is the environment, in the form "key=value"; nil means that of the process.
	Env []string
	// Args are further flags; adze help flags lists them.
	Args []string
	// Stderr receives messages for the user; nil discards them.
	Stderr io.Writer

	Model          string
	PermissionMode string // default, acceptEdits, plan, dontAsk, auto or bypassPermissions
	// SystemPrompt replaces the system prompt, and AppendSystemPrompt adds to it.
	SystemPrompt, AppendSystemPrompt string
	// AllowedTools and DisallowedTools are permission rules, such as "Bash(go test:*)".
	AllowedTools, DisallowedTools []string
	MaxTurns                      int
	MaxBudgetUSD                  float64
	// Resume is the ID or title of an earlier session to continue; with Fork, in a copy.
	Resume string
	Fork   bool
	// Trust lets the configuration of the working directory take effect for this session.
	Trust bool
	// Output is a JSON Schema: each turn ends with a value that matches it, in Result.Output.
	Output json.RawMessage
	// Deltas also yields the answer piece by piece, while the model writes it.
	Deltas bool

	// Permit decides about calls that no rule decides. Nil denies them.
	Permit func(context.Context, Call) (Decision, error)
	// Hooks are called at the events of the session.
	Hooks []Hook
	// Tools are offered to the model under the names mcp__sdk__NAME, and Servers under
	// mcp__SERVER__NAME. A call needs a permission like any other.
	Tools   []Tool
	Servers map[string]*mcp.Server
}

// Run answers a prompt in a session of its own. If the turn fails, the error is a [*TurnError],
// and the result is valid.
func Run(ctx context.Context, prompt string, o Options) (*Result, error) {
	for m, err := range Stream(ctx, prompt, o) {
		if err != nil {
			return nil, err
		}
		if r, ok := m.(*Result); ok {
			return r, r.Err()
		}
	}
	return nil, errors.New("adze ended without a result")
}

// Stream is Run with all messages; the last one is the [*Result].
func Stream(ctx context.Context, prompt string, o Options) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		s, err := Open(ctx, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close() // ok: the result has arrived, or the error has been yielded
		for m, err := range s.Prompt(ctx, prompt) {
			if !yield(m, err) {
				return
			}
		}
	}
}

// args returns the arguments of the program.
func (o *Options) args() []string {
	args := []string{"--input-format=stream-json", "--output-format=stream-json", "--verbose"}
	if o.Permit != nil {
		args = append(args, "--permission-prompt-tool=stdio")
	}
	for _, f := range []struct{ name, value string }{
		{"model", o.Model},
		{"permission-mode", o.PermissionMode},
		{"resume", o.Resume},
		{"max-turns", positive(o.MaxTurns)},
	} {
		if f.value != "" {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	if o.MaxBudgetUSD > 0 {
		args = append(args, "--max-budget-usd="+strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	for _, rule := range o.AllowedTools {
		args = append(args, "--allowed-tools="+rule)
	}
	for _, rule := range o.DisallowedTools {
		args = append(args, "--disallowed-tools="+rule)
	}
	if o.Fork {
		args = append(args, "--fork-session")
	}
	if o.Deltas {
		args = append(args, "--include-partial-messages")
	}
	return slices.Concat(args, o.Args)
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
