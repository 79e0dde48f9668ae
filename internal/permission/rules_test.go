package permission

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A disguise is a line of a disguises file: the expected result, the command, and the rules.
type disguise struct {
	line          int
	want, command string
	rules         []string
}

// disguises reads a disguises file. Rules are written as in settings; a line without rules gets
// the ones passed.
func disguises(t *testing.T, file string, rules ...string) []disguise {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // ok: it was only read
	var all []disguise
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		if strings.HasPrefix(in.Text(), "#") || in.Text() == "" {
			continue
		}
		fields := strings.Split(in.Text(), "\t")
		if len(fields) < 2 || len(fields) > 3 {
			t.Fatalf("%s:%d has %d fields", file, n, len(fields))
		}
		d := disguise{n, fields[0], strings.ReplaceAll(fields[1], "␤", "\n"), rules}
		if len(fields) == 3 {
			d.rules = strings.Split(fields[2], "; ")
		}
		all = append(all, d)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// check judges each disguise with everything allowed that no rule denies or asks about.
func check(t *testing.T, w world, file string, all []disguise) {
	t.Helper()
	count := map[string]int{}
	for _, d := range all {
		got := decide(t, w.config(Default, append([]string{"allow Bash"}, d.rules...)...), "Bash", runs(d.command))
		ok := string(got.Behavior) == d.want
		if d.want == "hidden" {
			ok = got.Behavior != Allow
		}
		if !ok {
			t.Errorf("%s:%d: %s, want %s: %q with %q (%s)", file, d.line, got.Behavior, d.want, d.command, d.rules, got.Reason.String())
		}
		if got.Behavior == Ask && !got.Firm {
			t.Errorf("%s:%d: the question about %q may be answered by a mode", file, d.line, d.command)
		}
		count[d.want]++
	}
	t.Logf("%v", count)
}

// text creates a file in the home directory.
func (w world) text(t testing.TB, name, text string) {
	t.Helper()
	w.write(t, name)
	if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCommandRulesHoldF11 checks that a deny or ask rule for commands applies however the
// command is disguised, and that a line it does not match causes no prompt (F11).
//
// Proves PERM-08, SHAST-05, X-104.
func TestCommandRulesHoldF11(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/v", "project/bin/tool", "project/x.sh")
	w.text(t, "project/list", "rm v\n")
	w.text(t, "project/venv/bin/activate", "export PATH=\"$VIRTUAL_ENV/bin:$PATH\"\nhash -r 2>/dev/null\n")
	w.text(t, "project/dynamic.sh", "$x v\n")
	w.link(t, "/bin/rm", "r")
	w.link(t, "../r", "bin/second")
	w.link(t, "/bin/ls", "l")
	all := disguises(t, "commands.tsv", "deny Bash(rm:*)")
	if len(all) < 400 {
		t.Errorf("there are only %d cases", len(all))
	}
	check(t, w, "commands.tsv", all)
}

// TestLinkedDirectoriesF9 checks that deny rules for a symlinked directory apply to its
// contents for every path and tool, and while symlinks change (F9).
//
// Proves PERM-09, PERM-30.
func TestLinkedDirectoriesF9(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/real/key", "project/other/key")
	w.link(t, "real", "cfg")
	for _, content := range []string{"cfg", "cfg/", "cfg/**", "./cfg/**", "cfg/*", "cfg/key", "~/project/cfg/**"} {
		c := w.config(Default, "deny Read("+content+")", "allow Bash")
		for _, path := range []string{"real/key", "cfg/key", "./real/../real/key", filepath.Join(w.project, "real", "key")} {
			if d := decide(t, c, "Read", reads(path)); d.Behavior != Deny {
				t.Errorf("Read(%s): reading %s: %s", content, path, d.Behavior)
			}
			if d := decide(t, c, "Bash", runs("cat "+path)); d.Behavior != Deny {
				t.Errorf("Read(%s): cat %s: %s", content, path, d.Behavior)
			}
		}
		if d := decide(t, c, "Bash", runs("cat other/key")); d.Behavior != Allow {
			t.Errorf("Read(%s): cat other/key: %s", content, d.Behavior)
		}
		if content != "cfg/key" {
			if d := decide(t, c, "Bash", runs("grep -r x real")); d.Behavior == Allow {
				t.Errorf("Read(%s): grep -r x real is allowed", content)
			}
		}
	}
	s := newState(GateConfig{Config: w.config(Default, "deny Read(cfg/**)")})
	judge := func(path string) Behavior {
		u := newUse(t, fake{name: "Read"}, reads(path))
		p := s.Policy()
		return Decide(p, FactsOf(p, u.Tool, u.Call)).Behavior
	}
	if judge("real/key") != Deny || judge("other/key") != Allow {
		t.Error("the rule does not hold")
	}
	if err := os.Remove(filepath.Join(w.project, "cfg")); err != nil {
		t.Fatal(err)
	}
	w.link(t, "other", "cfg")
	if judge("other/key") != Deny || judge("real/key") != Allow {
		t.Error("the rule speaks of where the link led before")
	}
}

// TestReadRulesHoldF10 checks that a deny or ask rule for reading a file applies to commands
// such as git that show it without naming it as a path, and that a command showing something
// else causes no prompt (F10).
//
// Proves PERM-38.
func TestReadRulesHoldF10(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/README.md", "project/src/a.go", "project/list", "project/secrets/a")
	w.link(t, ".env", "link-to-env")
	w.link(t, ".", "here")
	w.link(t, "secrets", "sec")
	if err := os.Remove(filepath.Join(w.project, ".git")); err != nil {
		t.Fatal(err)
	}
	w.git(t, "init", "-q", "-b", "main")
	w.git(t, "add", "-A")
	w.git(t, "commit", "-qm", "one")
	all := disguises(t, "files.tsv", "deny Read(./.env)")
	if len(all) < 250 {
		t.Errorf("there are only %d cases", len(all))
	}
	check(t, w, "files.tsv", all)
}

// TestAliasesF11 checks that the shell's existing aliases are expanded (F11).
//
// Proves SHAST-05.
func TestAliasesF11(t *testing.T) {
	w := newWorld(t)
	aliases := map[string]string{"z": "rm", "y": "z -f", "zz": "env rm", "g": "git", "ls": "ls --color", "e": "$EDITOR", "w": "watch ", "self": "self x", "both": "ls; rm"}
	for _, tt := range []struct {
		rule, command string
		want          Behavior
	}{
		{"deny Bash(rm:*)", "z v", Deny},
		{"deny Bash(rm:*)", "ls && z v", Deny},
		{"deny Bash(rm:*)", "y v", Deny},
		{"deny Bash(rm:*)", "zz v", Deny},
		{"deny Bash(rm:*)", "w z v", Deny},
		{"deny Bash(rm:*)", "both v", Deny},
		{"deny Bash(rm:*)", "for i in 1; do z $i; done", Deny},
		{"deny Bash(rm:*)", "e v", Ask},
		{"deny Bash(rm:*)", "ls v", Allow},
		{"deny Bash(rm:*)", "self v", Allow},
		{"deny Bash(rm:*)", "g status", Allow},
		{"deny Bash(git push:*)", "g push", Deny},
		{"deny Bash(git push:*)", "g $x", Ask},
		{"ask Bash(rm:*)", "z v", Ask},
	} {
		in := runs(tt.command)
		in.Aliased = aliases
		if d := decide(t, w.config(Default, tt.rule, "allow Bash"), "Bash", in); d.Behavior != tt.want {
			t.Errorf("%s: %s: %s, want %s (%s)", tt.rule, tt.command, d.Behavior, tt.want, d.Reason.String())
		}
	}
}

// TestInputNamesAnyFile checks that a program that takes file names from its input counts as
// reading everything, so that a deny rule for a directory denies it.
//
// Proves PERM-30.
func TestInputNamesAnyFile(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/secrets/k.pem")
	for _, line := range []string{"find . | xargs cat", "git ls-files | xargs wc -l", "ls | xargs -I{} sed -n p {}"} {
		if d := decide(t, w.config(Bypass, "deny Read(secrets/**)"), "Bash", jailed(line)); d.Behavior != Deny {
			t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason)
		}
	}
}
