package internal

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A promise is a sentence in the documentation with the tests that prove it.
type promise struct {
	text  string
	tests []string
}

// TestPromises requires a test for each sentence about the abilities of agents, projects,
// transcripts and plugins.
//
// Proves X-147.
func TestPromises(t *testing.T) {
	root := os.DirFS("..")
	list, err := os.ReadFile("testdata/promises.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := testNames(t, root)
	sections := parsePromises(string(list))
	for _, name := range []string{"Agents, teammates and worktrees", "Resumed sessions", "Trust", "Plugins"} {
		if sections["docs/permissions.md#"+name] == nil {
			t.Errorf("no promises for the section %q", name)
		}
	}
	for name, promises := range sections {
		page, title, _ := strings.Cut(name, "#")
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for _, p := range promises {
			listed = append(listed, p.text)
			if len(p.tests) == 0 {
				t.Errorf("%s: no test for %q", name, p.text)
			}
			for _, test := range p.tests {
				if !known[test] {
					t.Errorf("%s: %q names %s, which does not exist", name, p.text, test)
				}
			}
		}
		for _, s := range sentences(string(text), title) {
			if !slices.Contains(listed, s) {
				t.Errorf("%s: no promise for %q", name, s)
			}
			listed = slices.DeleteFunc(listed, func(l string) bool { return l == s })
		}
		for _, s := range listed {
			t.Errorf("%s: the page does not say %q", name, s)
		}
	}
}

// parsePromises returns the promises by section: "page#Heading", then sentences, each followed
// by an indented line of tests.
func parsePromises(text string) map[string][]promise {
	sections := map[string][]promise{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch tests, indented := strings.CutPrefix(line, "\t"); {
		case line == "":
			section = ""
		case section == "":
			section = line
		case indented:
			last := &sections[section][len(sections[section])-1]
			last.tests = strings.Fields(tests)
		default:
			sections[section] = append(sections[section], promise{text: line})
		}
	}
	return sections
}

var sentenceEnd = regexp.MustCompile(`\.(?: |$)`)

func sentences(page, title string) (found []string) {
	_, text, _ := strings.Cut(page, "\n## "+title+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		for paragraph != "" {
			end := sentenceEnd.FindStringIndex(paragraph)
			if end == nil {
				end = []int{0, len(paragraph)}
			}
			found = append(found, strings.TrimSpace(paragraph[:end[1]]))
			paragraph = paragraph[end[1]:]
		}
	}
	return found
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testNames returns the names of all test functions and scenarios.
func testNames(t *testing.T, root fs.FS) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case path.Ext(name) == ".txtar":
			known[strings.TrimSuffix(path.Base(name), ".txtar")] = true
		case strings.HasSuffix(name, "_test.go"):
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
				known[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
