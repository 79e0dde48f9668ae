package confine

import (
	"context"
	"slices"

	"adze/internal/platform/jail"
	"adze/internal/platform/sandbox"
)

// A Status describes what confines commands, or would if the sandbox were switched on.
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
	// Quarantine is where things go that appear under protected names.
	Quarantine string `json:"quarantine,omitempty"`
	// Jail is what keeps commands that run unasked to reading, with the sandbox or without; empty for
	// nothing, and JailProblem says why.
	Jail        string `json:"jail,omitempty"`
	JailProblem string `json:"jailProblem,omitempty"`
}

// Holds reports whether the sandbox works and keeps all its promises.
func (s *Status) Holds() bool {
	return s.Problem == "" && !slices.ContainsFunc(s.Attempts, func(a sandbox.Attempt) bool { return a.Promised && !a.Held })
}

// Status tests the sandbox, switched on or not, and tries from the inside what it is there to prevent.
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

// try adds the limits of commands and the attempts to get around them.
func (f *Confinement) try(ctx context.Context, out *Status, autoAllow bool) error {
	limits, err := f.box.Limits()
	if err != nil {
		return err
	}
	out.AutoAllow, out.Limits = autoAllow, &limits
	out.Attempts, err = f.box.Try(ctx)
	return err
}
