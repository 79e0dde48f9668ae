// Package hook runs user, plugin and host hooks on events: it finds an event's hooks, runs them
// concurrently, and combines their results. A hook before a call that breaks, hangs or prints
// nonsense never silently lets the call through.
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

	"adze/internal/platform/proc/osproc"
)

// Config configures a Runner. The zero value of every field is valid.
type Config struct {
	// Sources define hooks, the least important first.
	Sources []Source
	// Common returns the current values common to all events.
	Common func() Common
	// Dir is the session's start directory, ProjectDir the project's root.
	Dir, ProjectDir string
	// EnvFile is the file to which hooks write variables for later commands; empty disables
	// that.
	EnvFile string
	// Environ returns adze's own environment; nil means [os.Environ].
	Environ func() []string
	// Scrubbed returns the environment for commands of workspace hooks; nil means all but the
	// variables that no program may inherit.
	Scrubbed func() []string

	Judges Judges
	// CallTool calls a connected server's tool for mcp_tool hooks and returns the result's
	// text; nil means no servers. An error result is returned as an error.
	CallTool func(ctx context.Context, server, tool string, input json.RawMessage) (string, error)

	Policy Policy
	// Approved reports whether a workspace hook was approved in its current form; nil approves
	// all.
	Approved func(src Source, event, matcher string, handler json.RawMessage) bool
	// SessionEndTimeout is the default for SessionEnd hooks; 0 means 1.5 seconds.
	SessionEndTimeout time.Duration

	// Deliver receives background hooks' output for the model, Wake the output that should wake
	// an idle session. They may be called at any time, from any goroutine, until Close returns.
	Deliver, Wake func(text string)
	// Notify receives messages for the user; Observer is called for every run.
	Notify   func(text string)
	Observer Observer
	// Results saves output that is too long to be passed on; nil truncates it.
	Results Results
	Log     *slog.Logger

	// lookPath replaces exec.LookPath, lookup the system's DNS resolver.
	lookPath func(name string) (string, error)
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Judges answers hooks' questions.
type Judges struct {
	// Prompt lets a model decide whether a condition is met, for prompt hooks; nil means that
	// they cannot run.
	Prompt func(ctx context.Context, a PromptRequest) (Opinion, error)
	// Agent lets an agent decide, for agent hooks; nil means that they cannot run. No hooks may
	// run in the agent's conversation.
	Agent func(ctx context.Context, a PromptRequest) (Opinion, error)
	// User lets the user choose an option, for command hooks, and returns its key; nil means no
	// user. It must return when ctx is done. The hook reads the error.
	User func(ctx context.Context, q Question) (key string, err error)
}

// A Policy restricts which hooks run. Managed hooks run in any case, unless DisableManaged is set.
type Policy struct {
	// Disable disables all hooks except managed ones, DisableManaged the managed ones.
	Disable, DisableManaged bool
	// Bare omits all hooks except managed ones and the host's.
	Bare bool
	// ManagedOnly omits all hooks except managed ones and the host's.
	ManagedOnly bool
	// AllowedURLs lists the addresses that HTTP hooks may use, with * for any text; nil allows
	// all.
	AllowedURLs []string
	// InHook means that adze runs inside a hook, whose own hooks would recurse forever.
	InHook bool
}

// A Callback runs a host's hook. It must return when ctx is done.
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
	jobs sync.WaitGroup // background hooks

	mu         sync.Mutex
	background []*job
}

const (
	defaultSessionEnd = 1500 * time.Millisecond
	// killGrace is the time between asking a hook to end and killing it.
	killGrace = 2 * time.Second
)

// New returns a runner for the sources' hooks, and the problems in them. Plugin hooks are
// parsed when an event needs them, and their problems are reported then.
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

// Check returns the problems in the sources' hooks.
func Check(sources []Source) []Problem {
	var problems []Problem
	for _, src := range sources {
		_, p := parse(&src)
		problems = append(problems, p...)
	}
	return problems
}

// AsyncTimeout is the time limit of a hook that moved itself to the background, and of any hook
// when the session ends.
const AsyncTimeout = 15 * time.Second

// Settle waits until no hook runs in the background, or ctx is done. If wakes is set, it waits
// only for hooks that may wake the session.
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

// Running returns the display names of the background hooks.
func (r *Runner) Running() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.background {
		names = append(names, j.who())
	}
	return names
}

// Close kills all running hooks and waits for them.
func (r *Runner) Close() {
	r.end()
	r.commands.procs.Close()
	r.jobs.Wait()
}
