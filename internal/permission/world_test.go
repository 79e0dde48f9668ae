package permission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adze/internal/msg"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/shell"
	"adze/internal/tool"
)

// A call is a fake call that reports the properties it is configured with.
type call struct {
	Access_  []tool.Access `json:"access,omitempty"`
	Reads    bool          `json:"read_only,omitempty"`
	Plans    bool          `json:"planning,omitempty"`
	Person   bool          `json:"person,omitempty"`
	Outside  bool          `json:"outside,omitempty"`
	Known    bool          `json:"known,omitempty"` // the host it connects to is known
	Reaches  bool          `json:"open_world,omitempty"`
	Contents []string      `json:"contents,omitempty"` // matching contents; nil means no matcher
	Jail     bool          `json:"jail,omitempty"`     // it runs in a jail if it is read-only
	Note     string        `json:"note,omitempty"`
	// Aliased holds the shell's aliases.
	Aliased map[string]string `json:"aliases,omitempty"`
}

func (c *call) Input() any            { return c }
func (c *call) Access() []tool.Access { return c.Access_ }
func (c *call) ReadOnly() bool        { return c.Reads }
func (c *call) OpenWorld() bool       { return c.Reaches }
func (c *call) Planning() bool        { return c.Plans }
func (c *call) NeedsPerson() bool     { return c.Person }
func (c *call) Preapproved() bool     { return c.Known }
func (c *call) Command() *tool.Command {
	for _, a := range c.Access_ {
		if a.Verb == tool.Execute {
			script := shell.Parse(a.Target, shell.Vars{})
			doubt := script.ReadOnly()
			if c.Jail {
				_, doubt = script.Jailed()
			}
			return &tool.Command{Line: a.Target, Script: script, Doubt: doubt, Jailed: c.Jail, Git: func() error { return nil }, Warning: script.Destructive(), Leaves: c.Outside,
				Repository: testRepository, Aliases: func() (map[string]string, error) { return c.Aliased, nil }}
		}
	}
	return nil
}

// testRepository queries git about a repository, without a jail.
func testRepository(dir string) (*gitrepo.Reader, error) {
	v := gitrepo.New(gitrepo.Config{Environ: os.Environ}).Of(dir)
	if err := v.Unjailed(); err != nil {
		return nil, err
	}
	program, environ := v.Program()
	known := map[string][]byte{}
	return v.Reader(dir, func(dir string, input []byte, args ...string) ([]byte, error) {
		key := fmt.Sprintf("%q %q %q", dir, input, args)
		if out, ok := known[key]; ok {
			return out, nil
		}
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, environ, bytes.NewReader(input)
		out, err := cmd.Output()
		if err == nil {
			known[key] = out
		}
		return out, err
	})
}

func (c *call) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	return tool.Text("ok"), nil
}

// A matching call matches rule contents.
type matching struct{ *call }

func (m matching) Match(content string) (bool, error) {
	for _, c := range m.Contents {
		if c == content {
			return true, nil
		}
	}
	return false, nil
}

// A fake tool creates call values.
type fake struct {
	name   string
	traits tool.Traits
}

func (f fake) Spec() msg.ToolSpec  { return msg.ToolSpec{Name: f.name, Schema: json.RawMessage(`{}`)} }
func (f fake) Traits() tool.Traits { return f.traits }
func (f fake) Bind(input json.RawMessage) (tool.Call, error) {
	c := new(call)
	if err := json.Unmarshal(input, c); err != nil {
		return nil, err
	}
	if c.Contents != nil {
		return matching{c}, nil
	}
	return c, nil
}

func newUse(t testing.TB, tl tool.Tool, c call) *tool.Use {
	t.Helper()
	input, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := tl.Bind(input)
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Use{ToolUse: msg.ToolUse{ID: "use_1", Name: tl.Spec().Name, Input: input}, Tool: tl, Call: bound}
}

// A world is a home directory with a project and something outside it.
type world struct {
	root, home, project, outside, state string
}

func newWorld(t testing.TB) world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{root, filepath.Join(root, "home"), filepath.Join(root, "home", "project"), filepath.Join(root, "outside"), filepath.Join(root, "home", ".adze")}
	for _, dir := range []string{w.project, w.outside, w.state, filepath.Join(w.project, "src"), filepath.Join(w.project, ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, "project/main.go", "project/src/a.go", "project/.env", "../outside/data.txt")
	return w
}

// write creates files in the home directory.
func (w world) write(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(w.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (w world) link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(w.project, name)); err != nil {
		t.Fatal(err)
	}
}

// config returns a configuration for the project with rules from user settings, given as
// "behaviour rule".
func (w world) config(mode Mode, rules ...string) Config {
	return Config{
		Mode: mode, Dir: w.project, Dirs: []string{w.project}, Home: w.home, UserDir: w.state, Protected: []string{w.state},
		Rules: parseRules(scope.User, rules...),
	}
}

// parseRules parses rules given as "behaviour rule".
func parseRules(source scope.Scope, texts ...string) []rule.Rule {
	var rules []rule.Rule
	for _, text := range texts {
		b, rest, ok := cutSpace(text)
		if !ok {
			panic("no behaviour in " + text)
		}
		r, _ := rule.Parse(rest) // ok: some tests use broken rules
		r.Behavior, r.Scope = Behavior(b), source
		rules = append(rules, r)
	}
	return rules
}

func cutSpace(s string) (string, string, bool) {
	for i := range s {
		if s[i] == ' ' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// decide judges a call of the named tool.
func decide(t testing.TB, c Config, name string, in call) Decision {
	t.Helper()
	p := Compile(c)
	u := newUse(t, fake{name: name}, in)
	return Decide(p, FactsOf(p, u.Tool, u.Call))
}

func reads(path string) call {
	return call{Reads: true, Access_: []tool.Access{{Verb: tool.Read, Target: path}}}
}

func writesTo(path string) call {
	return call{Access_: []tool.Access{{Verb: tool.Write, Target: path}}}
}

func runs(command string) call {
	return call{Access_: []tool.Access{{Verb: tool.Execute, Target: command}}}
}

// jailed is like runs where the kernel offers a jail.
func jailed(line string) call {
	c := runs(line)
	c.Jail = true
	return c
}

func connects(url string) call {
	return call{Reads: true, Access_: []tool.Access{{Verb: tool.Connect, Target: url}}}
}
