package bash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"adze/internal/platform/shell"
)

// A Program is the shell that runs commands.
type Program struct {
	Path    string
	Dialect shell.Dialect
}

// A system is the environment in which a shell is looked up.
type system struct {
	os       string
	lookPath func(name string) (string, error)
	getenv   func(name string) string
}

// Find returns the shell that runs commands, or an error if none is available.
func Find() (Program, error) { return system{runtime.GOOS, exec.LookPath, os.Getenv}.find() }

// find returns bash, or sh if bash is missing. On Windows only Git Bash works: the bash in PATH
// there runs in a virtual machine with a different file system.
func (s system) find() (Program, error) {
	if s.os == "windows" {
		for _, path := range s.gitBash() {
			if found, err := s.lookPath(path); err == nil {
				return Program{found, shell.Bash}, nil
			}
		}
		return Program{}, errors.New("no Git Bash: install Git for Windows to have it, or use PowerShell")
	}
	if path, err := s.lookPath("bash"); err == nil {
		return Program{path, shell.Bash}, nil
	}
	if path, err := s.lookPath("sh"); err == nil {
		return Program{path, shell.POSIX}, nil
	}
	return Program{}, errors.New("neither bash nor sh is installed")
}

// gitBash returns the possible locations of Git Bash: next to the git in PATH, or in the usual
// places.
func (s system) gitBash() []string {
	const bash = `\bin\bash.exe`
	var places []string
	if git, err := s.lookPath("git"); err == nil {
		dir := git
		for range 3 { // …\Git\cmd\git.exe, …\Git\bin\git.exe or …\Git\mingw64\bin\git.exe
			i := strings.LastIndexAny(dir, `\/`)
			if i < 0 {
				break
			}
			if dir = dir[:i]; dir != git[:strings.LastIndexAny(git, `\/`)] {
				places = append(places, dir+bash)
			}
		}
	}
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		if dir := s.getenv(name); dir != "" {
			places = append(places, dir+`\Git`+bash)
		}
	}
	if dir := s.getenv("LOCALAPPDATA"); dir != "" {
		places = append(places, dir+`\Programs\Git`+bash)
	}
	return places
}

// otherShell returns a note if the user's own shell is not the shell that runs commands, or "".
// Bash also reads scripts for sh, which is the shell of programs without a user.
func (s system) otherShell() string {
	own := s.getenv("SHELL")
	name := strings.TrimSuffix(strings.ToLower(own[strings.LastIndexAny(own, `\/`)+1:]), ".exe")
	program, err := s.find()
	if own == "" || name == "bash" || name == "sh" || err != nil || program.Dialect != shell.Bash {
		return ""
	}
	return fmt.Sprintf("commands run in bash, with the aliases and functions of your bash start-up files; SHELL, which is %s, does not count", own)
}
