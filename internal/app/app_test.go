package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
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
		{"set-up", t.Context(), setupErrorf("x"), 2},
		{"other", t.Context(), errors.New("x"), 1},
		{"interrupted", interrupted, &endedError{agent.AbortedTools}, 130},
		{"terminated", terminated, &endedError{agent.AbortedStreaming}, 143},
		{"interrupted while idle", interrupted, errors.New("x"), 130},
		{"a wrapped set-up error", t.Context(), fmt.Errorf("y: %w", setupErrorf("x")), 2},
	}
	for _, reason := range []agent.Reason{
		agent.BlockingLimit, agent.ModelError, agent.PromptTooLong, agent.ImageError, agent.StopHookPrevented, agent.HookStopped,
		agent.MaxTurnsReached, agent.BudgetExhausted, agent.StructuredOutputFailed,
	} {
		tests = append(tests, test{string(reason), t.Context(), &endedError{reason}, 1})
	}
	for _, reason := range []agent.Reason{agent.AbortedStreaming, agent.AbortedTools} {
		tests = append(tests, test{string(reason), t.Context(), &endedError{reason}, 130})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := &Env{Stderr: &bytes.Buffer{}}
			if got := env.exitCode(tt.ctx, tt.err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// The fast paths look at nothing: not at the environment, not at files.
//
// Proves CLI-04.
func TestFastPaths(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"-v"}, {"--help"}, {"help"}, {"completion", "bash"}} {
		best := time.Hour // what else the machine does can only make a run slower
		for i := 0; i < 50 && best > 50*time.Millisecond; i++ {
			var out, problems bytes.Buffer
			began := time.Now()
			code := Run(t.Context(), Env{
				Args: args, Stdout: &out, Stderr: &problems,
				Getenv: func(name string) string { t.Errorf("%v looked up %s", args, name); return "" },
			})
			best = min(best, time.Since(began))
			if code != 0 || out.Len() == 0 || problems.Len() > 0 {
				t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), problems.String())
			}
		}
		if best > 50*time.Millisecond {
			t.Errorf("%v took %v", args, best)
		}
	}
}

func TestLineFilter(t *testing.T) {
	tests := []struct {
		filter, line string
		want         bool
	}{
		{"api", "msg=API error", true},
		{"api", "msg=tool", false},
		{"api,tool", "msg=tool", true},
		{"!api", "msg=tool", true},
		{"!api", "msg=api", false},
		{"api,!retry", "msg=api retry", false},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		f := &lineFilter{w: &out, words: strings.Split(tt.filter, ",")}
		if n, err := f.Write([]byte(tt.line)); n != len(tt.line) || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		if got := out.Len() > 0; got != tt.want {
			t.Errorf("%s of %q: got %t", tt.filter, tt.line, got)
		}
	}
}

func TestWithoutPauses(t *testing.T) {
	got := string(withoutPauses([]byte("delay 1s\nfragments 3 every=2ms\nsay delay 1s\n")))
	if diff := cmp.Diff("say delay 1s\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestIsUUID(t *testing.T) {
	for s, want := range map[string]bool{
		"3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13": true, "3F2A9C1E-5B7D-4E80-9A61-0C4D8E2F7B13": true,
		"": false, "3f2a9c1e5b7d4e809a610c4d8e2f7b13": false, "3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b1g": false,
	} {
		if isUUID(s) != want {
			t.Errorf("%q", s)
		}
	}
}
