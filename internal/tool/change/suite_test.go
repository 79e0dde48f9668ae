//go:build unix

package change_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/edit"
	"adze/internal/tools/notebook"
	"adze/internal/tools/write"
)

// A kind is a writing tool with a change it makes.
type kind struct {
	name          string
	new           func(*change.Files) tool.Tool
	file          string // file name
	before, after string
	fields        string // input fields other than the path
}

func kinds() []kind {
	book := func(n int) string {
		return fmt.Sprintf("{\n \"cells\": [\n  {\"cell_type\": \"code\", \"source\": [\"%d\"]}\n ]\n}\n", n)
	}
	return []kind{
		{"Edit", func(f *change.Files) tool.Tool { return edit.New(edit.Config{Files: f}) }, "f.txt",
			"a\nold old\nb\n", "a\nnew new\nb\n", `"old_string":"old","new_string":"new","replace_all":true`},
		{"Write", func(f *change.Files) tool.Tool { return write.New(write.Config{Files: f}) }, "f.txt",
			"a\nold\nb\n", "a\nnew\nb\n", `"content":"a\nnew\nb\n"`},
		{"NotebookEdit", func(f *change.Files) tool.Tool { return notebook.New(notebook.Config{Files: f}) }, "f.ipynb",
			book(1), book(2), `"cell_id":"cell-0","new_source":"2"`},
	}
}

func (k kind) input(path string) json.RawMessage {
	key := "file_path"
	if k.name == "NotebookEdit" {
		key = "notebook_path"
	}
	quoted, _ := json.Marshal(path)
	return json.RawMessage(fmt.Sprintf(`{%q:%s,%s}`, key, quoted, k.fields))
}

// A world is a directory with a session's state for changing it.
type world struct {
	change.Files
	t    testing.TB
	kind kind
	tool tool.Tool
	root string
	home string
}

func newWorld(t testing.TB, k kind) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, kind: k, root: root, home: t.TempDir()}
	w.Files = change.Files{
		Dir: func() string { return w.root }, Home: func() string { return "" },
		State: filestate.New(), Replacer: replace.New(filepath.Join(w.home, "locks")),
	}
	w.tool = k.new(&w.Files)
	w.write(k.file, k.before)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) content(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// read records a file as the Read tool would.
func (w *world) read(name string) {
	w.t.Helper()
	if err := record(w.State, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func record(s *filestate.Store, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	data := make([]byte, info.Size())
	if _, err := f.Read(data); err != nil {
		return err
	}
	lines := strings.Count(string(data), "\n")
	s.Record(filestate.Entry{
		Path: path, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Origin: filestate.Read,
		Offset: 1, Lines: lines, Total: lines, Complete: true,
	})
	return nil
}

func (w *world) bind(input json.RawMessage) tool.Call {
	w.t.Helper()
	call, err := w.tool.Bind(input)
	if err != nil {
		w.t.Fatal(err)
	}
	return call
}

// run applies the kind's change to the named file.
func (w *world) run(ctx context.Context, name string) (tool.Result, error) {
	w.t.Helper()
	return w.bind(w.kind.input(name)).Run(ctx, func(tool.Progress) {})
}

// must calls run and fails the test on error.
func (w *world) must(name string) string {
	w.t.Helper()
	res, err := w.run(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return textOf(res)
}

func textOf(r tool.Result) string { return r.Parts[0].(*msg.Text).Text }

func code(err error) int {
	var e *tool.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// each runs a test for every writing tool.
func each(t *testing.T, test func(*testing.T, *world)) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) { test(t, newWorld(t, k)) })
	}
}

// Proves EDIT-01, WRITE-01, WRITE-05, FST-01, X-001.
func TestReadFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		name := w.kind.file
		if _, err := w.run(t.Context(), name); code(err) != change.CodeNotRead || !strings.Contains(err.Error(), "first") {
			t.Fatalf("unread: %v", err)
		}
		if got := w.content(name); got != w.kind.before {
			t.Fatalf("and yet it became %q", got)
		}
		w.read(name)
		w.must(name)
		if got := w.content(name); got != w.kind.after {
			t.Fatalf("it became %q", got)
		}
		e, ok := w.State.Get(w.path(name))
		info, err := os.Stat(w.path(name))
		if err != nil || !ok {
			t.Fatal(err, ok)
		}
		want := filestate.Entry{
			Path: w.path(name), Real: w.path(name), Hash: sha256.Sum256([]byte(w.kind.after)), Stamp: filestate.StampOf(info),
			Origin: filestate.Edit, Complete: true, Content: []byte(w.kind.after), Shown: true,
		}
		if w.kind.name == "Write" {
			want.Origin = filestate.Write
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
	})
}

// Proves EDIT-02, WRITE-05.
func TestChangedMeanwhile(t *testing.T) {
	tests := []struct {
		name      string
		meanwhile func(w *world, path string)
		refused   bool
	}{
		{"touched", func(w *world, path string) {
			later := time.Now().Add(time.Hour)
			os.Chtimes(path, later, later)
		}, false},
		{"touched to the past", func(w *world, path string) { os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) }, false},
		{"replaced by the same", func(w *world, path string) {
			os.WriteFile(path+"2", []byte(w.kind.before), 0o644)
			os.Rename(path+"2", path)
		}, false},
		{"resumed", func(w *world, path string) {
			w.State = filestate.New() // state restored from a transcript: the content, but no file stamp
			w.State.Record(filestate.Entry{Path: path, Hash: sha256.Sum256([]byte(w.kind.before)), Complete: true})
		}, false},
		{"resumed, and changed", func(w *world, path string) {
			w.State = filestate.New()
			w.State.Record(filestate.Entry{Path: path, Hash: sha256.Sum256([]byte("other")), Complete: true})
		}, true},
		{"changed", func(w *world, path string) { os.WriteFile(path, []byte(w.kind.before+"\n"), 0o644) }, true},
		{"one byte, and the time set back", func(w *world, path string) {
			info, _ := os.Stat(path)
			os.WriteFile(path, []byte(strings.Replace(w.kind.before, "\n", " ", 1)), 0o644)
			os.Chtimes(path, info.ModTime(), info.ModTime())
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				path := w.path(w.kind.file)
				w.read(w.kind.file)
				tt.meanwhile(w, path)
				before := w.content(w.kind.file)
				_, err := w.run(t.Context(), w.kind.file)
				switch got := w.content(w.kind.file); {
				case tt.refused && (code(err) != change.CodeChanged || got != before):
					t.Errorf("error %v, content %q", err, got)
				case !tt.refused && (err != nil || got != w.kind.after):
					t.Errorf("error %v, content %q", err, got)
				}
			})
		})
	}
}

// Proves EDIT-10, WRITE-05.
func TestWhatStays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		name := w.kind.file
		if err := os.Chmod(w.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(w.path(name), w.path("other")); err != nil {
			t.Fatal(err)
		}
		link := "link" + filepath.Ext(name)
		if err := os.Symlink(name, w.path(link)); err != nil {
			t.Fatal(err)
		}
		w.read(link)
		if text := w.must(link); !strings.Contains(text, "1 other hard links") {
			t.Errorf("not told: %s", text)
		}
		if got := w.content(name); got != w.kind.after {
			t.Errorf("content %q", got)
		}
		if got := w.content("other"); got != w.kind.before {
			t.Errorf("the other name has %q", got)
		}
		if info, _ := os.Lstat(w.path(link)); info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("the link became %v", info.Mode())
		}
		if info, _ := os.Stat(w.path(name)); info.Mode().Perm() != 0o755 {
			t.Errorf("mode %v", info.Mode())
		}
		if entries, _ := os.ReadDir(w.root); len(entries) != 3 {
			t.Errorf("files left behind: %v", entries)
		}
	})
}

// Proves FPRM-01, FPRM-07, WRITE-05.
func TestWhatWasJudgedIsWritten(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		name := w.kind.file
		for _, dir := range []string{"dir", "evil"} {
			if err := os.Mkdir(w.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			w.write(filepath.Join(dir, name), w.kind.before)
		}
		w.read(filepath.Join("dir", name))
		call := w.bind(w.kind.input("dir/" + name))
		judged, ok := tool.As[tool.Locator](call)
		if !ok {
			t.Fatal("the call does not report its path")
		}
		first, err := judged.Paths("")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(w.path("dir"), w.path("gone")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("evil", w.path("dir")); err != nil {
			t.Fatal(err)
		}
		if second, _ := judged.Paths(""); second.Real != first.Real {
			t.Error("the path was followed again")
		}
		_, err = call.Run(t.Context(), func(tool.Progress) {})
		if err == nil || !strings.Contains(err.Error(), "try again") {
			t.Errorf("error %v", err)
		}
		for _, dir := range []string{"evil", "gone"} {
			if got := w.content(filepath.Join(dir, name)); got != w.kind.before {
				t.Errorf("%s has %q", dir, got)
			}
		}
	})
}

// Proves EDIT-08.
func TestNeverWritten(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ext := filepath.Ext(w.kind.file)
		if err := os.Mkdir(w.path("dir"+ext), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(w.path("fifo"+ext), 0o600); err != nil {
			t.Fatal(err)
		}
		w.write("huge"+ext, "x")
		if err := os.Truncate(w.path("huge"+ext), 1<<30+1); err != nil {
			t.Fatal(err)
		}
		for link, to := range map[string]string{"device": "/dev/full", "loop": "loop" + ext} {
			if err := os.Symlink(to, w.path(link+ext)); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string]struct {
			text string
			code int
		}{
			"dir":    {"is a directory", 0},
			"fifo":   {"not a regular file", 0},
			"device": {"device", 0},
			"loop":   {"chain of links", 0},
			"huge":   {"stream editor", change.CodeTooLarge},
			strings.TrimSuffix(w.kind.file, ext) + ext + "/x": {"is not a directory", 0},
			strings.Repeat("x", 5000):                         {"too long", 0},
		} {
			start := time.Now()
			_, err := w.run(t.Context(), name+ext)
			if err == nil || !strings.Contains(err.Error(), want.text) || code(err) != want.code {
				t.Errorf("%.30s: %v", name, err)
			}
			if time.Since(start) > time.Minute {
				t.Errorf("%.30s took %v", name, time.Since(start))
			}
		}
	})
}

// history is a fake history that can fail, and that inspects the file when backing it up.
type history struct {
	w     *world
	err   error
	calls []string
	hook  func()
	flush func() error
}

func (h *history) Backup(_ context.Context, path string, _ filehistory.Author) (int64, error) {
	data, _ := os.ReadFile(path) // ok: there may be none
	h.calls = append(h.calls, "backup "+string(data))
	if h.hook != nil {
		h.hook()
	}
	return 7, h.err
}

func (h *history) Flush() error {
	if h.flush != nil {
		return h.flush()
	}
	return nil
}

func (h *history) Writing(_ int64, path string, hash [32]byte) {
	data, _ := os.ReadFile(path) // ok: there may be none
	h.calls = append(h.calls, fmt.Sprintf("writing over %s %v", data, sha256.Sum256([]byte(h.w.kind.after)) == hash))
}

func (h *history) Wrote(_ int64, path string, hash [32]byte) {
	data, _ := os.ReadFile(path)
	h.calls = append(h.calls, fmt.Sprintf("wrote %s %v", data, sha256.Sum256(data) == hash))
}

// Proves HIST-01, SESS-30, WRITE-05.
func TestBackupComesFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		h := &history{w: w, err: errors.New("disk full")}
		w.History = h
		w.read(w.kind.file)
		if _, err := w.run(t.Context(), w.kind.file); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("error %v", err)
		}
		if got := w.content(w.kind.file); got != w.kind.before {
			t.Errorf("without a backup it became %q", got)
		}
		h.err = nil
		h.flush = func() error { return errors.New("input/output error") }
		if _, err := w.run(t.Context(), w.kind.file); err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("error %v", err)
		}
		if got := w.content(w.kind.file); got != w.kind.before {
			t.Errorf("without a backup on the disk it became %q", got)
		}
		h.flush = func() error {
			time.Sleep(20 * time.Millisecond) // enough for the rest of the work
			if got := w.content(w.kind.file); got != w.kind.before {
				t.Errorf("before the backup was on the disk it became %q", got)
			}
			return nil
		}
		w.must(w.kind.file)
		want := []string{"backup " + w.kind.before, "backup " + w.kind.before, "backup " + w.kind.before, "writing over " + w.kind.before + " true", "wrote " + w.kind.after + " true"}
		if diff := cmp.Diff(want, h.calls); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestRewindToolChanges checks with the real history that the tools' changes can be undone.
//
// Proves HIST-04.
func TestRewindToolChanges(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		h, err := filehistory.Open(filepath.Join(w.home, "history"), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		w.History = h
		h.Begin("m1")
		w.read(w.kind.file)
		w.must(w.kind.file)
		h.Begin("m2")
		if w.kind.name == "Write" {
			w.must("new/deep/" + w.kind.file)
		}
		report, err := h.Rewind(t.Context(), "m1", filehistory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.content(w.kind.file); got != w.kind.before {
			t.Errorf("content %q", got)
		}
		if _, err := os.Stat(w.path("new/deep/" + w.kind.file)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file created later is there: %v", err)
		}
		if _, err := h.Rewind(t.Context(), report.Undo, filehistory.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := w.content(w.kind.file); got != w.kind.after {
			t.Errorf("undone: content %q", got)
		}
	})
}

// Proves TOOL-09.
func TestInterruptedWritesAreWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.read(w.kind.file)
		ctx, cancel := context.WithCancel(t.Context())
		w.History = &history{w: w, hook: cancel}
		_, err := w.run(ctx, w.kind.file)
		if !errors.Is(err, context.Canceled) || w.content(w.kind.file) != w.kind.before {
			t.Errorf("cancelled before writing: %v, %q", err, w.content(w.kind.file))
		}
	})
}

// listener records notifications, and can fail or hang.
type listener struct {
	told []string
	err  error
	hang bool
}

func (l *listener) Changed(ctx context.Context, path string) error {
	data, _ := os.ReadFile(path)
	l.told = append(l.told, string(data))
	if l.hang {
		<-ctx.Done()
	}
	return l.err
}

// Proves WRITE-05.
func TestListeners(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.read(w.kind.file)
		broken, fine := &listener{err: errors.New("gone")}, &listener{}
		w.Listeners = []change.Listener{broken, fine}
		w.must(w.kind.file)
		if diff := cmp.Diff([]string{w.kind.after}, fine.told); diff != "" || len(broken.told) != 1 {
			t.Errorf("told %q, %s", broken.told, diff)
		}
	})
	each(t, func(t *testing.T, w *world) {
		synctest.Test(t, func(t *testing.T) {
			w.read(w.kind.file)
			w.Listeners = []change.Listener{&listener{hang: true}}
			start := time.Now()
			if _, err := w.run(t.Context(), w.kind.file); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != 100*time.Millisecond {
				t.Errorf("a hung listener took %v", took)
			}
		})
	})
}

// Proves EDIT-12, WRITE-05.
func TestAmended(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.read(w.kind.file)
		call := w.bind(w.kind.input(w.kind.file))
		amender, ok := tool.As[tool.Amender](call)
		if !ok {
			t.Fatal("the call cannot be amended")
		}
		changed := strings.NewReplacer(`new"`, `newer"`, `new\n`, `newer\n`, `"2"`, `"22"`).Replace(string(w.kind.input(w.kind.file)))
		amended, err := amender.Amend(json.RawMessage(changed))
		if err != nil {
			t.Fatal(err)
		}
		res, err := amended.Run(t.Context(), func(tool.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("new", "newer", `"2"`, `"22"`).Replace(w.kind.after)
		if got := w.content(w.kind.file); got != want {
			t.Errorf("content %q", got)
		}
		text := textOf(res)
		structured, _ := json.Marshal(res.Structured)
		if !strings.Contains(text, "The user changed your proposal") || !strings.Contains(text, "\n+") || !strings.Contains(text, "\n-") ||
			!strings.Contains(string(structured), `"userModified":true`) {
			t.Errorf("not told: %s\n%s", text, structured)
		}
		same, err := amender.Amend(w.kind.input(w.kind.file))
		if err != nil {
			t.Fatal(err)
		}
		w.write(w.kind.file, w.kind.before)
		w.read(w.kind.file)
		if res, err := same.Run(t.Context(), func(tool.Progress) {}); err != nil || strings.Contains(textOf(res), "proposal") {
			t.Errorf("unchanged: %v, %v", res, err)
		}
		if _, err := amender.Amend(json.RawMessage(`{}`)); err == nil {
			t.Error("an input that does not fit was taken")
		}
	})
}

func TestPreview(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, ok := tool.As[tool.Previewer](w.bind(w.kind.input(w.kind.file)))
		if !ok {
			t.Fatal("no preview")
		}
		d, err := p.Preview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff, ok := d.(tool.Diff); !ok || diff.Added != 1 || diff.Removed != 1 || diff.Created {
			t.Errorf("preview %+v", d)
		}
		if got := w.content(w.kind.file); got != w.kind.before {
			t.Errorf("the preview made it %q", got)
		}
	})
}
