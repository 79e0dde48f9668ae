package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Before fires [PreToolUse]. It implements [tool.Gate]: the hooks' decisions go into the
// verdict, where an allow is only a request that the permission gate considers.
func (r *Runner) Before(ctx context.Context, u *tool.Use) error {
	out := r.Fire(ctx, OnPreToolUse(u))
	v := &u.Verdict
	v.Context = append(v.Context, out.Context...)
	v.Stop = firstOf(v.Stop, out.Stop)
	if out.Decision != tool.Deny && out.UpdatedInput != nil {
		if err := u.Rewrite("a "+string(PreToolUse)+" hook", out.UpdatedInput); err != nil {
			return err
		}
	}
	if out.Decision == tool.Allow {
		v.HookAllow = out.By
		return nil
	}
	v.Decide(out.Decision, out.By, sentence(out.Reason))
	return nil
}

// sentence punctuates a reason so that other sentences can follow.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?:") {
		return s
	}
	return s + "."
}

// After fires [PostToolUse] or [PostToolUseFailure]. It implements [tool.After].
func (r *Runner) After(ctx context.Context, u *tool.Use, res *tool.Result) error {
	if !r.Has(PostToolUse) && !r.Has(PostToolUseFailure) {
		return nil
	}
	if ctx.Err() != nil {
		// The turn no longer waits for the result, but the hooks should run.
		e := OnPostToolUseFailure(u, msg.PlainText(res.Parts), true)
		r.jobs.Go(func() { r.Fire(context.WithoutCancel(ctx), e) })
		return nil
	}
	e := OnPostToolUse(u, res)
	if res.IsError {
		e = OnPostToolUseFailure(u, msg.PlainText(res.Parts), false)
	}
	out := r.Fire(ctx, e)
	u.Verdict.Context = append(u.Verdict.Context, out.Context...)
	u.Verdict.Stop = firstOf(u.Verdict.Stop, out.Stop)
	if out.UpdatedOutput != nil {
		discard(res.Body)
		res.Parts, res.Body, res.Display = outputParts(out.UpdatedOutput), nil, nil
	}
	return nil
}

// discard releases an unread body.
func discard(b tool.Body) {
	if b == nil {
		return
	}
	if r, err := b.Open(); err == nil {
		r.Close() // ok: it is not read
	}
}

// outputParts returns the replacement of a result for the model: a string unchanged, content
// blocks as their texts, anything else as JSON.
func outputParts(data json.RawMessage) []msg.Part {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []msg.Part{&msg.Text{Text: text}}
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(data, &blocks) == nil && len(blocks) > 0 {
		parts := make([]msg.Part, 0, len(blocks))
		for _, b := range blocks {
			if b.Type == "text" {
				parts = append(parts, &msg.Text{Text: b.Text})
			}
		}
		if len(parts) == len(blocks) {
			return parts
		}
	}
	return []msg.Part{&msg.Text{Text: string(bytes.TrimSpace(data))}}
}

// PermissionRequest runs the hooks for a call that would prompt the user. Suggestions holds the
// permission updates that would be offered, as JSON; nil means none.
func (r *Runner) PermissionRequest(ctx context.Context, u *tool.Use, suggestions json.RawMessage) Answer {
	out := r.Fire(ctx, OnPermissionRequest(u, suggestions))
	u.Verdict.Context = append(u.Verdict.Context, out.Context...)
	u.Verdict.Stop = firstOf(u.Verdict.Stop, out.Stop)
	return out.Answer
}

// PermissionDenied notifies the hooks that a call was denied, and reports whether the model may
// retry it.
func (r *Runner) PermissionDenied(ctx context.Context, u *tool.Use) (retry bool) {
	out := r.Fire(ctx, OnPermissionDenied(u, u.Verdict.Reason))
	if out.Retry {
		u.Verdict.Context = append(u.Verdict.Context, msg.Reminder("A PermissionDenied hook allows you to retry the denied call."))
	}
	return out.Retry
}
