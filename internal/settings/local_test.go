package settings

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/settings/config"
)

const (
	localFile  = "work/.adze/settings.local.json"
	otherLocal = "work/.claude/settings.local.json"
	helper     = `{"apiKeyHelper":"evil"}`
)

func (p *place) trust() {
	p.T.Helper()
	project := p.open(Source{})
	if err := project.Trust.Add(p.T.Context(), project.Trust.Offer()); err != nil {
		p.T.Fatal(err)
	}
}

// allow makes adze write a rule to the local settings.
func (p *place) allow(rule string) {
	p.T.Helper()
	if err := p.open(Source{Trust: true}).Save(p.T.Context(), func(string) {}, scope.Local, config.Update{Type: "addRules", Behavior: "allow", Rules: []string{rule}}); err != nil {
		p.T.Fatal(err)
	}
}

func (p *place) link(target, rel string) {
	p.T.Helper()
	if err := os.MkdirAll(filepath.Dir(p.Path(rel)), 0o755); err != nil {
		p.T.Fatal(err)
	}
	if err := os.Symlink(target, p.Path(rel)); err != nil {
		p.T.Fatal(err)
	}
}

func (p *place) rename(from, to string) {
	p.T.Helper()
	if err := os.Rename(p.Path(from), p.Path(to)); err != nil {
		p.T.Fatal(err)
	}
}

// TestOwnSettings checks that local settings are the user's own only if adze wrote them, or the
// user confirmed exactly this content at this path. Finding F5.
//
// Proves PERM-05, PERM-70.
func TestOwnSettings(t *testing.T) {
	tests := []struct {
		name string
		set  func(p *place)
		src  Source
		own  bool
	}{
		{"untracked, not trusted", func(p *place) { p.Write(localFile, helper) }, Source{}, false},
		{"untracked, for one run", func(p *place) { p.Write(localFile, helper) }, Source{Trust: true}, false},
		{"scopes are named", func(p *place) { p.Write(localFile, helper) }, Source{Scopes: []scope.Scope{scope.Project, scope.Local}}, false},
		{"local is named", func(p *place) { p.Write(localFile, helper) }, Source{Scopes: []scope.Scope{scope.Local}}, false},
		{"a host", func(p *place) { p.Write(localFile, helper) }, Source{Hosted: true}, false},
		{"a host that names scopes", func(p *place) { p.Write(localFile, helper) }, Source{Hosted: true, Scopes: []scope.Scope{scope.Project, scope.Local}}, false},
		{"confirmed", func(p *place) { p.Write(localFile, helper); p.trust() }, Source{}, true},
		{"another program's, confirmed", func(p *place) { p.Write(otherLocal, helper); p.trust() }, Source{}, true},
		{"confirmed with a byte order mark and comments", func(p *place) { p.Write(localFile, "\ufeff// mine\n"+helper); p.trust() }, Source{}, true},
		{"appeared after trust", func(p *place) { p.trust(); p.Write(localFile, helper) }, Source{}, false},
		{"another program's appeared", func(p *place) { p.trust(); p.Write(otherLocal, helper) }, Source{}, false},
		{"appeared after trust, with --trust", func(p *place) { p.trust(); p.Write(localFile, helper) }, Source{Trust: true}, false},
		{"changed after trust", func(p *place) { p.Write(localFile, "{}"); p.trust(); p.Write(localFile, helper) }, Source{}, false},
		{"a space was added", func(p *place) { p.Write(localFile, helper); p.trust(); p.Write(localFile, helper+" ") }, Source{}, false},
		{"a byte order mark was added", func(p *place) { p.Write(localFile, helper); p.trust(); p.Write(localFile, "\ufeff"+helper) }, Source{}, false},
		{"a comment was added", func(p *place) { p.Write(localFile, helper); p.trust(); p.Write(localFile, "// x\n"+helper) }, Source{}, false},
		{"a second key of the name", func(p *place) {
			p.Write(localFile, `{"apiKeyHelper":"mine"}`)
			p.trust()
			p.Write(localFile, `{"apiKeyHelper":"mine","apiKeyHelper":"evil"}`)
		}, Source{}, false},
		{"moved to the other folder", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("work/.adze", "work/.claude")
		}, Source{}, false},
		{"copied to the other folder", func(p *place) { p.Write(localFile, "{}"); p.trust(); p.Write(otherLocal, helper) }, Source{}, false},
		{"confirmed in another workspace", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("work", "trusted")
			p.Write(localFile, helper)
		}, Source{Trust: true}, true}, // same path, same content
		{"confirmed elsewhere", func(p *place) {
			p.Write("other/.adze/settings.local.json", helper)
			elsewhere, _ := Open(Source{Dir: p.Path("other"), Getenv: p.Getenv}) // ok: as in open
			if err := elsewhere.Trust.Add(p.T.Context(), elsewhere.Trust.Offer()); err != nil {
				p.T.Fatal(err)
			}
			p.Write(localFile, helper)
			p.trust()
			if err := elsewhere.Trust.Remove(p.T.Context(), p.Path("work")); err != nil {
				p.T.Fatal(err)
			}
		}, Source{Trust: true}, false},
		{"trust was taken back", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			project := p.open(Source{})
			if err := project.Trust.Remove(p.T.Context(), project.Trust.Root); err != nil {
				p.T.Fatal(err)
			}
		}, Source{Trust: true}, false},
		{"the folder is a link", func(p *place) {
			p.Write("work/other/settings.local.json", helper)
			p.link("other", "work/.adze")
			p.trust()
		}, Source{}, false},
		{"the folder leads outside", func(p *place) { p.Write("out/settings.local.json", helper); p.link("../out", "work/.adze"); p.trust() }, Source{}, false},
		{"the file is a link", func(p *place) { p.Write("out/x.json", helper); p.link("../../out/x.json", localFile); p.trust() }, Source{}, false},
		{"the file became a link to the confirmed content", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename(localFile, "work/moved.json")
			p.link("../moved.json", localFile)
		}, Source{}, false},
		{"the directory became a link to the confirmed content", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("work/.adze", "work/moved")
			p.link("moved", "work/.adze")
		}, Source{}, false},
		{"the directory was replaced by one with the same content", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("work", "old")
			p.Write(localFile, helper)
		}, Source{}, false},
		{"the store is damaged", func(p *place) { p.Write(localFile, helper); p.trust(); p.Write("home/.adze/trust.json", "{") }, Source{Trust: true}, false},
		{"the store is of another version", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.Write("home/.adze/trust.json", `{"version":2}`)
		}, Source{Trust: true}, false},
		{"the store is writable by others", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			if err := os.Chmod(p.Path("home/.adze/trust.json"), 0o666); err != nil {
				p.T.Fatal(err)
			}
		}, Source{Trust: true}, false},
		{"the store is a directory", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("home/.adze/trust.json", "home/.adze/old.json")
			p.Write("home/.adze/trust.json/x", "")
		}, Source{Trust: true}, false},
		{"the store is gone", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("home/.adze/trust.json", "home/.adze/old.json")
		}, Source{Trust: true}, false},
		{"the workspace claims a store of its own", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.rename("home/.adze/trust.json", "work/.adze/trust.json")
		}, Source{Trust: true}, false},
		{"adze wrote to it after it came", func(p *place) { p.Write(localFile, helper); p.allow("Bash(ls)") }, Source{Trust: true}, false},
		{"adze wrote to it after it came, in a trusted workspace", func(p *place) { p.trust(); p.Write(localFile, helper); p.allow("Bash(ls)"); p.allow("Bash(cat)") }, Source{}, false},
		{"adze wrote to it after it was confirmed", func(p *place) { p.Write(localFile, helper); p.trust(); p.allow("Bash(ls)"); p.allow("Bash(cat)") }, Source{}, true},
		{"another program changed the file", func(p *place) { p.trust(); p.allow("Bash(ls)"); p.Write(localFile, helper) }, Source{}, false},
		{"an earlier state that adze wrote over twice", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			if _, err := p.open(Source{}).Set(p.T.Context(), func(string) {}, scope.Local, "apiKeyHelper", nil); err != nil {
				p.T.Fatal(err)
			}
			p.allow("Bash(ls)")
			p.Write(localFile, helper)
		}, Source{}, false},
		{"empty before adze wrote", func(p *place) {
			p.trust()
			p.Write(localFile, " \n")
			if _, err := p.open(Source{}).Set(p.T.Context(), func(string) {}, scope.Local, "apiKeyHelper", []byte(`"evil"`)); err != nil {
				p.T.Fatal(err)
			}
		}, Source{}, true},
		{"a worktree of a trusted repository", func(p *place) {
			p.Write("main/.git/worktrees/work/commondir", "../..\n")
			p.Write("main/.git/worktrees/work/gitdir", p.Path("work/.git")+"\n")
			p.Write("work/.git", "gitdir: "+p.Path("main/.git/worktrees/work")+"\n")
			p.Write("main/.adze/settings.local.json", helper)
			main, _ := Open(Source{Dir: p.Path("main"), Getenv: p.Getenv}) // ok: as in open
			if err := main.Trust.Add(p.T.Context(), main.Trust.Offer()); err != nil {
				p.T.Fatal(err)
			}
			p.Write(localFile, helper)
			if !p.open(Source{}).Trust.Lasting() {
				p.T.Fatal("the worktree is not trusted")
			}
		}, Source{}, false},
		{"a repository inside a trusted one", func(p *place) {
			p.Write("work/.git/HEAD", "ref: refs/heads/main\n")
			p.trust()
			p.rename("work", "outer")
			p.Write("work/.git/HEAD", "ref: refs/heads/main\n")
			p.Write(localFile, helper)
		}, Source{}, false},
		{"the store of another user's home", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			p.Vars["ADZE_HOME"] = p.Path("home/other")
		}, Source{Trust: true}, false},
		{"the store names a path with dots", func(p *place) {
			p.Write(localFile, helper)
			p.trust()
			data, err := os.ReadFile(p.Path("home/.adze/trust.json"))
			if err != nil {
				p.T.Fatal(err)
			}
			p.Write("home/.adze/trust.json", strings.ReplaceAll(string(data), p.Path(localFile), p.Path("work/x")+"/../.adze/settings.local.json"))
		}, Source{}, false},
		{"a folder in other letters", func(p *place) { p.trust(); p.Write("work/.ADZE/settings.local.json", helper) }, Source{}, false},
		{"a file in other letters", func(p *place) { p.trust(); p.Write("work/.adze/Settings.Local.json", helper) }, Source{}, false},
		{"project settings are never one's own", func(p *place) { p.Write("work/.adze/settings.json", helper); p.trust() }, Source{}, false},
		{"the other settings file was confirmed", func(p *place) { p.Write(otherLocal, "{}"); p.trust(); p.Write(localFile, helper) }, Source{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.set(p)
			s := p.open(tt.src).Settings()
			if got := s.Text("apiKeyHelper") == "evil"; got != tt.own {
				t.Errorf("the file is the user's own: %t", got)
			}
		})
	}
}

// TestReplacedBeforeTheAnswer checks that the confirmation covers the content shown, even if
// the file is replaced before the answer. Finding F5.
//
// Proves PERM-70.
func TestReplacedBeforeTheAnswer(t *testing.T) {
	p := newPlace(t)
	p.Write(localFile, `{"language":"Deutsch"}`)
	project := p.open(Source{})
	offer := project.Trust.Offer()
	p.Write(localFile, helper)
	if err := project.Trust.Add(t.Context(), offer); err != nil {
		t.Fatal(err)
	}
	if s := p.open(Source{}).Settings(); s.Text("apiKeyHelper") != "" {
		t.Error("content that was not shown counts")
	}
	p.Write(localFile, `{"language":"Deutsch"}`)
	if s := p.open(Source{}).Settings(); s.Text("language") != "Deutsch" || len(s.Demoted()) > 0 {
		t.Error("content that was shown does not count")
	}
}

// TestUnconfirmedIsTold checks that a one-line message lists a file's inactive settings and
// unapproved hooks. Finding F5.
//
// Proves PERM-70.
func TestUnconfirmedIsTold(t *testing.T) {
	p := newPlace(t)
	const hooks = `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"make"}]}]}`
	p.Write(localFile, "{"+hooks+"}")
	p.trust()
	lines := func(src Source) string {
		src.Dir, src.Managed, src.Getenv = p.Path("work"), p.Path("etc"), p.Getenv
		_, warnings := Open(src)
		return fmt.Sprint(warnings)
	}
	if got := lines(Source{}); got != "[]" {
		t.Error(got)
	}
	p.Write(localFile, `{"apiKeyHelper":"x","env":{"PATH":"y","ANTHROPIC_BASE_URL":"z","OK":"1"},"sandbox":{"excludedCommands":["a"]},"permissions":{"additionalDirectories":["/"]},`+hooks+`}`)
	want := "[" + p.Path(localFile) + ": not in force: env.PATH, env.ANTHROPIC_BASE_URL, env.OK, apiKeyHelper, sandbox.excludedCommands, permissions.additionalDirectories; " +
		"the file has changes that you have not confirmed: run adze trust to review them]"
	if got := lines(Source{}); got != want { // the hook was shown and approved
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.Write(localFile, strings.Replace("{"+hooks+"}", "make", "evil", 1))
	project := p.open(Source{})
	if got := lines(Source{}); !strings.Contains(got, "not in force: hooks.Stop; ") {
		t.Error(got)
	}
	if it := trust.Hook("Stop", "", []byte(`{"type":"command","command":"evil"}`)); project.Trust.Approved(it) {
		t.Error("the hook would run")
	}
	if v := project.Values(); len(v.Hooks.Sources) != 1 || !v.Hooks.Sources[0].Workspace {
		t.Errorf("the hooks of the file are not the project's: %+v", v.Hooks.Sources)
	}
}

// TestLocalSettingsAreFollowed checks that changes made by adze apply immediately, also in
// other processes, while changes by others have no more rights than the project's. A run
// trusted for itself runs only commands that existed when it began. Findings F4, F5.
//
// Proves PERM-46, PERM-70.
func TestLocalSettingsAreFollowed(t *testing.T) {
	for name, src := range map[string]Source{"lasting": {}, "for one run": {Trust: true}} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.trust()
			first, second := p.open(src), p.open(src)
			if _, err := first.Set(t.Context(), func(string) {}, scope.Local, "apiKeyHelper", []byte(`"mine"`)); err != nil {
				t.Fatal(err)
			}
			if got := first.Settings().Text("apiKeyHelper"); got != "mine" {
				t.Errorf("the own change does not count: %q", got)
			}
			second.Poll()
			if got := second.Settings().Text("apiKeyHelper"); got != "mine" {
				t.Errorf("the change of another process does not count: %q", got)
			}
			p.Write(localFile, `{"apiKeyHelper":"evil","hooks":{"Stop":[{"hooks":[{"type":"command","command":"evil"}]}]}}`)
			settle(t, p.Path(localFile))
			change, ok := first.Poll()
			if got := first.Settings().Text("apiKeyHelper"); !ok || got != "" {
				t.Errorf("the change of somebody else counts: %q", got)
			}
			if got := fmt.Sprint(change.Problems); !strings.Contains(got, "not in force: apiKeyHelper, hooks.Stop") {
				t.Error(got)
			}
			if first.Trust.Approved(trust.Hook("Stop", "", []byte(`{"type":"command","command":"evil"}`))) {
				t.Error("its hook would run")
			}
			p.trust() // simulates another process
			first.Poll()
			if got := first.Settings().Text("apiKeyHelper"); got != "evil" {
				t.Errorf("confirmed content does not count: %q", got)
			}
			p.Write(localFile, `{"apiKeyHelper":"evil again"}`)
			first.Poll()
			if got := first.Settings().Text("apiKeyHelper"); got != "" {
				t.Errorf("a further change counts: %q", got)
			}
		})
	}
}

// TestStoreIsWrittenFirst checks that nothing is lost or gained if adze is killed between the
// two writes, or if the store cannot be written.
//
// Proves PERM-70.
func TestStoreIsWrittenFirst(t *testing.T) {
	p := newPlace(t)
	p.Write(localFile, helper)
	p.trust()
	project := p.open(Source{})
	if err := project.Trust.writing(t.Context(), scope.Local, p.Path(localFile), []byte(helper), []byte(`{"apiKeyHelper":"next"}`)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{helper: "evil", `{"apiKeyHelper":"next"}`: "next", `{"apiKeyHelper":"other"}`: ""} {
		p.Write(localFile, text)
		if got := p.open(Source{}).Settings().Text("apiKeyHelper"); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	p.Write(localFile, helper)
	p.Write("home/.adze/trust.json", "damaged")
	if _, err := p.open(Source{}).Set(t.Context(), func(string) {}, scope.Local, "language", []byte(`"x"`)); err == nil || !strings.Contains(err.Error(), "trust.json") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(p.Path(localFile)); err != nil || string(text) != helper {
		t.Errorf("%s, %v", text, err)
	}
}

// TestTwoProcessesWriteLocalSettings checks that concurrent writers leave a local file that is
// recognized as the user's own.
//
// Proves PERM-45, PERM-70.
func TestTwoProcessesWriteLocalSettings(t *testing.T) {
	const each = 8
	p := newPlace(t)
	p.trust()
	var cmds []*exec.Cmd
	for _, name := range []string{"a", "b"} {
		cmds = append(cmds, p.writer(name, each))
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	rules := p.open(Source{}).Settings().Rules()
	for _, r := range rules {
		if r.Scope != scope.Local {
			t.Fatalf("%+v", r)
		}
	}
	if len(rules) != 2*each {
		t.Errorf("%d rules", len(rules))
	}
}

// TestKilledWhileWritingLocalSettings checks that a file written by adze is recognized as the
// user's own, no matter when adze is killed.
//
// Proves PERM-70.
func TestKilledWhileWritingLocalSettings(t *testing.T) {
	p := newPlace(t)
	p.trust()
	for i := range 12 {
		cmd := p.writer(fmt.Sprint("run", i, "-"), 1000)
		before := p.rules()
		for deadline := time.Now().Add(30 * time.Second); len(p.rules()) == len(before) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond) // until it writes
		}
		time.Sleep(time.Duration(i) * 700 * time.Microsecond)
		cmd.Process.Kill() // ok: it may have ended
		cmd.Wait()         // ok: it was killed
		rules := p.rules()
		if len(rules) <= len(before) {
			t.Fatalf("nothing was written: %d rules", len(rules))
		}
		for _, r := range rules {
			if r.Scope != scope.Local {
				t.Fatalf("the file is not the user's own: %+v", r)
			}
		}
	}
}

func (p *place) rules() []config.Rule { return p.open(Source{}).Settings().Rules() }

// writer starts a process that writes rules to the local settings in sequence.
func (p *place) writer(name string, rules int) *exec.Cmd {
	p.T.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWriter$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "SETTINGS_TEST_ROOT="+p.Root, "SETTINGS_TEST_NAME="+name, fmt.Sprint("SETTINGS_TEST_RULES=", rules))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	return cmd
}

// TestWriter is the process started by [place.writer].
func TestWriter(t *testing.T) {
	root := os.Getenv("SETTINGS_TEST_ROOT")
	if root == "" {
		return // only for the tests above
	}
	getenv := func(name string) string {
		return map[string]string{"HOME": root + "/home", "ADZE_HOME": root + "/home/.adze"}[name]
	}
	project, _ := Open(Source{Dir: root + "/work", Getenv: getenv}) // ok: as in open
	n, err := strconv.Atoi(os.Getenv("SETTINGS_TEST_RULES"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		rule := fmt.Sprintf("Bash(%s%d)", os.Getenv("SETTINGS_TEST_NAME"), i)
		if err := project.Save(t.Context(), func(string) {}, scope.Local, config.Update{Type: "addRules", Behavior: "allow", Rules: []string{rule}}); err != nil {
			t.Fatal(err)
		}
	}
}

// ok: as in open
func settle(t *testing.T, path string) {
	t.Helper()
	past := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}
