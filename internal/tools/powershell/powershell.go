// Package powershell is the tool that runs PowerShell commands, where there is no shell of the other
// kind. It runs them and says how they ended; whether a command may run is decided before it gets here,
// and its output is bounded by the executor.
package powershell

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/tool"
	"adze/internal/tool/command"
)

// Name is the name of the tool.
const Name = "PowerShell"

// A Config is what the tool needs to know.
type Config struct {
	command.Config
	// Unwanted returns why the tool is not offered although there is a PowerShell; nil means that it is.
	Unwanted func() error

	find func() (string, error)
}

//go:embed powershell.md
var doc string

// An Input is what the model gives.
type Input = command.Input

// New returns the tool.
func New(c Config) tool.Tool {
	c.Fill()
	c.find = sync.OnceValues(func() (string, error) { return find(exec.LookPath) })
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    describe(c),
		Schema: json.RawMessage(command.InputSchema()),
		Traits: c.Traits("run a PowerShell command", c.enabled),
	}, func(in Input) (tool.Call, error) { return newCall(in, c), nil })
}

// enabled says why the tool is not offered, or returns nil.
func (c Config) enabled() error {
	if c.Unwanted != nil {
		if err := c.Unwanted(); err != nil {
			return err
		}
	}
	_, err := c.find()
	return err
}

// find returns the current PowerShell, or the one that Windows comes with.
func find(lookPath func(string) (string, error)) (string, error) {
	for _, name := range []string{"pwsh", "powershell"} {
		if path, err := lookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("PowerShell is not installed")
}

// windows reports whether the program is the one that Windows comes with, whose language is older.
func windows(path string) bool {
	return strings.HasPrefix(strings.ToLower(filepath.Base(strings.ReplaceAll(path, `\`, "/"))), "powershell")
}

// describe returns what the model is told, which depends on what there is. Nothing is looked for where
// the tool is not offered.
func describe(c Config) string {
	name, joining := "PowerShell", " Join commands that depend on each other with `&&`."
	if c.Unwanted == nil || c.Unwanted() == nil {
		if path, err := c.find(); err == nil && windows(path) {
			name, joining = "Windows PowerShell 5.1", " It has no `&&`: write `a; if ($?) { b }` for commands that depend on each other."
		}
	}
	dir := " Neither does `Set-Location`: use absolute paths."
	if c.SetDir != nil {
		dir = " A `Set-Location` does, as long as it stays within the directories you work in."
	}
	return c.Describe(doc, "{{shell}}", name, "{{joining}}", joining, "{{dir}}", dir)
}
