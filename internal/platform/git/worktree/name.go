package worktree

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// maxName limits the length of a worktree's name, which becomes part of a branch name and a
// file name.
const maxName = 64

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// CheckName returns an error if a name is not valid for a worktree. The name becomes part of a
// path and a branch name.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a worktree needs a name")
	case len(name) > maxName:
		return fmt.Errorf("the name of a worktree has at most %d characters", maxName)
	case strings.Trim(name, nameChars) != "", strings.Contains(name, ".."), name[0] == '.', name[0] == '-',
		strings.HasSuffix(name, "."), strings.HasSuffix(strings.ToLower(name), ".lock"):
		return fmt.Errorf("%q cannot name a worktree: use letters, digits, and . _ - between them", name)
	}
	for _, c := range name {
		if !strings.ContainsRune(nameChars, c) {
			return fmt.Errorf("%q cannot name a worktree: use letters, digits, and . _ - between them", name)
		}
	}
	return nil
}

// randomName returns a random name.
func randomName() string { return "work-" + strings.ToLower(rand.Text()[:8]) }

// branchOf returns the name of a worktree's branch.
func branchOf(name string) string { return "worktree-" + name }
