package permission

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/reasons.txt")

// TestReasons checks the reasons for common commands that ask: each is a sentence that names the
// program and what it does.
//
// Proves PERM-01, PERM-17.
func TestReasons(t *testing.T) {
	file := filepath.Join("testdata", "reasons.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	var b strings.Builder
	lines := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
			continue
		}
		if strings.HasPrefix(line, "\t") {
			continue
		}
		lines++
		d := decide(t, w.config(Default), "Bash", jailed(line))
		if d.Behavior != Ask {
			t.Errorf("%s: %s", line, d.Behavior)
		}
		b.WriteString(line + "\n\t" + strings.ReplaceAll(d.Reason.String(), w.home, "HOME") + "\n")
	}
	if lines < 40 {
		t.Errorf("only %d commands", lines)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if b.String() != string(data) {
		t.Errorf("the reasons are now:\n%s", b.String())
	}
}
