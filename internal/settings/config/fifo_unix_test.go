//go:build unix

package config

import (
	"strings"
	"syscall"
	"testing"
)

func TestPipesDoNotBlock(t *testing.T) {
	w := newWorld(t)
	if err := syscall.Mkfifo(w.path("work/.adze/settings.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _ := w.load(); len(s.Invalid()) != 1 || !strings.HasSuffix(s.Invalid()[0].Error(), "it is not a regular file") {
		t.Errorf("%v", s.Invalid())
	}
}
