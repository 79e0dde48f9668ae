package fileindex

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/git/gitindex"
)

// Proves IDX-01.
func TestReadIndex(t *testing.T) {
	long := strings.Repeat("long/", 60) + "x"
	for _, format := range []string{"sha1", "sha256"} {
		for version := 2; version <= 4; version++ {
			t.Run(fmt.Sprintf("%s version %d", format, version), func(t *testing.T) {
				want := []string{"a", "a-b", "dir/sub/file.go", "dir/sub/file_test.go", long, "ünïcode"}
				dir := fixture(t, want...)
				git(t, dir, "init", "-q", "--object-format="+format)
				git(t, dir, "add", ".")
				git(t, dir, "update-index", fmt.Sprintf("--index-version=%d", version))
				if version == 3 { // git writes version 3 only if it must
					git(t, dir, "update-index", "--skip-worktree", "a-b")
					want = append(want[:1:1], want[2:]...)
				}
				got, err := readIndex(filepath.Join(dir, ".git", "index"))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestPartialIndexIsRefused(t *testing.T) {
	dir := fixture(t, "a")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "update-index", "--split-index")
	if got, err := readIndex(filepath.Join(dir, ".git", "index")); err == nil {
		t.Errorf("read %q", got)
	}
	if got, err := readIndex(filepath.Join(dir, "nowhere")); err != nil || got != nil {
		t.Errorf("a repository without an index: %q, %v", got, err)
	}
}

// index returns an index of entries with a valid checksum.
func index(version, count uint32, entries string) []byte {
	data := append([]byte("DIRC"), make([]byte, 8)...)
	binary.BigEndian.PutUint32(data[4:], version)
	binary.BigEndian.PutUint32(data[8:], count)
	data = append(data, entries...)
	sum := sha1.Sum(data)
	return append(data, sum[:]...)
}

func TestDamagedIndex(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":           nil,
		"short":           []byte("DIRC"),
		"another file":    index(2, 0, "")[4:],
		"version":         index(9, 0, ""),
		"too few entries": index(2, 5, strings.Repeat("x", 100)),
		"no name":         index(2, 1, strings.Repeat("\x81", 200)),
		"prefix":          index(4, 1, strings.Repeat("\x81", 200)),
		"extension":       index(2, 0, "TREE\xff\xff\xff\xff"),
		"split":           index(2, 0, "link\x00\x00\x00\x00"),
	} {
		if got, err := parseIndex(data); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, err := parseIndex(index(2, 0, "TREE\x00\x00\x00\x00")); err != nil || len(got) != 0 {
		t.Errorf("an index of nothing: %q, %v", got, err)
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add(uint32(2), uint32(1), "")
	dir := fixture(f, "a", "b/c")
	git(f, dir, "init", "-q")
	git(f, dir, "add", ".")
	for version := 2; version <= 4; version += 2 {
		git(f, dir, "update-index", fmt.Sprintf("--index-version=%d", version))
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint32(version), uint32(2), string(data[gitindex.HeaderSize:len(data)-sha1.Size]))
	}
	f.Fuzz(func(t *testing.T, version, count uint32, entries string) {
		names, err := parseIndex(index(version, count, entries))
		if err != nil {
			return
		}
		for _, name := range names {
			if strings.ContainsRune(name, 0) || strings.Contains("/"+name+"/", "/../") || strings.Contains("/"+name+"/", "//") {
				t.Errorf("a file is called %q", name)
			}
		}
	})
}
