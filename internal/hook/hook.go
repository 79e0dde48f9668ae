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
	// Scrubbed returns what commands of the workspace's hooks get of it; nil means all but what no program may
	// inherit.
	Scrubbed func() []string

	Judges Judges
	// CallTool calls the tool of a connected server for hooks of type mcp_tool and returns the text of the result; nil
	// means that there are no servers. A result that is an error is returned as one.
	CallTool func(ctx context.Context, server, tool string, input json.RawMessage) (string, error)

	Policy Policy
	// Approved reports whether a hook of the workspace was approved as it is; nil means that all are.
	Approved func(src Source, event, matcher string, handler json.RawMessage) bool
	// SessionEndTimeout is for hooks of that event that set none; 0 means 1.5 seconds.
	SessionEndTimeout time.Duration

	// Deliver gets what hooks in the background have to say to the model, Wake what is worth waking an
	// idle session for. They may be called at any time, from any goroutine, until Close returns.
	Deliver, Wake func(text string)
	// Notify gets what the user should see; Observer is told of every run.
	Notify   func(text string)
	Observer Observer
	// Results keeps output that is too long to be passed on; nil cuts it.
	Results Results
	Log     *slog.Logger

	// lookPath replaces exec.LookPath, lookup the system's resolver of host names.
	lookPath func(name string) (string, error)
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Judges answer what hooks ask.
type Judges struct {
	// Prompt has a model say whether a condition is met, for hooks of type prompt; nil means that they cannot run.
	Prompt func(ctx context.Context, a Asking) (Opinion, error)
	// Agent has an agent find out for hooks of type agent; nil means that they cannot run. No hooks may run in the
	// conversation of the agent.
	Agent func(ctx context.Context, a Asking) (Opinion, error)
	// User lets the user choose, for hooks of type command, and returns the key of the option; nil means that no one can
	// be asked. It must return when ctx is done. The hook reads the error.
	User func(ctx context.Context, q Question) (key string, err error)
}

// A Policy restricts which hooks run. Managed hooks run in any case, unless DisableManaged is set.
type Policy struct {
	// Disable leaves out all hooks. DisableManaged leaves out the managed ones.
	Disable, DisableManaged bool
	// Bare leaves out those of settings files.
	Bare bool
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
	registry
	cfg      Config
	commands launcher
	requests sender
	notices  notifier

	life context.Context
	end  context.CancelFunc
	jobs sync.WaitGroup // of hooks in the background

	mu         sync.Mutex
	background []*job
}

const (
	defaultSessionEnd = 1500 * time.Millisecond
	// killGrace is the time between asking a hook to end and killing it.
	killGrace = 2 * time.Second
)

// New returns a runner for the hooks of the sources, and what is wrong with them. Those of plugins are read when an event needs
// them, and what is wrong with them is told then.
func New(cfg Config) (*Runner, []Problem) {
	if cfg.Environ == nil {
		cfg.Environ = os.Environ
	}
	if cfg.Scrubbed == nil {
		cfg.Scrubbed = func() []string { return osproc.ScrubEnv(cfg.Environ()) }
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
	r := &Runner{cfg: cfg, registry: registry{policy: cfg.Policy, approved: cfg.Approved}}
	r.notices = notifier{cfg: &r.cfg, warned: map[string]bool{}}
	r.late = func(p Problem) { r.notices.once(p.Error()) }
	r.commands = launcher{cfg: &r.cfg, notices: &r.notices, procs: osproc.Runner{Grace: killGrace}}
	r.requests = sender{cfg: &r.cfg}
	r.life, r.end = context.WithCancel(context.Background())
	return r, r.Reload(cfg.Sources)
}

// Check returns what is wrong with the hooks of sources.
func Check(sources []Source) []Problem {
	var problems []Problem
	for _, src := range sources {
		_, p := parse(&src)
		problems = append(problems, p...)
	}
	return problems
}

// AsyncTimeout is how long a hook may stay in the background that went there by itself, and any hook when the session ends.
const AsyncTimeout = 15 * time.Second

// Settle waits until no hook runs in the background, or ctx is done. With wakes, it waits only for hooks that may wake the
// session.
func (r *Runner) Settle(ctx context.Context, wakes bool) {
	for {
		r.mu.Lock()
		i := slices.IndexFunc(r.background, func(j *job) bool { return j.asyncRewake || !wakes })
		var over chan struct{}
		if i >= 0 {
			over = r.background[i].over
		}
		r.mu.Unlock()
		if over == nil {
			return
		}
		select {
		case <-over:
		case <-ctx.Done():
			return
		}
	}
}

// Running returns the hooks in the background, as they are named to the user.
func (r *Runner) Running() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.background {
		names = append(names, j.who())
	}
	return names
}

// Close ends every hook that still runs and waits for it.
func (r *Runner) Close() {
	r.end()
	r.commands.procs.Close()
	r.jobs.Wait()
}
