package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"adze/internal/commands"
	"adze/internal/settings"
)

// platform returns the operating system and architecture.
func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// installation reports how the program was installed, and whether another one precedes it in
// the path.
func (c Config) installation() commands.Check {
	check := commands.Check{Name: "installation"}
	if c.Program == "" {
		check.Fine = "unknown"
		return check
	}
	path := real(c.Program)
	check.Fine = path + ", " + installed(path, c.Getenv)
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	switch first, err := exec.LookPath(name); {
	case err != nil:
		check.Notes = append(check.Notes, fmt.Sprintf("%s is not on PATH; add %s to it", name, filepath.Dir(path)))
	case real(first) != path:
		check.Notes = append(check.Notes, fmt.Sprintf("%s on PATH is another program: %s", name, first))
	}
	return check
}

// real returns a path with symlinks resolved, or unchanged on error.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// installed guesses from its path how the program was installed.
func installed(path string, getenv func(string) string) string {
	slashed := filepath.ToSlash(path)
	dir := filepath.Dir(path)
	within := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(slashed, part) {
				return true
			}
		}
		return false
	}
	switch {
	case within("/Cellar/", "/homebrew/", "/linuxbrew/"):
		return "installed with Homebrew"
	case within("/nix/store/"):
		return "installed with Nix"
	case within("/node_modules/"):
		return "installed with npm"
	case within("/scoop/apps/"):
		return "installed with Scoop"
	case dir == getenv("GOBIN"), dir == filepath.Join(cmp.Or(getenv("GOPATH"), filepath.Join(getenv("HOME"), "go")), "bin"):
		return "installed with go install"
	case dir == "/usr/bin", dir == "/bin":
		return "installed by the system"
	}
	return "a single file"
}

func (c Config) terminal() commands.Check {
	check := commands.Check{Name: "terminal", Fine: "none"}
	if !c.Terminal {
		return check
	}
	name := c.Getenv("TERM")
	check.Fine = cmp.Or(name, "unknown")
	if runtime.GOOS != "windows" && (name == "" || name == "dumb") {
		check.Notes = append(check.Notes, "TERM does not name a terminal that moves its cursor, so lines are only appended; set TERM, for example to xterm-256color")
	}
	if c.Getenv("NO_COLOR") != "" {
		check.Fine += ", without colours because of NO_COLOR"
	}
	return check
}

// locale checks whether characters of all languages can be displayed.
func (c Config) locale() commands.Check {
	name := cmp.Or(c.Getenv("LC_ALL"), c.Getenv("LC_CTYPE"), c.Getenv("LANG"))
	check := commands.Check{Name: "locale", Fine: cmp.Or(name, "not set")}
	plain := strings.ToLower(strings.ReplaceAll(name, "-", ""))
	if c.Terminal && runtime.GOOS != "windows" && runtime.GOOS != "darwin" && !strings.Contains(plain, "utf8") {
		check.Notes = append(check.Notes, "the locale is not one with UTF-8, so characters may be shown wrong; set LANG, for example to C.UTF-8")
	}
	return check
}

// home checks the directories of adze's own files: whether the state home is writable, or can be
// created, and whether there are others.
func (c Config) home() commands.Check {
	p := c.Project
	check := commands.Check{Name: "state home", Fine: p.Home}
	if p.Split() {
		check = commands.Check{Name: "directories", Fine: fmt.Sprintf("configuration in %s, state in %s, caches in %s", p.Config, p.Home, p.Cache)}
	}
	if p.Reason != "" {
		check.Fine += ": " + p.Reason
	}
	if notice := p.Dirs.Notice(); notice != "" {
		check.Notes = append(check.Notes, notice)
	}
	err := p.HomeErr
	if err == nil {
		dir := p.Home
		for _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) && dir != filepath.Dir(dir); _, gone = os.Stat(dir) {
			dir = filepath.Dir(dir)
		}
		var file *os.File
		if file, err = os.CreateTemp(dir, ".doctor-*"); err == nil {
			err = errors.Join(file.Close(), os.Remove(file.Name()))
		}
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // the file name is not relevant
	}
	if err != nil {
		check.Problems = append(check.Problems, fmt.Sprintf("sessions cannot be saved in %s: %v", cmp.Or(p.Home, "any folder"), err))
	}
	return check
}

// settings rereads the settings files.
func (c Config) settings() commands.Check {
	p, warnings := settings.Open(c.Project.Source())
	check := commands.Check{Name: "settings", Fine: fmt.Sprintf("%d set", len(p.Written()))}
	for _, warning := range warnings {
		check.Problems = append(check.Problems, warning.String())
	}
	for _, e := range p.Settings().Invalid() {
		check.Problems = append(check.Problems, e.Error()+"; adze does not start before it is corrected")
	}
	return check
}

// trust reports whether the workspace's configuration is used.
func (c Config) trust() commands.Check {
	check := commands.Check{Name: "workspace", Fine: "trusted"}
	if t := c.Project.Trust; !t.Trusted() {
		check.Fine = "not trusted"
		if names := t.LeftOut(); len(names) > 0 {
			check.Notes = append(check.Notes, strings.Join(names, ", ")+" is not used before you trust the workspace: adze trust")
		}
	}
	return check
}

// Confined reports whether commands run in a sandbox. It fails if they should and do not.
func Confined(on bool, inForce func() bool) (string, error) {
	switch {
	case !on:
		return "off", nil
	case !inForce():
		return "", errors.New("enabled, but not working on this machine; run adze sandbox status for the reason")
	}
	return "works", nil
}
