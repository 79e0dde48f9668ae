package gitindex

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// index returns an index written by git, with tables for reading it in parallel.
func index(t testing.TB, version int) []byte {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TEST_INDEX_THREADS=2")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"a", "a-b", "dir/one", "dir/two", "dir/two.go"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	run("config", "index.recordOffsetTable", "true")
	run("config", "index.recordEndOfIndexEntries", "true")
	run("config", "index.threads", "2")
	run("add", ".")
	run("update-index", "--index-version="+strconv.Itoa(version))
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func names(data []byte) (all []string, err error) {
	err = Read(data, 20, func(e Entry) error {
		all = append(all, string(e.Name))
		return nil
	})
	return all, err
}

// TestRead checks that an index is damaged if git could read it in another way than from the
// first entry to the last: through the lengths of names, or the tables that git uses with
// several threads.
func TestRead(t *testing.T) {
	want := []string{"a", "a-b", "dir/one", "dir/two", "dir/two.go"}
	for version := 2; version <= 4; version += 2 {
		data := index(t, version)
		if got, err := names(data); err != nil || !slices.Equal(got, want) {
			t.Fatalf("version %d: %q, %v", version, got, err)
		}
		end := strings.Index(string(data), "EOIE")
		if end < 0 {
			t.Fatalf("version %d has no mark of the end", version)
		}
		wrong := slices.Clone(data)
		wrong[end+8+3]++
		if _, err := names(wrong); !errors.Is(err, ErrDamaged) {
			t.Errorf("version %d, another end: %v", version, err)
		}
		wrong = slices.Clone(data)
		wrong[HeaderSize+beforeOID+20+1]++ // the length of the first name
		if _, err := names(wrong); !errors.Is(err, ErrDamaged) {
			t.Errorf("version %d, another length: %v", version, err)
		}
		for n := range data[:end] {
			names(data[:n]) // ok: it must not panic
		}
	}
}

func TestOffsetTable(t *testing.T) {
	r := &reader{starts: []start{{12, true}, {84, false}, {156, true}}}
	table := func(numbers ...uint32) []byte {
		var b []byte
		for _, n := range numbers {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	for _, tt := range []struct {
		table []byte
		want  bool
	}{
		{table(1, 12, 3), true},
		{table(1, 12, 2, 156, 1), true},
		{table(1, 12, 1, 84, 2), false}, // git would lack the previous name
		{table(1, 12, 2), false},
		{table(1, 12, 2, 160, 1), false},
		{table(1, 12, 4), false},
		{table(1, 12, 3, 156, 1), false},
		{table(2, 12, 3), false},
		{table(1, 12), false},
		{nil, false},
	} {
		if got := r.agrees(tt.table); got != tt.want {
			t.Errorf("%x: %t", tt.table, got)
		}
	}
}
