package shell

import (
	"strings"
	"testing"
)

// TestNamed checks that all programs of a line are listed in order, inside any wrapper.
//
// Proves PERM-17.
func TestNamed(t *testing.T) {
	for line, want := range map[string]string{
		"git ls-files -o -z | xargs -0 rm -f": "git xargs rm",
		"sudo -u x rm y":                      "sudo rm",
		"echo $(rm x)":                        "echo rm",
		"echo rm":                             "echo",
		"bash -c 'rm x'":                      "bash rm",
		"for f in *; do rm $f; done":          "rm",
		"A=1 timeout 5 make && cd x":          "timeout make cd",
		"/opt/bin/deploy now":                 "deploy",
		"find . -exec rm {} +":                "find rm",
		"if true; then ls; fi":                "true ls",
		"$X y":                                "",
		"rm x; rm y":                          "rm",
		"psql -c 'DROP TABLE users'":          "psql",
		"psql -c 'select 1' | sort; rm users": "psql sort rm",
	} {
		if got := strings.Join(Parse(line, Vars{}).Named(), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
