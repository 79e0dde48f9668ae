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

	"adze/internal/platform/texts"
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

var (
	//go:embed powershell.md
	english string
	//go:embed powershell.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// An Input is what the model gives.
type Input = command.Input

// New returns the tool.
func New(c Config) tool.Tool {
	c.Fill()
	c.find = sync.OnceValues(func() (string, error) { return find(exec.LookPath) })
	def := tool.Def{
		Name:   Name,
		Doc:    c.describe(texts.English),
		Schema: json.RawMessage(command.InputSchema()),
		Traits: c.Traits("run a PowerShell command", c.enabled),
	}
	def.Translate = c.translate
	return tool.NewBound(def, func(in Input) (tool.Call, error) { return newCall(in, c), nil })
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
func (c Config) describe(l texts.Language) string {
	name, join := "PowerShell", "join"
	if c.Unwanted == nil || c.Unwanted() == nil {
		if path, err := c.find(); err == nil && windows(path) {
			name, join = "Windows PowerShell 5.1", "join.windows"
		}
	}
	run := "stay"
	if c.SetDir != nil {
		run = "cd"
	}
	text := c.Describe(l, catalogue, catalogue.Text(l, "run", name), catalogue.Text(l, run), catalogue.Text(l, join))
	return text + c.GitText(l, catalogue.Text(l, "message"))
}

// translate implements [tool.Traits].Translate.
func (c Config) translate(l texts.Language) map[string]string {
	all := command.InputTexts(l)
	if all != nil {
		all["doc"] = c.describe(l)
	}
	return all
}
