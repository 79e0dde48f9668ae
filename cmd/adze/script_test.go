package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"adze/internal/model/replay"
	"adze/internal/platform/osproc"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == osproc.ReaperArg { // whatever the program is called then
		os.Exit(osproc.Reap(os.Args[2:]))
	}
	testscript.Main(m, map[string]func(){"adze": main})
}

// TestScript runs the scenarios. In each, a behaviour that a person can see is shown with the program
// itself; the model is a script of the scenario.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"capture": capture,
			"exits":   exits,
			"serve":   serve,
			"field":   field,
			"lines":   countLines,
			"result":  checkResult,
			"mode":    checkMode,
			"fill":    fill,
			"budget":  budget,
		},
	})
}

// setUp gives each scenario a home of its own and no way to a real model.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("ADZE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("ADZE_NO_FSYNC", "1")
	env.Setenv("IS_SANDBOX", "1") // the tests may be run as root
	env.Setenv("SHELL", "/bin/sh")
	return os.MkdirAll(home, 0o755)
}

// exits runs a command and checks its exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serve plays a script as a server on this machine and points the program to it: serve FILE. At the
// end of the scenario the script must have been played as it expects, unless the file is followed by
// "partly".
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: serve FILE [partly]")
	}
	script, err := replay.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	player := replay.NewPlayer(script)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := &http.Server{Handler: player.Handler()}
	go server.Serve(listener) // ok: it ends with the scenario
	ts.Defer(func() {
		server.Close() // ok: whoever still listens has seen enough
		if err := player.Err(); err != nil && len(args) == 1 {
			ts.Fatalf("%v", err)
		}
	})
	ts.Setenv("ANTHROPIC_BASE_URL", "http://"+listener.Addr().String())
	ts.Setenv("ANTHROPIC_API_KEY", "key-of-the-scenario")
}

// mode checks the permission bits of the files that match: mode 600 PATTERN...
func checkMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode BITS PATTERN...")
	}
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, pattern := range args[1:] {
		names, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(names) == 0 {
			ts.Fatalf("nothing matches %s", pattern)
		}
		for _, name := range names {
			info, err := os.Stat(name)
			ts.Check(err)
			if got := info.Mode().Perm(); got != os.FileMode(want) {
				ts.Fatalf("%s has mode %o, want %o", name, got, want)
			}
		}
	}
}

// fill writes a file of a given size that begins and ends with given texts: fill FILE BYTES BEFORE AFTER
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: fill FILE BYTES BEFORE AFTER")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := args[2] + strings.Repeat("x", size-len(args[2])-len(args[3])) + args[3]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// capture FILE PATTERN NAME sets a variable to what the first group of PATTERN matches in FILE, which may
// be a glob pattern.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture FILE PATTERN NAME")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s is %d files", args[0], len(files))
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(files[0]))
	if len(found) < 2 {
		ts.Fatalf("%s does not match %s", args[0], args[1])
	}
	ts.Setenv(args[2], found[1])
}
