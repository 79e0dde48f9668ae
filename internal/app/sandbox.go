package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/platform/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/shell"
	"adze/internal/tools/bash"
)

// A confinement is the sandbox of a session, switched on or not. The settings may change while the session
// lasts: what changes counts for the commands to come. A nil one confines nothing.
type confinement struct {
	*sandbox.Sandbox
	ctx      context.Context // of the session: questions about hosts are withdrawn with it
	settings atomic.Pointer[config.Settings]
	env      *Env
	gate     *gate // nil before the rules are known
	once     sync.Once
	tested   atomic.Bool
	tier     sandbox.Tier
	problem  error // why it is not in force
}

// newConfinement makes the sandbox that the settings ask for. It is tested when it is needed, or at once if
// it is required: one that does not work then stops the program.
func newConfinement(s *config.Settings, env *Env) (*confinement, error) {
	c := openConfinement(s, env)
	if err := c.required(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// on reports whether the settings switch the sandbox on.
func (c *confinement) on() bool { return c != nil && c.settings.Load().Bool("sandbox.enabled") }

// required reports that the settings require a sandbox that does not work.
func (c *confinement) required() error {
	if c.on() && c.settings.Load().Bool("sandbox.failIfUnavailable") && !c.inForce() {
		return setupErrorf("the settings require a sandbox: %v", c.problem)
	}
	return nil
}

// ready tests the sandbox, once, when it is switched on, and tells the gate what came of it.
func (c *confinement) ready() {
	if c.on() {
		c.once.Do(func() { c.settle(c.Tier()) })
	}
}

// inForce reports whether commands are confined.
func (c *confinement) inForce() bool {
	c.ready()
	return c.on() && c.problem == nil
}

// settle takes over what the test of the sandbox has shown.
func (c *confinement) settle(tier sandbox.Tier, problem error) {
	c.tier, c.problem = tier, problem
	c.tested.Store(true)
	if problem != nil && !c.settings.Load().Bool("sandbox.failIfUnavailable") {
		c.env.say(fmt.Sprintf("the sandbox is switched on, but %v. Commands run without it, and each one that does more than read is asked about", problem))
	}
	c.tell()
}

// tell tells the gate what confines commands, as far as that is known.
func (c *confinement) tell() {
	if c.gate == nil {
		return
	}
	was, is := c.gate.Policy().Config().Sandbox, c.state()
	if was.On != is.On || was.AutoAllow != is.AutoAllow || was.Missing != is.Missing || !slices.Equal(was.Excluded, is.Excluded) {
		c.gate.SetSandbox(is)
	}
}

// reload takes over settings that have changed, for the commands to come.
func (c *confinement) reload(s *config.Settings) {
	if c == nil {
		return
	}
	before := c.settings.Swap(s)
	for _, key := range listKeys {
		if !before.Bool("sandbox.enabled") || !slices.Equal(before.Strings(key), s.Strings(key)) {
			c.check(key)
		}
	}
	c.tell()
}

// expectedSandbox returns what would confine commands.
func expectedSandbox(s *config.Settings, env *Env) (permission.Sandbox, error) {
	c, err := newConfinement(s, env)
	defer c.close()
	c.ready()
	return c.state(), err
}

// openConfinement makes a sandbox without testing it.
func openConfinement(s *config.Settings, env *Env) *confinement {
	c := &confinement{ctx: context.Background(), env: env}
	c.settings.Store(s)
	for _, key := range listKeys {
		c.check(key)
	}
	c.Sandbox = sandbox.New(sandbox.Config{
		Roots: c.roots, Home: env.Getenv("HOME"),
		Write:    c.places("sandbox.filesystem.allowWrite"),
		ReadOnly: c.places("sandbox.filesystem.denyWrite"),
		Hidden:   c.hidden,
		Network: sandbox.Network{
			On:    c.networked,
			Allow: c.domains("sandbox.network.allowedDomains"),
			Deny:  c.domains("sandbox.network.deniedDomains"),
			Judge: c.judge,
			Ask:   c.ask,
		},
	})
	return c
}

// attach lets the rules of the gate count.
func (c *confinement) attach(g *gate) {
	if c == nil {
		return
	}
	c.gate = g
	c.tell()
}

// begin says when questions about hosts are withdrawn: with the session.
func (c *confinement) begin(ctx context.Context) {
	if c != nil {
		c.ctx = ctx
	}
}

func (c *confinement) close() {
	if c != nil {
		c.Close()
	}
}

// state returns what the permission check has to know.
func (c *confinement) state() permission.Sandbox {
	switch {
	case !c.on():
		return permission.Sandbox{}
	case !c.tested.Load():
		return permission.Sandbox{Excluded: c.excluded()}
	case c.problem != nil:
		return permission.Sandbox{Missing: true}
	}
	return permission.Sandbox{On: true, AutoAllow: c.autoAllow(), Excluded: c.excluded()}
}

// autoAllow reports whether commands in the sandbox are not asked about. Where protected names cannot be
// protected, confinement is no reason for that.
func (c *confinement) autoAllow() bool {
	return c.settings.Load().Bool("sandbox.autoAllowBashIfSandboxed") && c.tier.Protects()
}

// excluded returns the patterns of commands that run outside.
func (c *confinement) excluded() []string {
	return slices.DeleteFunc(slices.Clone(c.settings.Load().Strings("sandbox.excludedCommands")), func(text string) bool {
		_, err := shell.ParsePattern(text)
		return err != nil
	})
}

// confine lets the shell tool run its commands in the sandbox.
func (c *confinement) confine(b *bash.Config) {
	if c == nil {
		return
	}
	b.Wrap, b.Scratch, b.Confines, b.Outside = c.wrap, c.Temp, c.on, c.outside
	b.MayLeave = c.on() && c.settings.Load().Bool("sandbox.allowUnsandboxedCommands")
	b.Leaves = func() bool { return c.settings.Load().Bool("sandbox.allowUnsandboxedCommands") }
}

// outside returns which commands run outside the sandbox by the settings as they are now.
func (c *confinement) outside() func(*shell.Script) bool {
	on, required := c.on(), c.settings.Load().Bool("sandbox.failIfUnavailable")
	policy := c.gate.Policy()
	return func(s *shell.Script) bool {
		if !on {
			return true
		}
		c.once.Do(func() { c.settle(c.Tier()) })
		if c.problem != nil {
			return !required // what is required and not there is an error, which wrapping will say
		}
		return policy.Excluded(s)
	}
}

func (c *confinement) wrap(cmd osproc.Cmd) (osproc.Cmd, func(string) string, error) {
	env := osproc.DropSecrets(cmd.Env, c.settings.Load().Strings("shell.passEnv"))
	confined, err := c.Wrap(c.ctx, sandbox.Command{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: env})
	if err != nil {
		return osproc.Cmd{}, nil, fmt.Errorf("%w; the command was not run", err)
	}
	cmd.Path, cmd.Args, cmd.Dir, cmd.Env = confined.Path, confined.Args, confined.Dir, confined.Env
	cmd.Files, cmd.Terminate, cmd.Reaped, cmd.NoCore = confined.Files, confined.Terminate, !confined.Contained, true
	return cmd, confined.End, nil
}

// roots returns the working directories.
func (c *confinement) roots() []string {
	if c.gate == nil {
		return []string{c.env.Dir}
	}
	return c.gate.Policy().Config().Dirs
}

// places returns the paths of a setting. One that is relative belongs to the working directory.
func (c *confinement) places(key string) func() ([]string, error) {
	return func() ([]string, error) {
		var list []string
		for _, path := range c.settings.Load().Strings(key) {
			list = append(list, c.expand(path))
		}
		if key == "sandbox.filesystem.denyWrite" && c.gate != nil {
			cfg := c.gate.Policy().Config()
			list = append(append(list, cfg.Protected...), filepath.Join(cfg.StateHome, "settings.json"))
		}
		return list, nil
	}
}

// expand makes a path of the settings absolute.
func (c *confinement) expand(path string) string {
	switch rest, ok := strings.CutPrefix(path, "~"); {
	case ok && (rest == "" || rest[0] == '/'):
		return filepath.Join(c.env.Getenv("HOME"), rest)
	case strings.HasPrefix(path, "//"):
		return path[1:]
	case !filepath.IsAbs(path):
		return filepath.Join(c.env.Dir, path)
	}
	return path
}

// domains returns the hosts of a setting, as it is when they are asked for.
func (c *confinement) domains(key string) func() []sandbox.Domain {
	return func() []sandbox.Domain {
		var list []sandbox.Domain
		for _, text := range c.settings.Load().Strings(key) {
			if d, err := sandbox.ParseDomain(text); err == nil {
				list = append(list, d)
			}
		}
		return list
	}
}

// listKeys are the settings whose entries may be wrong one by one.
var listKeys = [...]string{"sandbox.excludedCommands", "sandbox.network.allowedDomains", "sandbox.network.deniedDomains"}

// check tells which entries of a setting cannot be read, and are ignored.
func (c *confinement) check(key string) {
	if !c.on() {
		return
	}
	for _, text := range c.settings.Load().Strings(key) {
		if key == "sandbox.excludedCommands" {
			if _, err := shell.ParsePattern(text); err != nil {
				c.env.say(fmt.Sprintf("%s: %q is no pattern of commands: %v; it is ignored", key, text, err))
			}
		} else if _, err := sandbox.ParseDomain(text); err != nil {
			c.env.say(fmt.Sprintf("%s: %q is ignored: %v", key, text, err))
		}
	}
}

// networked reports whether anybody could be reached: without a host that is allowed, and without anyone
// to ask about others, a proxy would only cost time.
func (c *confinement) networked() bool {
	return c.gate != nil && (c.gate.Asks() || c.gate.Mode() == string(permission.Bypass) || c.gate.Policy().AllowsHosts() || len(c.settings.Load().Strings("sandbox.network.allowedDomains")) > 0)
}

// judge says what the rules for hosts say.
func (c *confinement) judge(host string) (allow, deny bool) {
	if c.gate == nil {
		return false, false
	}
	b := c.gate.Policy().Host(host)
	return b == permission.Allow, b == permission.Deny
}

// ask asks the person about a host.
func (c *confinement) ask(ctx context.Context, host string) bool {
	return c.gate != nil && c.gate.Reach(ctx, host)
}

// maxHidden bounds how many files are looked at to find those that rules hide.
const maxHidden = 200_000

// hidden returns what the settings and the deny rules for reading hide. A rule that cannot be carried out
// stops the command.
func (c *confinement) hidden() ([]string, error) {
	var list []string
	for _, path := range c.settings.Load().Strings("sandbox.filesystem.denyRead") {
		list = append(list, c.expand(path))
	}
	if c.gate == nil || !c.gate.Hides() {
		return list, nil
	}
	p := c.gate.Policy()
	seen := 0
	for _, start := range c.hidingPlaces(p) {
		err := filepath.WalkDir(start, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return nil // who cannot look cannot read
			}
			if seen++; seen > maxHidden {
				return fmt.Errorf("the rules that deny reading cannot be carried out in the sandbox: there are more than %d files in %s to look at", maxHidden, start)
			}
			if !p.Hidden(path) && !(d.IsDir() && p.Hidden(filepath.Join(path, "x"))) {
				return nil
			}
			list = append(list, path)
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// hidingPlaces returns where the files may be that the rules hide: the working directories, and the fixed
// beginnings of patterns that lead elsewhere.
func (c *confinement) hidingPlaces(p *permission.Policy) []string {
	places := slices.Clone(p.Config().Dirs)
	for _, r := range p.Rules() {
		if r.Behavior != permission.Deny || r.Tool != "Read" {
			continue
		}
		pattern := r.Content
		switch {
		case strings.HasPrefix(pattern, "//"), strings.HasPrefix(pattern, "~/"):
			pattern = c.expand(pattern)
		case strings.HasPrefix(pattern, "/") && r.Base != "":
			pattern = filepath.Join(r.Base, pattern)
		default:
			continue
		}
		if i := strings.IndexAny(pattern, "*?["); i >= 0 {
			pattern = filepath.Dir(pattern[:i] + "x")
		}
		if !slices.ContainsFunc(places, func(dir string) bool { return pattern == dir || strings.HasPrefix(pattern, dir+"/") }) {
			places = append(places, pattern)
		}
	}
	return places
}
