package confine

import (
	"context"
	"slices"

	"adze/internal/platform/sandbox"
	"adze/internal/platform/sandbox/jail"
)

// A Status describes the confinement of commands that applies, or would apply if the sandbox
// were enabled.
type Status struct {
	Enabled   bool              `json:"enabled"`
	Required  bool              `json:"required"`
	Tier      string            `json:"tier"`
	Problem   string            `json:"problem,omitempty"`
	AutoAllow bool              `json:"autoAllow"`
	MayLeave  bool              `json:"allowUnsandboxed"`
	Excluded  []string          `json:"excludedCommands,omitempty"`
	Network   []string          `json:"allowedDomains,omitempty"`
	Limits    *sandbox.Limits   `json:"limits,omitempty"`
	Attempts  []sandbox.Attempt `json:"attempts,omitempty"`
	// Quarantine is the directory for files that appear under protected names.
	Quarantine string `json:"quarantine,omitempty"`
	// Jail names the mechanism that limits commands that run without a prompt to reading, with
	// or without the sandbox; if it is empty, JailProblem is the reason.
	Jail        string `json:"jail,omitempty"`
	JailProblem string `json:"jailProblem,omitempty"`
}

// Holds reports whether the sandbox works and keeps all its guarantees.
func (s *Status) Holds() bool {
	return s.Problem == "" && !slices.ContainsFunc(s.Attempts, func(a sandbox.Attempt) bool { return a.Promised && !a.Held })
}

// Status tests the sandbox, enabled or not, and attempts from inside everything it should
// prevent.
func (f *Confinement) Status(ctx context.Context) Status {
	s := f.settings.Load()
	tier, err := f.probe()
	out := Status{
		Enabled: s.Enabled, Required: s.Required, Tier: tier.String(),
		Quarantine: f.quarantine, MayLeave: s.AllowUnsandboxed, Excluded: s.Excluded, Network: s.AllowedDomains,
	}
	if problem := jail.Check(); problem != nil {
		out.JailProblem = problem.Error()
	} else {
		out.Jail = jail.Detail()
	}
	if err == nil {
		err = f.try(ctx, &out, s.autoAllow(tier))
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out
}

// try adds the limits of commands and the attempts to circumvent them.
func (f *Confinement) try(ctx context.Context, out *Status, autoAllow bool) error {
	limits, err := f.box.Limits()
	if err != nil {
		return err
	}
	out.AutoAllow, out.Limits = autoAllow, &limits
	out.Attempts, err = f.box.Try(ctx)
	return err
}
