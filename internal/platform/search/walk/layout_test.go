package walk_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestGitLayouts compares the listings of unusual repositories, and the locations where git
// looks for the user's excludes. Git lists each repository of the layout; the walk from the top
// must list all of their files.
//
// Proves ENG-05.
func TestGitLayouts(t *testing.T) {
	tests := []struct {
		name  string
		files string // a txtar archive below the home directory
		set   func(s *sandbox)
		repos []string // relative to the home directory; the first one is walked
	}{
		{
			name:  "repository in a repository",
			files: "-- r/.gitignore --\n*.o\n/ignored/\n-- r/a.o --\n-- r/a.c --\n-- r/n/b.o --\n-- r/n/b.x --\n-- r/n/.gitignore --\n*.x\n-- r/ignored/n/a --\n",
			set: func(s *sandbox) {
				s.git(s.at("r"), "init", "-q")
				s.git(s.at("r/n"), "init", "-q")
				s.git(s.at("r/ignored/n"), "init", "-q")
			},
			repos: []string{"r", "r/n"},
		},
		{
			name:  "worktree",
			files: "-- r/.gitignore --\n*.o\n",
			set: func(s *sandbox) {
				s.git(s.at("r"), "init", "-q")
				s.git(s.at("r"), "add", ".")
				s.git(s.at("r"), "commit", "-q", "-m", "a")
				s.git(s.at("r"), "worktree", "add", "-q", s.at("w"))
				s.git(s.at("w"), "rm", "-q", "--cached", ".gitignore")
				s.unpack("-- r/.git/info/exclude --\n*.x\n-- w/a.o --\n-- w/a.x --\n-- w/a.c --\n")
			},
			repos: []string{"w"},
		},
		{
			name:  "worktree with a configuration of its own",
			files: "-- r/a --\n-- mine --\n*.x\n",
			set: func(s *sandbox) {
				s.git(s.at("r"), "init", "-q")
				s.git(s.at("r"), "commit", "-q", "-m", "a", "--allow-empty")
				s.git(s.at("r"), "worktree", "add", "-q", s.at("w"))
				s.git(s.at("r"), "config", "extensions.worktreeConfig", "true")
				s.git(s.at("w"), "config", "--worktree", "core.excludesFile", s.at("mine"))
				s.unpack("-- w/a.x --\n-- w/a.c --\n")
			},
			repos: []string{"w"},
		},
		{
			name:  "submodule",
			files: "-- lib/a.c --\n-- r/.gitignore --\n*.o\n",
			set: func(s *sandbox) {
				s.git(s.at("lib"), "init", "-q")
				s.git(s.at("lib"), "commit", "-q", "-m", "a", "--allow-empty")
				s.git(s.at("r"), "init", "-q")
				s.git(s.at("r"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.at("lib"), "sub")
				s.git(s.at("r"), "rm", "-q", "--cached", ".gitmodules")
				s.unpack("-- r/.git/modules/sub/info/exclude --\n*.x\n-- r/sub/a.o --\n-- r/sub/a.x --\n-- r/a.x --\n-- r/a.o --\n")
			},
			repos: []string{"r", "r/sub"},
		},
		{
			name:  "default excludes",
			files: "-- .config/git/ignore --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			repos: []string{"r"},
		},
		{
			name:  "excludes below XDG_CONFIG_HOME",
			files: "-- .config/git/ignore --\n*.c\n-- xdg/git/ignore --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			set:   func(s *sandbox) { s.env["XDG_CONFIG_HOME"] = s.at("xdg") },
			repos: []string{"r"},
		},
		{
			name:  "excludes by the configuration of the user",
			files: "-- .gitconfig --\n[core]\n  excludesfile = \"~/my ignore\" # mine\n-- my ignore --\n*.x\n-- .config/git/ignore --\n*.c\n-- r/a.x --\n-- r/a.c --\n",
			repos: []string{"r"},
		},
		{
			name:  "both configurations of the user",
			files: "-- .gitconfig --\n[core]\n  excludesfile = ~/one\n-- one --\n*.x\n-- .config/git/config --\n[core]\n  excludesfile = ~/two\n-- two --\n*.c\n-- r/a.x --\n-- r/a.c --\n",
			repos: []string{"r"},
		},
		{
			name:  "an empty setting",
			files: "-- .gitconfig --\n[core]\n  excludesfile =\n-- .config/git/ignore --\n*.c\n-- r/a.x --\n-- r/a.c --\n",
			repos: []string{"r"},
		},
		{
			name:  "included configuration",
			files: "-- .gitconfig --\n[include]\n  path = more/config\n-- more/config --\n[include] path = deeper\n-- more/deeper --\n[core] excludesFile = ~/mine\n-- mine --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			repos: []string{"r"},
		},
		{
			name:  "configuration included for some repositories",
			files: "-- .gitconfig --\n[includeIf \"gitdir:~/r/\"]\n  path = one\n[includeIf \"gitdir:~/other/\"]\n  path = two\n-- one --\n[core] excludesFile = ~/x\n-- two --\n[core] excludesFile = ~/c\n-- x --\n*.x\n-- c --\n*.c\n-- r/a.x --\n-- r/a.c --\n",
			repos: []string{"r"},
		},
		{
			name:  "configuration included without regard to case, anywhere, and by branch",
			files: "-- .gitconfig --\n[includeIf \"gitdir/i:R/.GIT\"]\n  path = one\n[includeIf \"gitdir:R/.git\"]\n  path = two\n-- one --\n[includeIf \"onbranch:ma*\"] path = three\n[includeIf \"onbranch:x/\"] path = two\n-- three --\n[core] excludesFile = ~/x\n-- two --\n[core] excludesFile = ~/c\n-- x --\n*.x\n-- c --\n*.c\n-- r/a.x --\n-- r/a.c --\n",
			set:   func(s *sandbox) { s.git(s.at("r"), "init", "-q", "-b", "main") },
			repos: []string{"r"},
		},
		{
			name:  "configuration that includes itself",
			files: "-- .gitconfig --\n[core] excludesFile = ~/x\n-- x --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			set: func(s *sandbox) {
				s.git(s.at("r"), "init", "-q")
				s.skipGit = map[string][]string{"r": {"a.c"}} // git refuses to work
				s.unpack("-- .gitconfig --\n[core] excludesFile = ~/x\n[include] path = .gitconfig\n")
			},
			repos: []string{"r"},
		},
		{
			name:  "excludes by the configuration of the repository",
			files: "-- r/mine --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			set: func(s *sandbox) {
				s.git(s.at("r"), "init", "-q")
				s.git(s.at("r"), "config", "core.excludesFile", "mine")
			},
			repos: []string{"r"},
		},
		{
			name:  "excludes by the environment",
			files: "-- mine --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			set: func(s *sandbox) {
				s.env["GIT_CONFIG_COUNT"] = "1"
				s.env["GIT_CONFIG_KEY_0"] = "core.excludesFile"
				s.env["GIT_CONFIG_VALUE_0"] = s.at("mine")
			},
			repos: []string{"r"},
		},
		{
			name:  "a system configuration",
			files: "-- etc --\n[core] excludesFile = ~/mine\n-- mine --\n*.x\n-- r/a.x --\n-- r/a.c --\n",
			set: func(s *sandbox) {
				delete(s.env, "GIT_CONFIG_NOSYSTEM")
				s.env["GIT_CONFIG_SYSTEM"] = s.at("etc")
			},
			repos: []string{"r"},
		},
		{
			name:  "a .gitignore that is a link",
			files: "-- r/real --\n*.x\n-- r/a.x --\n-- r/d/.gitignore --\n*.c\n-- r/d/a.c --\n",
			set: func(s *sandbox) {
				s.link("real", "r/.gitignore")
			},
			repos: []string{"r"},
		},
		{
			name:  "a link to a directory is not a directory",
			files: "-- r/.gitignore --\nd/\n-- e/a --\n-- r/x/a --\n",
			set:   func(s *sandbox) { s.link("../e", "r/d") },
			repos: []string{"r"},
		},
		{
			name:  "a .gitignore that is a directory",
			files: "-- r/.gitignore/a --\n-- r/b --\n",
			repos: []string{"r"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			s.unpack(tt.files)
			if tt.set != nil {
				tt.set(s)
			}
			var want []string
			for _, repo := range tt.repos {
				if _, err := os.Lstat(s.at(repo + "/.git")); err != nil {
					s.git(s.at(repo), "init", "-q")
				}
				untracked, known := s.skipGit[repo]
				if !known {
					untracked = s.untracked(s.at(repo), "--exclude-standard")
				}
				rel, _ := filepath.Rel(tt.repos[0], repo)
				for _, p := range untracked {
					if info, err := os.Lstat(s.at(path.Join(repo, p))); err == nil && info.Mode().IsRegular() {
						want = append(want, path.Join(filepath.ToSlash(rel), p))
					}
				}
			}
			slices.Sort(want)
			if len(want) == 0 {
				t.Fatal("git shows nothing")
			}
			if diff := cmp.Diff(want, s.listed(s.at(tt.repos[0]))); diff != "" {
				t.Errorf("(-git +walk):\n%s", diff)
			}
		})
	}
}

func (s *sandbox) at(path string) string { return filepath.Join(s.home, filepath.FromSlash(path)) }

func (s *sandbox) link(target, path string) {
	s.t.Helper()
	if err := os.Symlink(target, s.at(path)); err != nil {
		s.t.Fatal(err)
	}
}

// unpack writes the files of an archive below the home directory.
func (s *sandbox) unpack(archive string) {
	s.t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(s.t, s.at(f.Name), string(f.Data))
	}
}
