package permission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/fs/scope"
)

// Proves PERM-09.
func TestPathAnchors(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/a/b/c.txt", "project/c.txt", "project/conf/c.txt")
	tests := []struct {
		pattern string
		path    string
		want    bool
	}{
		{"c.txt", "c.txt", true}, // no slash: matches at any depth
		{"c.txt", "a/b/c.txt", true},
		{"./c.txt", "c.txt", true},
		{"./c.txt", "a/b/c.txt", false},
		{"a/b", "a/b/c.txt", true}, // a directory pattern covers its contents
		{"a/b/", "a/b/c.txt", true},
		{"b", "a/b/c.txt", true},
		{"a/*/c.txt", "a/b/c.txt", true},
		{"a/*.txt", "a/b/c.txt", false},
		{"a/**", "a/b/c.txt", true},
		{"**/c.txt", "a/b/c.txt", true},
		{"*.txt", "a/b/c.txt", true},
		{"*.{md,txt}", "a/b/c.txt", true},
		{"?.txt", "c.txt", true},
		{"[a-d].txt", "c.txt", true},
		{"[!c].txt", "c.txt", false},
		{".", "a/b/c.txt", true},
		{"..", "../other", true},
		{"../other", "../other", true},
		{"./a/../c.txt", "c.txt", true},
		{"/c.txt", "conf/c.txt", true}, // relative to the settings file's directory, here conf
		{"/c.txt", "c.txt", false},
		{"/", "conf/c.txt", true},
		{"/", "c.txt", false},
		{"~/project/c.txt", "c.txt", true},
		{"~/c.txt", "c.txt", false},
		{"~", "c.txt", true},
		{"~/**", "c.txt", true},
		{"/" + w.project + "/c.txt", "c.txt", true},
		{"/" + w.project + "2/c.txt", "c.txt", false},
		{"//**", "c.txt", true},
		{"C.TXT", "c.txt", false},
		{`\c.txt`, "c.txt", true},
	}
	for _, tt := range tests {
		t.Run(tt.pattern+" "+tt.path, func(t *testing.T) {
			c := w.config(Default, "deny "+RuleValue{"Read", tt.pattern}.String())
			c.Rules[0].Base = filepath.Join(w.project, "conf")
			d := decide(t, c, "Read", reads(tt.path))
			if got := d.Behavior == Deny; got != tt.want {
				t.Errorf("denied: %v, want %v (%s)", got, tt.want, d.Reason.String())
			}
			if got := Compile(c).Hidden(filepath.Join(w.project, tt.path)); got != tt.want {
				t.Errorf("hidden: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPathRulesGovern(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		name, rule, tool string
		in               call
		want             Behavior
	}{
		{"read rules govern all that read", "deny Read(main.go)", "Grep", reads("main.go"), Deny},
		{"and nothing that writes", "deny Read(main.go)", "Edit", writesTo("main.go"), Ask},
		{"edit rules govern all that write", "deny Edit(main.go)", "NotebookEdit", writesTo("main.go"), Deny},
		{"and nothing that reads", "deny Edit(main.go)", "Read", reads("main.go"), Allow},
		{"denying one way to write denies all", "deny Write(main.go)", "Edit", writesTo("main.go"), Deny},
		{"allowing edits allows all writing", "allow Edit(main.go)", "Write", writesTo("main.go"), Allow},
		{"allowing one way allows that", "allow Write(main.go)", "Write", writesTo("main.go"), Allow},
		{"and no other", "allow Write(main.go)", "Edit", writesTo("main.go"), Ask},
		{"rules of a tool's own", "deny Grep(src)", "Grep", reads("src"), Deny},
		{"are its own", "deny Grep(src)", "Glob", reads("src"), Allow},
		{"broken pattern denies", "deny Read([)", "Read", reads("main.go"), Deny},
		{"broken pattern asks", "ask Edit([)", "Edit", writesTo("main.go"), Ask},
		{"broken pattern allows nothing", "allow Edit([)", "Edit", writesTo("main.go"), Ask},
		{"characters taken by letter", "deny Read(src/[id].go)", "Read", reads("src/[id].go"), Deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := decide(t, w.config(Default, tt.rule), tt.tool, tt.in); d.Behavior != tt.want {
				t.Errorf("%s, want %s (%s)", d.Behavior, tt.want, d.Reason.String())
			}
		})
	}
}

// Proves FPRM-01, FPRM-02, FPRM-03, PERM-30.
func TestLinks(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/c", "project/data/f", "project/sub/deep/f")
	w.link(t, "c", "b")
	w.link(t, "b", "a") // a -> b -> c
	w.link(t, w.outside, "out")
	w.link(t, "loop2", "loop1")
	w.link(t, "loop1", "loop2")
	w.link(t, filepath.Join(w.home, "project", "sub"), "dirlink")
	for i := range 42 {
		w.link(t, fmt.Sprintf("chain%d", i+1), fmt.Sprintf("chain%d", i))
	}
	tests := []struct {
		name, rule, tool string
		in               call
		want             Behavior
		firm             bool
	}{
		{"a link in the middle", "deny Read(./b)", "Read", reads("a"), Deny, false},
		{"the end of the chain", "deny Read(./c)", "Read", reads("a"), Deny, false},
		{"the path itself", "deny Read(./a)", "Read", reads("a"), Deny, false},
		{"a chain inside", "deny Read(./x)", "Read", reads("a"), Allow, false},
		{"a link out of the project", "deny Read(./x)", "Read", reads("out/data.txt"), Ask, false},
		{"a rule for its target", "deny Read(/" + w.outside + "/**)", "Read", reads("out/data.txt"), Deny, false},
		{"a new file through a link", "deny Edit(/" + w.outside + "/**)", "Write", writesTo("out/new.txt"), Deny, false},
		{"a directory link", "deny Read(./sub/**)", "Read", reads("dirlink/deep/f"), Deny, false},
		{"a loop", "deny Read(./x)", "Read", reads("loop1"), Ask, true},
		{"a long chain", "deny Read(./x)", "Read", reads("chain0"), Ask, true},
		{"allowing the link is not enough", "allow Read(./out/**)", "Read", reads("out/data.txt"), Ask, false},
		{"allowing the target is not enough", "allow Edit(/" + w.outside + "/**)", "Write", writesTo("out/new.txt"), Ask, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(t, w.config(Default, tt.rule), tt.tool, tt.in)
			if d.Behavior != tt.want || d.Firm != tt.firm {
				t.Errorf("%s firm %v, want %s %v (%s)", d.Behavior, d.Firm, tt.want, tt.firm, d.Reason.String())
			}
		})
	}
}

// TestReadSteps has cases whose result would change if their step were moved past the next.
//
// Proves PERM-32, FPRM-04.
func TestReadSteps(t *testing.T) {
	w := newWorld(t)
	w.link(t, w.outside, "out")
	out := filepath.Join(w.outside, "data.txt")
	outRule := "Read(/" + out + ")"
	const unc = "//server/share/x"
	tests := []struct {
		name  string
		mode  Mode
		rules []string
		path  string
		extra func(*Config)
		want  Behavior
		by    ReasonType
	}{
		{"1 deny before UNC", Default, []string{"deny Read(//server/share/**)"}, unc, nil, Deny, ByRule},
		{"1 deny before ask", Default, []string{"deny " + outRule, "ask " + outRule}, out, nil, Deny, ByRule},
		{"1 deny before edit permission", AcceptEdits, []string{"deny Read(main.go)", "allow Edit(main.go)"}, "main.go", nil, Deny, ByRule},
		{"2 UNC before allow", Default, []string{"allow Read(//**)"}, unc, nil, Ask, BySafety},
		{"3 odd spelling before ask rule", Default, []string{"ask Read(~other)"}, "~other/x", nil, Ask, BySafety},
		{"3 odd spelling before the working directory", Default, nil, "~other/x", nil, Ask, BySafety},
		{"4 ask before edit permission", AcceptEdits, []string{"ask Read(main.go)"}, "main.go", nil, Ask, ByRule},
		{"4 ask before the working directory", Default, []string{"ask Read(main.go)"}, "main.go", nil, Ask, ByRule},
		{"4 ask before allow", Default, []string{"ask " + outRule, "allow " + outRule}, out, nil, Ask, ByRule},
		{"5 edit permission reads", Default, []string{"allow Edit(/" + out + ")"}, out, nil, Allow, ByWorkingDir},
		{"6 the working directory", Default, nil, "main.go", nil, Allow, ByWorkingDir},
		{"6 every member of the set", Default, nil, "out/data.txt", nil, Ask, ByWorkingDir},
		{"7 internal", Default, nil, out, func(c *Config) { c.Readable = []string{w.outside} }, Allow, ByOther},
		{"7 not a sibling", Default, nil, w.outside + "2/x", func(c *Config) { c.Readable = []string{w.outside} }, Ask, ByWorkingDir},
		{"7 not by ..", Default, nil, w.outside + "/in/../../x", func(c *Config) { c.Readable = []string{w.outside + "/in"} }, Ask, ByWorkingDir},
		{"8 allow rule", Default, []string{"allow " + outRule}, out, nil, Allow, ByRule},
		{"8 every member of the set", Default, []string{"allow " + outRule}, "out/data.txt", nil, Ask, ByWorkingDir},
		{"else ask", Default, nil, out, nil, Ask, ByWorkingDir},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := w.config(tt.mode, tt.rules...)
			if tt.extra != nil {
				tt.extra(&c)
			}
			d := decide(t, c, "Read", call{Access_: reads(tt.path).Access_})
			if d.Behavior != tt.want || d.Reason.Type() != tt.by {
				t.Errorf("%s by %s, want %s by %s (%s)", d.Behavior, d.Reason.Type(), tt.want, tt.by, d.Reason.String())
			}
		})
	}
}

// TestWriteSteps has cases whose result would change if their step were moved past the next.
//
// Proves PERM-33, FPRM-05.
func TestWriteSteps(t *testing.T) {
	w := newWorld(t)
	plan := filepath.Join(w.state, "plans", "a.md")
	settings := ".adze/settings.json"
	tests := []struct {
		name    string
		mode    Mode
		rules   []string
		session []string
		path    string
		want    Behavior
		by      ReasonType
	}{
		{"1 deny before the internal path", Default, []string{"deny Edit(/" + plan + ")"}, nil, plan, Deny, ByRule},
		{"1 deny before the safety check", Default, []string{"deny Edit(.git/**)"}, nil, ".git/config", Deny, ByRule},
		{"1 deny before allow", Bypass, []string{"deny Edit(main.go)", "allow Edit(main.go)"}, nil, "main.go", Deny, ByRule},
		{"2 internal before the safety check", Default, nil, nil, plan, Allow, ByOther},
		{"2 not a sibling", Default, nil, nil, plan + "x", Ask, BySafety},
		{"2 not by ..", Default, nil, nil, plan + "/../../settings.json", Ask, BySafety},
		{"3 session rule before the safety check", Default, nil, []string{"allow Edit(.adze/**)"}, settings, Allow, ByRule},
		{"3 session rule for the ecosystem's directory", Default, nil, []string{"allow Edit(.claude/**)"}, ".claude/settings.json", Allow, ByRule},
		{"3 a lasting rule does not", Default, []string{"allow Edit(.adze/**)"}, nil, settings, Ask, BySafety},
		{"3 nor does a session rule elsewhere", Default, nil, []string{"allow Edit(.git/**)"}, ".git/config", Ask, BySafety},
		{"4 safety before acceptEdits", AcceptEdits, nil, nil, ".git/config", Ask, BySafety},
		{"4 safety before the ask rule", Default, []string{"ask Edit(.git/**)"}, nil, ".git/config", Ask, BySafety},
		{"5 ask before acceptEdits", AcceptEdits, []string{"ask Edit(main.go)"}, nil, "main.go", Ask, ByRule},
		{"5 ask before allow", Default, []string{"ask Edit(main.go)", "allow Edit(main.go)"}, nil, "main.go", Ask, ByRule},
		{"6 acceptEdits inside", AcceptEdits, nil, nil, "main.go", Allow, ByMode},
		{"6 acceptEdits outside", AcceptEdits, nil, nil, filepath.Join(w.outside, "x"), Ask, ByWorkingDir},
		{"7 allow rule", Default, []string{"allow Edit(main.go)"}, nil, "main.go", Allow, ByRule},
		{"7 allow rule outside", Default, []string{"allow Edit(/" + w.outside + "/**)"}, nil, filepath.Join(w.outside, "x"), Allow, ByRule},
		{"else ask", Default, nil, nil, "main.go", Ask, ByMode},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := w.config(tt.mode, tt.rules...)
			c.Rules = append(c.Rules, parseRules(scope.Session, tt.session...)...)
			c.Editable = []string{plan}
			d := decide(t, c, "Edit", writesTo(tt.path))
			if d.Behavior != tt.want || d.Reason.Type() != tt.by {
				t.Errorf("%s by %s, want %s by %s (%s)", d.Behavior, d.Reason.Type(), tt.want, tt.by, d.Reason.String())
			}
		})
	}
}

// Proves PERM-34.
func TestWorkingDirectories(t *testing.T) {
	w := newWorld(t)
	alias := filepath.Join(w.root, "alias")
	if err := os.Symlink(w.project, alias); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.project+"2", 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name      string
		dir, path string
		fold      bool
		want      Behavior
	}{
		{"inside", w.project, "main.go", false, Allow},
		{"the directory itself", w.project, ".", false, Allow},
		{"by its real path, started through a link", alias, filepath.Join(w.project, "main.go"), false, Allow},
		{"through a link, started by the real path", w.project, filepath.Join(alias, "main.go"), false, Ask},
		{"relative, started through a link", alias, "main.go", false, Allow},
		{"a name that begins alike", w.project, w.project + "2/x", false, Ask},
		{"above", w.project, "..", false, Ask},
		{"another case", w.project, strings.ToUpper(w.project) + "/main.go", false, Ask},
		{"another case where that is the same", w.project, strings.ToUpper(w.project) + "/main.go", true, Allow},
		{"through a process", w.project, "/proc/self/cwd/main.go", false, Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(t, Config{Dir: tt.dir, Home: w.home, Fold: tt.fold}, "Read", reads(tt.path))
			if d.Behavior != tt.want {
				t.Errorf("%s, want %s (%s)", d.Behavior, tt.want, d.Reason.String())
			}
		})
	}
	c := w.config(Default)
	c.Dirs = append(c.Dirs, w.outside)
	if d := decide(t, c, "Read", reads(filepath.Join(w.outside, "data.txt"))); d.Behavior != Allow {
		t.Errorf("in an added directory: %s", d.Behavior)
	}
}

// Proves PERM-36, FPRM-06.
func TestProtectedPaths(t *testing.T) {
	w := newWorld(t)
	asks := []string{
		".git/config", ".git/hooks/pre-commit", ".git", ".GIT/config", "sub/.git/config", ".Git/HEAD", ".g\u200bit/config", ".git\u200d/config",
		".gitconfig", ".gitmodules", ".gitattributes", ".bashrc", ".bash_profile", ".zshrc", ".zshenv", ".zprofile", ".profile", ".ripgreprc",
		".mcp.json", ".claude.json", ".adze.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".netrc", ".pypirc", ".envrc", ".env", ".env.local",
		"authorized_keys", ".vscode/settings.json", ".idea/x", ".claude/settings.json", ".adze/settings.json", ".adze/commands/x.md",
		".ssh/config", ".gnupg/x", ".husky/pre-commit", ".cargo/config.toml", ".cargo/config", "~/.config/git/config", "deep/er/.vscode/tasks.json",
		".adze/worktrees/w/.git/config", ".claude/worktrees/w/.vscode/x", ".adze/worktrees", "repo.git/hooks/post-update",
		"~/CLAUDE.md", "~/AGENTS.md", "~/.adze/settings.json", "~/.adze/skills/x/SKILL.md", ".BASHRC",
	}
	free := []string{
		"main.go", "git/config", ".gitignore", ".github/workflows/ci.yml", ".github/CODEOWNERS", "environment.go", ".adze/worktrees/w/main.go",
		".claude/worktrees/w/src/a.go", "AGENTS.md", "CLAUDE.md", ".cargo/registry/x", "vscode/settings.json", "env", ".config/x",
	}
	for _, mode := range []Mode{AcceptEdits, Bypass, Auto} {
		for _, path := range asks {
			d := decide(t, w.config(mode, "allow Edit(//**)", "allow Edit"), "Edit", writesTo(path))
			if d.Behavior != Ask || !d.Firm || d.Reason.Type() != BySafety {
				t.Errorf("%s in %s: %s firm %v by %s (%s)", path, mode, d.Behavior, d.Firm, d.Reason.Type(), d.Reason.String())
			}
		}
	}
	for _, path := range free {
		if d := decide(t, w.config(AcceptEdits), "Edit", writesTo(path)); d.Behavior != Allow {
			t.Errorf("%s: %s (%s)", path, d.Behavior, d.Reason.String())
		}
	}
	for mode, want := range map[Mode]Behavior{Auto: Ask, Bypass: Ask, AcceptEdits: Allow} {
		if d := decide(t, w.config(mode), "Edit", writesTo(".github/workflows/ci.yml")); d.Behavior != want {
			t.Errorf("a workflow in %s: %s", mode, d.Behavior)
		}
	}
}

// Proves PERM-42.
func TestInternalReadable(t *testing.T) {
	w := newWorld(t)
	c := w.config(Default)
	var kept []string
	for _, name := range []string{"projects/p", "plans", "tool-results", "scratch", "memory", "tasks", "teams", "skills-bundled"} {
		kept = append(kept, filepath.Join(w.state, name))
	}
	c.Readable = kept
	for _, dir := range kept {
		for path, want := range map[string]Behavior{
			dir: Allow, dir + "/x/y": Allow, dir + "x": Ask, dir + "/../other": Ask, filepath.Dir(dir): Ask,
		} {
			if d := decide(t, c, "Read", reads(path)); d.Behavior != want {
				t.Errorf("%s: %s, want %s", path, d.Behavior, want)
			}
		}
	}
}

// Proves PERM-43.
func TestInternalEditable(t *testing.T) {
	w := newWorld(t)
	plan := filepath.Join(w.state, "plans", "quiet-green-field.md")
	scratch := filepath.Join(w.state, "scratch")
	w.write(t, ".adze/scratch/f")
	if err := os.Symlink(w.outside, filepath.Join(scratch, "out")); err != nil {
		t.Fatal(err)
	}
	c := w.config(Default)
	c.Editable = []string{plan, scratch}
	for path, want := range map[string]Behavior{
		plan: Allow, scratch + "/new": Allow, scratch + "/a/b": Allow,
		plan + "/../x": Ask, scratch + "/../settings.json": Ask, scratch + "/out/f": Ask, filepath.Dir(plan) + "/other.md": Ask,
	} {
		if d := decide(t, c, "Write", writesTo(path)); d.Behavior != want {
			t.Errorf("%s: %s, want %s (%s)", path, d.Behavior, want, d.Reason.String())
		}
	}
}

// TestOneLookup checks that a path is looked up once per call, however many checks use it.
func TestOneLookup(t *testing.T) {
	w := newWorld(t)
	p := Compile(w.config(Default, "deny Read(x)", "ask Read(y)", "allow Read(z)"))
	u := newUse(t, fake{name: "Read"}, reads("main.go"))
	f := FactsOf(p, u.Tool, u.Call)
	if err := os.RemoveAll(w.project); err != nil {
		t.Fatal(err)
	}
	if d := Decide(p, f); d.Behavior != Allow {
		t.Errorf("%s: the decision looked at the file system", d.Behavior)
	}
}

// TestScratch checks that the temporary directory can be read and written without asking in
// every mode but plan (model-side 5.12), unless a rule denies it, a symlink leads out of it, or
// programs execute or obey the file.
//
// Proves PERM-43.
func TestScratch(t *testing.T) {
	w := newWorld(t)
	scratch := filepath.Join(w.state, "scratch", "s1")
	if err := errors.Join(os.MkdirAll(filepath.Join(scratch, "sub"), 0o700), os.Symlink(w.home, filepath.Join(scratch, "out"))); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		tool  string
		in    call
		mode  Mode
		rules []string
		want  Behavior
	}{
		{"write", "Write", writesTo(scratch + "/x.py"), Default, nil, Allow},
		{"write below", "Write", writesTo(scratch + "/sub/new/x.py"), DontAsk, nil, Allow},
		{"write in plan mode", "Write", writesTo(scratch + "/x.py"), Plan, nil, Deny},
		{"read in plan mode", "Bash", runs("cat " + scratch + "/x.py"), Plan, nil, Allow},
		{"denied", "Write", writesTo(scratch + "/x.py"), Bypass, []string{"deny Edit(/" + scratch + "/**)"}, Deny},
		{"beside", "Write", writesTo(scratch + "/../s2/x.py"), Default, nil, Ask},
		{"name that begins so", "Write", writesTo(scratch + "2/x.py"), Default, nil, Ask},
		{"through a link", "Write", writesTo(scratch + "/out/x"), Default, nil, Ask},
		{"a repository", "Write", writesTo(scratch + "/sub/.git/config"), AcceptEdits, nil, Ask},
		{"a bare repository", "Write", writesTo(scratch + "/x.git/hooks/post-update"), AcceptEdits, nil, Ask},
		{"settings", "Write", writesTo(scratch + "/.adze/settings.json"), AcceptEdits, nil, Ask},
		{"file commands", "Bash", runs("mkdir " + scratch + "/a && touch " + scratch + "/a/b && cp " + w.project + "/x " + scratch + "/a"), Default, nil, Allow},
		{"a file command that leads out", "Bash", runs("cp " + scratch + "/a " + w.project + "/b"), Default, nil, Ask},
		{"a file command through a link", "Bash", runs("touch " + scratch + "/out/b"), Default, nil, Ask},
		{"another program", "Bash", runs("python3 " + scratch + "/x.py"), Default, nil, Ask},
		{"removal", "Bash", runs("rm -r " + scratch + "/sub"), Default, nil, Ask},
	}
	for _, tt := range tests {
		c := w.config(tt.mode, tt.rules...)
		c.Scratch = scratch
		p := Compile(c)
		u := newUse(t, fake{name: tt.tool}, tt.in)
		if d := Decide(p, FactsOf(p, u.Tool, u.Call)); d.Behavior != tt.want {
			t.Errorf("%s: %s, %s", tt.name, d.Behavior, d.Reason.String())
		}
	}
}
