// Package hook runs what users, plugins and hosts want to happen when something happens: it finds the
// hooks of an event, runs them side by side, and puts what they say together. A hook before a call that
// breaks, hangs or prints nonsense never lets the call through silently. Where events come from and
// what becomes of an outcome is left to those who fire them; what a hook allows, to the permission gate.
package hook

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"adze/internal/platform/osproc"
	"adze/internal/platform/scope"
)

// A Config is what a runner needs. Every field may be left zero.
type Config struct {
	// Sources define hooks, the least important first.
	Sources []Source
	// Common returns what is the same for all events at this moment.
	Common func() Common
	// Dir is where the session started, ProjectDir the root of the project.
	Dir, ProjectDir string
	// EnvFile is where hooks write variables for later commands; empty means that they cannot.
	EnvFile string
	// Environ returns our own environment; nil means the real one.
	Environ func() []string
	// LookPath finds programs; nil means on the PATH.
	LookPath func(name string) (string, error)
	// Lookup resolves the names of hosts; nil means as the system does.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	Policy Policy
	// Approved reports whether a hook of the workspace was approved as it is; nil means that all are.
	Approved func(src Source, event, matcher string, handler json.RawMessage) bool
	// SessionEndTimeout is for hooks of that event that set none; 0 means 1.5 seconds.
	SessionEndTimeout time.Duration

	// Deliver gets what hooks in the background have to say to the model, Wake what is worth waking an
	// idle session for. They may be called at any time, from any goroutine, until Close returns.
	Deliver, Wake func(text string)
	// Notify gets what the person should see; Observer is told of every run.
	Notify   func(text string)
	Observer Observer
	// Results keeps output that is too long to be passed on; nil cuts it.
	Results Results
	Log     *slog.Logger
}

// A Policy restricts which hooks run. Managed hooks run in any case, unless DisableManaged is set.
type Policy struct {
	// Disable leaves out all hooks. DisableManaged leaves out the managed ones.
	Disable, DisableManaged bool
	// ManagedOnly leaves out all hooks but those of the host.
	ManagedOnly bool
	// AllowedURLs lists the addresses that hooks may be sent to, with * for any text; nil allows all.
	AllowedURLs []string
	// InHook says that we run inside a hook, whose own hooks would go on forever.
	InHook bool
}

// A Callback runs a hook of the host. It must return when ctx is done.
type Callback func(ctx context.Context, id string, input json.RawMessage, toolUseID string) (json.RawMessage, error)

// A Runner fires events. It is safe for concurrent use.
type Runner struct {
	cfg   Config
	procs osproc.Runner
	life  context.Context
	end   context.CancelFunc
	jobs  sync.WaitGroup // of hooks in the background

	mu       sync.Mutex
	settings []*hook
	host     []*hook
	callback Callback
	warned   map[string]bool
}

// A hook is a definition with what happened to it so far.
type hook struct {
	*spec
	// idle says why it never runs, or is empty.
	idle string

	mu    sync.Mutex
	spent bool // it was to run once, and did
	last  *Report
	wakes []time.Time
}

const (
	defaultSessionEnd = 1500 * time.Millisecond
	// killGrace is the time between asking a hook to end and killing it.
	killGrace = 2 * time.Second
)

// New returns a runner for the hooks of the sources, and what is wrong with them.
func New(cfg Config) (*Runner, []Problem) {
	if cfg.Environ == nil {
		cfg.Environ = os.Environ
	}
	if cfg.Common == nil {
		cfg.Common = func() Common { return Common{Dir: cfg.Dir} }
	}
	if cfg.SessionEndTimeout <= 0 {
		cfg.SessionEndTimeout = defaultSessionEnd
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{cfg: cfg, procs: osproc.Runner{Grace: killGrace}, warned: map[string]bool{}}
	r.life, r.end = context.WithCancel(context.Background())
	return r, r.Reload(cfg.Sources)
}

// Close ends every hook that still runs and waits for it.
func (r *Runner) Close() {
	r.end()
	r.procs.Close()
	r.jobs.Wait()
}

// Reload replaces the hooks of the sources that [New] was given. Until it is called, changes to the
// files behind them have no effect.
func (r *Runner) Reload(sources []Source) []Problem {
	var hooks []*hook
	var problems []Problem
	for _, src := range sources {
		h, p := r.load(src)
		hooks, problems = append(hooks, h...), append(problems, p...)
	}
	slices.SortStableFunc(hooks, func(a, b *hook) int { return rankOf(a) - rankOf(b) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = hooks
	return problems
}

// rankOf puts managed hooks first; the others stay in their order.
func rankOf(h *hook) int {
	if h.source.Scope == scope.Managed {
		return 0
	}
	return 1
}

func (r *Runner) load(src Source) ([]*hook, []Problem) {
	specs, problems := parse(&src)
	hooks := make([]*hook, len(specs))
	for i, s := range specs {
		hooks[i] = &hook{spec: s, idle: r.idle(s)}
	}
	return hooks, problems
}

// idle says why a hook never runs, or nothing.
func (r *Runner) idle(s *spec) string {
	p, src := r.cfg.Policy, s.source
	managed := src.Scope == scope.Managed
	switch {
	case src.Workspace && !src.Trusted:
		return "the workspace is not trusted"
	case src.Workspace && r.cfg.Approved != nil && !r.cfg.Approved(*src, string(s.event), s.matcher.text, s.raw):
		return "it is not approved"
	case managed && p.DisableManaged, !managed && p.Disable:
		return "hooks are disabled"
	case !managed && p.ManagedOnly && src.Scope != scope.Host:
		return "only managed hooks are allowed"
	case !managed && p.InHook:
		return "adze runs inside a hook"
	}
	return ""
}

// matching returns the hooks that run for an event, in the order of configuration and each once.
func (r *Runner) matching(e Event, dir string) []*hook {
	r.mu.Lock()
	all := slices.Concat(r.settings, r.host)
	r.mu.Unlock()
	names := e.names()
	var chosen []*hook
	for _, h := range all {
		switch {
		case h.event != e.Name || h.idle != "" || h.isSpent():
		case !h.matcher.matches(names) || !h.cond.met(e.use, names, dir):
		default:
			chosen = append(chosen, h)
		}
	}
	return distinct(chosen)
}

// distinct leaves out hooks that do what another one does: the last one counts, but nobody replaces a
// managed hook.
func distinct(hooks []*hook) []*hook {
	keep := make(map[string]*hook)
	for _, h := range hooks {
		if old := keep[h.key()]; old == nil || old.source.Scope != scope.Managed {
			keep[h.key()] = h
		}
	}
	return slices.DeleteFunc(hooks, func(h *hook) bool { return h.key() != "" && keep[h.key()] != h })
}

// Has reports whether any hook would run for events of a kind, whatever they are about.
func (r *Runner) Has(n Name) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(slices.Concat(r.settings, r.host), func(h *hook) bool { return h.event == n && h.idle == "" })
}

func (h *hook) isSpent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spent
}
