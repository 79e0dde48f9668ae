//go:build unix

package powershell

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/msg"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tool/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// standIn replaces PowerShell: like the starter, it takes the command from the environment,
// records how it was started, and runs the command in sh. Read-only commands get the LC_
// variables.
const standIn = `#!/bin/sh
printf '%s\n' "$@" > "$LC_SPY/args"
text=
i=0
while eval "piece=\${ADZE_COMMAND_$i-}"; [ -n "$piece" ]; do
	text=$text$piece
	unset ADZE_COMMAND_$i
	i=$((i+1))
done
printf '%s' "$text" | base64 -d > "$LC_SPY/text"
env > "$LC_SPY/env"
report=$ADZE_REPORT
unset ADZE_REPORT
trap 'pwd | tr -d "\n" > "$report"' EXIT
script=$LC_SPY/script.$$
printf '%s' "$text" | base64 -d | sed '/^if (-not/d' > "$script"
. "$script"
`

// A bench is a tool with a fake PowerShell.
type bench struct {
	tool.Tool
	root, dir, spy string
	tasks          *task.Table
}

func newBench(t *testing.T, name string, change func(*Config)) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{root: root, dir: root, spy: t.TempDir()}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	r := &osproc.Runner{Grace: 200 * time.Millisecond}
	t.Cleanup(r.Close)
	b.tasks = task.New(t.TempDir(), func(task.Notice) {})
	t.Cleanup(b.tasks.Close)
	c := Config{Config: command.Config{
		Dir: func() string { return b.dir }, Runner: r, TempDir: filepath.Join(t.TempDir(), "missing"), Limits: command.Limits{Tasks: b.tasks},
		Env: func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "LC_SPY=" + b.spy, "GH_TOKEN=x", "PSModulePath=evil"}
		},
		SetDir: func(dir string) string {
			if b.dir = dir; !strings.HasPrefix(dir+"/", root+"/") {
				b.dir = root
			}
			return b.dir
		},
	}}
	if change != nil {
		change(&c)
	}
	b.Tool = New(c)
	return b
}

func input(command string) string {
	data, _ := json.Marshal(Input{Command: command}) // ok: always marshals
	return string(data)
}

func (b *bench) run(t *testing.T, input string) tool.Result {
	t.Helper()
	call, err := b.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	res, err := call.Run(context.Background(), func(tool.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (b *bench) noted(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.spy, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestContract runs the shell tool's test suite.
//
// Proves X-004.
func TestContract(t *testing.T) {
	b := newBench(t, "pwsh", nil)
	tooltest.Run(t, b, tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"output":  `{"command":"printf hello"}`,
			"silent":  `{"command":"true"}`,
			"failure": `{"command":"exit 3"}`,
			"signal":  `{"command":"kill -9 $$"}`,
			"long":    `{"command":"yes | head -c 300000"}`,
		},
		Slow: `{"command":"exec sleep 100"}`,
		Dir:  b.root,
	})
}

// TestCommandsArriveAsTheyAre checks that PowerShell gets the exact bytes of any command, and
// nothing of it in an argument.
//
// Proves X-004.
func TestCommandsArriveAsTheyAre(t *testing.T) {
	b := newBench(t, "pwsh", nil)
	for _, text := range []string{
		`: '"' "'" ` + "`$x`" + ` %PATH% ^ & | < > ( ) ; !`, ": größe 日本 \u2018\u2019 \U0001F600", ": a\n: b\r\n: c", `: \" \\ \`, ": -EncodedCommand x", ": --%", ": " + strings.Repeat("long ", 19_000),
	} {
		b.run(t, input(text))
		if got := b.noted(t, "text"); got != text+ending {
			t.Errorf("%.80q arrives as %.80q", text, got)
		}
	}
	args := strings.Split(strings.TrimSpace(b.noted(t, "args")), "\n")
	want := []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand"}
	if diff := cmp.Diff(want, args[:len(args)-1]); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	raw, err := base64.StdEncoding.DecodeString(args[len(args)-1])
	if err != nil {
		t.Fatal(err)
	}
	var units []uint16
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])|uint16(raw[i+1])<<8)
	}
	if got := string(utf16.Decode(units)); got != starter {
		t.Errorf("it is started with %q", got)
	}
}

// TestProvenCommands checks that a read-only command runs in its proven form with a minimal
// environment.
//
// Proves X-004.
func TestProvenCommands(t *testing.T) {
	b := newBench(t, "pwsh", func(c *Config) {
		env := c.Env
		c.Env = func() []string { return append(env(), "HOME=/h", "TEMP=/t") }
	})
	call, err := b.Bind(json.RawMessage(input("cat 'a b' -TotalCount 3")))
	if err != nil {
		t.Fatal(err)
	}
	facts := tool.FactsOf(call)
	if diff := cmp.Diff(tool.Facts{ReadOnly: true, Concurrent: true}, facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	own, _ := tool.As[tool.Accesser](call)
	want := []tool.Access{{Verb: tool.Execute, Target: "cat 'a b' -TotalCount 3"}, {Verb: tool.Read, Target: "a b"}}
	if diff := cmp.Diff(want, own.Access()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.run(t, input("cat 'a b' -TotalCount 3"))
	if got := b.noted(t, "text"); got != `Microsoft.PowerShell.Management\Get-Content 'a b' -totalcount '3'`+ending {
		t.Errorf("%q is run", got)
	}
	for name, known := range map[string]bool{"HOME=/h": true, "TEMP=/t": true, "GH_TOKEN=": false, "PSModulePath=": false} {
		if strings.Contains(b.noted(t, "env"), name) != known {
			t.Errorf("%s is known: %v", name, !known)
		}
	}
	b.run(t, input("cat 'a b' -Wait"))
	if got := b.noted(t, "env"); !strings.Contains(got, "GH_TOKEN=") || !strings.Contains(got, "GIT_PAGER=cat") {
		t.Errorf("an approved command does not get the person's environment: %s", got)
	}
	env := strings.Join(readOnlyEnv([]string{"Path=p", "GH_TOKEN=x", "PSModulePath=evil", "SystemRoot=c", "LC_ALL=C", "MY_SECRET=s"}), " ")
	if env != "Path=p SystemRoot=c LC_ALL=C" {
		t.Error(env)
	}
}

// Proves X-004.
func TestRun(t *testing.T) {
	b := newBench(t, "pwsh", nil)
	for _, name := range []string{"sub"} {
		if err := os.Mkdir(filepath.Join(b.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		input, want string
		failed      bool
	}{
		{input("printf 'a\\n'; printf 'b\\n' >&2"), "a\nb", false},
		{input("true"), "The command succeeded and printed nothing.", false},
		{input("exit 4"), "Exit code 4", true},
		{input("read x; printf end"), "end", false},
		{input("cd sub"), "The working directory is now " + b.root + "/sub.", false},
		{input("pwd -P"), b.root + "/sub", false},
		{input("cd /"), "The working directory was reset to " + b.root + ": / is outside of where you work.", false},
		{input(`printf "$ADZE_COMMAND_0$ADZE_REPORT-"`), "-", false},
		{`{"command":"printf begun; exec sleep 100","timeout":200}`, "continues in the background", false},
		{`{"command":"exec sleep 100","run_in_background":true}`, "The command runs in the background as task", false},
		{`{"command":"sleep 100","timeout":100}`, "The command exceeded its time limit of 100 ms", true},
	}
	for _, tt := range tests {
		res := b.run(t, tt.input)
		if text := msg.PlainText(res.Parts); !strings.Contains(text, tt.want) || res.IsError != tt.failed {
			t.Errorf("%s: %q, error %v", tt.input, text, res.IsError)
		}
	}
	if left, err := os.ReadDir(b.root); err != nil || len(left) != 1 {
		t.Errorf("%v are left", left)
	}
	b.dir = filepath.Join(b.root, "gone")
	call, err := b.Bind(json.RawMessage(input("true")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(context.Background(), func(tool.Progress) {}); err == nil || !strings.Contains(err.Error(), "does not exist any more; it is "+b.root) {
		t.Errorf("%v", err)
	}
}

func TestBindRefuses(t *testing.T) {
	b := newBench(t, "pwsh", nil)
	for _, bad := range []string{input(""), input(" \n"), input("a\x00b"), input(strings.Repeat("x", 100_001)), `{"command":"x","timeout":0}`, `{"command":"x","shell":"y"}`} {
		if _, err := b.Bind(json.RawMessage(bad)); err == nil {
			t.Errorf("%.40s is taken", bad)
		}
	}
}

func TestHookConditions(t *testing.T) {
	for line, want := range map[string]bool{"ls": false, "npm test": true, "ls; NPM test": true, "ls $x": true, "ls 'x": true} {
		c := newCall(Input{Command: line}, Config{Config: command.Config{Dir: func() string { return "/" }}})
		if got, err := c.Match("npm:*"); got != want || err != nil {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
}

func TestEnabledAndDescribed(t *testing.T) {
	b := newBench(t, "pwsh", nil)
	if err := b.Traits().Enabled(); err != nil {
		t.Error(err)
	}
	if doc := b.Spec().Description; !strings.Contains(doc, "in PowerShell, without") || !strings.Contains(doc, "with `&&`") || !strings.Contains(doc, "`run_in_background`") || strings.Contains(doc, "{}") {
		t.Error(doc)
	}
	unwanted := New(Config{Config: command.Config{Dir: func() string { return "/" }}, Unwanted: func() error { return errors.New("it is for Windows") }})
	if err := unwanted.Traits().Enabled(); err == nil || err.Error() != "it is for Windows" {
		t.Errorf("%v", err)
	}
	for _, tt := range []struct {
		there []string
		want  string
	}{{[]string{"pwsh", "powershell"}, "pwsh"}, {[]string{"powershell"}, "powershell"}, {nil, ""}} {
		got, err := find(func(name string) (string, error) {
			for _, there := range tt.there {
				if there == name {
					return name, nil
				}
			}
			return "", exec.ErrNotFound
		})
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v", tt.there, got, err)
		}
	}
	if !windows(`C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`) || windows(`C:\Program Files\PowerShell\7\pwsh.exe`) {
		t.Error("which PowerShell it is cannot be told")
	}
}

func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
