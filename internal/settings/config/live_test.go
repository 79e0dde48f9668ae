package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
)

func (w *world) follow() *Live {
	l, _ := Follow(w.sources, WriteConfig{Target: w.Target, Locks: replace.New(w.path("locks"))}, layered)
	return l
}

func (w *world) read(rel string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

const user = "home/.adze/settings.json"

// Proves PERM-45.
func TestApply(t *testing.T) {
	const before = "{\n  // mine\n  \"zzz\": [1], // kept\n  \"permissions\": {\n    \"deny\": [\"Read(.env)\"]\n  }\n}\n"
	tests := []struct {
		name    string
		updates []Update
		want    string
	}{
		{"add", []Update{{Type: "addRules", Behavior: "allow", Rules: []string{"Bash(ls)", "Bash(ls)"}}},
			strings.Replace(before, `(.env)"]`, "(.env)\"],\n    \"allow\": [\n      \"Bash(ls)\"\n    ]", 1)},
		{"add an existing rule", []Update{{Type: "addRules", Behavior: "deny", Rules: []string{"Read(.env)"}}}, before},
		{"add and remove", []Update{
			{Type: "addRules", Behavior: "deny", Rules: []string{"Bash"}}, {Type: "removeRules", Behavior: "deny", Rules: []string{"Bash"}},
		}, before},
		{"remove", []Update{{Type: "removeRules", Behavior: "deny", Rules: []string{"Read(.env)", "other"}}}, strings.Replace(before, `"Read(.env)"`, "", 1)},
		{"replace", []Update{{Type: "replaceRules", Behavior: "deny", Rules: []string{"Bash"}}}, strings.Replace(before, `["Read(.env)"]`, "[\n      \"Bash\"\n    ]", 1)},
		{"mode", []Update{{Type: "setMode", Mode: "plan"}}, strings.Replace(before, `(.env)"]`, "(.env)\"],\n    \"defaultMode\": \"plan\"", 1)},
		{"directories", []Update{{Type: "addDirectories", Directories: []string{"/srv", "/opt"}}, {Type: "removeDirectories", Directories: []string{"/opt"}}},
			strings.Replace(before, `(.env)"]`, "(.env)\"],\n    \"additionalDirectories\": [\n      \"/srv\"\n    ]", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(user, before)
			l := w.follow()
			out, err := l.Apply(t.Context(), scope.User, tt.updates...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, w.read(user)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(WriteResult{w.path(user), false, tt.want != before}, out); diff != "" {
				t.Error(diff)
			}
			if c, changed := l.Poll(); changed {
				t.Errorf("an own change was taken for another's: %+v", c)
			}
			want, _ := w.load()
			if diff := cmp.Diff(w.rules(want), w.rules(l.Settings())); diff != "" {
				t.Errorf("in force: %s", diff)
			}
		})
	}
}

func TestApplyCreates(t *testing.T) {
	for to, want := range map[scope.Scope]struct {
		file string
		mode os.FileMode
	}{scope.User: {"home/.adze/settings.json", 0o600}, scope.Project: {"work/.adze/settings.json", 0o644}, scope.Local: {"work/.adze/settings.local.json", 0o600}} {
		w := newWorld(t)
		if err := os.RemoveAll(w.path("work/.adze")); err != nil {
			t.Fatal(err)
		}
		l := w.follow()
		if out, err := l.Apply(t.Context(), to, Update{Type: "removeRules", Behavior: "deny", Rules: []string{"x"}}); err != nil || out.Created {
			t.Errorf("removing nothing: %+v, %v", out, err)
		}
		out, err := l.Apply(t.Context(), to, Update{Type: "addRules", Behavior: "deny", Rules: []string{"x"}})
		if err != nil || !out.Created || out.File != w.path(want.file) {
			t.Fatalf("%+v, %v", out, err)
		}
		info, err := os.Stat(out.File)
		if err != nil || info.Mode().Perm() != want.mode {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if rules := l.Settings().Rules(); len(rules) != 1 || rules[0].Scope != to {
			t.Errorf("%v", rules)
		}
	}
}

// Proves PERM-45.
func TestApplyRefuses(t *testing.T) {
	w := newWorld(t)
	w.write(user, "{\n  \"permissions\": }")
	l, _ := Follow(w.sources, WriteConfig{Target: w.Target, Locks: replace.New(w.path("locks"))}, layered)
	add := Update{Type: "addRules", Behavior: "allow", Rules: []string{"x"}}
	var invalid *InvalidFile
	if _, err := l.Apply(t.Context(), scope.User, add); !errors.As(err, &invalid) || !strings.HasSuffix(invalid.Where, "settings.json:2:18") {
		t.Errorf("a broken file: %v", err)
	}
	if got := w.read(user); got != "{\n  \"permissions\": }" {
		t.Errorf("it was overwritten: %s", got)
	}
	for name, try := range map[string]struct {
		scope  scope.Scope
		update Update
	}{
		"scope":                   {scope.Flag, add},
		"managed":                 {scope.Managed, add},
		"kind":                    {scope.Project, Update{Type: "addRule", Behavior: "allow"}},
		"behaviour":               {scope.Project, Update{Type: "addRules", Behavior: "permit", Rules: []string{"x"}}},
		"mode of a project":       {scope.Project, Update{Type: "setMode", Mode: "acceptEdits"}},
		"bypass in the workspace": {scope.Local, Update{Type: "setMode", Mode: "bypassPermissions"}},
		"directory outside":       {scope.Project, Update{Type: "addDirectories", Directories: []string{w.path("elsewhere")}}},
	} {
		if _, err := l.Apply(t.Context(), try.scope, try.update); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := os.Symlink(w.path(user), w.path("work/.adze/settings.local.json")); err != nil {
		t.Fatal(err)
	}
	w.write(user, "{}")
	if _, err := l.Apply(t.Context(), scope.Local, add); err == nil || w.read(user) != "{}" {
		t.Errorf("a link led out of the workspace: %v", err)
	}
}

func TestSet(t *testing.T) {
	w := newWorld(t)
	l := w.follow()
	for _, try := range []struct {
		scope scope.Scope
		name  string
		raw   string
		err   string
	}{
		{scope.User, "model", `"opus"`, ""},
		{scope.User, "effortLevel", `"high"`, ""},
		{scope.Project, "sandbox.enabled", `true`, ""},
		{scope.Project, "sandbox.enabled", `false`, "may only set it to true"},
		{scope.Project, "apiKeyHelper", `"x"`, "cannot be set by a project"},
		{scope.User, "modle", `"x"`, "did you mean model?"},
		{scope.User, "effort", `"huge"`, "is not one of low, high"},
		{scope.User, "cleanupPeriodDays", `500`, "accepted: 0, or 1 to 365"},
	} {
		_, err := l.Set(t.Context(), try.scope, try.name, json.RawMessage(try.raw))
		if (err == nil) != (try.err == "") || err != nil && !strings.Contains(err.Error(), try.err) {
			t.Errorf("%s = %s: %v", try.name, try.raw, err)
		}
	}
	if diff := cmp.Diff("{\n  \"model\": \"opus\",\n  \"effort\": \"high\"\n}\n", w.read(user)); diff != "" {
		t.Error(diff)
	}
	if _, err := l.Set(t.Context(), scope.User, "model", nil); err != nil || l.Settings().Text("model") != "" || l.Settings().Text("effort") != "high" {
		t.Errorf("%v", err)
	}
}

// TestApplyThenUndo checks that adding and removing rules restores the original rules and
// preserves unknown keys.
//
// Proves PERM-45.
func TestApplyThenUndo(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.StringMatching(`[A-Z][a-z]{1,3}(\([a-z :*"\\/.]{0,6}\))?`)
		have := rapid.SliceOfNDistinct(rule, 0, 4, rapid.ID[string]).Draw(t, "have")
		text, err := json.MarshalIndent(map[string]any{"zzz": map[string]any{"kept": true}, "permissions": map[string]any{"ask": have, "x": 1}}, "", rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		w.write(user, string(text))
		l := w.follow()
		fresh := slices.DeleteFunc(rapid.SliceOfN(rule, 1, 4).Draw(t, "new"), func(r string) bool { return slices.Contains(have, r) })
		behavior := rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "behavior")
		if _, err := l.Apply(context.Background(), scope.User, Update{Type: "addRules", Behavior: behavior, Rules: fresh}); err != nil {
			t.Fatal(err)
		}
		for _, r := range fresh {
			if !slices.ContainsFunc(l.Settings().Rules(), func(x Rule) bool { return x.Text == r && x.Behavior == behavior }) {
				t.Fatalf("%s is not in force", r)
			}
		}
		if _, err := l.Apply(context.Background(), scope.User, Update{Type: "removeRules", Behavior: behavior, Rules: fresh}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range l.Settings().Rules() {
			got = append(got, r.Text)
		}
		if !slices.Equal(got, have) {
			t.Fatalf("%q, want %q", got, have)
		}
		if parts := l.Settings().Parts("zzz"); len(parts) != 1 || string(parts[0].JSON) != `{"kept":true}` {
			t.Fatalf("%v", parts)
		}
	})
}

// Proves PERM-46, X-140.
func TestLiveReload(t *testing.T) {
	w := newWorld(t)
	w.write(user, `{"permissions":{"deny":["A"]}}`)
	l := w.follow()
	if c, ok := l.Poll(); ok {
		t.Fatalf("nothing happened: %+v", c)
	}
	w.write(user, `{"permissions":{"deny":["B"]}}`)
	c, ok := l.Poll()
	if diff := cmp.Diff([]ChangedFile{{scope.User, w.path(user)}}, c.Files); !ok || diff != "" {
		t.Errorf("%s", diff)
	}
	if diff := cmp.Diff([]string{"deny B userSettings " + user + ":1:25"}, w.rules(l.Settings())); diff != "" {
		t.Error(diff)
	}

	w.write(user, `{"permissions":{"deny":["C"`)
	c, ok = l.Poll()
	if !ok || len(c.Problems) != 1 || !strings.HasSuffix(c.Problems[0].Text, "the previous settings stay active") || len(c.Files) != 0 {
		t.Errorf("%+v", c)
	}
	if got := l.Settings().Rules()[0].Text; got != "B" {
		t.Errorf("the last good copy says B, in force is %s", got)
	}
	if c, ok := l.Poll(); ok {
		t.Errorf("told twice: %+v", c)
	}
	if len(l.Settings().Invalid()) != 1 {
		t.Errorf("%v", l.Settings().Invalid())
	}

	w.write(user, `{"permissions":{"deny":["D"]},"modle":1}`)
	c, ok = l.Poll()
	if !ok || len(c.Problems) != 1 || l.Settings().Rules()[0].Text != "D" || len(l.Settings().Invalid()) != 0 {
		t.Errorf("%+v", c)
	}
	w.write("etc/managed-settings.d/1.json", `{"model":"m"}`)
	w.write("work/.adze/settings.json", `{"permissions":{"deny":["P"]}}`)
	if c, ok = l.Poll(); !ok || len(c.Files) != 2 || l.Settings().Text("model") != "m" {
		t.Errorf("%+v", c)
	}
	for _, file := range []string{user, "etc/managed-settings.d/1.json"} {
		if err := os.Remove(w.path(file)); err != nil {
			t.Fatal(err)
		}
	}
	if c, ok = l.Poll(); !ok || len(c.Files) != 2 || l.Settings().Text("model") != "" || len(l.Settings().Rules()) != 1 {
		t.Errorf("%+v", c)
	}
}

// TestOthersAndMine checks that external changes made before an own change are reported as
// external, and kept.
//
// Proves PERM-46.
func TestOthersAndMine(t *testing.T) {
	w := newWorld(t)
	w.write(user, `{"permissions":{"deny":["A"]}}`)
	l := w.follow()
	w.write(user, `{"permissions":{"deny":["A","B"]}}`)
	if _, err := l.Apply(t.Context(), scope.User, Update{Type: "addRules", Behavior: "deny", Rules: []string{"C"}}); err != nil {
		t.Fatal(err)
	}
	if got := w.read(user); got != `{"permissions":{"deny":["A","B", "C"]}}` {
		t.Error(got)
	}
	c, ok := l.Poll()
	if !ok || len(c.Files) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	l := w.follow()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		var wg sync.WaitGroup
		wg.Go(func() {
			second := func() bool {
				select {
				case <-time.After(time.Second):
					return true
				case <-ctx.Done():
					return false
				}
			}
			l.Watch(second, func(c Change) { got = append(got, fmt.Sprint(len(c.Files), c.Settings.Text("model"))) })
		})
		time.Sleep(10 * time.Second)
		w.write(user, `{"model":"a"}`)
		time.Sleep(2 * time.Second)
		cancel()
		wg.Wait()
		if diff := cmp.Diff([]string{"1a"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestReplacedWhileRead checks that a settings file that is replaced continuously is never read
// partially.
func TestReplacedWhileRead(t *testing.T) {
	w := newWorld(t)
	w.write(user, `{"permissions":{"deny":["A"]}}`)
	l := w.follow()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			text := `{"permissions":{"deny":["A"` + strings.Repeat(`, "B"`, i%50) + `]}}`
			if err := os.WriteFile(w.path("next"), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			if err := os.Rename(w.path("next"), w.path(user)); err != nil {
				t.Error(err)
			}
		}
	})
	for range 500 {
		if c, _ := l.Poll(); len(c.Problems) > 0 {
			t.Errorf("%v", c.Problems)
		}
		if rules := l.Settings().Rules(); len(rules) == 0 || rules[0].Text != "A" {
			t.Fatalf("%v", rules)
		}
	}
	close(stop)
	wg.Wait()
}

// Proves PERM-45.
func TestTwoProcesses(t *testing.T) {
	const each = 20
	if dir := os.Getenv("CONFIG_TEST_DIR"); dir != "" {
		w := &world{t: t, root: dir, Layout: Layout{Dirs: fsys.Dirs{Config: filepath.Join(dir, "home/.adze")}}}
		w.Roots = []string{dir}
		l := w.follow()
		for i := range each {
			rule := fmt.Sprintf("%s(%d)", os.Getenv("CONFIG_TEST_NAME"), i)
			if _, err := l.Apply(t.Context(), scope.User, Update{Type: "addRules", Behavior: "allow", Rules: []string{rule}}); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	w := newWorld(t)
	w.write(user, "{\n  // mine\n  \"permissions\": {\"allow\": []}\n}\n")
	var wg sync.WaitGroup
	for _, name := range []string{"P", "Q", "R"} {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), "CONFIG_TEST_DIR="+w.root, "CONFIG_TEST_NAME="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s, _ := w.load()
	if got := len(s.Rules()); got != 3*each {
		t.Errorf("%d rules of %d were saved", got, 3*each)
	}
	if !strings.Contains(w.read(user), "// mine") {
		t.Error("the comment is lost")
	}
}
