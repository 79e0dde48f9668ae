// Package apptest provides the fixture shared by the tests of app and its parts: a user's
// machine with a workspace. Only tests import it.
package apptest

import (
	"os"
	"path/filepath"
	"testing"
)

// A Place is a user's machine in a temporary directory: home is the user's home directory,
// home/.adze the state home, work the workspace, and etc the managed settings.
type Place struct {
	T    *testing.T
	Root string
	// Vars holds additional environment variables.
	Vars map[string]string
}

// New returns a place with an empty file in the workspace, and a script model.replay that says
// hello. Commands run with the place's home directory, so that the tester's startup files are
// not read.
func New(t *testing.T) *Place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &Place{T: t, Root: root, Vars: map[string]string{}}
	t.Setenv("HOME", p.Path("home"))
	p.Write("model.replay", "say Hello.")
	p.Write("work/file", "")
	return p
}

// Path returns the path of a file in the place.
func (p *Place) Path(rel string) string { return filepath.Join(p.Root, filepath.FromSlash(rel)) }

// Write writes a file, creating its directories.
func (p *Place) Write(rel, text string) {
	p.T.Helper()
	if err := os.MkdirAll(filepath.Dir(p.Path(rel)), 0o755); err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(p.Path(rel), []byte(text), 0o600); err != nil {
		p.T.Fatal(err)
	}
}

// Getenv looks up a variable of the place.
func (p *Place) Getenv(name string) string {
	if v, ok := p.Vars[name]; ok {
		return v
	}
	switch name {
	case "HOME":
		return p.Path("home")
	case "ADZE_HOME":
		return p.Path("home/.adze")
	case "ADZE_GIT_STATUS_WAIT_MS":
		return "60000" // allows for a busy machine
	}
	return ""
}
