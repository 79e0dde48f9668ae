// Package approval handles the action classes a plan requests: it validates them, expands the
// few with an exact meaning to commands, and remembers which commands a judge assigned to the
// others.
package approval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/permission/compat"
)

// A Prompt is a class of actions, described in prose, that a plan requests permission for.
type Prompt struct {
	Tool   string `json:"tool"`
	Prompt string `json:"prompt"`
}

// Limits on the classes a plan may request.
const (
	maxPrompts     = 20
	maxPromptChars = 200
)

// Check returns an error if the plan's action classes are invalid.
func Check(prompts []Prompt) error {
	if len(prompts) > maxPrompts {
		return fmt.Errorf("allowedPrompts has %d entries, more than the maximum of %d", len(prompts), maxPrompts)
	}
	for i, p := range prompts {
		switch {
		case p.Tool != compat.Command:
			return fmt.Errorf("allowedPrompts[%d]: the tool is %q, but only Bash is supported", i, p.Tool)
		case strings.TrimSpace(p.Prompt) == "":
			return fmt.Errorf("allowedPrompts[%d]: the description is empty", i)
		case utf8.RuneCountInString(p.Prompt) > maxPromptChars:
			return errors.New("a description in allowedPrompts is longer than 200 characters")
		}
	}
	return nil
}

// Known returns the commands that a description means in a project, or nil if the description
// has no exact meaning.
func Known(description, project string) []string {
	action := actionOf(description)
	if action == "" {
		return nil
	}
	var contents []string
	for _, t := range toolchains() {
		if !slices.ContainsFunc(t.files, func(name string) bool { return exists(filepath.Join(project, name)) }) {
			continue
		}
		for line := range strings.Lines(t.commands[action]) {
			contents = append(contents, strings.TrimSpace(line))
		}
	}
	return contents
}

// actionOf returns the exact action that a description means, or "".
func actionOf(description string) string {
	words := strings.Fields(strings.ToLower(strings.Trim(strings.TrimSpace(description), ".")))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "the" || w == "all" || w == "project" || w == "project's" })
	switch strings.Join(words, " ") {
	case "run tests", "run test suite", "test":
		return "test"
	case "build", "run build", "compile":
		return "build"
	case "install dependencies", "install packages":
		return "install"
	case "lint", "run linter", "run linters", "lint code":
		return "lint"
	case "format", "format code", "run formatter":
		return "format"
	}
	return ""
}

// A toolchain maps actions to commands in a project that has any of its files.
type toolchain struct {
	files    []string
	commands map[string]string // action to commands, one per line
}

func toolchains() []toolchain {
	return []toolchain{
		{[]string{"go.mod"}, map[string]string{
			"test": "go test:*", "build": "go build:*", "install": "go mod download:*", "lint": "go vet:*", "format": "gofmt:*\ngo fmt:*",
		}},
		{[]string{"Cargo.toml"}, map[string]string{
			"test": "cargo test:*", "build": "cargo build:*", "install": "cargo fetch:*", "lint": "cargo clippy:*", "format": "cargo fmt:*",
		}},
		{[]string{"package.json"}, map[string]string{
			"test": "npm test\nnpm run test", "build": "npm run build", "install": "npm install\nnpm ci", "lint": "npm run lint", "format": "npm run format",
		}},
		{[]string{"pyproject.toml", "setup.py", "pytest.ini"}, map[string]string{
			"test": "pytest:*", "lint": "ruff check:*", "format": "ruff format:*\nblack:*",
		}},
		{[]string{"Makefile"}, map[string]string{
			"test": "make test", "build": "make\nmake build", "lint": "make lint", "format": "make format\nmake fmt",
		}},
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// maxClasses limits the number of approved action classes kept; the oldest are dropped first.
const maxClasses = 3 * maxPrompts

// Classes holds the action classes that the user approved with plans and that need a judge to
// interpret, with the commands known to belong to them. The zero value is ready to use; it is
// safe for concurrent use.
type Classes struct {
	mu       sync.Mutex
	classes  []string
	commands map[string]string // directory and command line to class
}

// Add adds a class.
func (a *Classes) Add(class string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.classes, class) {
		a.classes = append(a.classes[max(0, len(a.classes)+1-maxClasses):], class)
	}
}

// Covers returns the class that a command in a directory belongs to, or "". It calls ask to
// pick a class; a match is cached.
func (a *Classes) Covers(dir, command string, ask func(classes []string) (string, error)) (string, error) {
	a.mu.Lock()
	classes, key := slices.Clone(a.classes), dir+"\x00"+command
	class := a.commands[key]
	a.mu.Unlock()
	if class != "" || len(classes) == 0 {
		return class, nil
	}
	class, err := ask(classes)
	if err != nil || !slices.Contains(classes, class) {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.commands == nil {
		a.commands = map[string]string{}
	}
	a.commands[key] = class
	return class, nil
}
