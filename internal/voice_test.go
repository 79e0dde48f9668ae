package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unwanted lists words that comments, texts and documents must not use, with their
// replacements. The glossary has the reasons.
var unwanted = []struct {
	words *regexp.Regexp
	say   string
}{
	{regexp.MustCompile(`(?i)\bthe person\b`), "the user"},
	{regexp.MustCompile(`(?i)\b(whoever|somebody|anybody|nobody)\b`), "the user, the caller, another process"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\bgo(es)? on with\b`), "continue"},
	{regexp.MustCompile(`(?i)\b(summed|sums?) up\b`), "summarise"},
	{regexp.MustCompile(`(?i)\bsees? to it\b`), "make sure"},
}

// unwantedTypes are names that types must not have.
var unwantedTypes = []string{
	"hooking", "shelling", "hosting", "remembering", "called", "decided", "described", "searched", "fitted",
	"room", "turnRoom", "whereabouts", "leavings", "mission",
}

// TestVoice checks the program's comments and strings, its embedded texts, and the documents.
func TestVoice(t *testing.T) {
	files := parseTree(t, parser.ParseComments|parser.SkipObjectResolution)
	for name, file := range files {
		for _, problem := range checkVoice(file) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	for _, dir := range []string{"changelog", "docs", "internal", "."} {
		err := fs.WalkDir(os.DirFS(".."), dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (dir == "." && name != "." || d.Name() == "testdata" || name == "docs/spec"):
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".md" && dir != "changelog" || name == "docs/glossary.md":
				return nil
			}
			text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			for _, problem := range checkWords(string(text)) {
				t.Errorf("%s: %s", name, problem)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// checkVoice reports unwanted words in a file's comments and strings, and unwanted type names.
func checkVoice(file *ast.File) []string {
	var problems []string
	for _, group := range file.Comments {
		problems = append(problems, checkWords(group.Text())...)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				problems = append(problems, checkWords(s)...)
			}
		case *ast.TypeSpec:
			if slices.Contains(unwantedTypes, n.Name.Name) {
				problems = append(problems, fmt.Sprintf("type %s: name it after the thing that it is", n.Name.Name))
			}
		}
		return true
	})
	return problems
}

func checkWords(text string) []string {
	var problems []string
	text = strings.Join(strings.Fields(text), " ")
	for _, u := range unwanted {
		for _, at := range u.words.FindAllStringIndex(text, -1) {
			around := text[max(0, at[0]-30):min(len(text), at[1]+30)]
			problems = append(problems, fmt.Sprintf("%q in %q: say %q", text[at[0]:at[1]], around, u.say))
		}
	}
	return problems
}

func TestVoiceCheck(t *testing.T) {
	const src = `// Package a sees to
// it that whoever asks is answered.
package a

type hooking struct{} // goes on with it

var s = "the person"

var personal = "the personal computer, as is summed upwards"
`
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`"whoever" in "Package a sees to it that whoever asks is answered.": say "the user, the caller, another process"`,
		`"sees to it" in "Package a sees to it that whoever asks is answered": say "make sure"`,
		`"goes on with" in "goes on with it": say "continue"`,
		"type hooking: name it after the thing that it is",
		`"the person" in "the person": say "the user"`,
	}
	if diff := cmp.Diff(want, checkVoice(file)); diff != "" {
		t.Error(diff)
	}
}
