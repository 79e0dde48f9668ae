package agentdef

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/cachefile/cachefiletest"
)

// many creates n plugins with one old agent each, and returns their roots.
func (w tree) many(n int) (roots []Root) {
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		w.age(w.agent(name+"/agents/helper.md", "helper", "helps with "+name))
		w.age(w.path(name + "/agents"))
		roots = append(roots, Root{Path: w.path(name + "/agents"), Source: Source{Plugin, name}, Prefix: name + ":", Within: w.path(name)})
	}
	return roots
}

// age sets back a file's modification time.
func (w tree) age(path string) {
	w.t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		w.t.Fatal(err)
	}
}

// indexed returns a library with an index.
func (w tree) indexed(roots func() []Root) *Library {
	return NewLibrary(Config{Roots: roots, Index: w.path("state/index")})
}

// settle waits until stamps distinguish versions of the files.
func settle() { time.Sleep(settled + 100*time.Millisecond) }

// reads returns the number of files a scan had to read.
func (l *Library) reads(t *testing.T) int {
	t.Helper()
	known, _ := loadIndex(l.cfg.Index)
	l.Set()
	l.Close()
	n := 0
	for root, f := range l.known {
		for i := range f.files {
			if old := known[root].file(f.files[i].name); old == nil || f.files[i].made != nil && old.stamp != f.files[i].stamp || !old.sure {
				n++
			}
		}
	}
	return n
}

// TestIndex checks that startup with and without an index yields the same definitions, that
// files changed in place, added, removed or replaced by a symlink are noticed, and that a
// damaged index is rewritten.
//
// Proves AGENT-20.
func TestIndex(t *testing.T) {
	w := newTree(t)
	roots := w.many(fewFiles)
	w.write("p0/agents/broken.md", "---\nname: broken\n---\n")
	w.write("p1/agents/wrong.md", "---\nname: wrong\ndescription: has a mistake\ncolor: plaid\nhooks: {}\n---\n")
	w.agent("p2/shared.md", "linked", "is a link")
	if err := os.Symlink("../shared.md", w.path("p2/agents/linked.md")); err != nil {
		t.Fatal(err)
	}
	all := func() []Root { return roots }
	settle()
	same := func(doing string, reads int) *Set {
		t.Helper()
		plain := w.library(roots...).Set()
		l := w.indexed(all)
		if n := l.reads(t); n != reads {
			t.Errorf("%s: %d files are read, want %d", doing, n, reads)
		}
		if d := cmp.Diff(plain, l.Set(), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: the index says\n%s", doing, d)
		}
		return l.Set()
	}
	same("first", fewFiles+3)
	same("again", 1) // the symlink
	path := w.path("state/index")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.write("state/index", string(data[:len(data)/2]))
	same("damaged", fewFiles+3)

	file := w.path("p3/agents/helper.md")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	w.agent("p3/agents/helper.md", "helper", "HELPS with p3") // same length as before
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	w.agent("p4/agents/new.md", "new", "is new")
	if err := os.Remove(w.path("p5/agents/helper.md")); err != nil {
		t.Fatal(err)
	}
	roots = roots[:len(roots)-1]
	set := same("changed", 3)
	if d := set.Get("p3:helper"); d == nil || d.Description != "HELPS with p3" || set.Get("p4:new") == nil || set.Get("p5:helper") != nil {
		t.Errorf("there are %v", describe(set))
	}
	roots[0].Source = Source{Kind: Project} // its permissions differ from the index
	if d := same("of the project", 5).Get("p0:helper"); d == nil || d.Source.Kind != Project {
		t.Error("the source comes from the index")
	}
}

// TestIndexDoesNotLeadOut checks that a directory replaced by a symlink out of its parent is
// not used, even if it is in the index.
//
// Proves AGENT-20.
func TestIndexDoesNotLeadOut(t *testing.T) {
	w, outside := newTree(t), newTree(t)
	roots := w.many(fewFiles)
	settle()
	l := w.indexed(func() []Root { return roots })
	l.Set()
	l.Close()
	outside.agent("agents/helper.md", "helper", "is outside")
	if err := os.RemoveAll(w.path("p0/agents")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside.path("agents"), w.path("p0/agents")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.path("p1/agents/helper.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside.path("agents/helper.md"), w.path("p1/agents/helper.md")); err != nil {
		t.Fatal(err)
	}
	set := w.indexed(func() []Root { return roots }).Set()
	if set.Get("p0:helper") != nil || set.Get("p1:helper") != nil || set.Get("p2:helper") == nil || len(set.Problems) != 2 {
		t.Errorf("there are %v, %v", describe(set), set.Problems)
	}
}

// TestEarly checks that fixed directories are not scanned early, but are when an agent is used.
func TestEarly(t *testing.T) {
	w := tree{t, t.TempDir()}
	roots := w.many(fewFiles)
	for i := range roots {
		roots[i].Fixed = true
	}
	own := Root{Path: w.path("own"), Source: Source{Kind: User}}
	all := func() []Root { return append([]Root{own}, roots...) }
	settle()
	l := w.indexed(all)
	l.Set()
	l.Close()
	w.agent("own/mine.md", "mine", "helps me")
	w.agent("p0/agents/helper.md", "helper", "helps otherwise")
	if err := os.RemoveAll(w.path("p1")); err != nil {
		t.Fatal(err)
	}

	second := NewLibrary(Config{Index: l.cfg.Index, Roots: func() []Root { return all()[:fewFiles] }, Early: all})
	early := second.Early()
	if len(early.Definitions) != fewFiles+1 || early.Get("mine") == nil || early.Get("p0:helper").Description != "helps with p0" {
		t.Errorf("early there are %v", early.Names())
	}
	set := second.Set()
	if len(set.Definitions) != fewFiles-1 || set.Get("p1:helper") != nil || set.Get("p0:helper").Description != "helps otherwise" {
		t.Errorf("there are %v", set.Names())
	}
	if second.Early() != set {
		t.Error("the cached set differs from the loaded one")
	}
}

// TestIndexHoldsEveryField checks that every field of a definition is stored in the index.
func TestIndexHoldsEveryField(t *testing.T) {
	var d Definition
	fill(reflect.ValueOf(&d).Elem())
	d.Hooks, d.Servers[0].Config = json.RawMessage(`{"a":1}`), json.RawMessage(`{}`)
	w := newTree(t)
	root := Root{Path: "/p", Source: d.Source}
	d.File = "/p/x.md"
	known := map[Root]*folder{root: {root: root, sure: true, total: 1, files: []agentFile{
		{name: "x.md", sure: true, made: &d, problems: []Problem{{"/p/x.md", 3, "f", "t"}}},
		{name: "y.md", sure: true, made: &Definition{Source: d.Source, File: "/p/y.md", Access: Access{Tools: []string{}}}},
		{name: "z.md", sure: true, made: &Definition{Source: d.Source, File: "/p/z.md", Hooks: json.RawMessage("{")}},
	}}}
	path := w.path("index")
	if err := indexFormat.Save(path, encodeIndex(known)); err != nil {
		t.Fatal(err)
	}
	known[root].files[2] = agentFile{name: "z.md"} // read again
	const want = "adze agents 2\n7e1c27257de96b76"
	if got := cachefiletest.Written(t, indexFormat, path); got != want {
		t.Errorf("the file format has changed: raise the version in the mark, and expect %q here", got)
	}
	loaded, _ := loadIndex(path)
	if d := cmp.Diff(known, loaded, cmp.AllowUnexported(folder{}, agentFile{})); d != "" {
		t.Error(d)
	}
}

// fill sets all fields of a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(1)
	}
}

// FuzzIndex checks that a forged index with a valid checksum does no harm.
func FuzzIndex(f *testing.F) {
	root := Root{Path: "/p", Source: Source{Plugin, "p"}}
	path := filepath.Join(f.TempDir(), "index")
	if err := indexFormat.Save(path, encodeIndex(map[Root]*folder{root: {root: root, files: []agentFile{{name: "x.md", sure: true, made: &Definition{Name: "x"}}}}})); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data[len(indexFormat.Mark)+4+40:])) // after the checksum and program stamp
	f.Fuzz(func(t *testing.T, data string) {
		for _, x := range decodeIndex(cachefile.NewReader(data)) {
			x.file("x.md")
		}
	})
}

// BenchmarkMany scans the agents of 300 plugins: cold without an index, warm with one.
func BenchmarkMany(b *testing.B) {
	w := newTree(b)
	roots := w.many(300)
	settle()
	run := func(b *testing.B, index string) {
		for b.Loop() {
			l := NewLibrary(Config{Roots: func() []Root { return roots }, Index: index})
			if n := len(l.Set().Definitions); n != 300 {
				b.Fatal(n)
			}
			l.Close()
		}
	}
	b.Run("cold", func(b *testing.B) { run(b, "") })
	b.Run("warm", func(b *testing.B) { run(b, w.path("state/index")) })
}

// TestIndexOfAnotherProgram checks that definitions read by another adze version are shown, and
// read again before use.
//
// Proves AGENT-20.
func TestIndexOfAnotherProgram(t *testing.T) {
	w := newTree(t)
	list := w.many(fewFiles)
	for i := range list {
		list[i].Fixed = i%2 == 0
	}
	roots := func() []Root { return list }
	settle()
	l := w.indexed(roots)
	l.Set()
	l.Close()
	known, _ := loadIndex(l.cfg.Index)
	for _, f := range known {
		for i := range f.files {
			f.files[i].made.Description = "read otherwise"
		}
	}
	if err := indexFormat.Save(l.cfg.Index, encodeIndex(known)); err != nil {
		t.Fatal(err)
	}
	cachefiletest.Forge(t, indexFormat, l.cfg.Index)
	second := w.indexed(roots)
	for _, d := range second.Early().Definitions {
		if d.Description != "read otherwise" {
			t.Errorf("%s was read at first", d.Name)
		}
	}
	if _, foreign := loadIndex(l.cfg.Index); !foreign {
		t.Error("it is written before files were read")
	}
	for _, d := range second.Set().Definitions {
		if d.Description == "read otherwise" {
			t.Errorf("%s is used as another program has read it", d.Name)
		}
	}
	second.Close()
	if _, foreign := loadIndex(l.cfg.Index); foreign {
		t.Error("it is not written again")
	}
	if err := indexFormat.Save(l.cfg.Index, encodeIndex(known)); err != nil {
		t.Fatal(err)
	}
	cachefiletest.Forge(t, indexFormat, l.cfg.Index)
	third := w.indexed(roots)
	if d := third.Set().Definitions[0]; d.Description == "read otherwise" {
		t.Error("a library that is used at once does not read files again")
	}
	third.Close()
}

// TestIndexOfAnotherWorkspace checks that a workspace without an index starts with another
// workspace's, in which the agents of the user and of plugins were already read.
//
// Proves AGENT-20.
func TestIndexOfAnotherWorkspace(t *testing.T) {
	w := newTree(t)
	all := w.many(fewFiles)
	roots := func() []Root { return all }
	settle()
	first := NewLibrary(Config{Roots: roots, Index: w.path("state/one")})
	found := len(first.Set().Definitions)
	first.Close()
	second := NewLibrary(Config{Roots: roots, Index: w.path("state/two")})
	if n := second.reads(t); n != 0 || len(second.Set().Definitions) != found || found < fewFiles {
		t.Errorf("%d files were read again, %d of %d agents found", n, len(second.Set().Definitions), found)
	}
}
