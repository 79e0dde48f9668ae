package confine

import (
	"context"

	"adze/internal/permission"
	"adze/internal/platform/sandbox"
)

// hosts determines which hosts confined commands reach.
type hosts struct{ *sources }

// reachable reports whether any host can be reached. If no host is allowed and no user can be
// prompted, a proxy would only cost time.
func (h *hosts) reachable() bool {
	if h.gate == nil {
		return false
	}
	p := h.gate.Policy()
	return h.gate.Asks() || p.Mode() == permission.Bypass || p.AllowsHosts() || len(h.settings.Load().AllowedDomains) > 0
}

func (h *hosts) allowed() []sandbox.Domain { return domains(h.settings.Load().AllowedDomains) }
func (h *hosts) denied() []sandbox.Domain  { return domains(h.settings.Load().DeniedDomains) }

// domains returns the valid entries of a list.
func domains(list []string) []sandbox.Domain {
	var read []sandbox.Domain
	for _, text := range list {
		if d, err := sandbox.ParseDomain(text); err == nil {
			read = append(read, d)
		}
	}
	return read
}

// judge returns the decision of the host rules.
func (h *hosts) judge(host string) (allow, deny bool) {
	if h.gate == nil {
		return false, false
	}
	b := h.gate.Policy().Host(host)
	return b == permission.Allow, b == permission.Deny
}

// ask asks the user about a host.
func (h *hosts) ask(ctx context.Context, host string) bool {
	return h.gate != nil && h.gate.Reach(ctx, host)
}
