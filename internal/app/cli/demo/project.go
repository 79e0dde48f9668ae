package demo

import (
	"bytes"
	"embed"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"adze/internal/app/wire"
)

//go:embed leap.* test.* model.replay
var files embed.FS

// A Project is the sample project: a program with a bug, and its test.
type Project struct {
	Program, Test string   // file names
	Check         []string // runs the test
	batch         bool     // in the language of cmd.exe, else of a POSIX shell
}

// FindProject returns the project for the shell of this machine.
func FindProject() (Project, error) {
	if runtime.GOOS != "windows" {
		shell, err := exec.LookPath("sh")
		return Project{Program: "leap.sh", Test: "test.sh", Check: []string{shell, "./test.sh"}}, err
	}
	if shell, err := wire.ShellPath(); err == nil {
		return Project{Program: "leap.sh", Test: "test.sh", Check: []string{shell, "./test.sh"}}, nil
	}
	return Project{Program: "leap.cmd", Test: "test.cmd", Check: []string{"cmd", "/c", "test.cmd"}, batch: true}, nil
}

// Files returns the contents of the project's files by name.
func (p Project) Files() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, name := range []string{p.Program, p.Test} {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the demo: %w", err)
		}
		if p.batch {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		all[name] = data
	}
	return all, nil
}

// Prompt returns the user's prompt.
func (p Project) Prompt() string {
	return "The test of " + p.Program + " fails. Find out why and fix it."
}

// inBatch turns the model's script into that for the batch files.
var inBatch = strings.NewReplacer(
	"leap.sh", "leap.cmd", "sh ./test.sh", "./test.cmd", " Bash {", " PowerShell {",
	`[ $(($1 % 4)) -eq 0 ] && [ $(($1 % 100)) -ne 0 ] || [ $(($1 % 400)) -eq 0 ]`,
	`if %by4% == 0 if not %by100% == 0 set answer=leap\nif %by400% == 0 set answer=leap`,
	`[ $(($1 % 4)) -eq 0 ]`, `if %by4% == 0 set answer=leap`,
)

// Script returns the model's script.
func (p Project) Script() ([]byte, error) {
	script, err := files.ReadFile("model.replay")
	if err != nil {
		return nil, fmt.Errorf("reading the demo: %w", err)
	}
	if p.batch {
		script = []byte(inBatch.Replace(string(script)))
	}
	return script, nil
}
