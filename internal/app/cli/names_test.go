package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/commands"
	"adze/internal/feature/skills/bundled"
	"adze/internal/platform/text/rank"
	"adze/internal/settings"
	"adze/internal/settings/config"
)

// knownNames holds the names that texts may mention.
type knownNames struct {
	slash, commands, flags, settings, variables map[string]bool
}

func whatExists() *knownNames {
	e := &knownNames{slash: map[string]bool{}, commands: map[string]bool{}, flags: map[string]bool{"help": true, "version": true}, settings: map[string]bool{}, variables: map[string]bool{}}
	for _, c := range everyCommand().Commands() {
		e.slash[c.Name] = true
		for _, alias := range c.Aliases {
			e.slash[alias] = true
		}
	}
	for _, s := range bundled.New("").Skills() {
		e.slash[s.Name] = true
	}
	flags := func(all []flag) {
		for _, f := range all {
			e.flags[f.Name] = true
			for _, alias := range f.Aliases {
				e.flags[alias] = true
			}
		}
	}
	flags((&runOptions{}).flags())
	for _, c := range commandTable() {
		e.commands[c.name] = true
		flags(c.options().flags())
	}
	for _, k := range settings.Keys() {
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			for at := 0; name != "" && at >= 0; { // a section may be named too
				e.settings[name] = true
				if at = strings.LastIndexByte(name, '.'); at > 0 {
					name = name[:at]
				}
			}
		}
		for _, name := range k.Env {
			e.variables[name] = true
		}
	}
	e.variables["ADZE_TEST_RESOLVER"] = true                                                                          // test builds only
	for _, name := range []string{"SKILL_DIR", "SESSION_ID", "PROJECT_DIR", "EFFORT", "PLUGIN_ROOT", "PLUGIN_DATA"} { // used in skill prompts
		e.variables["ADZE_"+name] = true
	}
	return e
}

var (
	// Patterns for names in a text.
	slashName    = regexp.MustCompile("(?:^|[\\s`'\"(«])/([a-z][a-z-]+)(?:$|[\\s`'\".,;:)»])")
	commandName  = regexp.MustCompile(`\badze ([a-z][a-z-]+)\b`)
	flagName     = regexp.MustCompile(`(?:^|[\s` + "`" + `'"(\[|])--([a-zA-Z][a-zA-Z-]+)`)
	settingName  = regexp.MustCompile(`(?:^|[\s` + "`" + `'"(])([a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+)(?:$|[\s` + "`" + `'",;:)=])`)
	variableName = regexp.MustCompile(`\b(ADZE_[A-Z0-9_]*[A-Z0-9])\b`)
	codeSpan     = regexp.MustCompile("`([^`\n]+)`")
	codeLine     = regexp.MustCompile(`(?m)^    (\S.*)$`)
	fence        = regexp.MustCompile("(?s)```.*?```")
	fileName     = regexp.MustCompile(`^(?:docs|scripts|internal|testdata|cmd|changelog)/[\w./-]+$`)
	textTitle    = regexp.MustCompile(`(?m)^-- .* --$`) // title of a catalog text
)

// Names that are not ours: system directories, other programs' flags, words after the program's
// name, and files that look like settings.
var (
	directories = words("tmp etc dev proc sys usr bin home work opt var root private nix run path name type")
	foreign     = words("no-ext-diff no-textconv no-verify yes amend hard oneline no-pager cached no-edit jinja ctx-size parallel max-model-len enable-auto-tool-choice tool-call-parser region agent-kwarg")
	mistakes    = words("sesions fast")                                                                                                                             // shown as mistakes, or mentioned as removed
	given       = words("ADZE_PROJECT_DIR ADZE_FILE_PATH ADZE_ENV_FILE ADZE_PATH ADZE_SNAPSHOT ADZE_REPORT ADZE_MCP_SERVER_NAME ADZE_MCP_SERVER_URL ADZE_CI_TOKEN") // for programs started by adze, and for ci/run

	proseWords = words("is was will has can may must did had only itself cannot never and or in on at as the to for with by from that which when where while not also if already work then but before after without wrote now")
)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// code returns the code in a document: spans and indented lines.
func code(doc string) []string {
	doc = fence.ReplaceAllStringFunc(doc, func(block string) string {
		return "\n    " + strings.ReplaceAll(strings.Trim(block, "`"), "\n", "\n    ")
	})
	var all []string
	for _, m := range append(codeSpan.FindAllStringSubmatch(doc, -1), codeLine.FindAllStringSubmatch(doc, -1)...) {
		all = append(all, m[1])
	}
	return all
}

// missingInCode returns the names in a piece of code that do not exist. Only lines about adze
// itself and isolated flags are checked.
func (e *knownNames) missingInCode(span string) []string {
	var missing []string
	if i := strings.Index(span, " #"); i > 0 { // shell comment
		span = span[:i]
	}
	if at := regexp.MustCompile(`(?:^|[\s(|])adze (.*)`).FindStringSubmatch(span); at != nil {
		line, _, _ := strings.Cut(at[1], " -- ")
		if first, _, _ := strings.Cut(line, " "); regexp.MustCompile(`^[a-z][a-z-]+$`).MatchString(first) && !e.commands[first] && !mistakes[first] {
			missing = append(missing, "adze "+first)
		}
		missing = append(missing, e.missingFlags(regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(line, "x"))...)
	} else if strings.HasPrefix(span, "--") {
		missing = append(missing, e.missingFlags(span)...)
	}
	if m := regexp.MustCompile(`^/([a-z][a-z-]+)(?: [^/]*)?$`).FindStringSubmatch(span); m != nil && !e.slash[m[1]] && !directories[m[1]] && !mistakes[m[1]] {
		missing = append(missing, "/"+m[1])
	}
	return append(missing, e.missingSettings(span)...)
}

func (e *knownNames) missingFlags(text string) []string {
	var missing []string
	for _, m := range flagName.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSuffix(m[1], "-"); !e.flags[name] && !foreign[name] {
			missing = append(missing, "--"+name)
		}
	}
	return missing
}

// missingSettings returns unknown variables, and unknown names that look like settings because
// they start with a known section.
func (e *knownNames) missingSettings(text string) []string {
	var missing []string
	for _, m := range settingName.FindAllStringSubmatch(text, -1) {
		section, _, _ := strings.Cut(m[1], ".")
		if e.settings[section] && !e.settings[m[1]] && !slices.Contains([]string{".go", ".md", ".json", ".sh", ".txt"}, filepath.Ext(m[1])) {
			missing = append(missing, m[1])
		}
	}
	for _, m := range variableName.FindAllStringSubmatch(text, -1) {
		if !e.variables[m[1]] && !given[m[1]] {
			missing = append(missing, m[1])
		}
	}
	return missing
}

// missingInSentence returns the names in a text for users or models that do not exist.
func (e *knownNames) missingInSentence(text string) []string {
	var missing []string
	for _, m := range slashName.FindAllStringSubmatch(text, -1) {
		if !e.slash[m[1]] && !directories[m[1]] {
			missing = append(missing, "/"+m[1])
		}
	}
	for _, m := range commandName.FindAllStringSubmatch(text, -1) {
		if !e.commands[m[1]] && !proseWords[m[1]] && !e.verb(m[1]) {
			missing = append(missing, "adze "+m[1])
		}
	}
	return slices.Concat(missing, e.missingFlags(text), e.missingSettings(text))
}

// verb reports whether a word after "adze" is a verb rather than a command.
func (e *knownNames) verb(word string) bool {
	return (strings.HasSuffix(word, "s") || strings.HasSuffix(word, "ed")) && verbs()[word].use == "" &&
		len(rank.Closest(word, slices.Collect(maps.Keys(e.commands)), 1)) == 0
}

// TestNamesInDocuments checks that every command, flag, setting, variable and file named in a
// document exists.
func TestNamesInDocuments(t *testing.T) {
	e, root := whatExists(), filepath.Join("..", "..", "..")
	for _, pattern := range []string{"*.md", "docs/*.md", "changelog/unreleased/*"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if filepath.Base(file) == "CHANGELOG.md" {
				continue // describes the past
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range code(string(data)) {
				for _, name := range e.missingInCode(span) {
					t.Errorf("%s: %s, in %q, does not exist", file, name, span)
				}
				if fileName.MatchString(span) {
					if found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(span))); len(found) == 0 { // ok: the pattern is valid
						t.Errorf("%s: no file %s", file, span)
					}
				}
			}
		}
	}
}

// TestKeysInDocuments checks that the page on the conversation names exactly the keys and line
// prefixes the program defines.
func TestKeysInDocuments(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "conversation.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## Keys")
	table, _, _ = strings.Cut(table, "\n\nWith")
	answer, err := everyCommand().Run(t.Context(), "keys", "")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`\b(?:(?:Ctrl|Alt|Shift)-\w+|Enter|Tab|Esc|Up|Down)\b`)
	found := func(text string) map[string]bool {
		all := map[string]bool{}
		for _, k := range key.FindAllString(text, -1) {
			all[k] = true
		}
		return all
	}
	shown := ""
	for _, term := range answer.(commands.Page).Blocks[0].(commands.Terms) {
		shown += term.Name + " " + term.Text + "\n"
	}
	if got, want := found(table), found(shown); !maps.Equal(got, want) {
		t.Errorf("the page names %v, /keys %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// textPackages lists the packages whose sentences are for users or models. Packages below them know
// other programs' commands by name.
var textPackages = []string{"agent", "app", "commands", "domain/instruct", "domain/memdir", "feature", "hook", "model", "permission", "prompt", "session", "settings", "tool", "tools", "ui"}

// TestNamesInSentences checks that every command, flag, setting and variable named in the
// program's texts exists: errors, notices, help, and texts for models (model-side 3.6).
func TestNamesInSentences(t *testing.T) {
	e, root := whatExists(), filepath.Join("..", "..")
	sentences := 0
	for _, dir := range textPackages {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bundled" || strings.HasSuffix(d.Name(), "test")):
				return fs.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			var texts []string
			switch filepath.Ext(path) {
			case ".md":
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				texts = []string{textTitle.ReplaceAllString(string(data), "")}
			case ".go":
				if texts, err = literals(path); err != nil {
					return err
				}
			}
			for _, text := range texts {
				if !strings.Contains(strings.TrimSpace(text), " ") {
					continue // no sentence
				}
				sentences++
				for _, name := range e.missingInSentence(text) {
					t.Errorf("%s: %s does not exist, in %q", path, name, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sentences < 1000 {
		t.Errorf("only %d sentences were looked at", sentences)
	}
}

// literals returns the strings in a Go file, joining concatenations.
func literals(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []string
	var joined func(e ast.Expr) string
	joined = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
				return s
			}
		case *ast.BinaryExpr:
			return joined(e.X) + joined(e.Y)
		}
		return "…"
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				all = append(all, joined(n))
				return false
			}
		case *ast.BasicLit:
			all = append(all, joined(n))
		}
		return true
	})
	return all, nil
}

// TestNamesCheck checks that the checks find unknown names and ignore foreign ones.
func TestNamesCheck(t *testing.T) {
	e := whatExists()
	for text, want := range map[string]string{
		"use /rewnd to go back":                       "/rewnd",
		"see `/help`, or adze help":                   "",
		"run adze tust first":                         "adze tust",
		"adze session shows it":                       "adze session",
		"adze agnts lists them":                       "adze agnts",
		"adze refuses it, and adze stopped":           "",
		"adze reads /tmp and /dev/null":               "",
		"start it with --alowed-tools 'Bash(x)'":      "--alowed-tools",
		"set sandbox.enable to true":                  "sandbox.enable",
		"set sandbox.enabled or sandbox to something": "",
		"ADZE_MODLE is not set":                       "ADZE_MODLE",
	} {
		if got := strings.Join(e.missingInSentence(text), " "); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for span, want := range map[string]string{
		"adze sesion list":                          "adze sesion",
		`adze -p "what does --this do?"`:            "",
		"git diff | adze -p x --modle y":            "--modle",
		"git commit --no-verify":                    "",
		"--no-sesion-persistence":                   "--no-sesion-persistence",
		"/contxt":                                   "/contxt",
		"/etc/hosts":                                "",
		"adze permissions check Bash '{\"--x\":1}'": "",
	} {
		if got := strings.Join(e.missingInCode(span), " "); got != want {
			t.Errorf("%q: %q", span, got)
		}
	}
	if len(e.slash) < 10 || len(e.commands) < 10 || len(e.flags) < 40 || len(e.settings) < 50 || len(e.variables) < 20 {
		t.Errorf("known: %v", slices.Sorted(maps.Keys(e.slash)))
	}
}

// TestSwitchesAreSettings checks that the setting that enables a command exists and is boolean.
//
// Proves CMD-02.
func TestSwitchesAreSettings(t *testing.T) {
	for _, c := range everyCommand().Commands() {
		i := slices.IndexFunc(settings.Keys(), func(k config.Key) bool { return k.ID() == c.Switch && k.Kind == config.Bool })
		if c.Switch != "" && i < 0 {
			t.Errorf("/%s needs %s, which is not a boolean setting", c.Name, c.Switch)
		}
	}
}
