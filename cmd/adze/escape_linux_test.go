package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plant creates a repository whose settings name a program in ways that parsers disagree about.
const plant = `mkdir -p emb && cd emb && git init -q . && echo a > f && git add f && git -c user.email=a@b -c user.name=n commit -qm x && echo bb > f
echo '* filter=x diff=x' > .gitattributes
printf '[filter "x"]\n# note \\\n\tclean = touch OUT/filter; cat\n[user][diff "x"] textconv = touch OUT/textconv; cat\n[core]\n\tfsmonitor = touch OUT/fsmonitor\n\thooksPath = /\n' >> .git/config
mkdir -p ../bare/refs ../bare/objects && cd ../bare && echo 'ref: refs/heads/main' > HEAD && printf '[core]\n\tfsmonitor = touch OUT/bare\n' > config
ln -s KEY ../a=b; ln -s KEY ../key
`

// TestEscapeByWhatIsPlanted is F2: files that a command plants in the sandbox are not run
// outside by a later read-only command, which can't reveal hidden files either. This holds as
// root and as another user, and also if git is excluded from the sandbox.
//
// Proves PERM-61, PERM-62.
func TestEscapeByWhatIsPlanted(t *testing.T) {
	for _, settings := range []string{`{"sandbox":{"enabled":true}}`, `{"sandbox":{"enabled":true,"excludedCommands":["git:*"]}}`} {
		eachUser(t, func(t *testing.T, _ bool, change func(*exec.Cmd)) {
			out, key := t.TempDir(), ""
			b := newBench(t, func(cmd *exec.Cmd) {
				cmd.Args = append(cmd.Args, "--as-model", "--settings", settings)
				change(cmd)
				home := filepath.Join(cmd.Dir, "home")
				key = filepath.Join(home, ".ssh", "id_rsa")
				for _, step := range [][]string{
					{"mkdir", "-p", filepath.Dir(key), filepath.Join(cmd.Dir, "work")}, {"cp", "/dev/stdin", key}, {"chmod", "777", out},
					{"chown", "-R", "--reference", cmd.Dir, home, filepath.Join(cmd.Dir, "work")},
				} {
					c := exec.Command(step[0], step[1:]...)
					c.Stdin = strings.NewReader("private key")
					if text, err := c.CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, text)
					}
				}
				cmd.Dir, cmd.Env = filepath.Join(cmd.Dir, "work"), append(cmd.Env, "HOME="+home)
			})
			script := strings.NewReplacer("OUT", out, "KEY", key).Replace(plant)
			if got := b.bash("base64 -d <<< " + base64.StdEncoding.EncodeToString([]byte(script)) + " | sh"); got.IsError {
				t.Fatal(got.Text)
			}
			for _, dir := range []string{".", "emb", "bare"} {
				b.bash("cd " + dir)
				for _, command := range []string{
					"git diff", "git status", "git log -p -1", "git show", "git -C emb diff", "git -C ../emb status", "cd emb && git diff", "git diff --no-index a=b key",
					"awk 1 ./a=b", "cat key", "head -1 ../key", "diff a=b emb/f", "sed -n p key", "git ls-files -m", "git describe --dirty --always",
				} {
					if got := b.bash(command); strings.Contains(got.Text, "private key") {
						t.Errorf("in %s %s shows the key: %s", dir, command, got.Text)
					}
				}
				b.bash(fmt.Sprintf("cd %q", b.cmd.Dir))
			}
			b.end()
			if made, err := os.ReadDir(out); err != nil || len(made) > 0 {
				t.Errorf("settings %s: outside there is %v, %v", settings, made, err)
			}
		})
	}
}

// TestKilledInTheSandbox checks that nothing is left in a project if adze is killed while a
// command runs in the sandbox, and that nothing is visible there before.
//
// Proves PERM-61.
func TestKilledInTheSandbox(t *testing.T) {
	needs(t, "bwrap")
	eachUser(t, func(t *testing.T, _ bool, change func(*exec.Cmd)) {
		var dir string
		cmd := adze(t, t.TempDir(), `use Bash {"command":"x=1; echo $x > started; sleep 60"}`,
			"-p", "go", "--settings", `{"sandbox":{"enabled":true}}`)
		change(cmd)
		dir = filepath.Join(cmd.Dir, "work")
		if text, err := exec.Command("sh", "-c", `mkdir "$0"/work && git init -q "$0"/work && chown -R --reference "$0" "$0"/work`, cmd.Dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the command does not start", func() bool { _, err := os.Stat(filepath.Join(dir, "started")); return err == nil })
		look := func(when string) {
			t.Helper()
			var names []string
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if got := strings.Join(names, " "); err != nil || got != ".git started" {
				t.Errorf("%s there is %s, %v", when, got, err)
			}
		}
		look("while it runs")
		cmd.Process.Kill()
		cmd.Wait() // ok: it was killed
		look("after it was killed")
	})
}
