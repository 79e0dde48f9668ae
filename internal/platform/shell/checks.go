package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Checks for commands whose operands matter more than their options.

var (
	findTests = setOf(`-print -print0 -ls -prune -quit -depth -d -xdev -mount -empty -true -false -readable -writable -executable
		-not -a -o -and -or ! ( ) , -daystart -noleaf -nouser -nogroup -ignore_readdir_race -nowarn -warn`)
	findValues = setOf(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth
		-size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -newerct -perm -user -group -uid -gid -links
		-inum -samefile -lname -ilname -fstype -printf -used`)
)

func isFindAction(word string) bool {
	switch word {
	case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls":
		return true
	}
	return false
}

// findAction returns the first word that makes find do more than search, or "".
func findAction(words []Word) string {
	for _, w := range words {
		if isFindAction(w.Value) {
			return w.Value
		}
	}
	return ""
}

// findPaths splits the words of find into the leading search roots and the expression.
func findPaths(words []Word) (roots, expression []Word) {
	words = words[findLinks(words):]
	n := slices.IndexFunc(words, func(w Word) bool {
		return strings.HasPrefix(w.Value, "-") || w.Value == "(" || w.Value == "!"
	})
	if n < 0 {
		n = len(words)
	}
	return words[:n], words[n:]
}

// findLinks returns the number of words that are options about links, which precede the roots.
func findLinks(words []Word) int {
	n := 0
	for n < len(words) && (words[n].Value == "-H" || words[n].Value == "-P" || words[n].Value == "-L") {
		n++
	}
	return n
}

func checkFind(a *parsedArgs) error {
	_, expression := findPaths(a.words)
	for i := 0; i < len(expression); i++ {
		w := expression[i]
		switch {
		case w.Value == "-follow" || !strings.HasPrefix(w.Value, "-"):
		case findTests(w.Value):
		case findValues(w.Value) || len(w.Value) == 8 && strings.HasPrefix(w.Value, "-newer"):
			i++
		default:
			return fmt.Errorf("may do more than read with %s", w.Text)
		}
	}
	return nil
}

func checkJq(a *parsedArgs) error {
	if len(a.operands) == 0 {
		return nil
	}
	notName := func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	for _, name := range strings.FieldsFunc(a.operands[0].Value, notName) {
		switch name {
		case "env", "ENV", "import", "include", "modulemeta", "get_search_list":
			return fmt.Errorf("has a filter that uses %s", name)
		}
	}
	return nil
}

// checkTree rejects letters behind one that takes a value: tree takes the value from the next
// word and reads the letters as more options, such as -Lo.
func checkTree(a *parsedArgs) error {
	for _, o := range a.options {
		if strings.HasPrefix(o.name, "--") || o.value.Text == "" {
			continue
		}
		if w := a.words[o.end-1]; strings.HasPrefix(w.Value, "-") && !strings.HasSuffix(w.Value, o.name[1:]) && !digits(o.value.Value) {
			return fmt.Errorf("may do more than read with %s", w.Text)
		}
	}
	return nil
}

func checkDate(a *parsedArgs) error {
	for _, w := range a.operands {
		if !strings.HasPrefix(w.Value, "+") {
			return fmt.Errorf("may set the clock to %s", w.Text)
		}
	}
	return nil
}

func checkCommand(a *parsedArgs) error {
	if !a.has("-v", "-V") {
		return errors.New("runs a program")
	}
	return nil
}

func checkPs(a *parsedArgs) error {
	for _, w := range a.operands {
		if w.Glob || strings.Trim(w.Value, "auxfjlwrT") != "" && !digits(w.Value) {
			return fmt.Errorf("may show the environment of programs with %s", w.Text)
		}
	}
	for _, o := range a.options {
		if strings.Contains(strings.ToLower(o.value.Value), "env") {
			return errors.New("shows the environment of programs")
		}
	}
	return nil
}

var errVersionOnly = errors.New("does more than print its version")

// checkVersion accepts a single option.
func checkVersion(a *parsedArgs) error {
	if len(a.words) != 1 || a.words[0].Value == "--" {
		return errVersionOnly
	}
	return nil
}
