package search

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// TestTypes checks the types that the second review found missing, and some others.
//
// Proves GREP-03.
func TestTypes(t *testing.T) {
	for kind, files := range map[string]string{
		"config": "a.cfg a.conf a.ini", "coffeescript": "a.coffee", "gzip": "a.gz a.tgz", "hs": "a.hs a.lhs", "jl": "a.jl",
		"license": "LICENSE LICENCE.txt a-LICENSE COPYING.md MIT-2.txt licence", "lock": "a.lock package-lock.json", "m4": "a.m4 a.ac", "man": "a.1 a.3p",
		"c": "a.c a.h a.c.in", "cpp": "a.cc a.hpp a.hh.in", "sh": "a.sh .bash_profile .zshenv zprofile .cshrc", "json": "a.json composer.lock",
		"make": "Makefile makefile GNUmakefile Makefile.am gnumakefile.in a.mk", "readme": "README README.md AREADME", "tf": "a.tf", "systemd": "a.service",
	} {
		match, err := typeFilter(kind)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range strings.Fields(files) {
			if !match("dir/" + name) {
				t.Errorf("%s is not of type %s", name, kind)
			}
		}
		if match("dir/a.other") || match("dir/xMakefile.other.go") {
			t.Errorf("type %s takes everything", kind)
		}
	}
}

func TestTypeTable(t *testing.T) {
	var names []string
	for line := range strings.Lines(typeTable) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		names = append(names, words[0])
		for _, word := range words[1:] {
			if _, err := path.Match(word, "x"); err != nil || len(words) < 2 {
				t.Errorf("%s: %s: %v", words[0], word, err)
			}
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("the types are not in order")
	}
}
