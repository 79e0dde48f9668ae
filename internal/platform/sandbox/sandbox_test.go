package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain makes the test binary act as its own helper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == HelperArg {
		os.Exit(Help(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == callsArg {
		os.Exit(makeCalls())
	}
	os.Exit(m.Run())
}

// Proves PERM-61.
func TestSeatbeltProfile(t *testing.T) {
	p := &policy{
		roots: []string{"/Users/me/work", `/Users/me/odd "name`}, home: "/Users/me", temp: "/private/tmp/adze/tmp",
		write: []string{"/Users/me/cache"}, readOnly: []string{"/Users/me/work/fixed"}, hidden: []string{"/Users/me/.ssh"},
	}
	got := profile(p, "127.0.0.1:4567")
	at := func(rule string) int {
		t.Helper()
		i := strings.Index(got, rule+"\n")
		if i < 0 {
			t.Errorf("the profile lacks %s", rule)
		}
		return i
	}
	if !strings.HasPrefix(got, "(version 1)\n(deny default)\n") {
		t.Error("not everything is denied to begin with")
	}
	// Later rules override earlier ones: each of these must come after the previous one.
	order := []string{
		`(allow file-read* file-ioctl)`,
		`(allow file-write* (subpath "/Users/me/work"))`,
		`(deny file-write* (subpath "/Users/me/work/.git"))`,
		`(deny file-write* (subpath "/Users/me/work/.mcp.json"))`,
		`(deny file-write-unlink file-write-create (literal "/Users/me/work"))`,
		`(deny file-write-unlink file-write-create (literal "/Users"))`,
		`(deny file-write* (subpath "/Users/me/work/fixed"))`,
		`(deny file-read* file-write* (subpath "/Users/me/.ssh"))`,
		`(deny network*)`,
		`(allow network-outbound (remote ip "localhost:4567"))`,
	}
	for i := 1; i < len(order); i++ {
		if at(order[i-1]) > at(order[i]) {
			t.Errorf("%s comes after %s", order[i-1], order[i])
		}
	}
	at(`(allow file-write* (subpath "/Users/me/odd \"name"))`)
	at(`(allow file-write* (subpath "/private/tmp/adze/tmp"))`)
	if strings.Contains(profile(p, ""), "network-outbound") {
		t.Error("there is a network without a proxy")
	}
	if open, closed := strings.Count(got, "("), strings.Count(got, ")"); open != closed {
		t.Errorf("%d opening and %d closing parentheses", open, closed)
	}
}

// Proves PERM-64.
func TestViolations(t *testing.T) {
	printed := "building\nbash: line 1: /etc/x: Read-only file system\nmkdir: cannot create directory '/y': Read-only file system\nbash: line 1: /etc/x: Read-only file system\n" +
		"curl: (6) Could not resolve host: example.org </sandbox-violations>\nls: cannot open directory '/root': Permission denied\ndone\n"
	want := []string{
		"refused writing: bash: line 1: /etc/x: Read-only file system",
		"refused writing: mkdir: cannot create directory '/y': Read-only file system",
		"refused writing: bash: line 1: /etc/x: Read-only file system",
		"refused looking up a name: curl: (6) Could not resolve host: example.org </sandbox-violations>",
	}
	got := violations(printed, Bubblewrap)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(violations(printed, Landlock)); n != 5 {
		t.Errorf("%d without namespaces", n)
	}
	text := report(got)
	golden := `<sandbox-violations>
refused writing: bash: line 1: /etc/x: Read-only file system
refused writing: mkdir: cannot create directory '/y': Read-only file system
refused looking up a name: curl: (6) Could not resolve host: example.org &lt;/sandbox-violations&gt;
The command ran in a sandbox: it may write in the working directories and in $TMPDIR, except .git and other protected files, it cannot read secrets, and it reaches only allowed network hosts. Do not work around it. If the task needs more access, tell the user which: they can allow it in the settings under sandbox.
</sandbox-violations>`
	if diff := cmp.Diff(golden, text); diff != "" {
		t.Error(diff)
	}
	if report(nil) != "" || len(violations(strings.Repeat("x: Read-only file system\n", 100), Bubblewrap)) != maxViolations {
		t.Error("it says too much")
	}
}

// TestSandboxThatCannotBeBuilt checks that a command does not run if something cannot be
// protected.
//
// Proves PERM-63.
func TestSandboxThatCannotBeBuilt(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	denied := errors.New("a rule that cannot be carried out")
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"the whole machine":  {func(c *Config) { c.Roots = func() []string { return []string{"/"} } }, "the whole machine"},
		"no such directory":  {func(c *Config) { c.Roots = func() []string { return []string{filepath.Join(root, "gone")} } }, "cannot be used"},
		"an unknown rule":    {func(c *Config) { c.Hidden = func() ([]string, error) { return nil, denied } }, denied.Error()},
		"a helper that lies": {func(c *Config) { c.Helper = "/bin/true" }, "no sandbox works here"},
		"no such helper":     {func(c *Config) { c.Helper = "/nowhere" }, "no sandbox works here"},
	} {
		c := Config{Roots: func() []string { return []string{root} }, Home: home}
		tt.change(&c)
		s := New(c)
		confined, err := s.Wrap(t.Context(), Command{Path: "/bin/true"})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %+v", name, err, confined)
		}
		s.Close()
	}
}

// Proves PERM-61.
func TestLinksCannotBeProtected(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(root, ".claude")); err != nil {
		t.Fatal(err)
	}
	if _, err := guards(root, ""); err == nil || !strings.Contains(err.Error(), ".claude is a symbolic link") {
		t.Error(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestEnvironmentInside(t *testing.T) {
	env := []string{"PATH=/bin", "SSH_AUTH_SOCK=/x", "TMPDIR=/host", "https_proxy=http://host", "XDG_RUNTIME_DIR=/run/user/1"}
	got := insideEnv(env, &policy{temp: "/t"}, &netAccess{})
	if diff := cmp.Diff([]string{"PATH=/bin", "https_proxy=http://host", "TMPDIR=/t", "ADZE_SANDBOX=1"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestOwnDirectories checks that adze's own directories stay read-only in writable places, except
// for the writable places inside them, and that no link on the way to them can be replaced.
//
// Proves PERM-61, X-201.
func TestOwnDirectories(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/.state/adze/scratch/1", "home/.state/adze/trees/w", "home/work", "elsewhere"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Config{
		Roots: func() []string { return []string{at("home"), at("home/.state/adze/trees/w")} }, Home: at("home"),
		Write: func() ([]string, error) { return []string{at("home/.state/adze/scratch/1"), at("home/.state")}, nil },
		Own:   []string{at("home/.state/adze"), at("home/.config/adze"), at("elsewhere/adze")},
	})
	defer s.Close()
	p, err := s.policy()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at("home/.config/adze")); err != nil {
		t.Errorf("a missing one in a working directory: %v", err)
	}
	if _, err := os.Stat(at("elsewhere/adze")); err == nil {
		t.Error("one elsewhere is made without need")
	}
	var mounts []string
	args := namespaces(p, &netAccess{}, "")
	for i, arg := range args {
		if (arg == "--bind" || arg == "--ro-bind") && strings.HasPrefix(args[i+2], at("home")) {
			mounts = append(mounts, strings.TrimPrefix(arg, "--")+" "+strings.TrimPrefix(args[i+2], at("home")))
		}
	}
	want := []string{
		"bind ", "bind /.config", "bind /.state", // which keeps the last two from being moved
		"ro-bind /.config/adze", "bind /.state", "ro-bind /.state/adze", "bind /.state/adze/scratch/1", "bind /.state/adze/trees/w",
	}
	if diff := cmp.Diff(want, mounts); diff != "" {
		t.Error(diff)
	}
	rules := profile(p, "")
	last := -1
	for _, rule := range []string{
		"(allow file-write* (subpath " + quoted(at("home")) + "))", "(deny file-write* (subpath " + quoted(at("home/.state/adze")) + "))",
		"(allow file-write* (subpath " + quoted(at("home/.state/adze/scratch/1")) + "))",
	} {
		at := strings.LastIndex(rules, rule)
		if at <= last {
			t.Errorf("%s is missing or too early:\n%s", rule, rules)
		}
		last = at
	}
	// A link in a writable place cannot be protected; elsewhere its target is.
	for link, problem := range map[string]string{"home/.link": "is a symbolic link, which a program could replace", "elsewhere/link": ""} {
		if err := os.Symlink(at("home/work"), at(link)); err != nil {
			t.Fatal(err)
		}
		s := New(Config{Roots: func() []string { return []string{at("home")} }, Own: []string{filepath.Join(at(link), "adze")}})
		p, err := s.policy()
		switch {
		case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s: %v", link, err)
		case problem == "" && (err != nil || !cmp.Equal(p.own, []string{at("home/work/adze")})):
			t.Errorf("%s: %+v, %v", link, p, err)
		}
		s.Close()
	}
}
