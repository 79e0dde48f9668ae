package worktree

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// maxName bounds the name of a worktree, which is part of the name of a branch and of a file.
const maxName = 64

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// CheckName returns why a name cannot be that of a worktree, or nil. The name becomes part of a path and of a branch.
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

// randomName returns a name that is not in use.
func randomName() string { return "work-" + strings.ToLower(rand.Text()[:8]) }

// branchOf returns the branch that a worktree gets.
func branchOf(name string) string { return "worktree-" + name }
