//go:build lsp

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A plantedError is an edit that adds a line with an error, and a part of the server's message.
type plantedError struct{ line, message string }

// languages has the published servers, each with a small project in which errors are planted.
var languages = []struct {
	server   string // name in adze's table
	programs string // directory of its program below that of the test's servers; empty means PATH
	file     string
	// content has the line MARK, which an edit replaces with one with an error.
	content string
	more    map[string]string
	planted []plantedError
}{
	{
		server: "gopls", programs: "bin", file: "a.go", content: "package a\n\nfunc F() int {\n\tx := 1\n\t// MARK\n\treturn x\n}\n",
		more: map[string]string{"go.mod": "module example.com/a\n\ngo 1.25\n", "b.go": "package a\n\nfunc g(s string) {}\n"},
		planted: []plantedError{
			{"x = y", "undefined: y"}, {"g(1)", "cannot use 1"}, {"return \"text\"", "cannot use \"text\""}, {"s := \"😀\"; g(s.x)", "s.x undefined"},
		},
	},
	{
		server: "typescript", programs: "node_modules/typescript7/bin", file: "a.ts", content: "export function f(n: number): number {\n  // MARK\n  return n;\n}\n",
		more:    map[string]string{"tsconfig.json": `{"compilerOptions":{"strict":true,"types":[]},"include":["*.ts"]}`},
		planted: []plantedError{{`const s: string = n;`, "not assignable"}, {"missing();", "Cannot find name"}, {`n.toFixed("x", 2, 3);`, "Expected 0-1 arguments"}, {`const e = "😀"; e.nothing();`, "nothing"}},
	},
	{
		server: "typescript-language-server", programs: "node_modules/.bin", file: "a.ts", content: "export function f(n: number): number {\n  // MARK\n  return n;\n}\n",
		more:    map[string]string{"tsconfig.json": `{"compilerOptions":{"strict":true,"types":[]},"include":["*.ts"]}`},
		planted: []plantedError{{`const s: string = n;`, "not assignable"}, {"missing();", "Cannot find name"}},
	},
	{
		server: "pyright", programs: "node_modules/.bin", file: "a.py", content: "def f(n: int) -> int:\n    # MARK\n    return n\n",
		more:    map[string]string{"pyproject.toml": "[project]\nname = \"a\"\n"},
		planted: []plantedError{{"return missing", "not defined"}, {"return \"x\"", "not assignable"}, {"n.nothing()", "nothing"}},
	},
	{
		server: "clangd", file: "a.c", content: "int f(int n) {\n  // MARK\n  return n;\n}\n",
		more:    map[string]string{"compile_flags.txt": "-Wall\n"},
		planted: []plantedError{{"return missing;", "undeclared identifier 'missing'"}, {"int k = \"😀\" + ;", "expected expression"}, {"f(1, 2);", "too many arguments"}},
	},
	{
		server: "vscode-json-language-server", programs: "node_modules/.bin", file: "a.json", content: "{\n  \"a\": 1,\n  \"MARK\": 2\n}\n",
		planted: []plantedError{{`x: 1`, "Property keys must be doublequoted"}, {`"b" 2`, "Colon expected"}, {`"b": [1,,2]`, "Value expected"}},
	},
	{
		server: "yaml-language-server", programs: "node_modules/.bin", file: "a.yaml", content: "a: 1\nMARK: 2\nc: 3\n",
		planted: []plantedError{{"b: [1, 2", "Flow sequence"}, {"a: 2", "keys must be unique"}, {"\tb: 1", "tab"}},
	},
}

// TestLanguageServers plants errors in small projects, one edit each, and removes each with the
// next edit. Whatever the server reports must reach the model exactly once, with the edit or the
// next request, and nothing after the error was removed.
//
// Proves.
func TestLanguageServers(t *testing.T) {
	servers := os.Getenv("ADZE_TEST_SERVERS")
	if servers == "" {
		t.Fatal("ADZE_TEST_SERVERS is not set; run scripts/test lsp")
	}
	for _, l := range languages {
		t.Run(l.server, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("p/"+l.file, l.content)
			for name, text := range l.more {
				write("p/"+name, text)
			}
			var script strings.Builder
			use := func(old, new string) {
				fmt.Fprintf(&script, "use Edit %s\n---\n", encoded(map[string]string{"file_path": l.file, "old_string": old, "new_string": new}))
			}
			mark := markOf(l.content)
			use(mark, mark+"2") // starts the server
			mark += "2"
			script.WriteString("use Bash {\"command\":\"sleep $PAUSE\"}\n---\n")
			for _, p := range l.planted {
				use(mark, p.line)
				use(p.line, mark)
			}
			script.WriteString("say Done.\n")
			write("model.replay", script.String())
			path := os.Getenv("PATH")
			if l.programs != "" {
				path = filepath.Join(servers, l.programs) + ":" + path
			}
			// With a long wait everything must be reported. With the default, the number is logged
			// for a server that has had time to start.
			for wait, pause := range map[string]string{"30000": "0", "400": "2"} {
				write("p/"+l.file, l.content)
				write("state/settings.json", `{"languageServers":{"waitMs":`+wait+`}}`)
				cmd := exec.CommandContext(t.Context(), "adze", "-p", "go", "--trust", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--verbose", "--model", "replay:../model.replay")
				cmd.Dir = filepath.Join(dir, "p")
				cmd.Env = append(os.Environ(), "PATH="+path, "HOME="+filepath.Join(dir, "home"), "ADZE_HOME="+filepath.Join(dir, "state"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "PAUSE="+pause, "IS_SANDBOX=1")
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v\n%s\n%s", err, errs.Bytes(), out)
				}
				direct, later, repeated := 0, 0, 0
				texts := toolTexts(t, out)
				for i, p := range l.planted {
					n := 0
					for k, text := range texts {
						now, after, _ := strings.Cut(text, laterMark)
						c := problems(now, l.file, p.message)
						if c > 0 && k == 2*i+2 {
							direct++
						} else {
							later += c
						}
						m := problems(after, l.file, p.message)
						later += m
						n += c + m
					}
					if n > 1 {
						repeated++
					}
					if wait == "30000" && n != 1 {
						t.Errorf("%q was reported %d times:\n%s", p.line, n, strings.Join(texts, "\n---\n"))
					}
				}
				t.Logf("%s, %s ms: %d errors, %d with the edit, %d later, %d repeated", l.server, wait, len(l.planted), direct, later, repeated)
			}
		})
	}
}

// problems counts the lines with a problem of a file that contain a message.
func problems(text, file, message string) (n int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, file+":") && strings.Contains(strings.ToLower(line), strings.ToLower(message)) {
			n++
		}
	}
	return n
}

// laterMark separates the result of a call from reminders with the next request.
const laterMark = "\nLATER "

// markOf returns the text that is replaced by errors.
func markOf(content string) string {
	for line := range strings.Lines(content) {
		if strings.Contains(line, "MARK") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// toolTexts returns what the model got after each of its turns, as text.
func toolTexts(t *testing.T, stream []byte) (texts []string) {
	for line := range bytes.Lines(stream) {
		var m struct {
			Type    string `json:"type"`
			Message struct {
				Content []json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(line, &m); m.Type != "user" {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Message.Content {
			var part struct {
				Type    string          `json:"type"`
				Content json.RawMessage `json:"content"`
				Text    string          `json:"text"`
			}
			json.Unmarshal(c, &part) // ok: a text then
			var s string
			if json.Unmarshal(part.Content, &s) != nil {
				var parts []struct{ Text string }
				json.Unmarshal(part.Content, &parts) // ok: empty then
				for _, p := range parts {
					s += p.Text
				}
			}
			if part.Type == "tool_result" {
				texts = append(texts, s)
			} else if len(texts) > 0 {
				texts[len(texts)-1] += laterMark + part.Text
			}
		}
	}
	return texts
}

// TestLanguageServersRename lets real servers find the definition, the type and the uses of a name and
// rename it, in lines with characters outside the basic plane.
//
// Proves X-024.
func TestLanguageServersRename(t *testing.T) {
	servers := os.Getenv("ADZE_TEST_SERVERS")
	for _, l := range []struct {
		server, programs, file, content string
		more                            map[string]string
		line                            int // use of the name old
	}{
		{"gopls", "bin", "a.go", "package a\n\nfunc old(s string) string { return s }\n\nvar x = \"😀\" + old(\"é\") + old(\"\")\n", map[string]string{"go.mod": "module example.com/a\n\ngo 1.25\n"}, 5},
		{"typescript", "node_modules/typescript7/bin", "a.ts", "function old(s: string): string { return s; }\r\n\r\nconst x = \"😀\" + old(\"é\") + old(\"\");\r\n", map[string]string{"tsconfig.json": `{"compilerOptions":{"types":[]}}`}, 3},
		{"typescript-language-server", "node_modules/.bin", "a.ts", "function old(s: string): string { return s; }\n\nconst x = \"😀\" + old(\"é\") + old(\"\");\n", map[string]string{"tsconfig.json": `{"compilerOptions":{"types":[]}}`}, 3},
		{"pyright", "node_modules/.bin", "a.py", "def old(s: str) -> str:\n    return s\n\nx = \"😀\" + old(\"é\") + old(\"\")\n", map[string]string{"pyproject.toml": "[project]\nname = \"a\"\n"}, 4},
		{"clangd", "", "a.c", "static int old(const char *s, int n) { return n; }\n\nint x(void) { return old(\"😀\", old(\"é\", 1)); }\n", map[string]string{"compile_flags.txt": ""}, 3},
	} {
		t.Run(l.server, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"p/" + l.file: l.content}
			for name, text := range l.more {
				files["p/"+name] = text
			}
			var script strings.Builder
			for _, operation := range []string{"definition", "references", "hover", "rename"} {
				fmt.Fprintf(&script, "use LSP %s\n---\n", encoded(map[string]any{"operation": operation, "file_path": l.file, "line": l.line, "symbol": "old", "new_name": "fresh"}))
			}
			files["model.replay"] = script.String() + "say Done.\n"
			for name, text := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "adze", "-p", "go", "--trust", "--permission-mode", "acceptEdits", "--output-format", "stream-json", "--verbose", "--model", "replay:../model.replay")
			cmd.Dir = filepath.Join(dir, "p")
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(servers, l.programs)+":"+os.Getenv("PATH"), "HOME="+filepath.Join(dir, "home"), "ADZE_HOME="+filepath.Join(dir, "state"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "IS_SANDBOX=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			texts := toolTexts(t, out)
			if len(texts) != 4 || !strings.HasPrefix(texts[0], l.file+":") || strings.Count(texts[1], l.file+":") != 3 || !strings.Contains(texts[2], "old") || !strings.Contains(texts[3], "3 places") {
				t.Errorf("%s", strings.Join(texts, "\n---\n"))
			}
			got, err := os.ReadFile(filepath.Join(dir, "p", l.file))
			if want := strings.ReplaceAll(l.content, "old", "fresh"); err != nil || string(got) != want {
				t.Errorf("%v: %q, want %q", err, got, want)
			}
		})
	}
}
