package filestate

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func at(e Entry, mtime int64) Entry {
	e.Stamp.MTime = mtime
	return e
}

// Proves FST-04.
func TestChildBeginsWithACopy(t *testing.T) {
	parent := New()
	parent.Record(Entry{Path: "f", Hash: hash(1), Complete: true, Content: []byte("one")})
	parent.Record(Entry{Path: "g", Hash: hash(2), Complete: true})
	child := parent.Clone()
	e, ok := child.Get("f")
	if !ok || !e.Complete || string(e.Content) != "one" {
		t.Errorf("the child knows %+v", e)
	}
	if e.Shown {
		t.Error("a text that the child has not been sent counts as shown to it")
	}
	if e, _ := parent.Get("f"); !e.Shown {
		t.Error("a copy took the text from the parent")
	}
	child.Record(Entry{Path: "f", Hash: hash(3), Complete: true})
	child.Forget("g")
	if e, _ := parent.Get("f"); e.Hash != hash(1) {
		t.Error("a change of the child is seen before it ends")
	}
	if _, ok := parent.Get("g"); !ok {
		t.Error("the parent forgot the child's file")
	}
}

// Proves FST-04.
func TestMergeTakesTheNewest(t *testing.T) {
	parent := New()
	for _, path := range []string{"changed by the child", "changed by the parent", "cleared, then changed"} {
		e := at(Entry{Path: path, Hash: hash(1), Complete: true}, 10)
		parent.Record(e)
	}
	parent.Invalidate("cleared, then changed")
	parent.Record(at(part(1, 1, 50), 10))
	child := parent.Clone()
	child.Record(at(Entry{Path: "changed by the child", Hash: hash(2), Complete: true, Origin: Edit}, 20))
	child.Record(at(Entry{Path: "cleared, then changed", Hash: hash(2), Complete: true, Origin: Edit}, 20))
	child.Record(at(Entry{Path: "changed by the parent", Hash: hash(2), Complete: true, Origin: Edit}, 20))
	parent.Record(at(Entry{Path: "changed by the parent", Hash: hash(3), Complete: true, Origin: Edit}, 30))
	child.Record(at(Entry{Path: "read by the child", Hash: hash(4), Complete: true}, 5))
	child.Record(at(part(1, 51, 100), 10))

	parent.Merge(child)
	for path, want := range map[string]byte{
		"changed by the child": 1, "changed by the parent": 3, "read by the child": 4, "cleared, then changed": 2, "f": 1,
	} {
		e, ok := parent.Get(path)
		if !ok || e.Hash != hash(want) {
			t.Errorf("%s is known as %v, not %d", path, e.Hash[0], want)
		}
		if shown := strings.HasPrefix(path, "changed by") || path == "f"; e.Shown != shown {
			t.Errorf("%s: shown is %v", path, e.Shown)
		}
	}
	if e, _ := parent.Get("f"); !e.Complete {
		t.Errorf("the seen parts of a version are not merged: %+v", e)
	}
}

// TestMergeNeverGoesBack checks that after any merge the newest entry is present, unless an
// older one is shown to the model, and that the bounds hold.
//
// Proves FST-04.
func TestMergeNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Custom(func(t *rapid.T) Entry {
			v := rapid.IntRange(0, 5).Draw(t, "version")
			return Entry{
				Path: rapid.SampledFrom([]string{"f", "g", "h"}).Draw(t, "path"), Hash: hash(byte(v + 1)), Stamp: Stamp{MTime: int64(v)},
				Offset: 1, Lines: rapid.IntRange(1, 9).Draw(t, "lines"), Total: 9, Content: make([]byte, rapid.IntRange(0, 9).Draw(t, "size")),
			}
		})
		parent := New()
		for _, e := range rapid.SliceOfN(entry, 0, 5).Draw(t, "before") {
			parent.Record(e)
		}
		child := parent.Clone()
		for _, e := range rapid.SliceOfN(entry, 0, 5).Draw(t, "child") {
			child.Record(e)
		}
		for _, e := range rapid.SliceOfN(entry, 0, 5).Draw(t, "parent") {
			parent.Record(e)
		}
		newest := map[string]int64{}
		shown := rapid.Bool().Draw(t, "shown")
		for _, e := range parent.Recent() {
			newest[e.Path] = e.Stamp.MTime
			if !shown {
				parent.Invalidate(e.Path)
			}
		}
		for _, e := range child.Recent() {
			if _, known := newest[e.Path]; !known || !shown {
				newest[e.Path] = max(newest[e.Path], e.Stamp.MTime)
			}
		}
		parent.Merge(child)
		size := 0
		for _, e := range parent.Recent() {
			size += len(e.Content)
			if e.Stamp.MTime != newest[e.Path] {
				t.Fatalf("%s is of %d, want %d", e.Path, e.Stamp.MTime, newest[e.Path])
			}
		}
		if size != parent.content {
			t.Fatalf("%d bytes are held, %d counted", size, parent.content)
		}
	})
}
