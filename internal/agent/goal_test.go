package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"adze/internal/agent"
	"adze/internal/msg"
)

// fakeGoal is reached after a number of batches and reminds a number of times.
type fakeGoal struct {
	after, reminders int
	fails            bool
	missed           int
}

func (g *fakeGoal) Reached() (agent.Ended, bool) {
	if g.after--; g.after > 0 {
		return agent.Ended{}, false
	}
	if g.fails {
		return agent.Ended{Reason: agent.StructuredOutputFailed, Detail: "no good"}, true
	}
	return agent.Ended{Reason: agent.Completed, Output: json.RawMessage(`{}`)}, true
}

func (g *fakeGoal) Missed(msg.Message) (string, agent.Ended) {
	if g.missed++; g.missed <= g.reminders {
		return "You forgot something.", agent.Ended{}
	}
	if g.after <= 0 {
		return "", agent.Ended{Reason: agent.Completed, Output: json.RawMessage(`{}`)}
	}
	return "", agent.Ended{Reason: agent.StructuredOutputFailed, Detail: "nothing came"}
}

// TestPromised checks that a turn waits for pending notifications unless no further request is
// allowed.
//
// Proves SHBG-07.
func TestPromised(t *testing.T) {
	const told = "say It runs.\n---\nexpect last \"It is over.\"\nsay Good."
	for _, tt := range []struct {
		name, script string
		maxTurns     int
		nothing      bool // no background task
		last         bool // the last task ends just as it is checked
		interrupt    bool
		want         agent.Reason
	}{
		{"told", told, 0, false, false, false, agent.Completed},
		{"told at the last moment", told, 0, false, true, false, agent.Completed},
		{"nothing runs", "say Done.", 1, true, false, false, agent.Completed},
		{"no turn left", "say It runs.", 1, false, false, false, agent.MaxTurnsReached},
		{"interrupted", "say It runs.", 0, false, false, true, agent.AbortedStreaming},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			b.MaxTurns, b.Inbox = tt.maxTurns, new(agent.Inbox)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			over := tt.nothing
			b.Await = func(ctx context.Context, heard func() bool) bool {
				switch {
				case over:
					return false
				case heard():
				case tt.interrupt:
					cancel()
				default:
					b.Inbox.Notify("It is over.")
					over = true
					return !tt.last
				}
				return true
			}
			events := b.run(ctx)
			b.played()
			if got := reason(events); got != tt.want {
				t.Errorf("ended with %s, want %s", got, tt.want)
			}
		})
	}
}

// Proves SOUT-02, SOUT-03.
func TestGoal(t *testing.T) {
	const use = "use Safe {\"text\":\"x\"}"
	block := agent.StopResult{Hook: "tests", Block: "not yet"}
	tests := []struct {
		name, script string
		goal         *fakeGoal
		stop         []agent.StopHook
		maxTurns     int
		want         agent.Reason
		output       string
	}{
		{"reached", use + "\n---\n" + use, &fakeGoal{after: 2}, nil, 0, agent.Completed, "{}"},
		{"reached at the last turn", use, &fakeGoal{after: 1}, nil, 1, agent.Completed, "{}"},
		{"failed", use, &fakeGoal{after: 1, fails: true}, nil, 0, agent.StructuredOutputFailed, ""},
		{"reminded", "say Done.\n---\nexpect last \"You forgot something.\"\n" + use, &fakeGoal{after: 1, reminders: 1}, nil, 0, agent.Completed, "{}"},
		{"missed", "say Done.\n---\nsay Done.", &fakeGoal{after: 1, reminders: 1}, nil, 0, agent.StructuredOutputFailed, ""},
		{"no turn left for a reminder", "say Done.", &fakeGoal{after: 1, reminders: 1}, nil, 1, agent.MaxTurnsReached, ""},
		{"a stop hook sends it back", use + "\n---\nexpect last \"not yet\"\nsay Now.", &fakeGoal{after: 1},
			[]agent.StopHook{&fakeStopper{verdicts: []agent.StopResult{block}}}, 0, agent.Completed, "{}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			b.Goal, b.Stop, b.MaxTurns = tt.goal, tt.stop, tt.maxTurns
			events := b.run(t.Context())
			b.played()
			end := events[len(events)-1].(agent.Ended)
			if end.Reason != tt.want || string(end.Output) != tt.output {
				t.Errorf("ended with %+v", end)
			}
		})
	}
}
