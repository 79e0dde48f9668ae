package internal_test

import (
	"errors"
	"flag"
	"fmt"
	"go/scanner"
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

var update = flag.Bool("update", false, "rewrite docs/spec/STATUS.md")

const (
	specDir    = "docs/spec"
	statusPage = specDir + "/STATUS.md"
	openNotes  = specDir + "/open.txt"
)

// A requirement is an id in the specification with its location.
type requirement struct {
	ID    string
	Title string
}

// A chapter is one numbered file of the specification.
type chapter struct {
	File  string
	Title string
	Reqs  []requirement
}

// TestSpecStatus checks that the status page matches the chapters, tags and notes.
func TestSpecStatus(t *testing.T) {
	root := os.DirFS("..")
	chapters, err := readChapters(root)
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := readTags(root)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := fs.ReadFile(root, openNotes)
	if err != nil {
		t.Fatal(err)
	}
	open, err := parseOpen(string(notes))
	if err != nil {
		t.Error(err)
	}
	for _, problem := range checkSpec(chapters, proofs, open) {
		t.Error(problem)
	}
	if t.Failed() {
		return
	}

	want := renderStatus(chapters, proofs, open)
	if *update {
		if err := os.WriteFile(filepath.Join("..", filepath.FromSlash(statusPage)), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := fs.ReadFile(root, statusPage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is out of date; run: go test ./internal -run Spec -update\n%s", statusPage, diff)
	}
}

// TestSpecReferences checks that chapters refer only to existing requirements, and that counts
// in the introduction are correct.
func TestSpecReferences(t *testing.T) {
	root := os.DirFS("..")
	chapters, err := readChapters(root)
	if err != nil {
		t.Fatal(err)
	}
	ids := index(chapters)
	families := map[string]bool{}
	for id := range ids {
		family, _, _ := strings.Cut(id, "-")
		families[family] = true
	}

	intro := specDir + "/00-README.md"
	files := []string{intro}
	for _, c := range chapters {
		files = append(files, c.File)
	}
	for _, file := range files {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, id := range idPattern.FindAllString(line, -1) {
				family, _, _ := strings.Cut(id, "-")
				if families[family] && ids[id] == "" {
					t.Errorf("%s:%d: no requirement %s", file, i+1, id)
				}
			}
		}
		if file == intro {
			want := fmt.Sprintf("%d requirements in %d chapters", len(ids), len(chapters))
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: should say %q", file, want)
			}
		}
	}
}

var (
	idPattern = regexp.MustCompile(`\b[A-Z]+-[0-9]+\b`)

	// The three forms in which a chapter defines a requirement.
	headingForm = regexp.MustCompile(`^### ([A-Z]+-[0-9]+) (.+)$`)
	boldForm    = regexp.MustCompile(`^\*\*([A-Z]+-[0-9]+) - (.+?)\.?\*\*`)
	rowForm     = regexp.MustCompile(`^\| *([A-Z]+-[0-9]+) *\| *(.+?) *\|`)
)

// readChapters reads the numbered chapters of the specification in order.
func readChapters(root fs.FS) ([]chapter, error) {
	files, err := fs.Glob(root, specDir+"/[1-9][0-9]-*.md")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no chapters in %s", specDir)
	}
	var chapters []chapter
	for _, file := range files {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		chapters = append(chapters, parseChapter(file, string(text)))
	}
	return chapters, nil
}

func parseChapter(file, text string) chapter {
	c := chapter{File: file, Title: path.Base(file)}
	for i, line := range strings.Split(text, "\n") {
		if title, ok := strings.CutPrefix(line, "# "); ok && i == 0 {
			c.Title = title
		}
		for _, form := range []*regexp.Regexp{headingForm, boldForm, rowForm} {
			if m := form.FindStringSubmatch(line); m != nil {
				c.Reqs = append(c.Reqs, requirement{ID: m[1], Title: shorten(m[2])})
				break
			}
		}
	}
	return c
}

// shorten turns a table cell, which may hold the whole requirement, into a title.
func shorten(title string) string {
	const limit = 80
	if len(title) <= limit {
		return title
	}
	for _, stop := range []string{": ", "; ", ". ", " ("} {
		head, _, found := strings.Cut(title, stop)
		if found && len(head) <= limit && strings.Count(head, "(") == strings.Count(head, ")") {
			return head
		}
	}
	if i := strings.LastIndex(title[:limit], " "); i > 0 {
		return strings.TrimRight(title[:i], ",;:") + " ..."
	}
	return title
}

// index maps every id to the chapter that defines it.
func index(chapters []chapter) map[string]string {
	ids := map[string]string{}
	for _, c := range chapters {
		for _, r := range c.Reqs {
			ids[r.ID] = c.File
		}
	}
	return ids
}

// checkSpec reports ids defined twice, and tags and notes that refer to unknown requirements.
func checkSpec(chapters []chapter, proofs map[string][]string, open map[string]string) []string {
	var problems []string
	first := map[string]string{}
	for _, c := range chapters {
		for _, r := range c.Reqs {
			if file, ok := first[r.ID]; ok {
				problems = append(problems, fmt.Sprintf("%s: requirement %s is defined in %s already", c.File, r.ID, file))
				continue
			}
			first[r.ID] = c.File
		}
	}
	for id, files := range proofs {
		if first[id] == "" {
			problems = append(problems, fmt.Sprintf("%s: tag names no requirement: %s", strings.Join(files, ", "), id))
		}
	}
	for id := range open {
		if first[id] == "" {
			problems = append(problems, fmt.Sprintf("%s: no requirement %s", openNotes, id))
		}
	}
	slices.Sort(problems)
	return problems
}

// readTags finds the proofs in the tree: for each id the files that prove it.
func readTags(root fs.FS) (map[string][]string, error) {
	proofs := map[string][]string{}
	var problems []error
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// .ci holds scripts; other hidden directories are not ours.
			if base := d.Name(); name != "." && base != ".ci" && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		}
		comments := commentsOf(name)
		if comments == nil || !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, line := range comments(string(text)) {
			ids, err := parseTag(line)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", name, err))
			}
			for _, id := range ids {
				if !slices.Contains(proofs[id], name) {
					proofs[id] = append(proofs[id], name)
				}
			}
		}
		return nil
	})
	return proofs, errors.Join(append(problems, err)...)
}

// commentsOf returns a function that extracts the comments of a file that may hold tags, or nil
// if it may not.
func commentsOf(name string) func(text string) []string {
	fixture := slices.Contains(strings.Split(name, "/"), "testdata")
	switch {
	case strings.HasSuffix(name, "_test.go") && !fixture:
		return goComments
	case strings.HasSuffix(name, ".txtar") && fixture:
		return func(text string) []string {
			// The rest after the first marker is files, not the script.
			if loc := txtarMarker.FindStringIndex(text); loc != nil {
				text = text[:loc[0]]
			}
			return hashComments(text)
		}
	case strings.HasSuffix(name, ".sh"),
		strings.HasPrefix(name, "scripts/") && path.Ext(name) == "",
		strings.HasPrefix(name, ".ci/"):
		return hashComments
	}
	return nil
}

var txtarMarker = regexp.MustCompile(`(?m)^-- .+ --$`)

// goComments returns the comment lines of a Go file. It scans rather than parses, so a file
// that does not compile still counts.
func goComments(text string) []string {
	var lines []string
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(text)), []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.COMMENT {
			lines = append(lines, strings.Split(lit, "\n")...)
		}
	}
}

func hashComments(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

var (
	tagStart = regexp.MustCompile(`\bProves ([A-Z]+-[0-9].*)$`)
	tagIDs   = regexp.MustCompile(`^([A-Z]+-[0-9]+(?:(?:, | and )[A-Z]+-[0-9]+)*)\.(?:\s|$)`)
)

// parseTag returns the ids that a comment line tags as proven, or nil if it is not a tag.
func parseTag(line string) ([]string, error) {
	m := tagStart.FindStringSubmatch(line)
	if m == nil {
		return nil, nil
	}
	ids := tagIDs.FindStringSubmatch(m[1])
	if ids == nil {
		return nil, fmt.Errorf(`%q is not a tag; write "Proves LOOP-12, LOOP-17." on one line, without ranges`, line)
	}
	return idPattern.FindAllString(ids[1], -1), nil
}

var openLine = regexp.MustCompile(`^([A-Z]+-[0-9]+): *(\S.*)$`)

// parseOpen parses the notes on open requirements.
func parseOpen(text string) (map[string]string, error) {
	open := map[string]string{}
	var problems []error
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := openLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			problems = append(problems, fmt.Errorf("%s:%d: want \"ID: part\", have %q", openNotes, i+1, line))
		case open[m[1]] != "":
			problems = append(problems, fmt.Errorf("%s:%d: %s is listed twice", openNotes, i+1, m[1]))
		default:
			open[m[1]] = m[2]
		}
	}
	return open, errors.Join(problems...)
}

// renderStatus writes the status page.
func renderStatus(chapters []chapter, proofs map[string][]string, open map[string]string) string {
	var b strings.Builder
	b.WriteString("<!-- Generated by: go test ./internal -run Spec -update -->\n\n# Status of the specification\n\n")
	b.WriteString("| chapter | proven | in part | total |\n|---|---|---|---|\n")
	sum, parts, total := 0, 0, 0
	for _, c := range chapters {
		proven, part := 0, 0
		for _, r := range c.Reqs {
			switch {
			case len(proofs[r.ID]) > 0 && open[r.ID] != "":
				part++
			case len(proofs[r.ID]) > 0:
				proven++
			}
		}
		fmt.Fprintf(&b, "| [%s](%s) | %d | %d | %d |\n", c.Title, path.Base(c.File), proven, part, len(c.Reqs))
		sum, parts, total = sum+proven, parts+part, total+len(c.Reqs)
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d |\n", sum, parts, total)
	for _, c := range chapters {
		fmt.Fprintf(&b, "\n## %s\n\n| id | title | state |\n|---|---|---|\n", c.Title)
		for _, r := range c.Reqs {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, r.Title, state(proofs[r.ID], open[r.ID]))
		}
	}
	return b.String()
}

// state returns the status of a requirement, given the files that prove it and the note about
// it.
func state(files []string, note string) string {
	s := "open"
	if len(files) > 0 {
		quoted := make([]string, len(files))
		for i, f := range slices.Sorted(slices.Values(files)) {
			quoted[i] = "`" + f + "`"
		}
		s = "proven by " + strings.Join(quoted, ", ")
	}
	switch {
	case note == "":
		return s
	case len(files) > 0:
		return "part: " + s + "; open: " + note
	default:
		return s + ": " + note
	}
}

func TestSpecParseChapter(t *testing.T) {
	const text = `# 20. Sample
### LOOP-01 The loop
Text about LOOP-02, and **bold** text.
**TOOL-01 - Identity.** Every tool has a name.
| ID | Name |
|---|---|
| X-001 | Read, Edit | file tools |
| X-002 | Fuzzy ranking |
| ` + "`--flag`" + ` | X-003 |
#### LOOP-09 Too deep
`
	got := parseChapter("docs/spec/20-sample.md", text)
	want := chapter{
		File:  "docs/spec/20-sample.md",
		Title: "20. Sample",
		Reqs: []requirement{
			{"LOOP-01", "The loop"},
			{"TOOL-01", "Identity"},
			{"X-001", "Read, Edit"},
			{"X-002", "Fuzzy ranking"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpecShorten(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Read: short enough", "Read: short enough"},
		{"Status line: " + strings.Repeat("x", 80), "Status line"},
		{"Search (one; two) " + strings.Repeat("x", 80), "Search"},
		{strings.Repeat("word ", 30), strings.Repeat("word ", 16)[:79] + " ..."},
		{strings.Repeat("x", 90), strings.Repeat("x", 90)},
	}
	for _, tt := range tests {
		if got := shorten(tt.title); got != tt.want {
			t.Errorf("shorten(%q): got %q, want %q", tt.title, got, tt.want)
		}
	}
}

func TestSpecParseTag(t *testing.T) {
	tests := []struct {
		line string
		want []string
		bad  bool
	}{
		{line: "// Proves READ-07.", want: []string{"READ-07"}},
		{line: "# Proves READ-07.", want: []string{"READ-07"}},
		{line: "// Proves LOOP-12, LOOP-17.", want: []string{"LOOP-12", "LOOP-17"}},
		{line: "// Proves LOOP-12 and X-101. The rest is elsewhere.", want: []string{"LOOP-12", "X-101"}},
		{line: "// TestRead reads. Proves READ-07.", want: []string{"READ-07"}},
		{line: "// It proves READ-07 in passing."},
		{line: "// Proves nothing."},
		{line: "// Proves LOOP-12 to LOOP-17.", bad: true},
		{line: "// Proves LOOP-12..17.", bad: true},
		{line: "// Proves LOOP-12-17.", bad: true},
		{line: "// Proves LOOP-12,", bad: true},
		{line: "// Proves LOOP-12", bad: true},
	}
	for _, tt := range tests {
		got, err := parseTag(tt.line)
		if (err != nil) != tt.bad {
			t.Errorf("%s: error %v", tt.line, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.line, diff)
		}
	}
}

func TestSpecReadTags(t *testing.T) {
	tree := map[string]string{
		"internal/a/a_test.go":                   "package a\n\n// Proves LOOP-01.\nvar s = `\n// Proves LOOP-90.\n`\n/* Proves\nProves LOOP-02. */\nfunc (",
		"internal/a/b_test.go":                   "package a // Proves LOOP-01.\n",
		"internal/a/a.go":                        "package a // Proves LOOP-91.\n",
		"internal/a/testdata/x_test.go":          "package x // Proves LOOP-92.\n",
		"internal/a/testdata/script/one.txtar":   "# Proves LOOP-03.\nexec adze\n-- f.sh --\n# Proves LOOP-93.\n",
		"scripts/test":                           "#!/bin/bash\n# Proves LOOP-04.\necho '# Proves LOOP-94.'\n",
		"docs/notes.md":                          "# Proves LOOP-95.\n",
		".git/hooks/commit.sh":                   "# Proves LOOP-96.\n",
		"internal/a/testdata/deep/er/check.sh":   "  # Proves LOOP-05.\n",
		".ci/run":                                "# Proves LOOP-06.\n",
		"internal/a/testdata/not-a-scenario.txt": "# Proves LOOP-97.\n",
	}
	root := t.TempDir()
	for name, text := range tree {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readTags(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"LOOP-01": {"internal/a/a_test.go", "internal/a/b_test.go"},
		"LOOP-02": {"internal/a/a_test.go"},
		"LOOP-03": {"internal/a/testdata/script/one.txtar"},
		"LOOP-04": {"scripts/test"},
		"LOOP-05": {"internal/a/testdata/deep/er/check.sh"},
		"LOOP-06": {".ci/run"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpecCheck(t *testing.T) {
	chapters := []chapter{
		{File: "10.md", Reqs: []requirement{{ID: "LOOP-01"}, {ID: "LOOP-02"}}},
		{File: "11.md", Reqs: []requirement{{ID: "LOOP-02"}}},
	}
	proofs := map[string][]string{"LOOP-01": {"a_test.go"}, "LOOP-03": {"b_test.go"}}
	open := map[string]string{"LOOP-02": "hooks", "LOOP-04": "hooks"}
	got := checkSpec(chapters, proofs, open)
	want := []string{
		"11.md: requirement LOOP-02 is defined in 10.md already",
		"b_test.go: tag names no requirement: LOOP-03",
		"docs/spec/open.txt: no requirement LOOP-04",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpecParseOpen(t *testing.T) {
	got, err := parseOpen("# note\n\nLOOP-24: compaction\nLOOP-25: compaction — needs a boundary\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"LOOP-24": "compaction", "LOOP-25": "compaction — needs a boundary"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"LOOP-24", "LOOP-24:", "LOOP-24 compaction", "LOOP-24: a\nLOOP-24: b"} {
		if _, err := parseOpen(bad); err == nil {
			t.Errorf("%s accepted", strconv.Quote(bad))
		}
	}
}

func TestSpecRenderStatus(t *testing.T) {
	chapters := []chapter{
		{File: "docs/spec/10-loop.md", Title: "10. Loop", Reqs: []requirement{
			{"LOOP-01", "Layers"}, {"LOOP-02", "Flow"}, {"LOOP-03", "Events"}, {"LOOP-04", "Stream"},
		}},
	}
	proofs := map[string][]string{"LOOP-01": {"b_test.go", "a_test.go"}, "LOOP-02": {"a_test.go"}}
	open := map[string]string{"LOOP-02": "hooks", "LOOP-03": "tui — frames"}
	want := `<!-- Generated by: go test ./internal -run Spec -update -->

# Status of the specification

| chapter | proven | in part | total |
|---|---|---|---|
| [10. Loop](10-loop.md) | 1 | 1 | 4 |
| all | 1 | 1 | 4 |

## 10. Loop

| id | title | state |
|---|---|---|
| LOOP-01 | Layers | proven by ` + "`a_test.go`, `b_test.go`" + ` |
| LOOP-02 | Flow | part: proven by ` + "`a_test.go`" + `; open: hooks |
| LOOP-03 | Events | open: tui — frames |
| LOOP-04 | Stream | open |
`
	if diff := cmp.Diff(want, renderStatus(chapters, proofs, open)); diff != "" {
		t.Error(diff)
	}
}
