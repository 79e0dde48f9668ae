package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"adze/internal/permission/rule"
)

// protected returns the reason that writing to any of the paths needs confirmation in every
// mode, or "". These files make programs run code, or control adze's own permissions.
// Unattended means that the mode allows edits nobody sees.
func (p *knownPaths) protected(names []string, unattended bool) string {
	for _, name := range names {
		if why := p.protects(name, unattended); why != "" {
			return why
		}
	}
	return ""
}

func (p *knownPaths) protects(name string, unattended bool) string {
	if inside(p.guarded, []string{name}) && !inside(p.editable, []string{name}) {
		return "it is in adze's configuration directory"
	}
	if p.holdsGuarded(name) {
		return "adze's configuration directory is in it"
	}
	path := plain(name)
	if slices.Contains(p.start, name) {
		path += "/x" // a worktree's contents: the session works there
	}
	parts := afterWorktree(strings.Split(strings.Trim(path, "/"), "/"))
	if why := obeyed(parts, unattended); why != "" {
		return why
	}
	if inside(p.obeyed(), []string{name}) {
		return "git reads hooks or settings from it"
	}
	if instructions(parts[len(parts)-1]) && !inside(p.dirs, []string{name}) {
		return "it contains instructions for agents outside the working directories"
	}
	return ""
}

// holdsGuarded reports whether one of adze's own directories is below name, which would move or
// disappear with it. The home directory and working directories do not count: they hold
// everything else as well.
func (p *knownPaths) holdsGuarded(name string) bool {
	holds := func(path string) bool { _, ok := rule.Below(name, path); return ok && path != name }
	return slices.ContainsFunc(p.guarded, holds) && !slices.ContainsFunc(p.home, func(home string) bool { _, ok := rule.Below(name, home); return ok }) &&
		!slices.Contains(p.dirs, name)
}

// obeyed returns a message naming the part of a path that makes programs execute or obey the
// file, or "".
func obeyed(parts []string, unattended bool) string {
	for i, part := range parts {
		next := ""
		if i+1 < len(parts) {
			next = parts[i+1]
		}
		switch {
		case protectedDir(part):
			return fmt.Sprintf("files in %s can make programs run code", part)
		case protectedFile(part):
			return fmt.Sprintf("%s can make programs run code, or contains secrets", part)
		case part == ".config" && next == "adze", part == "state" && next == "adze" && i > 0 && parts[i-1] == ".local":
			return fmt.Sprintf("adze keeps its settings and its state in directories like %s/%s", part, next)
		case part == ".cargo" && strings.HasPrefix(next, "config"), part == ".config" && next == "git":
			return fmt.Sprintf("%s/%s can make programs run code", part, next)
		case strings.HasSuffix(part, ".git") && (next == "hooks" || next == "config"):
			return fmt.Sprintf("git runs or obeys %s/%s", part, next)
		case part == ".github" && next == "workflows" && unattended:
			return "other machines run .github/workflows, and nobody reviews edits in this mode"
		}
	}
	return ""
}

// plain returns name as a careless reader sees it: in lower case and without zero-width
// characters.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == 0x34f || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// afterWorktree strips the path prefix of a worktree that adze created: its files are judged
// like any other working tree's.
func afterWorktree(parts []string) []string {
	for i := 0; i+3 < len(parts); i++ {
		if (parts[i] == ".adze" || parts[i] == ".claude") && parts[i+1] == "worktrees" {
			return afterWorktree(parts[i+3:])
		}
	}
	return parts
}

func protectedDir(name string) bool {
	switch name {
	case ".git", ".vscode", ".idea", ".claude", ".adze", ".ssh", ".gnupg", ".husky", ".githooks":
		return true
	}
	return false
}

func protectedFile(name string) bool {
	switch name {
	case ".gitconfig", ".gitmodules", ".gitattributes", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
		".profile", ".ripgreprc", ".mcp.json", ".claude.json", ".adze.json", ".npmrc", ".netrc", ".pypirc",
		"authorized_keys":
		return true
	}
	for _, prefix := range []string{".env", ".yarnrc", ".zsh", ".zprofile", ".zlogin"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// instructions reports whether a file with this name contains instructions for agents.
func instructions(name string) bool {
	switch name {
	case "agents.md", "claude.md", "claude.local.md", "adze.md", "adze.local.md", "gemini.md":
		return true
	}
	return false
}

// configured reports whether the paths are in the settings directory of adze or the ecosystem
// inside a working directory. It is the only protected place that a session rule may open.
func (p *knownPaths) configured(names []string) bool {
	var places []string
	for _, dir := range p.dirs {
		places = append(places, path.Join(dir, ".adze"), path.Join(dir, ".claude"))
	}
	return inside(places, names)
}
