package library

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/domain/skill"
)

// manySkills creates 1,000 skills: 100 of the user, and three in each directory of 300 plugins.
func manySkills(tb testing.TB) func() []Root {
	tb.Helper()
	home := tb.TempDir()
	write := func(dir string, n int) {
		for i := range n {
			name := filepath.Join(dir, fmt.Sprintf("skill-%d", i))
			os.MkdirAll(name, 0o755)
			text := fmt.Sprintf("---\nname: skill-%d\ndescription: Does the %d. of many things, and says when it is to be used, with some words more\nallowed-tools: Bash(git status), Read\n---\n\n# Skill\n\nSteps.\n", i, i)
			for range 20 {
				text += "A line of text that says what the model is to do in this step.\n"
			}
			if err := os.WriteFile(filepath.Join(name, "SKILL.md"), []byte(text), 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
	roots := []Root{{Dir: filepath.Join(home, "skills"), Origin: skill.Origin{Kind: skill.User}}}
	write(roots[0].Dir, 100)
	for i := range 300 {
		r := Root{Dir: filepath.Join(home, "plugins", "cache", "market", fmt.Sprintf("p%d", i), "1.0.0", "skills"), Origin: skill.Origin{Kind: skill.Plugin, By: fmt.Sprint("p", i)}, Prefix: fmt.Sprintf("p%d:", i)}
		write(r.Dir, 3)
		roots = append(roots, r)
	}
	return func() []Root { return roots }
}

func BenchmarkCold(b *testing.B) {
	roots := manySkills(b)
	for b.Loop() {
		l := Open(Config{Roots: roots})
		if n := len(l.Set(context.Background()).Skills); n != 1000 {
			b.Fatal(n)
		}
		l.Close()
	}
}

func BenchmarkWarm(b *testing.B) {
	roots := manySkills(b)
	index := filepath.Join(b.TempDir(), "index")
	l := Open(Config{Roots: roots, Index: index})
	l.Set(context.Background())
	age(b, l)
	l.Close()
	saveIndex(b, index, l.scanner.known)
	b.ResetTimer()
	for b.Loop() {
		l := Open(Config{Roots: roots, Index: index})
		if n := len(l.Set(context.Background()).Skills); n != 1000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkEarly(b *testing.B) {
	roots := manySkills(b)
	index := filepath.Join(b.TempDir(), "index")
	l := Open(Config{Roots: roots, Index: index})
	l.Set(context.Background())
	age(b, l)
	l.Close()
	saveIndex(b, index, l.scanner.known)
	b.ResetTimer()
	for b.Loop() {
		l := Open(Config{Roots: roots, Index: index})
		if n := len(l.Early(context.Background()).Skills); n != 1000 {
			b.Fatal(n)
		}
		b.StopTimer()
		l.Close()
		b.StartTimer()
	}
}

func BenchmarkPoll(b *testing.B) {
	roots := manySkills(b)
	l := Open(Config{Roots: roots})
	l.Set(context.Background())
	age(b, l)
	b.ResetTimer()
	for b.Loop() {
		l.lookAgain()
	}
}
