package browser

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Proves MCP-25.
func TestCheck(t *testing.T) {
	for address, good := range map[string]bool{
		"https://auth.example/authorize?client_id=a&scope=b%20c": true,
		"http://localhost:8080/authorize":                        true,
		"http://127.0.0.1/authorize":                             true,
		"http://[::1]:1/authorize":                               true,
		"http://auth.example/authorize":                          false,
		"http://localhost.evil.example/":                         false,
		"https://user:secret@auth.example/":                      false,
		"javascript:alert(1)":                                    false,
		"file:///etc/passwd":                                     false,
		"https:///nohost":                                        false,
		"https://auth.example/`reboot`":                          false,
		"https://auth.example/\x1b]0;x\x07":                      false,
		"https://auth.example/a b":                               false,
		"https://auth.example/\u202e":                            false,
		"-https://auth.example/":                                 false,
		"":                                                       false,
	} {
		if err := Check(address); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("the separator is another one there")
		return
	}
	const at = "https://a.example/?x=1&y=$(id)"
	if runtime.GOOS == "linux" {
		if got := commands(at, " : "); !slices.EqualFunc(got, [][]string{{"xdg-open", at}, {"wslview", at}}, slices.Equal[[]string]) {
			t.Errorf("no variable: %q", got)
		}
	}
	for variable, want := range map[string][][]string{
		"":                            commands(at, " : "),
		"firefox":                     {{"firefox", at}},
		"w3m -N:lynx --url=%s -x":     {{"w3m", "-N", at}, {"lynx", "--url=" + at, "-x"}},
		"/usr/bin/open-it %s %s:":     {{"/usr/bin/open-it", at, at}},
		"sh -c true; rm -rf ~ -- '%s": {{"sh", "-c", "true;", "rm", "-rf", "~", "--", "'" + at}},
	} {
		if got := commands(at, variable); !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Errorf("%q: %q", variable, got)
		}
	}
}

// TestOpen checks that the browser receives the URL unchanged, even if the first browser in the
// list is missing.
func TestOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("no script to play the browser there")
		return
	}
	dir := t.TempDir()
	script, said := filepath.Join(dir, "browser"), filepath.Join(dir, "said")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf %s \"$*\" > "+said+".new && mv "+said+".new "+said+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const at = "https://a.example/?x=1&y=$(id)"
	getenv := func(string) string { return filepath.Join(dir, "absent") + ":" + script }
	if err := Open(at, getenv); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		data, err := os.ReadFile(said)
		if err == nil && string(data) == at {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it received %q, %v", data, err)
		}
	}
	if err := Open("file:///etc/passwd", getenv); err == nil {
		t.Error("a file was opened")
	}
	if err := Open(at, func(string) string { return filepath.Join(dir, "absent") }); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("no browser: %v", err)
	}
}
