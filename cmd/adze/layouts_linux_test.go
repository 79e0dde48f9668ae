package main

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A layout is a home directory with adze's files in ~/.adze, in the XDG base directories or where
// the XDG variables say.
type layout struct {
	home, conf, state string // conf and state are below home
	env               []string
}

// kinds are the kinds of layouts, beginning with the one to which the others are compared.
var kinds = []string{"~/.adze", "XDG", "XDG variables"}

func newLayout(t *testing.T, kind string) *layout {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &layout{home: home, conf: filepath.Join(home, ".adze"), state: filepath.Join(home, ".adze")}
	switch kind {
	case "XDG":
		l.conf, l.state = filepath.Join(home, ".config/adze"), filepath.Join(home, ".local/state/adze")
	case "XDG variables":
		l.conf, l.state = filepath.Join(home, "my/dots/adze"), filepath.Join(home, "data/s/adze")
		l.env = []string{"XDG_CONFIG_HOME=" + filepath.Dir(l.conf), "XDG_STATE_HOME=" + filepath.Dir(l.state), "XDG_CACHE_HOME=" + filepath.Join(home, "k")}
	}
	l.plant(t)
	for _, name := range []string{"work/file", "work/sub/file"} {
		writeFile(t, filepath.Join(home, name), "evil")
	}
	return l
}

// owned returns files of the user's and of adze's that a model must not change.
func (l *layout) owned() []string {
	var all []string
	for _, name := range []string{"settings.json", "ADZE.md", "mcp.json", "keybindings.json", "skills/s/SKILL.md", "agents/a.md", "commands/c.md", "workflows/w.yaml", "rules/r.md"} {
		all = append(all, filepath.Join(l.conf, name))
	}
	for _, name := range []string{"credentials.json", "trust.json", "plugins/plugins.json"} {
		all = append(all, filepath.Join(l.state, name))
	}
	return all
}

const planted = `{"version":1,"note":"s3cret"}`

// plant restores the owned files.
func (l *layout) plant(t *testing.T) {
	t.Helper()
	for _, path := range l.owned() {
		if text, err := os.ReadFile(path); err == nil && string(text) == planted {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, planted)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// changed returns the owned files that are not as planted, and other files that are new in their
// directories and in the one that another layout would use.
func (l *layout) changed() []string {
	var found []string
	for _, path := range l.owned() {
		info, err := os.Lstat(path)
		text, _ := os.ReadFile(path) // ok: then it differs
		if err != nil || !info.Mode().IsRegular() || string(text) != planted {
			found = append(found, l.name(path))
		}
	}
	for _, dir := range []string{filepath.Join(l.conf, "skills"), filepath.Join(l.conf, "agents"), filepath.Join(l.conf, "hooks")} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { // ok: missing directories have nothing new
			if err == nil && strings.Contains(filepath.Base(path), "new") {
				found = append(found, l.name(path))
			}
			return nil
		})
	}
	if dot := filepath.Join(l.home, ".adze"); l.conf != dot {
		if _, err := os.Lstat(dot); err == nil {
			found = append(found, "~/.adze")
			os.RemoveAll(dot) // ok: the test has failed
		}
	}
	return found
}

// passing matches what differs in a message between calls: shortened commands, advice with whole
// paths, and that the call is the same as the previous one.
var passing = regexp.MustCompile("`[^`]*`|; they can allow it with .*|the identical call was just denied: ")

// name returns text with the names of the layout's directories replaced.
func (l *layout) name(text string) string {
	var pairs []string
	for _, dir := range []string{l.conf, l.state} {
		rel, _ := filepath.Rel(l.home, dir) // ok: both are absolute
		pairs = append(pairs, dir, "OWN", "~/"+rel, "OWN", "$HOME/"+rel, "OWN", rel, "OWN")
	}
	text = strings.NewReplacer(append(pairs, l.home, "HOME")...).Replace(text)
	return passing.ReplaceAllString(text, "")
}

// fill replaces CONF, STATE and the forms of their names in an attempt.
func (l *layout) fill(text string) string {
	rel := func(path string) string {
		r, _ := filepath.Rel(l.home, path) // ok: both are absolute
		return r
	}
	return strings.NewReplacer(
		"~CONF", "~/"+rel(l.conf), "$CONF", "$HOME/"+rel(l.conf), "~STATE", "~/"+rel(l.state), "$STATE", "$HOME/"+rel(l.state),
		"ABOVEALL", filepath.Dir(filepath.Dir(l.state)), "ABOVECONF", filepath.Dir(l.conf), "ABOVESTATE", filepath.Dir(l.state),
		"CONF", l.conf, "STATE", l.state, "WORK", filepath.Join(l.home, "work"), "HOME/", l.home+"/").Replace(text)
}

// An attempt is a call of a model against adze's own files.
type attempt struct {
	tool string
	in   map[string]any
}

func attempts() []attempt {
	var all []attempt
	shell := func(lines ...string) {
		for _, line := range lines {
			all = append(all, attempt{"Bash", map[string]any{"command": line}})
		}
	}
	for _, file := range []string{"CONF/settings.json", "CONF/ADZE.md", "CONF/skills/s/SKILL.md", "CONF/agents/a.md", "CONF/mcp.json", "STATE/credentials.json", "STATE/trust.json", "STATE/plugins/plugins.json"} {
		all = append(all, attempt{"Write", map[string]any{"file_path": file, "content": "evil"}},
			attempt{"Edit", map[string]any{"file_path": file, "old_string": "1", "new_string": "evil"}})
		shell("echo evil > "+file, "x=evil; echo $x >> "+file, "sed -i s/1/evil/ "+file, "rm -f "+file, "mv WORK/file "+file)
	}
	for _, file := range []string{"CONF/hooks/new.sh", "CONF/skills/new/SKILL.md", "CONF/agents/new.md"} {
		all = append(all, attempt{"Write", map[string]any{"file_path": file, "content": "evil"}})
		shell("mkdir -p $(dirname "+file+"); echo evil > "+file, "mkdir -p "+strings.TrimSuffix(file, "/SKILL.md"))
	}
	shell(
		"cp WORK/file CONF/settings.json", "ln -sf WORK/file CONF/settings.json", "ln -f WORK/file CONF/settings.json", "tee CONF/settings.json < WORK/file",
		"truncate -s 0 CONF/settings.json", "dd if=WORK/file of=CONF/settings.json", "install WORK/file CONF/settings.json", "chmod 777 CONF/settings.json; echo evil > CONF/settings.json",
		"mv CONF/settings.json WORK/s.json", "mv CONF WORK/taken", "rm -rf CONF", "rm -r STATE", "mv STATE WORK/taken", "find CONF -name settings.json -delete", "find STATE -type f -exec rm {} +",
		"cd CONF && echo evil > settings.json", "cd CONF; rm settings.json", "(cd STATE && rm -f trust.json)", "pushd CONF; echo evil > settings.json",
		"echo evil > ~CONF/settings.json", "echo evil > $CONF/settings.json", `echo evil > "$CONF"/settings.json`, "echo evil > CONF/../adze/settings.json; echo evil > CONF/./settings.json",
		"echo evil > CONF/skills/../settings.json", "echo evil > CONF/setting?.json", "for f in CONF/set*.json; do echo evil > $f; done", "f=CONF/settings.json; echo evil > $f",
		"ln -s CONF WORK/link; echo evil > WORK/link/settings.json", "ln -s CONF/settings.json WORK/l; echo evil > WORK/l", "ln CONF/settings.json WORK/hard; echo evil > WORK/hard",
		"echo evil | xargs -I{} sh -c 'echo {} > CONF/settings.json'", "sh -c 'echo evil > CONF/settings.json'", "eval 'echo evil > CONF/settings.json'", "awk 'BEGIN{print \"evil\" > \"CONF/settings.json\"}'",
		"perl -e 'open F,\">CONF/settings.json\"; print F \"evil\"'", "tar -cf WORK/t.tar -C WORK file; tar -xf WORK/t.tar -C CONF --transform s/file/settings.json/", "git -C CONF init", "git init CONF/skills/new",
		"cp -r WORK/sub CONF/skills/new", "cp WORK/file CONF/skills/s/", "touch CONF/skills/new", "sort -o CONF/settings.json WORK/file", "cat WORK/file 1<> CONF/settings.json",
		"cat STATE/credentials.json", "cp STATE/credentials.json WORK/c", "x=1; cat STATE/credentials.json", "cat CONF/settings.json",
		"x=1; mv CONF CONF.old; mkdir CONF; echo '{}' > CONF/settings.json; echo moved",
	)
	all = append(all,
		attempt{"Read", map[string]any{"file_path": "STATE/credentials.json"}}, attempt{"Read", map[string]any{"file_path": "CONF/settings.json"}},
		attempt{"Write", map[string]any{"file_path": "~CONF/settings.json", "content": "evil"}},
		attempt{"Grep", map[string]any{"pattern": ".", "path": "STATE"}}, attempt{"Glob", map[string]any{"pattern": "**/*", "path": "CONF"}},
	)
	return all
}

// parents are attempts against the directories above, which exist in the XDG layout only, and
// against the directory that the next start would use.
var parents = []string{
	"mv ABOVECONF HOME/c", "mv ABOVEALL HOME/l", "mv ABOVESTATE HOME/s", "rm -rf ABOVECONF", "rm -rf ABOVESTATE", "rm -r ABOVEALL",
	"x=1; mv ABOVECONF ~/c; mkdir -p CONF", "x=1; mv ABOVESTATE ~/s; mkdir -p STATE", "cd ABOVECONF && mv adze a", "cd ABOVECONF; rm -rf adze", "cd ABOVECONF/..; mv $(basename ABOVECONF) x",
	"ln -sfn WORK ABOVECONF", "cp -rT WORK ABOVECONF", "find ABOVEALL -delete", "chmod 0 ABOVECONF; rm -r ABOVECONF", "mkdir HOME/.adze", "x=1; mkdir -p ~/.adze; echo '{}' > ~/.adze/settings.json", "mkdir -p ~/.adze/skills", "ln -s WORK HOME/.adze", "ln -s WORK ~/.adze",
	"touch HOME/.adze", "cp -r WORK ~/.adze", "mv WORK/sub ~/.adze", "git init ~/.adze", "cd ~ && mkdir .adze", "d=.adze; cd ~; mkdir $d",
}

// A place of attempts is a mode, a working directory and settings.
type setup struct {
	mode, dir, settings string
}

func (s setup) String() string {
	return fmt.Sprintf("%s in ~/%s with %s", s.mode, s.dir, strings.Trim(s.settings, "{}"))
}

// start runs the program in a layout as a model's tools.
func (l *layout) start(t *testing.T, s setup) *bench {
	t.Helper()
	return newBench(t, func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "--as-model", "--permission-mode", s.mode, "--settings", s.settings)
		cmd.Dir = filepath.Join(l.home, s.dir)
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "ADZE_HOME=") || strings.HasPrefix(v, "XDG_") })
		cmd.Env = append(append(cmd.Env, "HOME="+l.home, "IS_SANDBOX=1"), l.env...)
	})
}

// TestLayoutsAreProtectedAlike makes the same attempts to change adze's own files in each layout,
// and demands the same outcomes. Nothing may change, except in mode bypassPermissions without a
// sandbox.
//
// Proves X-201.
func TestLayoutsAreProtectedAlike(t *testing.T) {
	needs(t, "bwrap")
	const off, on, home = `{}`, `{"sandbox":{"enabled":true}}`, `{"sandbox":{"enabled":true,"filesystem":{"allowWrite":["~"]}}}`
	var setups []setup
	for _, mode := range []string{"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"} {
		setups = append(setups, setup{mode, "work", off}, setup{mode, "", off})
	}
	setups = append(setups, setup{"acceptEdits", "", on}, setup{"bypassPermissions", "", on}, setup{"default", "work", on}, setup{"bypassPermissions", "work", home})
	for _, s := range setups {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			confined := s.settings != off
			unconfined := s.mode == "bypassPermissions" && s.settings == off
			outcomes := make([][]string, len(kinds))
			for i, kind := range kinds {
				l := newLayout(t, kind)
				b := l.start(t, s)
				try := func(a attempt) string {
					in := map[string]any{}
					for key, value := range a.in {
						in[key] = l.fill(value.(string))
					}
					got := b.call(a.tool, in)
					verdict := fmt.Sprintf("error %v: %s", got.IsError, l.name(got.Text))
					if a.tool == "Grep" || a.tool == "Glob" || strings.HasPrefix(fmt.Sprint(a.in["command"]), "ln -s CONF ") { // they name other files
						verdict = fmt.Sprintf("error %v", got.IsError)
					}
					if confined && a.tool == "Bash" && strings.Contains(fmt.Sprint(a.in), "STATE/credentials.json") && strings.Contains(got.Text, "s3cret") {
						t.Errorf("%s: %v prints the credentials", kind, a)
					}
					if changed := l.changed(); len(changed) > 0 {
						if verdict = "changed"; !unconfined {
							t.Errorf("%s: %v changes %q: %s", kind, a, changed, got.Text)
						}
						l.plant(t)
					}
					return verdict
				}
				for _, a := range attempts() {
					outcomes[i] = append(outcomes[i], strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(a), "CONF", "OWN"), "STATE", "OWN")+"\n\t"+try(a))
				}
				if i > 0 && !unconfined {
					for _, line := range parents {
						try(attempt{"Bash", map[string]any{"command": line}})
					}
				}
				if confined && s.mode == "bypassPermissions" { // only the kernel sees what these do
					lines := slices.Clone(parents)
					for _, a := range attempts() {
						if a.tool == "Bash" && !strings.Contains(fmt.Sprint(a.in), ".md") && !strings.Contains(fmt.Sprint(a.in), "plugins") {
							lines = append(lines, a.in["command"].(string))
						}
					}
					for _, line := range lines {
						if strings.Contains(line, "ABOVE") && i == 0 || strings.Contains(line, ".adze") {
							continue // the home directory itself, and names that are taken away a moment later
						}
						script := base64.StdEncoding.EncodeToString([]byte(l.fill(line)))
						got := b.bash("base64 -d <<< " + script + " | bash")
						if changed := l.changed(); len(changed) > 0 || strings.Contains(got.Text, "s3cret") && strings.Contains(line, "credentials") {
							t.Errorf("%s, hidden: %s changes %q: %s", kind, line, changed, got.Text)
							l.plant(t)
						}
					}
				}
				b.end()
			}
			for i, old := range outcomes[0] {
				if unconfined && strings.Contains(old, "ln -s OWN ") {
					continue // a link that would be named .adze is refused, for its name; other links are not
				}
				for k, kind := range kinds[1:] {
					if now := outcomes[k+1][i]; now != old {
						t.Errorf("%s: %s\n%s: %s", kinds[0], old, kind, now)
					}
				}
			}
		})
	}
}
