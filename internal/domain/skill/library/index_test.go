package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/cachefile/cachefiletest"
	"adze/internal/platform/fs/filestate"
)

// age makes files appear to the library as if they had not changed for a while.
func age(t testing.TB, l *Library) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.scanner.known {
		ageFolder(f)
	}
}

func ageFolder(f *folder) {
	f.sure = true
	for i := range f.entries {
		if e := &f.entries[i]; e.file != nil {
			e.file.sure = true
		}
		if e := &f.entries[i]; e.sub != nil {
			ageFolder(e.sub)
		}
	}
}

// skillsOf returns the skills of a set without their functions.
func skillsOf(s *Set) []skill.Skill {
	var list []skill.Skill
	for _, s := range s.Skills {
		c := *s
		c.Text = nil
		list = append(list, c)
	}
	return list
}

// TestIndex checks that a restarted library reads only changed files if it has an index, and
// finds the same skills.
func TestIndex(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "state", "index")
	if err := os.CopyFS(filepath.Join(dir, "s"), os.DirFS("testdata/skills")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"c/a.md": "a", "c/sub/b.md": "b", "c/sub/skill/SKILL.md": "c", "file": "x"})
	cfg := Config{Roots: fixed(user(filepath.Join(dir, "s")), commands(filepath.Join(dir, "c")), commands(filepath.Join(dir, "c", "a.md")), user(filepath.Join(dir, "file"))), Index: index}
	first := Open(cfg)
	want := first.Set(t.Context())
	age(t, first)
	first.Close()
	saveIndex(t, index, first.scanner.known)

	second := Open(cfg)
	got := second.Set(t.Context())
	if diff := cmp.Diff(skillsOf(want), skillsOf(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Problems, got.Problems); diff != "" || len(got.Problems) < 10 {
		t.Error(diff)
	}
	if second.scanner.stale || len(second.scanner.known) == 0 {
		t.Error("files were read again")
	}
	second.Close()

	// Only the indexed data is used: a skill's text comes from its file.
	known, _ := loadIndex(index)
	known[key{filepath.Join(dir, "c"), true}].entries[0].file.head.Title = "from the index"
	saveIndex(t, index, known)
	third := open(t, cfg)
	a := third.Find(t.Context(), "a")
	if a.Title != "from the index" {
		t.Error("the index is not used")
	}
	if text, err := a.Text(t.Context()); err == nil {
		t.Errorf("a skill that its file does not know says %q", text)
	}
	write(t, dir, map[string]string{"c/a.md": "a changed"})
	if a := third.Refresh(t.Context()).Find("a"); a.Title != "" || a.Description != "a changed" {
		t.Errorf("%+v", a)
	}
}

// TestChangedInPlace checks files that change in place between two starts without changing
// their directories: the early set may have the old version, but the version used must be
// current.
func TestChangedInPlace(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"written again": func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("new"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			if err := errors.Join(os.WriteFile(path+".tmp", []byte("new"), 0o644), os.Rename(path+".tmp", path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, size := range []int{1, chunk + 1} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
				for i := range size {
					write(t, dir, map[string]string{fmt.Sprintf("s/x%d/SKILL.md", i): "old"})
				}
				write(t, dir, map[string]string{"c/sub/y.md": "old"})
				cfg := Config{Roots: fixed(user(filepath.Join(dir, "s")), commands(filepath.Join(dir, "c"))), Index: index}
				l := Open(cfg)
				l.Set(t.Context())
				age(t, l)
				l.Close()
				saveIndex(t, index, l.scanner.known)
				change(t, filepath.Join(dir, "s", "x0", "SKILL.md"))
				change(t, filepath.Join(dir, "c", "sub", "y.md"))

				known, _ := loadIndex(index)
				sc := scanner{known: known, early: true}
				sc.scan(cfg.Roots(), nil)
				if got := sc.assemble(nil).Find("x0").Description; got != "old" {
					t.Errorf("the file was looked at with its folder: %q", got)
				}
				second := open(t, cfg)
				for _, name := range []string{"x0", "sub:y"} {
					if got := second.Set(t.Context()).Find(name).Description; got != "new" {
						t.Errorf("%s says %q", name, got)
					}
					if text, err := second.Find(t.Context(), name).Text(t.Context()); text != "new" || err != nil {
						t.Errorf("%s: %q, %v", name, text, err)
					}
				}
				second.Close()
				if known, _ := loadIndex(index); known[key{filepath.Join(dir, "s"), false}].entries[0].file.head.Description != "new" {
					t.Error("the index is not written again")
				}
			})
		}
	}
}

// TestEarly checks that the early set includes added skills and excludes removed ones.
func TestEarly(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write(t, dir, map[string]string{"a/SKILL.md": "a", "b/SKILL.md": "b"})
	cfg := Config{Roots: fixed(user(dir)), Index: index}
	l := Open(cfg)
	l.Set(t.Context())
	age(t, l)
	l.Close()
	saveIndex(t, index, l.scanner.known)
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"c/SKILL.md": "c"})
	second := open(t, cfg)
	if got := names(second.Early(t.Context())); got != "b c" {
		t.Error(got)
	}
	if got := names(second.Set(t.Context())); got != "b c" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if never := (&Library{early: make(chan struct{}), asked: make(chan struct{})}); len(never.Early(ctx).Skills) != 0 {
		t.Error("skills of a context that has ended")
	}
}

// TestLater checks that a library with Later set scans when skills are needed or after a delay,
// but not if it is closed first.
func TestLater(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/SKILL.md": "a"})
	cfg := Config{Roots: fixed(user(dir)), Later: true}
	for name, set := range map[string]func(*Library) *Set{
		"early": func(l *Library) *Set { return l.Early(t.Context()) },
		"all":   func(l *Library) *Set { return l.Set(t.Context()) },
		"by itself": func(l *Library) *Set {
			<-l.ready
			return l.set.Load()
		},
	} {
		if got := names(set(open(t, cfg))); got != "a" {
			t.Errorf("%s: %q", name, got)
		}
	}
	closed := Open(cfg)
	closed.Close()
	if set := closed.Set(t.Context()); set == nil {
		t.Error("a library that was closed has no set")
	}
}

// TestFixed checks that a fixed directory is not scanned early but when its skills are used,
// and that watchers are notified of the result even if no caller needs it.
func TestFixed(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write(t, dir, map[string]string{"p/a/SKILL.md": "a", "p/b/SKILL.md": "b", "q/c/SKILL.md": "c"})
	p, q := Root{Dir: filepath.Join(dir, "p"), Fixed: true}, Root{Dir: filepath.Join(dir, "q"), Fixed: true}
	cfg := Config{Roots: fixed(p, q), Index: index}
	l := Open(cfg)
	l.Set(t.Context())
	age(t, l)
	l.Close()
	saveIndex(t, index, l.scanner.known)
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "p", "a")), os.WriteFile(filepath.Join(dir, "p", "b", "SKILL.md"), []byte("new"), 0o644)); err != nil {
		t.Fatal(err)
	}

	cfg.Roots, cfg.Early = fixed(p), fixed(p, q) // q turns out to be unused
	second := open(t, cfg)
	if got := names(second.Early(t.Context())); got != "a b c" {
		t.Errorf("early there are %s", got)
	}
	set := second.Set(t.Context())
	if got := names(set); got != "b" || set.Find("b").Description != "new" || second.Early(t.Context()) != set {
		t.Errorf("there are %s", got)
	}
	if text, err := second.Find(t.Context(), "b").Text(t.Context()); text != "new" || err != nil {
		t.Errorf("it says %q, %v", text, err)
	}
	second.Close()

	saveIndex(t, index, l.scanner.known)
	third := open(t, cfg)
	told := make(chan struct{}, 1)
	defer third.Watch(func() { told <- struct{}{} })()
	if names(third.Early(t.Context())) != "a b c" {
		t.Error("the folder was looked at")
	}
	<-told
	if got := names(third.Early(t.Context())); got != "b" {
		t.Errorf("there are %s", got)
	}
	third.Close() // wait for the index to be written

	saveIndex(t, index, l.scanner.known)
	closed := Open(cfg)
	closed.Early(t.Context())
	closed.Close()
	if got := names(closed.Set(t.Context())); got != "a b c" {
		t.Errorf("a library that is closed has %s", got)
	}
}

// saveIndex writes an index with the given folders.
func saveIndex(t testing.TB, path string, known map[key]*folder) {
	t.Helper()
	if err := indexFormat.Save(path, encodeIndex(known)); err != nil {
		t.Fatal(err)
	}
}

// TestIndexOfAnotherProgram checks that skills read by another adze version are shown, and read
// again before use.
//
// Proves SKILL-07.
func TestIndexOfAnotherProgram(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write(t, dir, map[string]string{"s/x/SKILL.md": "x", "p/y/SKILL.md": "y", "c/sub/z.md": "z"})
	cfg := Config{Roots: fixed(user(filepath.Join(dir, "s")), commands(filepath.Join(dir, "c")), Root{Dir: filepath.Join(dir, "p"), Fixed: true}), Index: index}
	l := Open(cfg)
	l.Set(t.Context())
	age(t, l)
	l.Close()
	l.scanner.known[key{filepath.Join(dir, "s"), false}].entries[0].file.head.Description = "read otherwise"
	saveIndex(t, index, l.scanner.known)
	cachefiletest.Forge(t, indexFormat, index)
	second := open(t, cfg)
	if early := second.Early(t.Context()); names(early) != "sub:z x y" || early.Find("x").Description != "read otherwise" {
		t.Errorf("early there are %s", names(early))
	}
	if set := second.Set(t.Context()); names(set) != "sub:z x y" || set.Find("x").Description != "x" {
		t.Errorf("there are %s", names(set))
	}
	second.Close()
	if known, foreign := loadIndex(index); known == nil || foreign {
		t.Error("it is not written again")
	}
}

// TestIndexFormat checks that the encoding is unchanged: if it changes, indexes of older
// versions must be rejected.
func TestIndexFormat(t *testing.T) {
	r := record{stamp: filestate.Stamp{MTime: 4, CTime: 5, Size: 3, Dev: 1, Inode: 2}, sure: true, inFolder: true, problems: []skill.Problem{{File: "f", Field: "g", Text: "t"}}}
	head := reflect.ValueOf(&r.head).Elem()
	for i := range head.NumField() {
		switch f := head.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(head.Type().Field(i).Name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			if f.Type().Elem().Kind() == reflect.String {
				f.Set(reflect.ValueOf([]string{head.Type().Field(i).Name}))
			}
		}
	}
	r.head.Hooks = []byte("{}")
	sub := &folder{path: "p/s", commands: true, entries: []entry{{name: "y", file: &record{broken: &skill.Problem{Text: "b"}}}}}
	f := &folder{path: "p", commands: true, stamp: filestate.Stamp{MTime: 9, CTime: 10, Size: 8, Dev: 6, Inode: 7}, sure: true, entries: []entry{{name: "x", file: &r}, {name: "z", sub: sub}}}
	const want = "adze skills 3\ne64161b3a6fe36e9"
	path := filepath.Join(t.TempDir(), "index")
	saveIndex(t, path, map[key]*folder{{"p", true}: f})
	if got := cachefiletest.Written(t, indexFormat, path); got != want {
		t.Errorf("the file format has changed: raise the version in indexFormat, and expect %q here", got)
	}
}

// TestIndexIsRefused checks that an index that is damaged, has another format or another owner
// is ignored and rewritten.
func TestIndexIsRefused(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write(t, dir, map[string]string{"x/SKILL.md": "x"})
	cfg := Config{Roots: fixed(user(dir)), Index: index}
	l := Open(cfg)
	l.Set(t.Context())
	age(t, l)
	l.Close()
	saveIndex(t, index, l.scanner.known)
	if known, foreign := loadIndex(index); known == nil || foreign {
		t.Fatal("the index is not read")
	}
	good, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	flipped := []byte(string(good))
	flipped[len(flipped)/2] ^= 1
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": good[:len(good)-1], "longer": append([]byte(string(good)), 0), "flipped": flipped,
		"zeros": make([]byte, 100), "of another format": []byte(strings.Replace(string(good), indexFormat.Mark, "adze skills 0\n", 1)),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(index, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if known, _ := loadIndex(index); known != nil {
				t.Error("it is read")
			}
			l := Open(cfg)
			if names(l.Set(t.Context())) != "x" {
				t.Error("the skill is not found")
			}
			l.Close()
			if known, _ := loadIndex(index); known == nil {
				t.Error("it is not written again")
			}
		})
	}
	if err := os.Chmod(index, 0o666); err != nil {
		t.Fatal(err)
	}
	if known, _ := loadIndex(index); known != nil {
		t.Error("a file that others may write is read")
	}
	// A directory in its place must not cause an error.
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(index, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if l := open(t, cfg); names(l.Set(t.Context())) != "x" {
		t.Error("the skill is not found")
	}
}

// TestStampsAreSure checks that a file is read again unless its last change is so old that any
// further change must have a different time.
func TestStampsAreSure(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, tt := range []struct {
		changed time.Duration
		want    bool
	}{{0, false}, {-time.Second, false}, {time.Hour, false}, {-3 * time.Second, true}} {
		s := info{stamp: filestate.Stamp{MTime: 1, CTime: now.Add(tt.changed).UnixNano()}}
		if s.sure(now) != tt.want {
			t.Errorf("%v: %t", tt.changed, !tt.want)
		}
	}
	// Two changes of the same size within one clock tick are both noticed.
	dir := t.TempDir()
	write(t, dir, map[string]string{"x/SKILL.md": "one"})
	l := open(t, Config{Roots: fixed(user(dir))})
	l.Set(t.Context())
	for _, text := range []string{"two", "six", "ten"} {
		write(t, dir, map[string]string{"x/SKILL.md": text})
		if got := l.Refresh(t.Context()).Find("x").Description; got != text {
			t.Errorf("%s, want %s", got, text)
		}
	}
}

// TestIndexHoldsEveryField fails if a field of Head is not stored in the index.
func TestIndexHoldsEveryField(t *testing.T) {
	r := record{stamp: filestate.Stamp{MTime: 4, CTime: 5, Size: 3, Dev: 1, Inode: 2}, sure: true, inFolder: true, problems: []skill.Problem{{File: "f", Field: "g", Text: "t"}}}
	head := reflect.ValueOf(&r.head).Elem()
	for i := range head.NumField() {
		switch f := head.Field(i); f.Interface().(type) {
		case string:
			f.SetString(head.Type().Field(i).Name)
		case bool:
			f.SetBool(true)
		case []string:
			f.Set(reflect.ValueOf([]string{"a", head.Type().Field(i).Name}))
		case json.RawMessage:
			f.SetBytes([]byte(`{"Stop":[]}`))
		default:
			t.Fatalf("a field of type %s", f.Type())
		}
	}
	broken := &record{broken: &skill.Problem{File: "f", Field: "x", Text: "y"}}
	f := &folder{path: "/a", commands: true, single: true, sure: true, more: true, broken: "b", stamp: filestate.Stamp{MTime: 2, CTime: 1, Size: 3, Dev: 5, Inode: 4},
		entries: []entry{{name: "a", file: &r}, {name: "b", sub: &folder{path: "/a/b", entries: []entry{}}}, {name: "c", file: broken}, {name: "d"}}}
	known := map[key]*folder{{"/a", true}: f}
	path := filepath.Join(t.TempDir(), "index")
	saveIndex(t, path, known)
	got, _ := loadIndex(path)
	if !reflect.DeepEqual(got, known) {
		t.Errorf("%+v", got)
	}
}

// FuzzIndex checks that the decoder accepts any input without panicking, and that decoded
// indexes survive a round trip.
func FuzzIndex(f *testing.F) {
	dir := f.TempDir()
	write(f, dir, map[string]string{"s/x/SKILL.md": "---\nname: x\nallowed-tools: Read\npaths: [a, b]\n---\nx", "s/y/SKILL.md": "---\nx\n---\n", "c/a/b.md": "x"})
	l := Open(Config{Roots: fixed(user(filepath.Join(dir, "s")), commands(filepath.Join(dir, "c")))})
	l.Set(f.Context())
	l.Close()
	index := filepath.Join(f.TempDir(), "index")
	saveIndex(f, index, l.scanner.known)
	good, err := os.ReadFile(index)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[len(indexFormat.Mark)+4+40:]) // after the checksum and program stamp
	f.Add(make([]byte, 60))
	f.Add(append([]byte{1}, make([]byte, 60)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		known := decodeIndex(cachefile.NewReader(string(data)))
		if known == nil {
			return
		}
		path := filepath.Join(t.TempDir(), "index")
		saveIndex(t, path, known)
		if again, _ := loadIndex(path); !reflect.DeepEqual(again, known) {
			t.Error("not the same again")
		}
	})
}

// TestIndexOfAnotherWorkspace checks that a workspace without an index starts with another
// workspace's, in which the user's skills were already read. Skills are still checked before
// use, and the new index has none of the other workspace's directories.
//
// Proves SKILL-07.
func TestIndexOfAnotherWorkspace(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"user/x/SKILL.md": "old", "one/y/SKILL.md": "one", "two/z/SKILL.md": "two"})
	at := func(name string) Root { return user(filepath.Join(dir, name)) }
	index := func(name string) string { return filepath.Join(state, name+".json") }
	first := Open(Config{Roots: fixed(at("user"), at("one")), Index: index("one")})
	first.Set(t.Context())
	age(t, first)
	first.Close()
	saveIndex(t, index("one"), first.scanner.known)
	write(t, state, map[string]string{"other.txt": "not an index"})
	write(t, dir, map[string]string{"user/x/SKILL.md": "new"})

	cfg := Config{Roots: fixed(at("user"), at("two")), Index: index("two")}
	known, _ := loadNewest(cfg.Index)
	sc := scanner{known: known, early: true}
	sc.scan(cfg.Roots(), nil)
	if s := sc.assemble(nil); names(s) != "x z" || s.Find("x").Description != "old" {
		t.Errorf("early: %s, x says %q", names(s), s.Find("x").Description)
	}
	var begun atomic.Bool
	cfg.Early = func() []Root { begun.Store(true); return cfg.Roots() }
	second := Open(cfg)
	if s := second.Set(t.Context()); !begun.Load() || names(s) != "x z" || s.Find("x").Description != "new" {
		t.Errorf("began with the index: %t; %s, x says %q", begun.Load(), names(s), s.Find("x").Description)
	}
	second.Close()
	var folders []string
	written, _ := loadIndex(index("two"))
	for k := range written {
		folders = append(folders, filepath.Base(k.path))
	}
	if slices.Sort(folders); !slices.Equal(folders, []string{"two", "user"}) {
		t.Errorf("the index has %q", folders)
	}
}
