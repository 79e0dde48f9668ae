package shell

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// unescape replaces the visible placeholders in test files by the actual characters.
var unescape = strings.NewReplacer("␤", "\n", "␍", "\r", "␉", "\t", "␀", "\x00", "␛", "\x1b", "␠", "\u00a0", "␣", "\u200b")

// readLines calls f with each line of a test file that is not a comment.
func readLines(t *testing.T, name string, f func(line string)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text := lines.Text(); text != "" && !strings.HasPrefix(text, "#") {
			f(unescape.Replace(text))
		}
	}
}

// Proves SHRO-01, SHRO-02, SHRO-03, SHRO-04, SHRO-05, SHRO-06.
func TestReadOnly(t *testing.T) {
	var proven, refused int
	readLines(t, "testdata/readonly.txt", func(text string) {
		sign, line, _ := strings.Cut(text, " ")
		s := Parse(line, Vars{Home: "/home/u", Dir: "/work", User: "u", Temp: "/tmp"})
		err := s.ReadOnly()
		switch sign {
		case "=":
			proven++
			if err != nil {
				t.Errorf("%q needs a jail: %v", line, err)
			}
		case "+":
			proven++
			if _, doubt := s.Jailed(); err == nil || doubt != nil {
				t.Errorf("%q: %v, %v", line, err, doubt)
			}
		case "-":
			refused++
			if err == nil {
				t.Errorf("%q is taken for read-only", line)
			}
		default:
			t.Errorf("the case %q is not understood", text)
		}
	})
	if proven < 100 || refused < 100 {
		t.Errorf("only %d lines that are read-only, and %d that are not", proven, refused)
	}
}

// TestBaseSets checks that every command of the base sets is read-only by its bare name, or
// with the minimal arguments.
//
// Proves SHRO-01.
func TestBaseSets(t *testing.T) {
	operands := map[string]string{"sed": "sed s/a/b/", "awk": "awk 1", "tac": "tac f", "command": "command -v x", "[": "[ x ]"}
	for _, name := range strings.Fields(`find grep rg ag ack locate which whereis
		cat head tail wc stat file jq awk sort uniq cut tr nl od xxd hexdump base64 strings diff cmp comm paste column fold rev
		tac sed basename dirname realpath readlink md5sum sha1sum sha256sum cksum seq expr test [ date whoami id uname
		hostname pwd type command nproc free df ps uptime ls tree du echo printf true false :`) {
		line := name
		if operands[name] != "" {
			line = operands[name]
		}
		if _, err := Parse(line, Vars{}).Jailed(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestWordsReadOnlyLeavesRedirections(t *testing.T) {
	p := Parse("cat a > b", Vars{}).Parts[0]
	if err := p.WordsReadOnly(); err != nil {
		t.Error(err)
	}
	if p.ReadOnly() == nil {
		t.Error("a write is taken for read-only")
	}
}
