package permission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/permission/compat"
	"adze/internal/platform/scope"
)

// A Prompt is a class of actions that a plan asks leave for, in words.
type Prompt struct {
	Tool   string `json:"tool"`
	Prompt string `json:"prompt"`
}

// Limits of what a plan may ask leave for.
const (
	maxPrompts     = 20
	maxPromptChars = 200
)

// CheckPrompts reports what is wrong with the classes of actions of a plan.
func CheckPrompts(prompts []Prompt) error {
	if len(prompts) > maxPrompts {
		return fmt.Errorf("allowedPrompts has %d entries, and at most %d are possible", len(prompts), maxPrompts)
	}
	for i, p := range prompts {
		switch {
		case p.Tool != compat.Command:
			return fmt.Errorf("allowedPrompts[%d]: the tool is %q, and only Bash is possible", i, p.Tool)
		case strings.TrimSpace(p.Prompt) == "":
			return fmt.Errorf("allowedPrompts[%d]: the description is empty", i)
		case utf8.RuneCountInString(p.Prompt) > maxPromptChars:
			return errors.New("a description in allowedPrompts is longer than 200 characters")
		}
	}
	return nil
}

// approve makes rules of the session of those approved classes of actions whose meaning is known. The
// commands of the others are asked about.
func (s *State) approve(prompts []Prompt) {
	if CheckPrompts(prompts) != nil {
		return
	}
	project := s.Policy().cfg.start()
	u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Session}
	for _, p := range prompts {
		for _, content := range known(p.Prompt, project) {
			u.Rules = append(u.Rules, RuleValue{Tool: compat.Command, Content: content})
		}
	}
	s.change(func(c Config) Config { return c.apply(u) })
}

// known returns the commands that a description means in a project, if it is one of the few with an
// exact meaning.
func known(description, project string) []string {
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

// actionOf returns what a description means exactly, or nothing.
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

// A toolchain says which commands do what in a project that has one of its files.
type toolchain struct {
	files    []string
	commands map[string]string // one to a line
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
