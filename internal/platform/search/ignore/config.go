package ignore

import (
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"adze/internal/platform/search/glob"
)

// A config is the part of git's configuration that affects ignoring.
type config struct {
	excludesFile *string // nil if not set
	ignoreCase   bool
	worktree     bool // extensions.worktreeConfig
}

// A configReader collects settings in git's order; later ones override earlier ones.
type configReader struct {
	*Loader
	gitDir string
	config
}

// maxIncludes is the maximum include depth of configuration files, as in git.
const maxIncludes = 10

// readConfig reads the system, user and repository configuration, with their includes.
func (l *Loader) readConfig(gitDir, common string) config {
	r := configReader{Loader: l, gitDir: gitDir}
	for _, path := range l.userConfigs() {
		r.read(path, 0)
	}
	r.read(filepath.Join(common, "config"), 0)
	if r.worktree {
		r.read(filepath.Join(gitDir, "config.worktree"), 0)
	}
	r.readEnv()
	return r.config
}

// userConfigs lists the configuration files outside repositories, lowest precedence first.
func (l *Loader) userConfigs() []string {
	var paths []string
	if no, err := strconv.ParseBool(l.getenv("GIT_CONFIG_NOSYSTEM")); err != nil || !no {
		paths = systemConfigs(l.getenv)
	}
	if global := l.getenv("GIT_CONFIG_GLOBAL"); global != "" {
		return append(paths, global)
	}
	if dir := l.configHome(); dir != "" {
		paths = append(paths, filepath.Join(dir, "git", "config"))
	}
	if home := l.homeDir(); home != "" {
		paths = append(paths, filepath.Join(home, ".gitconfig"))
	}
	return paths
}

// systemConfigs lists the locations of the system configuration in common git packages.
func systemConfigs(getenv func(string) string) []string {
	if path := getenv("GIT_CONFIG_SYSTEM"); path != "" {
		return []string{path}
	}
	switch runtime.GOOS {
	case "windows":
		return []string{filepath.Join(getenv("ProgramFiles"), "Git", "etc", "gitconfig")}
	case "darwin":
		return []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"}
	}
	return []string{"/etc/gitconfig"}
}

func (l *Loader) homeDir() string {
	if home := l.getenv("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return l.getenv("USERPROFILE")
}

func (l *Loader) configHome() string {
	if dir := l.getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	if home := l.homeDir(); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

// read applies one file. For a missing or broken file it applies the readable part.
func (r *configReader) read(path string, depth int) {
	if depth > maxIncludes {
		return
	}
	for _, s := range r.settings(path) {
		switch {
		case s.section == "include" && s.key == "path",
			s.section == "includeif" && s.key == "path" && r.holds(s.subsection, path):
			included := r.expandHome(s.value)
			if !filepath.IsAbs(included) {
				included = filepath.Join(filepath.Dir(path), included)
			}
			r.read(included, depth+1)
		default:
			r.apply(s)
		}
	}
}

func (r *configReader) apply(s setting) {
	if s.subsection != "" {
		return
	}
	switch s.section + "." + s.key {
	case "core.excludesfile":
		path := r.expandHome(s.value)
		r.excludesFile = &path
	case "core.ignorecase":
		r.ignoreCase = s.isTrue()
	case "extensions.worktreeconfig":
		r.worktree = s.isTrue()
	}
}

// settings parses a file, once for all repositories of the walk.
func (l *Loader) settings(path string) []setting {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list, ok := l.configs[path]; ok {
		return list
	}
	var list []setting
	if r, err := openAny(path); err == nil {
		defer r.Close()
		if text, err := io.ReadAll(io.LimitReader(r, maxSize)); err == nil {
			list = parseConfig(string(text))
		}
	}
	l.configs[path] = list
	return list
}

// readEnv applies the settings from GIT_CONFIG_COUNT and related variables.
func (r *configReader) readEnv() {
	n, err := strconv.Atoi(r.getenv("GIT_CONFIG_COUNT"))
	if err != nil {
		return
	}
	for i := range min(n, 1000) {
		section, key, ok := strings.Cut(strings.ToLower(r.getenv("GIT_CONFIG_KEY_"+strconv.Itoa(i))), ".")
		if ok {
			r.apply(setting{section: section, key: key, value: r.getenv("GIT_CONFIG_VALUE_" + strconv.Itoa(i)), assigned: true})
		}
	}
}

// expandHome replaces ~/ by the home directory.
func (l *Loader) expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(l.homeDir(), rest)
	}
	return filepath.FromSlash(path)
}

// holds reports whether the condition of an includeIf in the file at path is met. Conditions on
// a repository's remotes never are.
func (r *configReader) holds(condition, path string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir", "gitdir/i":
		o := glob.Options{Fold: kind == "gitdir/i"}
		pattern := r.gitDirPattern(pattern, path)
		for _, dir := range []string{r.gitDir, realPath(r.gitDir)} {
			if glob.Git(pattern, o).Match(strings.TrimPrefix(filepath.ToSlash(dir), "/")) {
				return true
			}
		}
	case "onbranch":
		branch, ok := strings.CutPrefix(readLine(filepath.Join(r.gitDir, "HEAD")), "ref: refs/heads/")
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		return ok && glob.Git(pattern, glob.Options{}).Match(branch)
	}
	return false
}

// gitDirPattern completes the pattern of a gitdir condition in the file at path. Patterns lose
// the leading slash, like the paths they are compared with.
func (r *configReader) gitDirPattern(pattern, path string) string {
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		pattern = filepath.ToSlash(realPath(filepath.Dir(path))) + "/" + rest
	} else if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.ToSlash(realPath(r.homeDir())) + "/" + rest
	} else if !filepath.IsAbs(pattern) && !strings.HasPrefix(pattern, "/") {
		return "**/" + pattern
	}
	return strings.TrimPrefix(pattern, "/")
}

// realPath resolves links where possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
