package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLocalProviderContactsNothingElse checks that with a local server no other host is
// contacted: a session with several tool turns, a title, memory and all default features works
// in a network with only the loopback interface, and connects to nothing else. The restrictions
// of ADZE_OFFLINE are tested with the web tools.
//
// Proves X-144.
func TestLocalProviderContactsNothingElse(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "hello\n")
	write("s.replay", `dialect chat
expect model qwen3:8b
use Read {"file_path":"a.txt"}
---
expect result toolu_1_1 "hello"
use Bash {"command":"echo from the shell"}
---
expect result toolu_2_1 "from the shell"
say All done.
`)
	write("run.sh", `set -eu
localserver s.replay & server=$!
trap 'kill $server' EXIT
while [ ! -e s.replay.ready ]; do sleep 0.02; done
strace -f -qq -e trace=connect,sendto,sendmsg,sendmmsg -e signal=none -o trace adze -p 'read a.txt' --model ollama/qwen3:8b --allowedTools 'Read,Bash(echo:*)'
adze models
`)
	cmd := exec.CommandContext(t.Context(), "bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--chdir", dir, "sh", "run.sh")
	home := t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ADZE_HOME=" + filepath.Join(home, ".adze"), "ADZE_NO_FSYNC=1", "ADZE_OFFLINE=1", "IS_SANDBOX=1", "SHELL=/bin/sh"}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "All done.") || !strings.Contains(string(out), "ollama/qwen3:8b") {
		problems, _ := os.ReadFile(filepath.Join(dir, "s.replay.err")) // ok: it may not exist
		t.Fatalf("%v\n%s\n%s", err, out, problems)
	}
	trace, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	internet := regexp.MustCompile(`AF_INET6?\b.*`)
	address := regexp.MustCompile(`inet_addr\("([^"]*)"\)|inet_pton\(AF_INET6, "([^"]*)"`)
	reached := []string{}
	for _, line := range internet.FindAllString(string(trace), -1) {
		found := address.FindStringSubmatch(line)
		if found == nil {
			t.Errorf("an address that is not understood: %s", line)
			continue
		}
		if a := found[1] + found[2]; !slices.Contains(reached, a) {
			reached = append(reached, a)
		}
	}
	if !slices.Equal(reached, []string{"127.0.0.1"}) {
		t.Errorf("the run reached %q, want the loopback address alone", reached)
	}
}
