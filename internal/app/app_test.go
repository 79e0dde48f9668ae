package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"adze/internal/agent"
	"adze/internal/app/cli"
	"adze/internal/setup"
	"adze/internal/tool"
)

// Proves LOOP-21.
func TestExitCodes(t *testing.T) {
	interrupted, cancel := context.WithCancelCause(t.Context())
	cancel(tool.AbortUser)
	terminated, cancel := context.WithCancelCause(t.Context())
	cancel(tool.AbortShutdown)
	type test struct {
		name string
		ctx  context.Context
		err  error
		want int
	}
	tests := []test{
		{"done", t.Context(), nil, 0},
		{"set-up", t.Context(), setup.Errorf("x"), 2},
		{"other", t.Context(), errors.New("x"), 1},
		{"interrupted", interrupted, &cli.Ended{Reason: agent.AbortedTools}, 130},
		{"terminated", terminated, &cli.Ended{Reason: agent.AbortedStreaming}, 143},
		{"interrupted while idle", interrupted, errors.New("x"), 130},
		{"a wrapped set-up error", t.Context(), fmt.Errorf("y: %w", setup.Errorf("x")), 2},
	}
	for _, reason := range []agent.Reason{
		agent.BlockingLimit, agent.ModelError, agent.PromptTooLong, agent.ImageError, agent.StopHookPrevented, agent.HookStopped, agent.DenialLimit,
		agent.MaxTurnsReached, agent.BudgetExhausted, agent.StructuredOutputFailed,
	} {
		tests = append(tests, test{string(reason), t.Context(), &cli.Ended{Reason: reason}, 1})
	}
	for _, reason := range []agent.Reason{agent.AbortedStreaming, agent.AbortedTools} {
		tests = append(tests, test{string(reason), t.Context(), &cli.Ended{Reason: reason}, 130})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := exitCode(tt.ctx, tt.err, func(string) {}); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// TestFastPaths checks that the fast paths access neither the environment nor files.
//
// Proves CLI-04.
func TestFastPaths(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"-v"}, {"--help"}, {"help"}, {"completion", "bash"}} {
		var out, problems bytes.Buffer
		code := Run(t.Context(), cli.Env{
			Args: args, Stdout: &out, Stderr: &problems,
			Getenv: func(name string) string { t.Errorf("%v looked up %s", args, name); return "" },
		})
		if code != 0 || out.Len() == 0 || problems.Len() > 0 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), problems.String())
		}
	}
}
