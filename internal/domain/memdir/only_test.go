package memdir

import (
	"os"
	"path/filepath"
	"testing"

	"adze/internal/msg"
	"adze/internal/tool"
)

// from is a tool with a given origin.
type from struct {
	tool.Tool
	origin string
}

func (f from) Traits() tool.Traits { return tool.Traits{Origin: f.origin} }

// Proves MEM-51, MEM-53.
func TestOnlyMemoriesAreChanged(t *testing.T) {
	f, outside := folder(t, "a.md", "x"), t.TempDir()
	if err := os.Symlink(outside, f.Path("away")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(f.Dir, filepath.Join(outside, "in")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		call   call
		origin string
		off    bool
		denied bool
	}{
		{name: "a memory", call: call{Path_: f.Path("a.md")}},
		{name: "a new folder", call: call{Path_: f.Path("logs/2026/x.md")}},
		{name: "through a link to the folder", call: call{Path_: filepath.Join(outside, "in", "b.md")}},
		{name: "reading anything", call: call{Path_: filepath.Join(outside, "x"), Reads: true}},
		{name: "outside", call: call{Path_: filepath.Join(outside, "x.md")}, denied: true},
		{name: "outside the folder", call: call{Path_: f.Dir + "-other/x.md"}, denied: true},
		{name: "up and out", call: call{Path_: f.Dir + "/../x.md"}, denied: true},
		{name: "through a link that leads out", call: call{Path_: f.Path("away/x.md")}, denied: true},
		{name: "no file", call: call{}, denied: true},
		{name: "no memory", call: call{Path_: f.Path("a.md")}, off: true, denied: true},
		{name: "a server that claims to read", call: call{Reads: true}, origin: "mcp:db", denied: true},
		{name: "a server that names a memory", call: call{Path_: f.Path("a.md")}, origin: "mcp:db", denied: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := &tool.Use{ToolUse: msg.ToolUse{Name: "X"}, Tool: from{origin: tt.origin}, Call: tt.call, Verdict: tool.Verdict{Decision: tool.Allow}}
			o := Only{Folder: func() (Folder, bool) { return f, !tt.off }}
			if err := o.Before(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			if denied := u.Verdict.Decision == tool.Deny; denied != tt.denied {
				t.Errorf("denied: %v, want %v", denied, tt.denied)
			}
		})
	}
}
