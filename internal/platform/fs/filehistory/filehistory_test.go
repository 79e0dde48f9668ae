package filehistory

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/fs/replace"
)

// A project is a directory with its history.
type project struct {
	*History
	t    testing.TB
	root string
	dir  string
	had  int64 // number of changes known from elsewhere
	log  bytes.Buffer
}

// hasModes reports whether files have permissions for others.
const hasModes = runtime.GOOS != "windows"

func newProject(t testing.TB) *project {
	p := &project{t: t, root: t.TempDir(), dir: filepath.Join(t.TempDir(), "file-history", "session")}
	p.reopen()
	t.Cleanup(func() { p.Close() }) // Windows removes no directory with open files
	return p
}

func (p *project) reopen() {
	p.t.Helper()
	if p.History != nil {
		if err := p.Close(); err != nil {
			p.t.Fatal(err)
		}
	}
	h, err := Open(p.dir, p.had, slog.New(slog.NewTextHandler(&p.log, nil)))
	if err != nil {
		p.t.Fatal(err)
	}
	p.History = h
}

func (p *project) path(name string) string { return filepath.Join(p.root, name) }

// edit changes a file like a tool.
func (p *project) edit(name, content string) {
	p.t.Helper()
	p.editBy(Author{}, name, content)
}

// editBy changes a file like an agent's tool.
func (p *project) editBy(by Author, name, content string) {
	p.t.Helper()
	change, err := p.Backup(p.t.Context(), p.path(name), by)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Writing(change, p.path(name), sha256.Sum256([]byte(content)))
	p.outside(name, content)
	p.Wrote(change, p.path(name), sha256.Sum256([]byte(content)))
}

// outside changes a file like another program. Empty content removes it.
func (p *project) outside(name, content string) {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755)
	if err == nil {
		err = os.WriteFile(p.path(name), []byte(content), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// files returns the files in the directory.
func (p *project) files() map[string]string {
	p.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(strings.TrimPrefix(path, p.root+string(filepath.Separator)))] = string(data)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return files
}

// blobs returns the hashes of the stored contents.
func (p *project) blobs() []string {
	entries, _ := os.ReadDir(filepath.Join(p.dir, "blobs")) // ok: may not exist
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return append(names, slices.Collect(maps.Keys(p.store.pack.places))...)
}

// Proves HIST-01, SESS-30.
func TestContentsAreKeptOnce(t *testing.T) {
	p := newProject(t)
	p.outside("f", "one")
	p.Begin("m1")
	p.edit("f", "two")
	p.edit("f", "one")
	p.edit("f", "two")
	if n := len(p.blobs()); n != 2 {
		t.Errorf("%d contents are stored for three edits of two", n)
	}
	for i := range 10 {
		p.edit("g", []string{"two", "one"}[i%2])
	}
	if n := len(p.blobs()); n != 2 {
		t.Errorf("%d contents are stored", n)
	}
	if v := p.snapshots[0].files[p.path("g")][0]; !v.absent() {
		t.Errorf("a file that was not there is kept as %v", v)
	}
	info, err := os.Stat(p.dir)
	if err != nil || hasModes && info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
	large := []string{strings.Repeat("0123456789abcdef", 3*small/16+5), strings.Repeat("x", small+1)}
	p.outside("large", large[0])
	for i := range 3 {
		p.edit("large", large[(i+1)%2])
	}
	if err := p.Sync(); err != nil {
		t.Fatal(err)
	}
	if n := len(p.blobs()); n != 4 {
		t.Errorf("%d contents are stored, two of them large", n)
	}
	for i, v := range p.snapshots[0].files[p.path("large")] {
		if got, err := p.store.content(v.version); err != nil || string(got) != large[i%2] {
			t.Errorf("a large file: %d bytes, %v", len(got), err)
		}
	}
}

// TestDrafts checks that a large content is found if the process is killed before its hash is
// known or while recording it.
//
// Proves HIST-01, HIST-02.
func TestDrafts(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", small/16+1)
	for name, until := range map[string]func(p *project, draft, hash string) error{
		"not known": func(*project, string, string) error { return nil },
		"in the index": func(p *project, draft, hash string) error {
			return p.store.append(record{Type: "hash", ID: draft, Hash: hash})
		},
		"renamed": func(p *project, draft, hash string) error {
			_, err := p.finish(draft)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.outside("f", large)
			p.Begin("m1")
			p.edit("f", "short")
			v := p.snapshots[0].files[p.path("f")][0]
			hash, err := p.store.hashDraft(v.draft)
			if err == nil {
				err = until(p, v.draft, hash)
			}
			if err != nil {
				t.Fatal(err)
			}
			p.kill()
			p.reopen()
			if diff := cmp.Diff([]string{hash}, p.blobs()); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != large {
				t.Errorf("%v, %d bytes", err, len(p.files()["f"]))
			}
			p.reopen()
			if p.log.Len() > 0 {
				t.Errorf("log: %s", p.log.String())
			}
		})
	}
}

// Proves HIST-01.
func TestBackupFails(t *testing.T) {
	p := newProject(t)
	if err := os.Mkdir(p.path("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.outside("huge", "")
	if err := os.Truncate(p.path("huge"), 1<<30+1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"dir": "not a regular file", "huge": "cannot be kept", "a\xff": "not valid UTF-8"} {
		if _, err := p.Backup(t.Context(), p.path(name), Author{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.dir, nil, 0o600); err != nil { // occupy the history's path
		t.Fatal(err)
	}
	p.outside("f", "x")
	if _, err := p.Backup(t.Context(), p.path("f"), Author{}); err == nil {
		t.Error("a content was kept nowhere")
	}
	if _, err := p.Backup(t.Context(), p.path("new"), Author{}); err == nil {
		t.Error("an absence was kept nowhere")
	}
}

// Proves HIST-02, SESS-30.
func TestSnapshotsAreBounded(t *testing.T) {
	const snapshots = 100
	p := newProject(t)
	for i := range snapshots + 1 {
		p.Begin(fmt.Sprint("m", i))
		p.Alias(fmt.Sprint("a", i))
		p.edit("f", fmt.Sprint("content ", i))
	}
	check := func() {
		t.Helper()
		if n := len(p.snapshots); n != snapshots || p.snapshots[0].id != "m1" {
			t.Errorf("%d snapshots from %s", n, p.snapshots[0].id)
		}
		// The first turn had no file before it, and the last one's content is not saved.
		if n := len(p.blobs()); n != snapshots {
			t.Errorf("%d contents for %d snapshots", n, snapshots)
		}
		for _, id := range []string{"m0", "a0"} {
			if _, err := p.Rewind(t.Context(), id, Options{DryRun: true}); err == nil {
				t.Errorf("%s is still there", id)
			}
		}
		for _, id := range []string{"m1", "a1", "a100"} {
			if _, err := p.Rewind(t.Context(), id, Options{DryRun: true}); err != nil {
				t.Error(err)
			}
		}
	}
	check()
	if err := os.Mkdir(p.store.blobs(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{p.store.blob("tmp-of-a-killed-process"), filepath.Join(p.dir, "pack-of-a-killed-process")} {
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.reopen()
	check()
	if entries, _ := os.ReadDir(p.dir); len(entries) != 4 { // index, pack, lock and the directory
		t.Errorf("files left behind: %v", entries)
	}
	if info, err := os.Stat(filepath.Join(p.dir, p.store.pack.name)); err != nil || info.Size() != int64(sizes(p.store.pack)) {
		t.Errorf("the pack has %d bytes for %d of contents, %v", info.Size(), sizes(p.store.pack), err)
	}
	index, err := os.ReadFile(p.store.indexPath())
	if err != nil || bytes.Contains(index, []byte(`"drop"`)) {
		t.Errorf("a dropped entry is still recorded, %v", err)
	}
	p.reopen()
	check()
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != "content 0" {
		t.Errorf("to the oldest: %v, %q", err, p.files()["f"])
	}
	if n := len(p.snapshots); n != snapshots {
		t.Errorf("%d snapshots", n)
	}
}

func sizes(p pack) (n int64) {
	for _, place := range p.places {
		n += place.size
	}
	return n
}

// Proves HIST-02.
func TestDeadContentsGo(t *testing.T) {
	p := newProject(t)
	content := func(i int) string { return strings.Repeat(fmt.Sprintf("%8d", i), packed/8) }
	for i := range maxSnapshots + 3*maxDead/packed {
		p.Begin(fmt.Sprint("m", i))
		p.edit("f", content(i))
	}
	if live := sizes(p.store.pack); p.store.pack.size > 2*(live+maxDead) || live > (maxSnapshots+1)*packed {
		t.Errorf("the pack has %d bytes for %d of contents", p.store.pack.size, live)
	}
	p.reopen()
	last := p.snapshots[maxSnapshots-1].id
	if _, err := p.Rewind(t.Context(), last, Options{}); err != nil {
		t.Fatal(err)
	}
	var i int
	fmt.Sscanf(last, "m%d", &i)
	if p.files()["f"] != content(i-1) {
		t.Error("the remaining file has changed")
	}
}

// Proves HIST-02.
func TestDamagedRecordsAreSkipped(t *testing.T) {
	p := newProject(t)
	for i := range 3 {
		p.Begin(fmt.Sprint("m", i))
		p.edit("f", fmt.Sprint(i))
	}
	p.Close()
	index, err := os.ReadFile(p.store.indexPath())
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(index, []byte("\n"))
	second := slices.IndexFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`"id":"m1"`)) })
	damaged := slices.Insert(lines, second+1,
		[]byte("not json\n"), []byte("{\"type\":\"file\",\"of\":\"nobody\",\"path\":\"x\"}\n"),
		[]byte("{\"type\":\"file\",\"of\":\"m1\",\"path\":\"x\",\"hash\":\"../../etc/passwd\"}\n"),
		[]byte("{\"type\":\"snapshot\",\"id\":\"m1\"}\n"), []byte("{\"type\":\"colour\",\"of\":\"m1\"}\n"), bytes.Repeat([]byte{0}, 40), []byte("\n"))
	torn := append(damaged, []byte(`{"type":"file","of":"m1","pa`))
	if err := os.WriteFile(p.store.indexPath(), bytes.Join(torn, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	p.History = nil
	p.reopen()
	if n := strings.Count(p.log.String(), "damaged"); n != 6 {
		t.Errorf("%d warnings:\n%s", n, p.log.String())
	}
	p.Begin("m3")
	p.edit("f", "after")
	p.reopen()
	for i, want := range []string{"", "0", "1", "2"} {
		if _, err := p.Rewind(t.Context(), fmt.Sprint("m", i), Options{}); err != nil {
			t.Fatal(err)
		}
		if got := p.files()["f"]; got != want {
			t.Errorf("before m%d: %q", i, got)
		}
	}
}

// Proves HIST-03, SESS-33.
func TestStats(t *testing.T) {
	p := newProject(t)
	p.outside("f", "a\nb\nc\n")
	p.outside("bin", "x\x00y")
	p.Begin("m1")
	p.edit("f", "a\nB\nc\nd\n")
	p.Begin("m2")
	p.edit("new", "1\n2\n")
	p.edit("bin", "x\x00z")
	p.Begin("m3")
	p.edit("f", "a\n")
	for id, want := range map[string]Stats{
		"m1": {3, 2, 2}, // f lost b and c, new has two lines
		"m2": {3, 2, 3},
		"m3": {1, 0, 3},
	} {
		got, err := p.Rewind(t.Context(), id, Options{DryRun: true})
		if err != nil || got.Stats != want {
			t.Errorf("since %s: %+v, %v, want %+v", id, got.Stats, err, want)
		}
	}
	before := len(p.blobs())
	p.reopen()
	if len(p.blobs()) != before {
		t.Error("asking for the difference left contents behind")
	}
}

// TestBetween checks the changes between any two messages, and of each message.
//
// Proves HIST-03, SESS-33.
func TestBetween(t *testing.T) {
	p := newProject(t)
	p.outside("f", "a\nb\nc\n")
	p.outside("bin", "x\x00y")
	p.Begin("m1")
	p.edit("f", "a\nB\nc\nd\n")
	p.Begin("m2")
	p.edit("new", "1\n2\n")
	p.edit("bin", "x\x00z")
	p.Begin("m3")
	p.edit("f", "a\n")
	p.edit("new", "1\n")
	p.Begin("m4") // undoes the third
	p.edit("f", "a\nB\nc\nd\n")
	for _, tt := range []struct{ from, to, want string }{
		{"", "", `f "a\nb\nc\n" "a\nB\nc\nd\n", bin "x\x00y" "x\x00z", new <nil> "1\n"`},
		{"", "m1", ``},
		{"m1", "m1", ``},
		{"m1", "m2", `f "a\nb\nc\n" "a\nB\nc\nd\n"`},
		{"m1", "m3", `f "a\nb\nc\n" "a\nB\nc\nd\n", bin "x\x00y" "x\x00z", new <nil> "1\n2\n"`},
		{"m2", "m3", `bin "x\x00y" "x\x00z", new <nil> "1\n2\n"`},
		{"m2", "m4", `f "a\nB\nc\nd\n" "a\n", bin "x\x00y" "x\x00z", new <nil> "1\n"`},
		{"m3", "m4", `f "a\nB\nc\nd\n" "a\n", new "1\n2\n" "1\n"`},
		{"m3", "", `new "1\n2\n" "1\n"`},
		{"m4", "m2", ``}, // nothing in this direction
	} {
		pairs, left, err := Between(p.History, Point{ID: tt.from}, Point{ID: tt.to})
		if err != nil || left != nil {
			t.Fatal(left, err)
		}
		quote := func(data []byte) string {
			if data == nil {
				return "<nil>"
			}
			return strconv.Quote(string(data))
		}
		got := map[string]string{}
		for _, pair := range pairs {
			name, err := filepath.Rel(p.path(""), pair.Path)
			if err != nil {
				t.Fatal(err)
			}
			got[name] = quote(pair.Then) + " " + quote(pair.Now)
		}
		var all []string
		for _, name := range []string{"f", "bin", "new"} {
			if text, ok := got[name]; ok {
				all = append(all, name+" "+text)
			}
		}
		if text := strings.Join(all, ", "); text != tt.want {
			t.Errorf("from %q to %q: %s, want %s", tt.from, tt.to, text, tt.want)
		}
	}
	if _, _, err := Between(p.History, Point{ID: "m1"}, Point{ID: "nowhere"}); err == nil {
		t.Error("a message that does not exist")
	}
	changes := p.Changes([]string{"m1", "m3", "nowhere"})
	want := map[string][]FileChange{
		"m1": {{Path: p.path("f"), Insertions: 2, Deletions: 1}},
		"m3": {{Path: p.path("f"), Deletions: 3}, {Path: p.path("new"), Deletions: 1}},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChangesAreBounded checks that listing a long session with large files is fast: the newest
// changes are counted, older ones only reported to exist.
//
// Proves HIST-03.
func TestChangesAreBounded(t *testing.T) {
	p := newProject(t)
	line := strings.Repeat("x", 70)
	var ids []string
	for i := range maxSnapshots {
		ids = append(ids, fmt.Sprintf("message-%d", i))
		p.Begin(ids[i])
		p.edit("large", strings.Repeat(fmt.Sprintln(i, line), 10_000))
	}
	began := time.Now()
	changes := p.Changes(ids)
	took := time.Since(began)
	counted := 0
	for i, id := range ids {
		f := changes[id]
		if len(f) != 1 {
			t.Fatalf("%s: %v", id, f)
		}
		if !f[0].Binary {
			counted++
		} else if i > maxSnapshots-20 {
			t.Errorf("%s is not counted", id)
		}
	}
	if counted == maxSnapshots || counted < 10 {
		t.Errorf("%d of %d are counted", counted, maxSnapshots)
	}
	t.Logf("%d of %d counted in %v", counted, maxSnapshots, took)
}

// Proves HIST-04.
func TestRewind(t *testing.T) {
	p := newProject(t)
	p.outside("f", "f0")
	p.outside("gone", "g0")
	if err := os.Chmod(p.path("f"), 0o755); err != nil {
		t.Fatal(err)
	}
	states := []map[string]string{p.files()}
	turn := func(id string, change func()) {
		p.Begin(id)
		change()
		states = append(states, p.files())
	}
	turn("m1", func() { p.edit("f", "f1"); p.edit("dir/new", "n1") })
	turn("m2", func() {
		p.edit("f", "f2")
		p.edit("f", "f2 again")
		if _, err := p.Backup(t.Context(), p.path("gone"), Author{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(p.path("gone")); err != nil {
			t.Fatal(err)
		}
		p.mu.Lock()
		p.leave(p.path("gone"), version{})
		p.mu.Unlock()
	})
	turn("m3", func() { p.edit("f", "f3"); p.edit("dir/new", "n3") })
	p.Alias("assistant of m3")
	p.reopen()

	for id, want := range map[string]int{"m1": 0, "m2": 1, "m3": 2, "assistant of m3": 2} {
		report, err := p.Rewind(t.Context(), id, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(states[want], p.files()); diff != "" {
			t.Errorf("before %s (-want +got):\n%s", id, diff)
		}
		if report.Files == 0 || len(report.Paths) == 0 {
			t.Errorf("%s: report %+v", id, report)
		}
		if info, _ := os.Stat(p.path("f")); id == "m1" && hasModes && info.Mode().Perm() != 0o755 {
			t.Errorf("mode %v", info.Mode())
		}
		if _, err := p.Rewind(t.Context(), report.Undo, Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(states[3], p.files()); diff != "" {
			t.Errorf("after undoing %s (-want +got):\n%s", id, diff)
		}
	}
}

// Proves HIST-04.
func TestRewindRefuses(t *testing.T) {
	p := newProject(t)
	p.outside("f", "f0")
	p.outside("g", "g0")
	for i := range 7 {
		p.Begin(fmt.Sprint("m", i))
		p.edit("f", fmt.Sprint("f", i+1))
		p.edit("g", fmt.Sprint("g", i+1))
	}
	_, err := p.Rewind(t.Context(), "m9", Options{})
	if err == nil || !strings.HasSuffix(err.Error(), "m6, m5, m4, m3, m2") {
		t.Errorf("unknown id: %v", err)
	}

	p.outside("g", "mine")
	var conflict *Conflict
	if _, err := p.Rewind(t.Context(), "m2", Options{}); !errors.As(err, &conflict) {
		t.Fatalf("a file others changed: %v", err)
	}
	if diff := cmp.Diff([]string{p.path("g")}, conflict.Paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"f": "f7", "g": "mine"}, p.files()); diff != "" {
		t.Errorf("refused, and yet (-want +got):\n%s", diff)
	}
	report, err := p.Rewind(t.Context(), "m2", Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "f2", "g": "g2"}, p.files()); diff != "" {
		t.Errorf("forced (-want +got):\n%s", diff)
	}
	if _, err := p.Rewind(t.Context(), report.Undo, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "f7", "g": "mine"}, p.files()); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}

	missing := p.snapshots[1].files[p.path("g")][0]
	for _, damage := range []func() error{
		func() error {
			_, err := p.store.pack.file.WriteAt([]byte("zz"), p.store.pack.places[missing.hash].at)
			return err
		},
		func() error { delete(p.store.pack.places, missing.hash); return nil },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Rewind(t.Context(), "m1", Options{Force: true}); err == nil || !strings.Contains(err.Error(), p.path("g")) {
			t.Errorf("a content is missing: %v", err)
		}
		if diff := cmp.Diff(map[string]string{"f": "f7", "g": "mine"}, p.files()); diff != "" {
			t.Errorf("a content is missing, and yet (-want +got):\n%s", diff)
		}
	}
}

// Proves HIST-04.
func TestRewindIsAllOrNothing(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"a", "b", "c"} {
		p.outside(name, "old")
	}
	p.Begin("m1")
	for _, name := range []string{"a", "b", "c", "new"} {
		p.edit(name, "new")
	}
	before := p.files()
	p.write = func(path string, data []byte, mode fs.FileMode) error {
		if path == p.path("b") && string(data) == "old" {
			return errors.New("disk full")
		}
		return replace.WriteFile(path, data, mode)
	}
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, p.files()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.write = replace.WriteFile
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "old", "b": "old", "c": "old"}, p.files()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOff(t *testing.T) {
	var h *History
	dir := t.TempDir()
	h.Begin("m")
	h.Alias("a")
	if _, err := h.Backup(t.Context(), filepath.Join(dir, "f"), Author{}); err != nil {
		t.Error(err)
	}
	h.Wrote(1, "f", [32]byte{})
	if _, err := h.Rewind(t.Context(), "m", Options{}); !errors.Is(err, ErrOff) || !strings.Contains(err.Error(), "fileHistory.enabled") {
		t.Errorf("Rewind: %v", err)
	}
	if h.Sync() != nil || h.Close() != nil {
		t.Error("there is something")
	}
	// Nothing is created before there is something to save.
	p := newProject(t)
	p.Begin("m")
	p.Alias("a")
	if _, err := os.Stat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory was made: %v", err)
	}
}

// TestRewindModel checks that for any sequence of turns, rewinding to a message restores the
// state before it.
func TestRewindModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newProject(t)
		names := []string{"a", "b", "d/c"}
		states := map[string]map[string]string{}
		ids := []string{}
		for turn := range rapid.IntRange(1, 6).Draw(rt, "turns") {
			id := fmt.Sprint("m", turn)
			p.Begin(id)
			states[id], ids = p.files(), append(ids, id)
			for range rapid.IntRange(0, 4).Draw(rt, "edits") {
				p.edit(rapid.SampledFrom(names).Draw(rt, "name"), rapid.SampledFrom([]string{"1", "2", "3\n"}).Draw(rt, "content"))
			}
			if len(p.files()) > 0 && rapid.Bool().Draw(rt, "reopen") { // otherwise nothing exists yet
				p.reopen()
			}
		}
		for range rapid.IntRange(1, 3).Draw(rt, "rewinds") {
			id := rapid.SampledFrom(ids).Draw(rt, "to")
			before := p.files()
			report, err := p.Rewind(t.Context(), id, Options{})
			if err != nil {
				rt.Fatal(err)
			}
			if report.Undo != "" && states[report.Undo] == nil {
				states[report.Undo], ids = before, append(ids, report.Undo)
			}
			if diff := cmp.Diff(states[id], p.files()); diff != "" {
				rt.Fatalf("before %s (-want +got):\n%s", id, diff)
			}
		}
		p.Close()
	})
}

const envDir = "FILEHISTORY_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDir); dir != "" {
		if err := turns(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// turns changes a file repeatedly and prints each turn and the content before it.
func turns(dir string) error {
	h, err := Open(filepath.Join(dir, "history"), 0, nil)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "file")
	for {
		id := rand.Text()
		h.Begin(id)
		before, _ := os.ReadFile(path) // ok: does not exist at first
		change, err := h.Backup(context.Background(), path, Author{})
		if err != nil {
			return err
		}
		content := bytes.Repeat([]byte(id+"\n"), 2000)
		if err := replace.WriteFile(path, content, 0o644); err != nil {
			return err
		}
		h.Wrote(change, path, sha256.Sum256(content))
		fmt.Printf("%q %q\n", id, string(before[:min(len(before), len(id))]))
	}
}

// TestKilled checks that a killed process loses none of its finished turns.
//
// Proves HIST-02.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for kill := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		before := map[string]string{}
		for range 2 + kill%5 {
			var id, content string
			if _, err := fmt.Fscanf(out, "%q %q\n", &id, &content); err != nil {
				t.Fatal(err)
			}
			before[id] = content
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // ok: it was killed
		h, err := Open(filepath.Join(dir, "history"), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range before {
			at, _, err := h.find(id, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.store.content(h.at(at)[filepath.Join(dir, "file")])
			if err != nil || len(got) > 0 != (want != "") || !bytes.HasPrefix(got, []byte(want)) {
				t.Fatalf("before turn %s: %.30q, %v, want %q", id, got, err, want)
			}
		}
		h.Close()
	}
}
