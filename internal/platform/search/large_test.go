//go:build !race

package search

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestMemory searches for a text in every line, in more text than may be held in memory.
func TestMemory(t *testing.T) {
	files := map[string]string{}
	text := strings.Repeat("a line of text that matches\n", 40_000)
	for i := range 60 {
		files[fmt.Sprintf("%02d", i)] = text
	}
	dir := fixture(t, files)
	e := engine(t, Config{Cold: true})
	for _, o := range []GrepOptions{
		{Mode: Content}, {Mode: Content, Only: true}, {Mode: Content, Limit: 250, Offset: 100}, {Mode: Count}, {},
	} {
		o.Root, o.Pattern = dir, "[a-z]+"
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := e.Grep(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 30<<20 {
			t.Errorf("mode %d: a result of %d entries holds %d MB", o.Mode, r.Entries, grown>>20)
		}
		runtime.KeepAlive(r)
	}
}

// TestBinaryLate checks that lines before a null byte are dropped, however many there are.
//
// Proves ENG-05.
func TestBinaryLate(t *testing.T) {
	lines := strings.Repeat("a line that matches\n", 200_000)
	dir := fixture(t, map[string]string{"a": lines + "\x00", "b": "line\n"})
	for kind, e := range engines(t) {
		for _, limit := range []int{0, 3} {
			o := GrepOptions{Root: dir, Pattern: "line", Mode: Content, Numbers: true, Limit: limit}
			if got := grepText(t, e, o); got != "b:1:line\n" {
				t.Errorf("%s, limit %d: %.100q", kind, limit, got)
			}
			r, err := e.Grep(t.Context(), GrepOptions{Root: dir, Pattern: "line"})
			if err != nil || r.Binary != 1 || len(r.Files) != 1 {
				t.Errorf("%s: %+v, %v", kind, r, err)
			}
		}
	}
}
