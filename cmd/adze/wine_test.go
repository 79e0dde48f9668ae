//go:build wine

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A windows is the Windows build of the program in Wine. Its working directory is C:\work, and its
// state is in C:\state.
type windows struct {
	t     *testing.T
	exe   string
	drive string // C:
}

// TestWine runs the Windows build of the program in Wine.
//
// Proves X-143.
func TestWine(t *testing.T) {
	runner, err := filepath.Abs("../../scripts/wine")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("WINEPREFIX") == "" {
		t.Setenv("WINEPREFIX", filepath.Join(t.TempDir(), "wine"))
		t.Cleanup(func() { exec.Command(runner, "wineboot", "--kill").Run() }) // ok: it ends by itself otherwise
	}
	exe := filepath.Join(t.TempDir(), "adze.exe")
	build := exec.Command("go", "build", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building for Windows: %v\n%s", err, out)
	}
	drive := filepath.Join(os.Getenv("WINEPREFIX"), "drive_c")
	if out, err := exec.Command(runner, "cmd", "/c", "ver").CombinedOutput(); err != nil {
		t.Fatalf("starting Wine: %v\n%s", err, out)
	}
	for _, scenario := range []struct {
		name string
		run  func(*windows)
	}{
		{"start", winStart},
		{"tools", winTools},
		{"paths", winPaths},
		{"rewind", winRewind},
		{"kill", winKill},
		{"private", winPrivate},
		{"helpers", winHelpers},
		{"demo", winDemo},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			w := &windows{t, exe, drive}
			for _, dir := range []string{"work", "state"} {
				if err := os.RemoveAll(filepath.Join(drive, dir)); err != nil {
					t.Fatal(err)
				}
			}
			w.write("work/notes.txt", "one\r\ntwo\r\n")
			scenario.run(w)
		})
	}
}

func (w *windows) path(name string) string { return filepath.Join(w.drive, filepath.FromSlash(name)) }

func (w *windows) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// has checks the content of a file.
func (w *windows) has(name, want string) {
	w.t.Helper()
	if got, err := os.ReadFile(w.path(name)); err != nil || string(got) != want {
		w.t.Errorf("%s has %q, %v, want %q", name, got, err, want)
	}
}

// command returns the program with arguments, in C:\work.
func (w *windows) command(args ...string) *exec.Cmd {
	cmd := exec.Command("../../scripts/wine", append([]string{w.exe}, args...)...)
	cmd.Path, _ = filepath.Abs(cmd.Path) // ok: the directory exists
	cmd.Dir = w.path("work")
	cmd.Env = append(os.Environ(), `ADZE_HOME=C:\state`)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// adze runs the program, expects an exit code, and returns its output and messages.
func (w *windows) adze(code int, args ...string) string {
	w.t.Helper()
	return w.run(code, "", args...)
}

// run is like adze with standard input.
func (w *windows) run(code int, input string, args ...string) string {
	w.t.Helper()
	cmd := w.command(args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		w.t.Fatalf("adze %q: %v, want code %d\n%s", args, err, code, out)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

const winSession = "11111111-1111-4111-8111-111111111111"

// turn plays a script as the first turn of a session, with all calls allowed.
func (w *windows) turn(script string) string {
	w.t.Helper()
	w.write("model.txt", script)
	return w.adze(0, "-p", "go", "--model", `replay:C:\model.txt`, "--permission-mode", "bypassPermissions", "--session-id", winSession)
}

// transcript returns the log of the session.
func (w *windows) transcript() string {
	w.t.Helper()
	data, err := os.ReadFile(w.path("state/projects/C--work/" + winSession + ".jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", what, want, text)
		}
	}
}

func winStart(w *windows) {
	contains(w.t, "--version", w.adze(0, "--version"), "(adze)")
	contains(w.t, "doctor", w.adze(1, "doctor"), "for windows/amd64", `C:\state`, "no Git Bash")
	if page := w.adze(0, "prompt", "show"); !strings.Contains(page, `C:\work`) || strings.Contains(page, "Linux") {
		w.t.Errorf("the system prompt is about another system:\n%s", page)
	}
}

// winTools checks that files are replaced, never rewritten in place, and keep their line ends.
func winTools(w *windows) {
	w.write("work/over.txt", "old\n")
	out := w.turn(`use Read {"file_path":"notes.txt"}
use Read {"file_path":"over.txt"}
---
expect result toolu_1_1 "two"
use Edit {"file_path":"notes.txt","old_string":"two","new_string":"three\nfour"}
use Write {"file_path":"over.txt","content":"new\n"}
use Write {"file_path":"sub\\made.txt","content":"made\n"}
---
use Edit {"file_path":"notes.txt","old_string":"four","new_string":"five"}
---
expect result toolu_2_2 "Updated over.txt."
use Glob {"pattern":"**/*.txt"}
use Grep {"pattern":"five","output_mode":"content"}
use PowerShell {"command":"Write-Output hello"}
---
expect result toolu_4_1 "sub\\made.txt"
expect result toolu_4_2 "3:five"
expect result toolu_4_3 "The command succeeded"
say done
`)
	contains(w.t, "the answer", out, "done")
	w.has("work/notes.txt", "one\r\nthree\r\nfive\r\n")
	w.has("work/over.txt", "new\n")
	w.has("work/sub/made.txt", "made\n")
	if strings.Contains(w.transcript(), "rewritten in place") {
		w.t.Errorf("a file was rewritten in place:\n%s", w.transcript())
	}
}

// winPaths checks the forms of paths, and those that are not for a model.
func winPaths(w *windows) {
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.write("work/"+name+".txt", "text of "+name)
	}
	wants := map[string]string{
		`C:\work\a.txt`:         "text of a",
		`c:/work/b.txt`:         "text of b",
		"/c/work/c.txt":         "text of c",
		`\work\d.txt`:           "text of d",
		`.\sub\..\e.txt`:        "text of e",
		`\\host\share\x`:        "another machine",
		`\\?\C:\work\notes.txt`: "another machine",
		`\\.\C:\work\notes.txt`: "another machine",
		`notes.txt::$DATA`:      "stream",
		`NOTES~1.TXT`:           "short form",
		`notes.txt.`:            "dot or space",
		`CON`:                   "device",
		`C:notes.txt`:           "current directory of its drive",
	}
	var input strings.Builder
	for path := range wants {
		json.NewEncoder(&input).Encode(map[string]any{"id": path, "tool": "Read", "input": map[string]string{"file_path": path}}) // ok: strings
	}
	results := map[string]string{}
	for line := range strings.Lines(w.run(0, input.String(), "tool", "--stdin")) {
		var r struct{ ID, Text string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.t.Fatalf("%v: %s", err, line)
		}
		results[r.ID] = r.Text
	}
	for path, want := range wants {
		contains(w.t, path, results[path], want)
	}
}

func winRewind(w *windows) {
	w.turn(`use Read {"file_path":"notes.txt"}
---
use Write {"file_path":"notes.txt","content":"changed\r\n"}
use Write {"file_path":"new.txt","content":"new\n"}
---
say done
`)
	w.has("work/notes.txt", "changed\r\n")
	message := regexp.MustCompile(`"type":"user","uuid":"([^"]+)"`).FindStringSubmatch(w.transcript())
	if message == nil {
		w.t.Fatalf("the transcript has no message:\n%s", w.transcript())
	}
	out := w.adze(0, "--resume", winSession, "--rewind-files", message[1])
	contains(w.t, "the report", out, "2 files")
	w.has("work/notes.txt", "one\r\ntwo\r\n")
	if _, err := os.Stat(w.path("work/new.txt")); err == nil {
		w.t.Error("the new file is still there")
	}
	undo := regexp.MustCompile(`--rewind-files (\S+)`).FindStringSubmatch(out)
	if undo == nil {
		w.t.Fatalf("no way back: %s", out)
	}
	w.adze(0, "--resume", winSession, "--rewind-files", undo[1])
	w.has("work/notes.txt", "changed\r\n")
	w.has("work/new.txt", "new\n")
}

// winKill checks that a session is locked while its process lives, and continues after that was
// killed while it wrote.
func winKill(w *windows) {
	w.write("model.txt", `use Write {"file_path":"kept.txt","content":"kept\n"}
---
expect result toolu_1_1 "Created"
hang
`)
	w.write("next.txt", "say resumed\n")
	first := w.command("-p", "go", "--model", `replay:C:\model.txt`, "--permission-mode", "bypassPermissions", "--session-id", winSession)
	var out bytes.Buffer
	first.Stdout, first.Stderr = &out, &out
	if err := first.Start(); err != nil {
		w.t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(w.log(), "Created kept.txt"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			first.Process.Kill()
			first.Wait()
			w.t.Fatalf("the call never ended:\n%s", out.String())
		}
	}
	again := []string{"-p", "go on", "--resume", winSession, "--model", `replay:C:\next.txt`}
	contains(w.t, "the second process", w.adze(2, again...), "is open in another process")
	if err := first.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	first.Wait() // ok: it was killed
	w.has("work/kept.txt", "kept\n")
	w.write("state/projects/C--work/"+winSession+".jsonl", w.transcript()+`{"torn":`)
	contains(w.t, "after the kill", w.adze(0, again...), "resumed", "its 8 bytes were moved")
	contains(w.t, "once more", w.adze(0, again...), "resumed")
	contains(w.t, "the transcript", w.transcript(), "Created kept.txt", "resumed")
}

// log returns the log of the session, or "" if there is none yet.
func (w *windows) log() string {
	data, _ := os.ReadFile(w.path("state/projects/C--work/" + winSession + ".jsonl")) // ok: none yet
	return string(data)
}

// winPrivate checks that keys are in the Credential Manager, and that the access control lists of
// private files give others nothing. Wine stores the lists as modes.
func winPrivate(w *windows) {
	w.run(0, "sk-ant-secret-of-the-test", "auth", "login", "anthropic", "--with-token", "--no-check")
	contains(w.t, "auth status", w.adze(0, "auth", "status", "--text"), "in the keyring")
	w.adze(0, "auth", "logout", "anthropic")
	w.run(0, "sk-ant-secret-of-the-test", "auth", "login", "anthropic", "--with-token", "--no-check", "--file")
	contains(w.t, "auth status", w.adze(0, "auth", "status", "--text"), "in the file")
	w.turn("say done\n")
	for _, name := range []string{"state", "state/credentials.json", "state/projects", "state/projects/C--work/" + winSession + ".jsonl"} {
		if info, err := os.Stat(w.path(name)); err != nil || info.Mode().Perm()&0o007 != 0 {
			w.t.Errorf("%s: %v, %v", name, info.Mode(), cmp.Or(err, errors.New("others have access")))
		}
	}
	if info, err := os.Stat(w.path("work/notes.txt")); err != nil || info.Mode().Perm()&0o004 == 0 {
		w.t.Errorf("the modes tell nothing: %v, %v", info.Mode(), err)
	}
	w.adze(0, "auth", "logout", "anthropic")
	if data, err := os.ReadFile(w.path("state/credentials.json")); err == nil && bytes.Contains(data, []byte("secret")) {
		w.t.Errorf("the key is still there: %s", data)
	}
}

// winHelpers checks that commands of settings run in PowerShell without sh. That of Wine prints
// nothing.
func winHelpers(w *windows) {
	w.write("state/settings.json", `{"apiKeyHelper": "echo sk-ant-key"}`)
	out := w.adze(1, "-p", "go", "--model", "claude-sonnet-4-5")
	contains(w.t, "the helper", out, "apiKeyHelper printed nothing")
}

// winDemo runs the demo, whose test is run by the cmd.exe of Wine.
func winDemo(w *windows) {
	contains(w.t, "the demo", w.adze(0, "demo"), "Edit leap.cmd", "Checked: the test passes now.")
}
