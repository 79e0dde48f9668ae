package filehistory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kill closes a history in the way the end of its process does.
func (p *project) kill() {
	p.t.Helper()
	if err := p.store.close(); err != nil {
		p.t.Fatal(err)
	}
	p.History = nil
}

// lines returns the lines of the index, including their line endings.
func (p *project) lines() [][]byte {
	p.t.Helper()
	index, err := os.ReadFile(p.store.indexPath())
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bytes.SplitAfter(index, []byte("\n"))
	return lines[:len(lines)-1]
}

// replace replaces the index, as if between two processes.
func (p *project) replace(index []byte) {
	p.t.Helper()
	path := p.store.indexPath()
	p.kill()
	if err := os.WriteFile(path, index, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.reopen()
}

// TestPackRecordDamaged checks that without the record that names the pack, nothing is removed
// and the pack's contents are found.
func TestPackRecordDamaged(t *testing.T) {
	p := newProject(t)
	p.outside("f", "zero")
	p.Begin("m1")
	p.edit("f", "one")
	whole := bytes.Join(p.lines(), nil)
	name := p.store.pack.name
	p.replace(bytes.Replace(whole, []byte(`"pack"`), []byte(`"p?ck"`), 1))
	if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
		t.Fatalf("the pack: %v", err)
	}
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != "zero" {
		t.Errorf("%v, %q", err, p.files()["f"])
	}
	p.replace(whole)
	p.outside("f", "one")
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != "zero" {
		t.Errorf("with the record repaired: %v, %q", err, p.files()["f"])
	}
}

// TestDamagedHistoryIsNeverWrong checks that with any part of the index damaged or missing,
// each file is restored to its previous content or reported and not changed, or nothing is
// restored.
func TestDamagedHistoryIsNeverWrong(t *testing.T) {
	p := newProject(t)
	p.outside("f", "f0")
	p.outside("g", "g0")
	states := map[string]map[string]string{}
	for i := range 3 {
		id := fmt.Sprint("m", i)
		states[id] = p.files()
		p.Begin(id)
		p.edit("f", fmt.Sprint("f", i+1))
		if i != 1 {
			p.edit("g", fmt.Sprint("g", i+1))
		}
		p.edit("f", fmt.Sprint("f", i+1, " again"))
	}
	last := p.files()
	lines := p.lines()
	try := func(what string, index []byte) {
		p.replace(index)
		for id, then := range states {
			for _, force := range []bool{false, true} {
				for name, content := range last {
					p.outside(name, content)
				}
				p.write = os.WriteFile // faster
				report, err := p.Rewind(t.Context(), id, Options{Force: force})
				now := p.files()
				for name := range last {
					want := then[name]
					if err != nil || slices.Contains(report.Left, p.path(name)) {
						want = last[name]
					}
					if now[name] != want {
						t.Fatalf("%s: to %s: %s is %q, want %q; %+v, %v", what, id, name, now[name], want, report, err)
					}
				}
				if len(report.Left) > 0 && !force {
					t.Fatalf("%s: to %s: left %v unexpectedly", what, id, report.Left)
				}
				p.replace(index)
			}
		}
	}
	for i, line := range slices.Backward(lines) {
		missing := slices.Concat(lines[:i], lines[i+1:])
		if i < len(lines)-1 { // a missing last record cannot be detected
			try(fmt.Sprintf("without line %d, %s", i+1, line), bytes.Join(missing, nil))
		}
		for _, at := range []int{len(line) / 2, len(line) - 1} {
			damaged := slices.Clone(lines)
			damaged[i] = slices.Clone(line)
			damaged[i][at] ^= 1
			try(fmt.Sprintf("byte %d of line %d, %s", at, i+1, line), bytes.Join(damaged, nil))
		}
	}
}

// TestEndOfTheHistoryIsMissing checks that a missing, overwritten or unwritten end of the index
// is detected if the number of changes is known: no file is restored to another state, and none
// seems unchanged. That also holds after more changes.
//
// Proves HIST-04.
func TestEndOfTheHistoryIsMissing(t *testing.T) {
	p := newProject(t)
	p.outside("f", "f0")
	var ids []string
	states := map[string]map[string]string{}
	for i := range 3 {
		id := fmt.Sprint("m", i)
		ids, states[id] = append(ids, id), p.files()
		p.Begin(id)
		p.edit("f", fmt.Sprint("f", i+1))
		p.edit(fmt.Sprint("new", i), "new")
		p.Alias(fmt.Sprint("a", i))
	}
	last, lines := p.files(), p.lines()
	whole := bytes.Join(lines, nil)
	p.had = p.Changed()
	p.kill()
	quick := func() { p.write, p.store.fsync = os.WriteFile, func(*os.File) error { return nil } }
	original, silent := p.dir, 0
	begin := func(index []byte, more bool) {
		t.Helper()
		if p.History != nil {
			p.kill()
		}
		p.dir = filepath.Join(t.TempDir(), "history")
		if err := errors.Join(os.CopyFS(p.dir, os.DirFS(original)), os.WriteFile(filepath.Join(p.dir, "index.jsonl"), index, 0o600)); err != nil {
			t.Fatal(err)
		}
		for name, content := range last {
			p.outside(name, content)
		}
		p.reopen()
		quick()
		if more {
			p.Begin("later")
			p.edit("h", "h1")
			p.reopen()
			quick()
		}
	}
	try := func(what string, index []byte) {
		t.Helper()
		for i, id := range ids {
			for _, more := range []bool{false, true} {
				o := Options{Later: append(slices.Clone(ids[i+1:]), "later")}
				begin(index, more)
				report, err := p.Rewind(t.Context(), id, o)
				now := p.files()
				delete(now, "h")
				switch {
				case err == nil:
					if diff := cmp.Diff(states[id], now); diff != "" {
						t.Fatalf("%s: to %s: %+v\n%s", what, id, report, diff)
					}
					silent++
				case !errors.As(err, new(*Incomplete)) && !errors.As(err, new(*Conflict)):
					t.Fatalf("%s: to %s: %v", what, id, err)
				}
				begin(index, more)
				o.Force = true
				if report, err := p.Rewind(t.Context(), id, o); err != nil || !report.Damaged && len(report.Paths) == 0 {
					t.Fatalf("%s: to %s by force: %+v, %v", what, id, report, err)
				}
			}
		}
	}
	at := 0
	for i, line := range lines {
		cut := at + []int{0, len(line) / 2, len(line) - 1}[i%3]
		try(fmt.Sprintf("cut at %d", cut), whole[:cut])
		if i%4 == 0 {
			zeros := slices.Clone(whole)
			clear(zeros[at:])
			try(fmt.Sprintf("zeros from %d", at), zeros)
		}
		at += len(line)
	}
	try("whole", whole)
	if silent < 6 {
		t.Errorf("a rewind was done %d times only", silent)
	}
	p.kill()
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	p.reopen()
	if _, err := p.Rewind(t.Context(), "m1", Options{Later: ids[2:]}); !errors.As(err, new(*Incomplete)) {
		t.Errorf("without a history: %v", err)
	}
}

// TestDroppedChangesAreNotMissing checks that a history that dropped its oldest messages and
// was rewritten is not mistaken for a truncated one: the number of changes is preserved.
func TestDroppedChangesAreNotMissing(t *testing.T) {
	p := newProject(t)
	p.Begin("first")
	p.edit("f", "1")
	p.had = p.Changed()
	for i := range maxSnapshots + 5 {
		p.Begin(fmt.Sprint("m", i))
	}
	for range 2 {
		p.reopen() // rewrites the index
		p.had = p.Changed()
	}
	if p.Changed() != 1 || len(p.store.gaps) > 0 || bytes.Contains(bytes.Join(p.lines(), nil), []byte(`"first"`)) {
		t.Errorf("%d changes, gaps %v", p.Changed(), p.store.gaps)
	}
	if report, err := p.Rewind(t.Context(), "m100", Options{}); err != nil || report.Damaged {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestRewindLeavesWhatIsNotKnown checks that uncertain files are reported and not changed, and
// that the others are restored if requested.
func TestRewindLeavesWhatIsNotKnown(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		p.outside(name, "old")
	}
	p.Begin("m1")
	p.edit("a", "1")
	p.edit("b", "1")
	p.edit("c", "1")
	p.Begin("m2")
	p.edit("c", "2")
	p.Begin("m3")
	p.edit("d", "3")
	lines := p.lines()
	for i, line := range lines {
		for _, name := range []string{"b", "c"} {
			if bytes.Contains(line, []byte(`"of":"m1","path":"`+strings.ReplaceAll(p.path(name), `\`, `\\`))) {
				lines[i] = []byte("damaged\n")
			}
		}
	}
	p.replace(bytes.Join(lines, nil))
	before := p.files()
	var incomplete *Incomplete
	if _, err := p.Rewind(t.Context(), "m1", Options{}); !errors.As(err, &incomplete) {
		t.Fatalf("the error is %v", err)
	}
	want := []string{p.path("b"), p.path("c"), p.path("d")} // the lost record may have been for d
	if diff := cmp.Diff(want, incomplete.Paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, p.files()); diff != "" {
		t.Errorf("refused, and yet (-want +got):\n%s", diff)
	}
	report, err := p.Rewind(t.Context(), "m1", Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, report.Left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "old", "b": "1", "c": "2", "d": "3"}, p.files()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if report, err := p.Rewind(t.Context(), "m3", Options{}); err != nil || p.files()["d"] != "old" || report.Left != nil {
		t.Errorf("entries newer than the damage: %+v, %v", report, err)
	}
}

// TestUnnumberedRecords checks that a history in the old format, without record numbers, is
// still readable.
func TestUnnumberedRecords(t *testing.T) {
	p := newProject(t)
	p.outside("f", "zero")
	p.Begin("m1")
	p.edit("f", "one")
	p.Begin("m2")
	p.edit("f", "two")
	var old []byte
	for _, line := range p.lines() {
		var r record
		if err := decode(line, &r); err != nil {
			t.Fatal(err)
		}
		r.Number = 0
		plain, err := encode(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(plain, []byte(`"sum"`)) {
			t.Fatalf("%s", plain)
		}
		old = append(old, plain...)
	}
	p.replace(old)
	p.Begin("m3")
	p.edit("f", "three")
	p.reopen()
	for id, want := range map[string]string{"m3": "two", "m2": "one", "m1": "zero"} {
		if _, err := p.Rewind(t.Context(), id, Options{}); err != nil || p.files()["f"] != want {
			t.Errorf("before %s: %v, %q, want %q", id, err, p.files()["f"], want)
		}
	}
	if p.log.Len() > 0 {
		t.Errorf("log: %s", p.log.String())
	}
}

// TestBackupAfterFailure checks that a failed backup loses only its own content, not later
// ones.
func TestBackupAfterFailure(t *testing.T) {
	for name, obstacle := range map[string]func(p *project) (remove func() error, err error){
		"no directory": func(p *project) (func() error, error) {
			if err := os.MkdirAll(filepath.Dir(p.dir), 0o700); err != nil {
				return nil, err
			}
			return func() error { return os.Remove(p.dir) }, os.WriteFile(p.dir, nil, 0o600)
		},
		"no index": func(p *project) (func() error, error) {
			return func() error { return os.Remove(p.store.indexPath()) }, os.MkdirAll(p.store.indexPath(), 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.outside("f", "zero")
			p.outside("g", "zero")
			p.Begin("m1")
			remove, err := obstacle(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Backup(t.Context(), p.path("f"), Author{}); err == nil {
				t.Fatal("a content was kept nowhere")
			}
			if err := remove(); err != nil {
				t.Fatal(err)
			}
			p.edit("g", "one")
			p.reopen()
			if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["g"] != "zero" {
				t.Errorf("%v, %q", err, p.files()["g"])
			}
		})
	}
}

// TestDraftCannotBeRenamed checks that a draft that cannot be renamed is kept and renamed
// later.
func TestDraftCannotBeRenamed(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", small/16+1)
	for _, reopen := range []bool{false, true} {
		p := newProject(t)
		p.outside("f", large)
		p.Begin("m1")
		p.edit("f", "short")
		hash, err := p.store.hashDraft(p.drafts[0])
		if err != nil {
			t.Fatal(err)
		}
		obstacle := filepath.Join(p.store.blob(hash), "in the way")
		if err := os.MkdirAll(obstacle, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := p.Sync(); err != nil {
			t.Fatal(err)
		}
		if reopen {
			p.reopen()
		}
		if err := os.RemoveAll(p.store.blob(hash)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != large {
			t.Errorf("opened again %v: %v, %d bytes", reopen, err, len(p.files()["f"]))
		}
	}
}

// TestLocked checks that only one process can open a history and that another cannot change it.
func TestLocked(t *testing.T) {
	p := newProject(t)
	p.outside("f", "zero")
	p.Begin("m1")
	p.edit("f", "one")
	before := p.lines()
	if h, err := Open(p.dir, 0, nil); !errors.Is(err, ErrLocked) {
		if err == nil {
			h.Close()
		}
		t.Fatalf("the second one: %v", err)
	}
	if diff := cmp.Diff(before, p.lines()); diff != "" {
		t.Errorf("the index (-want +got):\n%s", diff)
	}
	dir := filepath.Join(t.TempDir(), "none yet")
	var all [3]*History
	for i := range all {
		h, err := Open(dir, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = h
	}
	early, late, later := all[0], all[1], all[2]
	if _, err := early.Backup(t.Context(), p.path("f"), Author{}); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Backup(t.Context(), p.path("f"), Author{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a history written concurrently: %v", err)
	}
	if err := early.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := later.Backup(t.Context(), p.path("f"), Author{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a history that another made, and closed: %v", err)
	}
	if err := errors.Join(late.Close(), later.Close()); err != nil {
		t.Fatal(err)
	}
	p.reopen()
	if _, err := p.Rewind(t.Context(), "m1", Options{}); err != nil || p.files()["f"] != "zero" {
		t.Errorf("%v, %q", err, p.files()["f"])
	}
}

// TestFlush checks that everything needed to undo a change is on disk before the file is
// changed: contents, index and names.
//
// Proves HIST-01, SESS-12.
func TestFlush(t *testing.T) {
	p := newProject(t)
	large := strings.Repeat("0123456789abcdef", small/16+1)
	p.outside("f", "zero")
	p.outside("large", large)
	var mu sync.Mutex
	synced := map[string]int64{}
	p.store.fsync = func(file *os.File) error {
		info, err := file.Stat()
		mu.Lock()
		defer mu.Unlock()
		synced[file.Name()] = info.Size()
		return err
	}
	p.Begin("m1")
	for round, name := range []string{"f", "large", "new", "f"} {
		clear(synced)
		if err := kept(p, name); err != nil {
			t.Fatal(err)
		}
		must := []string{p.store.indexPath()}
		switch round {
		case 0:
			must = append(must, filepath.Join(p.dir, p.store.pack.name), p.dir, filepath.Dir(p.dir))
		case 1:
			must = append(must, p.store.blob(p.drafts[0]), p.store.blobs(), p.dir)
		case 3:
			must = append(must, filepath.Join(p.dir, p.store.pack.name))
		}
		for _, path := range must {
			info, err := os.Stat(path)
			if size, ok := synced[path]; err != nil || !ok || size != info.Size() {
				t.Errorf("%d, %s: %s is not on the disk: %v", round, name, path, err)
			}
		}
		p.outside(name, fmt.Sprint("content ", round))
	}
	clear(synced)
	if err := p.Flush(); err != nil || len(synced) > 0 {
		t.Errorf("with nothing to do, %v are synced, %v", synced, err)
	}
	p.store.fsync = func(*os.File) error { return errors.New("input/output error") }
	if err := kept(p, "f"); err == nil {
		t.Error("a missing file was recorded")
	}
	if _, err := p.Rewind(t.Context(), "m1", Options{Force: true}); err == nil || p.files()["f"] == "zero" {
		t.Errorf("rewind without saving the current state: %v", err)
	}
}

// kept backs up a file durably.
func kept(p *project, name string) error {
	_, err := p.Backup(p.t.Context(), p.path(name), Author{})
	return errors.Join(err, p.Flush())
}
