package filestate_test

import (
	"testing"

	"adze/internal/platform/fs/filestate"
)

func TestClear(t *testing.T) {
	s := filestate.New()
	for _, path := range []string{"/a", "/b", "/c"} {
		s.Record(filestate.Entry{Path: path, Complete: true, Content: []byte(path)})
	}
	s.Get("/a")
	var got string
	for _, e := range s.Recent() {
		got += e.Path
	}
	if got != "/a/c/b" {
		t.Errorf("the files in their order are %s", got)
	}
	s.Clear()
	if _, ok := s.Get("/a"); ok || len(s.Recent()) > 0 {
		t.Error("a file is still known")
	}
	s.Record(filestate.Entry{Path: "/a"})
	if len(s.Recent()) != 1 {
		t.Error("nothing can be recorded any more")
	}
}
