package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names that are read-only at the top of each working directory, even if they do not exist:
// other programs, or adze itself, run or obey their content.
var (
	protectedDirs = [...]string{
		".git", ".adze", ".claude", ".vscode", ".idea", ".husky", ".githooks", ".cargo",
	}
	protectedFiles = [...]string{
		".mcp.json", ".gitmodules", ".gitattributes", ".npmrc", ".yarnrc", ".yarnrc.yml", ".env", ".envrc",
	}
	// toolNames are obeyed by other agents, editors and tools. Links are not protected:
	// projects link these files to each other, and otherwise no command could run there.
	toolNames = [...]string{
		".cursor", ".codex", ".gemini", ".opencode", ".zed", ".devcontainer", ".github", ".mvn", "opencode.json", "opencode.jsonc", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", "mise.toml", ".mise.toml", ".tool-versions",
		".nvim.lua", ".nvimrc", ".vimrc", ".exrc", ".gdbinit", ".lldbinit", ".devcontainer.json",
	}
	// protectedBelow are protected if they exist, and reported if they appear. Package managers
	// write to their parent directories, so a command can still move those away.
	protectedBelow = [...]string{".yarn/releases", ".yarn/plugins"}
	// homeFiles and homeDirs are obeyed in a home directory, and in a directory from which
	// users copy or link them there: any directory that contains one, see [homely]. Elsewhere
	// no program obeys them, and they are only reported if they appear.
	homeFiles = [...]string{
		".gitconfig", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile",
		".netrc", ".pypirc", ".ripgreprc", ".adze.json", ".claude.json", "authorized_keys",
	}
	homeDirs = [...]string{".ssh", ".gnupg"}
	// onlyHomeFiles and onlyHomeDirs are obeyed in the user's own home directory only.
	onlyHomeFiles = [...]string{".bash_login", ".bash_logout", ".zlogin", ".zlogout"}
	onlyHomeDirs  = [...]string{".config"}
	// protectedPatterns match further names, which are protected if they exist.
	protectedPatterns = [...]string{".env*", ".zsh*", ".zlog*", ".yarnrc*", ".bash_*"}
)

// secretNames are paths below the home directory that hold credentials.
var secretNames = [...]string{
	".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".password-store", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc",
	".config/gh", ".config/gcloud", ".config/git/credentials", ".config/op", ".config/rclone", ".config/sops", ".config/hub",
	".local/share/keyrings", ".local/share/pass", ".mozilla", ".config/google-chrome", ".config/chromium",
	".vault-token", ".terraform.d/credentials.tfrc.json",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".claude/.credentials.json", ".adze/credentials.json", ".local/state/adze/credentials.json", ".claude.json",
	".codex/auth.json", ".gemini", ".local/share/opencode", ".config/github-copilot",
	".my.cnf", ".config/containers", ".kaggle", ".cache/huggingface/token", ".huggingface/token",
	".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".node_repl_history",
	".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
	"Library/Keychains", "Library/Cookies",
}

// secrets returns the existing secret places in a home directory.
func secrets(home string) []string {
	if home == "" {
		return nil
	}
	var there []string
	for _, name := range secretNames {
		path := filepath.Join(home, name)
		if _, err := os.Lstat(path); err != nil {
			continue // most do not exist, and Lstat is cheaper than resolving
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			there = append(there, real)
		}
	}
	return there
}

// Secret returns the credential path below the home directory that contains path, or "". SSH
// public keys and settings are not secret.
func Secret(home, path string) string {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(home, "/")+"/")
	if home == "" || !ok {
		return ""
	}
	for _, name := range secretNames {
		if rest != name && !strings.HasPrefix(rest, name+"/") {
			continue
		}
		switch base := filepath.Base(rest); {
		case name == ".ssh" && (strings.HasSuffix(base, ".pub") || base == "known_hosts" || base == "config"):
			return ""
		}
		return name
	}
	return ""
}

// A protectedName is a protected name at the top of a working directory.
type protectedName struct {
	root string
	path string
	here bool // exists
}

// guards returns the protected names at the top of root.
func guards(root, home string) ([]protectedName, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	here := make(map[string]fs.DirEntry, len(entries))
	for _, e := range entries {
		here[e.Name()] = e
	}
	var list []protectedName
	add := func(name string, always bool) error {
		g := protectedName{root: root, path: filepath.Join(root, name)}
		e := here[name]
		switch {
		case e == nil && !always || slices.ContainsFunc(list, func(have protectedName) bool { return have.path == g.path }):
			return nil
		case e != nil && e.Type()&os.ModeSymlink != 0 && slices.Contains(toolNames[:], name):
			return nil
		case e != nil && e.Type()&os.ModeSymlink != 0:
			return &linkError{g.path}
		case e != nil:
			g.here = true
		}
		list = append(list, g)
		return nil
	}
	names := slices.Concat(protectedDirs[:], protectedFiles[:], toolNames[:], bareRepoNames(here))
	switch {
	case root == home:
		names = slices.Concat(names, homeFiles[:], homeDirs[:], onlyHomeFiles[:], onlyHomeDirs[:])
	case isHomeLike(root, here):
		names = slices.Concat(names, homeFiles[:], homeDirs[:])
	}
	for _, name := range names {
		if err := add(name, true); err != nil {
			return nil, err
		}
	}
	for _, name := range protectedBelow {
		g := protectedName{root: root, path: filepath.Join(root, name), here: true}
		real, err := filepath.EvalSymlinks(g.path)
		switch {
		case err != nil, real != g.path: // missing, or a link
		default:
			list = append(list, g)
		}
	}
	for name := range here {
		for _, pattern := range protectedPatterns {
			if ok, _ := filepath.Match(pattern, name); ok { // ok: the patterns are well formed
				if err := add(name, false); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// isHomeLike reports whether a directory is a home directory, or looks like a source of its files.
func isHomeLike(root string, here map[string]fs.DirEntry) bool {
	if parent := filepath.Dir(root); parent == "/home" || parent == "/Users" || root == "/root" {
		return true
	}
	return slices.ContainsFunc(slices.Concat(homeFiles[:], homeDirs[:], onlyHomeFiles[:]), func(name string) bool { return here[name] != nil })
}

// bareRepoNames returns the names that would turn a directory into a bare repository, or its
// configuration if it already is one. Git recognizes a repository only if HEAD in it refers to
// something; the rest may be elsewhere, as given by commondir.
func bareRepoNames(here map[string]fs.DirEntry) []string {
	if here["HEAD"] == nil {
		return []string{"HEAD"}
	}
	return []string{"HEAD", "refs", "objects", "commondir", "config", "config.worktree", "hooks", "info"}
}

// A linkError means that a protected name cannot be protected because it is a link.
type linkError struct{ path string }

func (e *linkError) Error() string {
	return e.path + " is a symbolic link, which a program could replace: replace it with its target"
}
