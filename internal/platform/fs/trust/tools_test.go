package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/replace"
)

func TestToolRecord(t *testing.T) {
	home := t.TempDir()
	compare := func(server string, digests map[string]string) (map[string]string, error) {
		// Simulate a new process each time.
		return OpenTools(home, replace.New(filepath.Join(home, "locks"))).Compare(t.Context(), server, digests)
	}
	type tools = map[string]string
	for _, step := range []struct {
		server      string
		tools, want tools
	}{
		{"a", tools{"read": "1", "write": "1"}, tools{}}, // the first time
		{"a", tools{"read": "1", "write": "1"}, tools{}}, // nothing changed
		{"a", tools{"read": "1"}, tools{}},               // one is gone
		{"a", tools{"read": "1", "write": "2", "new": "1"}, tools{"write": "1"}},
		{"a", tools{"read": "1", "write": "2", "new": "1"}, tools{}}, // reported only once
		{"b", tools{"read": "9"}, tools{}},                           // another server
		{"../../x", tools{"read": "9"}, tools{}},
		{"c", tools{}, tools{}},
	} {
		got, err := compare(step.server, step.tools)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, got, cmp.Transformer("len", func(m tools) []string {
			var all []string
			for k, v := range m {
				all = append(all, k+v)
			}
			return all
		})); diff != "" {
			t.Errorf("%s %v: %s", step.server, step.tools, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join(home, "mcp-tools", "*.json"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Error(info.Mode(), err)
		}
	}

	// An invalid file is reported and not modified.
	for _, f := range files {
		if err := os.WriteFile(f, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := compare("a", tools{"read": "1"}); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Error(err)
	}
}

func TestToolRecordIsBounded(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "mcp-tools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxToolServers {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".json")), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := OpenTools(home, replace.New(filepath.Join(home, "locks")))
	for i := range 3 {
		many := map[string]string{}
		for j := range 1000 {
			many[fmt.Sprint(i, ".", j)] = "1"
		}
		if _, err := r.Compare(t.Context(), "a", many); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != maxToolServers {
		t.Error(len(list), err)
	}
	for _, e := range list {
		if info, _ := e.Info(); info.Size() > 100_000 {
			t.Error(e.Name(), info.Size())
		}
	}
}
