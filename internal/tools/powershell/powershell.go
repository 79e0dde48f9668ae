// Package powershell implements the tool that runs PowerShell commands, for systems without a
// POSIX shell.
package powershell

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// Name is the tool's name.
const Name = "PowerShell"

// Config configures the tool.
type Config struct {
	command.Config
	// Unwanted returns an error if the tool should not be offered although PowerShell exists;
	// nil means that it is offered.
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

// Input is the tool's input.
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

// enabled returns an error if the tool is not offered.
func (c Config) enabled() error {
	if c.Unwanted != nil {
		if err := c.Unwanted(); err != nil {
			return err
		}
	}
	_, err := c.find()
	return err
}

// find returns the path of PowerShell, or else of Windows PowerShell.
func find(lookPath func(string) (string, error)) (string, error) {
	for _, name := range []string{"pwsh", "powershell"} {
		if path, err := lookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("PowerShell is not installed")
}

// windows reports whether the program is Windows PowerShell, whose language is older.
func windows(path string) bool {
	return strings.HasPrefix(strings.ToLower(filepath.Base(strings.ReplaceAll(path, `\`, "/"))), "powershell")
}

// describe returns the description for the model, which depends on the configuration. It does
// not look up the program if the tool is not offered.
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
