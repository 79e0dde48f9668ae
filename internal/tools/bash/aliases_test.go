package bash

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadAliases checks that aliases printed by bash are parsed like bash would.
func TestReadAliases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "aliases")
	script := `shopt -s expand_aliases
alias z=rm ll='ls -l' q="it's" two=$'a\nb' ..='cd ..' empty= w='watch '
alias -- -='cd -'
f() { alias not=here; }
{ alias -p; declare -f; } > "$1"`
	if out, err := exec.Command("bash", "-c", script, "_", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAliases(string(data))
	want := map[string]string{"z": "rm", "ll": "ls -l", "q": "it's", "two": "a\nb", "..": "cd ..", "empty": "", "w": "watch ", "-": "cd -"}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %s", err, cmp.Diff(want, got))
	}
	for _, text := range []string{"alias z=rm", "alias z='rm", "alias a b='c'", "alias z"} {
		if _, err := readAliases(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
