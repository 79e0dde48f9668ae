package display

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/commands"
)

// A pull is gh's output for a pull request.
type pull struct {
	Number int    `json:"number"`
	State  string `json:"state"`
	Draft  bool   `json:"isDraft"`
	Review string `json:"reviewDecision"`
	Checks []struct {
		Status     string `json:"status"`
		Conclusion string `json:"conclusion"`
		State      string `json:"state"` // state of the other kind of check
	} `json:"statusCheckRollup"`
}

// Request queries gh for the checked-out branch's pull request. It returns a zero Request
// without one, or if gh fails.
func Request(ctx context.Context, ask func(ctx context.Context, name string, args ...string) (string, error)) commands.Request {
	out, err := ask(ctx, "gh", "pr", "view", "--json", "number,state,isDraft,reviewDecision,statusCheckRollup")
	var p pull
	if err != nil || json.Unmarshal([]byte(out), &p) != nil || p.Number <= 0 {
		return commands.Request{}
	}
	state, mood := p.words()
	return commands.Request{Text: fmt.Sprintf("#%d %s", p.Number, state), Mood: mood}
}

// words returns a short description of the state: anything that needs the user's attention
// comes first.
func (p *pull) words() (string, commands.Mood) {
	switch p.State {
	case "MERGED":
		return "merged", commands.Well
	case "CLOSED":
		return "closed", commands.Neutral
	}
	failed, waits := p.checks()
	switch {
	case failed:
		return "checks fail", commands.Ill
	case p.Review == "CHANGES_REQUESTED":
		return "changes requested", commands.Ill
	case waits:
		return "checks run", commands.Neutral
	case p.Draft:
		return "draft", commands.Neutral
	case p.Review == "APPROVED":
		return "approved", commands.Well
	}
	return "open", commands.Neutral
}

// checks reports whether a check has failed, and whether one is still running.
func (p *pull) checks() (failed, waits bool) {
	for _, c := range p.Checks {
		switch c.Conclusion + c.State {
		case "FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "STARTUP_FAILURE", "ACTION_REQUIRED":
			failed = true
		case "", "PENDING", "EXPECTED":
			waits = true
		}
	}
	return failed, waits
}
