package cachefile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"adze/internal/platform/fs/filestate"
)

var format = Format{Mark: "adze test 1\n", Max: 1 << 20}

// content is the test data.
type content struct {
	Numbers []uint64
	Text    string
	Lists   [][]string
	Flags   [8]bool
	Stamp   filestate.Stamp
}

func (c content) write() *Writer {
	w := &Writer{}
	w.Number(uint64(len(c.Numbers)))
	for _, n := range c.Numbers {
		w.Number(n)
	}
	w.Text(c.Text)
	w.Number(uint64(len(c.Lists)))
	for _, l := range c.Lists {
		w.List(l)
	}
	w.Flags(c.Flags[:]...)
	w.Stamp(c.Stamp)
	return w
}

func readContent(r *Reader) (c content) {
	for range r.Count() {
		c.Numbers = append(c.Numbers, r.Number())
	}
	c.Text = r.Text()
	for range r.Count() {
		c.Lists = append(c.Lists, r.List())
	}
	c.Flags, c.Stamp = r.Flags(), r.Stamp()
	return c
}

var example = content{
	Numbers: []uint64{0, 1, 127, 128, 1<<64 - 1}, Text: "text\x00", Lists: [][]string{nil, {}, {""}, {"a", "b"}},
	Flags: [8]bool{true, false, true}, Stamp: filestate.Stamp{MTime: -1, CTime: 2, Size: 3, Dev: 4, Inode: 1 << 63},
}

// TestDamaged checks that a saved file loads unchanged and that a file that is truncated,
// modified, of another format or writable by others is ignored.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "cache")
	if err := format.Save(path, example.write()); err != nil {
		t.Fatal(err)
	}
	r := format.Load(path)
	if r == nil {
		t.Fatal("it is not loaded")
	}
	if got := readContent(r); !reflect.DeepEqual(got, example) || !r.Whole() || r.Failed() {
		t.Errorf("it has %+v", got)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		wrong := slices.Clone(data)
		wrong[n] ^= 0x20
		if format.decode(data[:n], program()) != nil || format.decode(wrong, program()) != nil {
			t.Errorf("it is used with %d bytes, or another byte there", n)
		}
	}
	if r := format.decode(data, filestate.Stamp{Size: 1}); r == nil || !r.Foreign() || format.Load(path).Foreign() {
		t.Error("it is not known who wrote it")
	}
	if (Format{"adze test 2\n", 1 << 20}).Load(path) != nil || (Format{format.Mark, 10}).Load(path) != nil {
		t.Error("it is used as a file of another format")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if format.Load(path) != nil {
		t.Error("it is used though others may write it")
	}
}

// FuzzReader checks that a forged file with a valid checksum does no harm.
func FuzzReader(f *testing.F) {
	f.Add(example.write().data)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := format.decode(format.encode(&Writer{data}, filestate.Stamp{}), filestate.Stamp{})
		c := readContent(r)
		if !r.Whole() {
			return
		}
		again := readContent(format.decode(format.encode(c.write(), filestate.Stamp{}), filestate.Stamp{}))
		if !reflect.DeepEqual(again, c) {
			t.Errorf("%+v is read as %+v", c, again)
		}
	})
}

// TestNewest checks that Newest ignores directories, links and files with another extension.
func TestNewest(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if got := Newest(at("none/a.json")); got != "" {
		t.Errorf("in no folder it is %q", got)
	}
	for i, name := range []string{"a.json", "b.json", "c.json", "d.txt"} {
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := errors.Join(os.WriteFile(at(name), nil, 0o600), os.Chtimes(at(name), old, old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(at("e.json"), 0o700), os.Symlink("a.json", at("f.json")), os.Remove(at("c.json"))); err != nil {
		t.Fatal(err)
	}
	if got := Newest(at("x.json")); got != at("b.json") {
		t.Errorf("it is %q", got)
	}
}
