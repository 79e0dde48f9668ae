package app

import (
	"adze/internal/confine"
	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/platform/sandbox"
)

// sandboxSettings returns what the settings say about the sandbox.
func sandboxSettings(s *config.Settings) confine.Settings {
	return confine.Settings{
		Enabled:          s.Bool("sandbox.enabled"),
		Required:         s.Bool("sandbox.failIfUnavailable"),
		AutoAllow:        s.Bool("sandbox.autoAllowBashIfSandboxed"),
		AllowUnsandboxed: s.Bool("sandbox.allowUnsandboxedCommands"),
		Excluded:         s.Strings("sandbox.excludedCommands"),
		AllowWrite:       s.Strings("sandbox.filesystem.allowWrite"),
		DenyWrite:        s.Strings("sandbox.filesystem.denyWrite"),
		DenyRead:         s.Strings("sandbox.filesystem.denyRead"),
		AllowedDomains:   s.Strings("sandbox.network.allowedDomains"),
		DeniedDomains:    s.Strings("sandbox.network.deniedDomains"),
		PassEnv:          s.Strings("shell.passEnv"),
	}
}

// newConfinement returns the sandbox of a conversation. Probe, which may be nil, shares its test with other
// conversations. If the settings require a sandbox and none works, the program does not start.
func newConfinement(s *config.Settings, env *Env, probe *sandbox.Probe) (*confine.Confinement, error) {
	c := confine.New(confine.Config{Settings: sandboxSettings(s), Dir: env.Dir, Home: env.Getenv("HOME"), Say: env.say, Probe: probe})
	if err := c.Check(); err != nil {
		c.Close()
		return nil, setupErrorf("%v", err)
	}
	return c, nil
}

// expectedSandbox returns what would confine commands.
func expectedSandbox(s *config.Settings, env *Env, probe *sandbox.Probe) (permission.Sandbox, error) {
	c, err := newConfinement(s, env, probe)
	if err != nil {
		return permission.Sandbox{}, err
	}
	defer c.Close()
	c.Ready()
	return c.State(), nil
}
