package gitinfo

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBranch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("repo/.git/HEAD", "ref: refs/heads/feature/x\n")
	write("repo/sub/deep/file", "")
	write("repo/.git/worktrees/w/HEAD", "ref: refs/heads/other\n")
	write("tree/.git", "gitdir: ../repo/.git/worktrees/w\n")
	write("detached/.git/HEAD", "0123456789012345678901234567890123456789\n")
	write("odd/.git", "what is this\n")
	tests := []struct {
		dir, branch string
		repository  bool
	}{
		{"repo", "feature/x", true},
		{"repo/sub/deep", "feature/x", true},
		{"tree", "other", true},
		{"detached", "", true},
		{"odd", "", false},
		{".", "", false},
	}
	for _, tt := range tests {
		branch, repository := Branch(filepath.Join(dir, tt.dir))
		if branch != tt.branch || repository != tt.repository {
			t.Errorf("%s: got %q, %t", tt.dir, branch, repository)
		}
	}
}
