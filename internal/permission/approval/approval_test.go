package approval

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKnown(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "package.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for description, want := range map[string][]string{
		"run tests": {"go test:*", "npm test", "npm run test"}, "Run the tests.": {"go test:*", "npm test", "npm run test"},
		"build the project": {"go build:*", "npm run build"}, "install dependencies": {"go mod download:*", "npm install", "npm ci"},
		"lint": {"go vet:*", "npm run lint"}, "format code": {"gofmt:*", "go fmt:*", "npm run format"},
		"run the tests and push": nil, "tests": nil, "rm everything": nil, "": nil,
	} {
		if diff := cmp.Diff(want, Known(description, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", description, diff)
		}
	}
	if got := Known("run tests", t.TempDir()); got != nil {
		t.Errorf("in an empty project: %q", got)
	}
}

func TestCheck(t *testing.T) {
	many := make([]Prompt, 21)
	for i := range many {
		many[i] = Prompt{"Bash", "run tests"}
	}
	for _, tt := range []struct {
		prompts []Prompt
		ok      bool
	}{
		{nil, true}, {many[:20], true}, {many, false}, {[]Prompt{{"Read", "x"}}, false}, {[]Prompt{{"Bash", "  "}}, false},
		{[]Prompt{{"Bash", strings.Repeat("é", 200)}}, true}, {[]Prompt{{"Bash", strings.Repeat("é", 201)}}, false},
	} {
		if err := Check(tt.prompts); (err == nil) != tt.ok {
			t.Errorf("%d entries: %v", len(tt.prompts), err)
		}
	}
}

func TestClassesAreBounded(t *testing.T) {
	var a Classes
	for i := range 2 * maxClasses {
		a.Add(fmt.Sprint(i))
		a.Add(fmt.Sprint(i))
	}
	if len(a.classes) != maxClasses || !slices.Contains(a.classes, fmt.Sprint(2*maxClasses-1)) {
		t.Errorf("%d: %q", len(a.classes), a.classes)
	}
}
