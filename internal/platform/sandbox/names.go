package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Names that stay as they are at the top of each working directory, whether they are there or not:
// what they hold is run or obeyed by other programs, or by adze itself.
var (
	protectedDirs = [...]string{
		".git", ".adze", ".claude", ".vscode", ".idea", ".husky", ".githooks", ".cargo",
	}
	protectedFiles = [...]string{
		".mcp.json", ".gitmodules", ".gitattributes", ".npmrc", ".yarnrc", ".yarnrc.yml", ".env", ".envrc",
	}
	// homeFiles and homeDirs are obeyed in a home directory, and where users keep what they copy or link
	// from there: that is where one of them is, see [homely]. Elsewhere no program obeys them; if they appear
	// there it is told, since to stand in for each would cost every command more than all the rest.
	homeFiles = [...]string{
		".gitconfig", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile",
		".netrc", ".pypirc", ".ripgreprc", ".adze.json", ".claude.json", "authorized_keys",
	}
	homeDirs = [...]string{".ssh", ".gnupg"}
	// onlyHomeFiles and onlyHomeDirs are obeyed in the user's own home directory only.
	onlyHomeFiles = [...]string{".bash_login", ".bash_logout", ".zlogin", ".zlogout"}
	onlyHomeDirs  = [...]string{".config"}
	// protectedPatterns are further names that are protected where they are there.
	protectedPatterns = [...]string{".env*", ".zsh*", ".zlog*", ".yarnrc*", ".bash_*"}
)

// secretNames hold credentials, below the home directory.
var secretNames = [...]string{
	".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".password-store", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc",
	".config/gh", ".config/gcloud", ".config/git/credentials", ".config/op", ".config/rclone", ".config/sops", ".config/hub",
	".local/share/keyrings", ".local/share/pass", ".mozilla", ".config/google-chrome", ".config/chromium",
	".vault-token", ".terraform.d/credentials.tfrc.json",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".claude/.credentials.json", ".adze/credentials.json",
	"Library/Keychains", "Library/Cookies",
}

// secrets returns the secret places of a home directory that are there.
func secrets(home string) []string {
	if home == "" {
		return nil
	}
	var there []string
	for _, name := range secretNames {
		path := filepath.Join(home, name)
		if _, err := os.Lstat(path); err != nil {
			continue // most are not there, and to look is cheaper than to resolve
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			there = append(there, real)
		}
	}
	return there
}

// A guard is a protected name at the top of a working directory.
type guard struct {
	path string
	dir  bool // what it is, or would be
	here bool // it is there
}

// guards returns what is protected at the top of root.
func guards(root, home string) ([]guard, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	here := make(map[string]fs.DirEntry, len(entries))
	for _, e := range entries {
		here[e.Name()] = e
	}
	var list []guard
	add := func(name string, dir, always bool) error {
		g := guard{path: filepath.Join(root, name), dir: dir}
		e := here[name]
		switch {
		case e == nil && !always || slices.ContainsFunc(list, func(have guard) bool { return have.path == g.path }):
			return nil
		case e != nil && e.Type()&os.ModeSymlink != 0:
			return &linkError{g.path}
		case e != nil:
			g.here, g.dir = true, e.IsDir()
		}
		list = append(list, g)
		return nil
	}
	type group struct {
		names []string
		dir   bool
	}
	groups := []group{{protectedDirs[:], true}, {protectedFiles[:], false}, {bare(here), false}}
	switch {
	case root == home:
		groups = append(groups, group{homeFiles[:], false}, group{homeDirs[:], true},
			group{onlyHomeFiles[:], false}, group{onlyHomeDirs[:], true})
	case homely(root, here):
		// Programs read them elsewhere, so that empty directories can stand in for files: they cost less.
		groups = append(groups, group{homeFiles[:], true}, group{homeDirs[:], true})
	}
	for _, group := range groups {
		for _, name := range group.names {
			if err := add(name, group.dir, true); err != nil {
				return nil, err
			}
		}
	}
	for name := range here {
		for _, pattern := range protectedPatterns {
			if ok, _ := filepath.Match(pattern, name); ok { // ok: the patterns are well formed
				if err := add(name, false, false); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// homely reports whether a directory is a home directory, or looks like where one is made.
func homely(root string, here map[string]fs.DirEntry) bool {
	if parent := filepath.Dir(root); parent == "/home" || parent == "/Users" || root == "/root" {
		return true
	}
	return slices.ContainsFunc(slices.Concat(homeFiles[:], homeDirs[:], onlyHomeFiles[:]), func(name string) bool { return here[name] != nil })
}

// bare returns the names that keep a directory from becoming a repository without a .git directory, or
// that make it one. Git takes a directory for a repository only if refs in it can be entered and HEAD
// names something.
func bare(here map[string]fs.DirEntry) []string {
	switch refs := here["refs"]; {
	case refs == nil || refs.Type().IsRegular():
		return []string{"refs"} // a file in its place
	case here["HEAD"] != nil:
		return []string{"refs", "HEAD", "config", "hooks", "objects"}
	default:
		return []string{"HEAD"}
	}
}

// A linkError says that a protected name cannot be protected.
type linkError struct{ path string }

func (e *linkError) Error() string {
	return e.path + " is a symbolic link, which a program could replace: put what it leads to in its place"
}
