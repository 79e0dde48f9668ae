package permission

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/permission/approval"
	"adze/internal/permission/compat"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// A Judge answers some questions in place of the user. It never sees a call that a rule denies
// or that only the user may decide. If it returns an error, the gate asks the user.
type Judge interface {
	// Judge decides whether a call must be blocked.
	Judge(ctx context.Context, q Question) (Judgement, error)
	// Covers returns the action class that a command certainly belongs to, or "".
	Covers(ctx context.Context, q Question, classes []string) (string, error)
}

// A Judgement is a judge's verdict on a call.
type Judgement struct {
	Block  bool
	Reason string // shown to users and models; may be empty
}

// SetJudge sets the judge for questions in [Auto] mode and for the action classes of approved
// plans; nil means that all questions go to the user.
func (g *Gate) SetJudge(j Judge) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.judge = j
}

// Judged returns how many calls the judge has allowed and refused in [Auto] mode.
func (g *Gate) Judged() (allowed, refused int) { return g.blocked.Counts() }

// judged lets the judge decide. If it does not, the note is the reason for asking the user, if
// worth showing.
func (g *Gate) judged(ctx context.Context, p *Policy, u *tool.Use, q *Question, d Decision) (_ Decision, decided bool, note string) {
	g.mu.Lock()
	j := g.judge
	g.mu.Unlock()
	if j == nil || d.Firm || d.NeedsPerson {
		return d, false, ""
	}
	class, err := g.covered(ctx, j, q)
	if err != nil {
		note = fmt.Sprintf("adze can't tell whether the approved plan covers it: %v", err)
	}
	verdict := Judgement{Reason: fmt.Sprintf("the approved plan covers it: %q", class)}
	if class == "" {
		if !d.Judged {
			return d, false, note
		}
		if note = g.blocked.Tripped(); note != "" {
			return d, false, note
		}
		if verdict, err = j.Judge(ctx, *q); err != nil {
			return d, false, fmt.Sprintf("auto mode could not decide: %v", err)
		}
		verdict.Reason = autoReason(verdict)
	}
	if now := g.Policy(); now != p { // the policy changed in the meantime
		again := Decide(now, factsOf(now, u))
		if again.denies() {
			return again, true, ""
		}
		if again.Firm || class == "" && !now.cfg.classifies() {
			return d, false, "the permissions have changed"
		}
	}
	if class == "" {
		g.blocked.Count(verdict.Block)
	}
	d.Behavior, d.Reason = Allow, Reason{Kind: JudgeDecides, Text: verdict.Reason}
	if verdict.Block {
		d.Behavior = Deny
	}
	return d, true, ""
}

func autoReason(v Judgement) string {
	text := "auto mode allows it"
	if v.Block {
		text = "auto mode denies it"
	}
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text
}

// covered returns the approved plan's action class that a command belongs to, or "".
func (g *Gate) covered(ctx context.Context, j Judge, q *Question) (string, error) {
	if q.Command == "" || q.Tool != compat.Command {
		return "", nil
	}
	return g.approved.Covers(q.Dir, q.Command, func(classes []string) (string, error) { return j.Covers(ctx, *q, classes) })
}

// approve adds session rules for the approved action classes with a known meaning. The judge
// decides about the others.
func (s *State) approve(prompts []approval.Prompt) {
	if approval.Check(prompts) != nil {
		return
	}
	project := s.Policy().cfg.start()
	u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Session}
	for _, p := range prompts {
		contents := approval.Known(p.Prompt, project)
		if len(contents) == 0 {
			s.approved.Add(strings.Join(strings.Fields(p.Prompt), " "))
		}
		for _, content := range contents {
			u.Rules = append(u.Rules, RuleValue{Tool: compat.Command, Content: content})
		}
	}
	s.change(func(c Config) Config { return c.apply(u) })
}
