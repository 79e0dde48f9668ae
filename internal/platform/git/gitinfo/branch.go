package gitinfo

import (
	"os"
	"path/filepath"
	"strings"
)

// Branch returns the branch checked out in the repository that contains dir. It reads git's
// files without running git. The branch is empty if HEAD is detached.
func Branch(dir string) (branch string, repository bool) {
	for {
		gitDir, ok := gitDirOf(dir)
		if ok {
			return headBranch(gitDir), true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// gitDirOf returns the git directory of the repository at dir. For a worktree it is outside
// dir.
func gitDirOf(dir string) (path string, ok bool) {
	path = filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return path, true
	}
	text, err := os.ReadFile(path)
	if err != nil || info.Size() > 4096 {
		return "", false
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return target, true
}

func headBranch(gitDir string) string {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil || len(head) > 4096 {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if !ok || strings.ContainsAny(branch, "\n\r\x1b") {
		return ""
	}
	return branch
}
