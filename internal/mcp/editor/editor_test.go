package editor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/mcp/roster"
)

// Proves MCP-51.
func TestFind(t *testing.T) {
	root := t.TempDir()
	project, other := filepath.Join(root, "project"), filepath.Join(root, "other")
	for _, dir := range []string{filepath.Join(project, "sub"), other, project + "-2"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(project, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	lock := func(more string, folders ...string) string {
		return fmt.Sprintf(`{"pid":42,"workspaceFolders":["%s"]%s}`, strings.Join(folders, `","`), more)
	}
	ws := `,"transport":"ws","authToken":"secret"`
	for _, tt := range []struct {
		name  string
		files map[string]string
		dir   string
		port  int
		want  string // type, address and token
		why   string
	}{
		{name: "ws", files: map[string]string{"4001.lock": lock(ws, project)}, want: "ws-ide ws://127.0.0.1:4001 secret"},
		{name: "sse", files: map[string]string{"4001.lock": lock("", project)}, want: "sse-ide http://127.0.0.1:4001/sse "},
		{name: "below a folder", files: map[string]string{"4001.lock": lock(ws, other, project)}, dir: filepath.Join(project, "sub"), want: "ws-ide ws://127.0.0.1:4001 secret"},
		{name: "through a link", files: map[string]string{"4001.lock": lock(ws, filepath.Join(root, "link"))}, dir: filepath.Join(project, "sub"), want: "ws-ide ws://127.0.0.1:4001 secret"},
		{name: "nearest", files: map[string]string{"4001.lock": lock(ws, project), "4002.lock": lock(ws, filepath.Join(project, "sub")), "4003.lock": lock(ws, root)}, dir: filepath.Join(project, "sub"), want: "ws-ide ws://127.0.0.1:4002 secret"},
		{name: "the terminal's own", files: map[string]string{"4001.lock": lock(ws, project), "4002.lock": lock(ws, project)}, port: 4001, want: "ws-ide ws://127.0.0.1:4001 secret"},
		{name: "latest", files: map[string]string{"4002.lock": lock(ws, project), "4001.lock": lock(ws, project) + " "}, want: "ws-ide ws://127.0.0.1:4001 secret"},
		{name: "none", why: "no editor has left a lock file"},
		{name: "elsewhere", files: map[string]string{"4001.lock": lock(ws, other)}, why: "in none of its folders"},
		{name: "a name that begins alike", files: map[string]string{"4001.lock": lock(ws, project)}, dir: project + "-2", why: "in none of its folders"},
		{name: "relative folder", files: map[string]string{"4001.lock": lock(ws, ".", "")}, why: "in none of its folders"},
		{name: "gone", files: map[string]string{"4001.lock": strings.Replace(lock(ws, project), "42", "43", 1)}, why: "the editor is gone"},
		{name: "no process", files: map[string]string{"4001.lock": strings.Replace(lock(ws, project), "42", "0", 1)}, why: "the editor is gone"},
		{name: "garbage", files: map[string]string{"4001.lock": "\x00"}, why: "not JSON of an editor"},
		{name: "other types", files: map[string]string{"4001.lock": `{"pid":"42"}`}, why: "not JSON of an editor"},
		{name: "too long", files: map[string]string{"4001.lock": lock(ws, project) + strings.Repeat(" ", maxSize)}, why: "too long"},
		{name: "transport", files: map[string]string{"4001.lock": lock(`,"transport":"tcp"`, project)}, why: "not known"},
		{name: "token", files: map[string]string{"4001.lock": lock(`,"authToken":"a\r\nX-Y: z"`, project)}, why: "cannot be sent"},
		{name: "address as a name", files: map[string]string{"evil.example:80.lock": lock(ws, project), "0.lock": lock(ws, project), "04001.lock": lock(ws, project), "99999.lock": lock(ws, project), "x": "y"}, why: "no editor has"},
	} {
		home := t.TempDir()
		for name, text := range tt.files {
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			when := time.Unix(1_000_000, 0)
			if strings.HasSuffix(text, " ") {
				when = when.Add(time.Hour)
			}
			if err := os.Chtimes(filepath.Join(home, name), when, when); err != nil {
				t.Fatal(err)
			}
		}
		if tt.dir == "" {
			tt.dir = project
		}
		e, err := Find(Config{Home: home, Dir: tt.dir, Port: tt.port, Alive: func(pid int) bool { return pid == 42 }})
		if tt.why != "" {
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("%s: %+v, %v", tt.name, e, err)
			}
			continue
		}
		if err != nil || fmt.Sprintf("%s %s %s", e.Type, e.URL, e.Headers[tokenHeader]) != tt.want || e.Name != "ide" {
			t.Errorf("%s: %+v, %v", tt.name, e, err)
		}
	}
}

// TestForeignLockFiles checks that a lock file counts only if it is a regular file that no one
// else can write.
//
// Proves MCP-51.
func TestForeignLockFiles(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(home, "4001.lock")
	text := fmt.Sprintf(`{"pid":%d,"workspaceFolders":[%q]}`, os.Getpid(), dir)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(Config{Home: home, Dir: dir}); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(Config{Home: home, Dir: dir}); err == nil {
		t.Error("a file that others can write was used")
	}
	if err := os.Rename(path, filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "x"), path); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(Config{Home: home, Dir: dir}); err == nil {
		t.Error("a link was used")
	}
}

// Proves MCP-51.
func TestOfferedTools(t *testing.T) {
	for _, tt := range []struct {
		typ  roster.Type
		tool string
		want bool
	}{
		{roster.WSIDE, "getDiagnostics", true}, {roster.SSEIDE, "executeCode", true}, {roster.WSIDE, "openDiff", false},
		{roster.SSEIDE, "closeAllDiffTabs", false}, {roster.Stdio, "openDiff", true},
	} {
		if got := (&roster.Entry{Type: tt.typ}).Offers(tt.tool); got != tt.want {
			t.Errorf("%s %s: %v", tt.typ, tt.tool, got)
		}
	}
}
