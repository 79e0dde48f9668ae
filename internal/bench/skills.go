package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
)

// Limits for finding skills: 100 of the user and three in each of 300 plugins.
const (
	ownSkills    = 100
	skillPlugins = 300
	pluginSkills = 3
	skillsCold   = 10 * time.Millisecond
	skillsWarm   = 2 * time.Millisecond
	skillsPoll   = 2 * time.Millisecond
	skillsMemory = 6.0 // MB
	coldRatio    = 1.5 // relative to reading the same files sequentially
	warmRatio    = 2.0 // relative to calling stat on the same files and directories sequentially
	// skillsAge is the minimum age of files whose stamps distinguish versions.
	skillsAge = 2100 * time.Millisecond
)

// runSkills measures how long a start takes to know all skills, without an index, with one, and
// for a scan for changes; and the overhead of skills and plugins in a session's first request.
// It reports the best run, because the machine may be shared, and the CPU time, which depends
// less on other load.
func runSkills(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	s := &skillTree{index: filepath.Join(dir, "index")}
	if err := s.make(filepath.Join(dir, "tree"), skillPlugins); err != nil {
		return err
	}
	time.Sleep(skillsAge)
	fmt.Printf("%s/%s, %d cores, %s, %d skills, %d runs, the best\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), len(s.files), runs)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	if err := s.look(b, runs); err != nil {
		return err
	}
	if err := runPlugins(b, runs); err != nil {
		return err
	}
	reportCompletion(b, runs)
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// look measures scans for skills.
func (s *skillTree) look(b *bench, runs int) error {
	if _, _, err := s.open(s.index); err != nil {
		return err
	}
	var reads, stats, cold, early, warm, poll timing
	for range runs {
		for _, m := range []struct {
			to      *timing
			measure func() (timing, error)
		}{
			{&reads, s.reads}, {&stats, s.stats}, {&poll, s.poll},
			{&cold, func() (timing, error) { took, _, err := s.open(""); return took, err }},
			{&early, s.early},
			{&warm, func() (timing, error) { took, _, err := s.open(s.index); return took, err }},
		} {
			runtime.GC()
			took, err := m.measure()
			if err != nil {
				return err
			}
			m.to.least(took)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.report("reading the files, one after the other", " ms", ms(reads.wall), 0)
	b.report("asking for their times, one after the other", " ms", ms(stats.wall), 0)
	b.report("without an index", " ms", ms(cold.wall), ms(skillsCold))
	b.report("without an index, processor", " ms", ms(cold.cpu), 0)
	b.report("with an index, names alone", " ms", ms(early.wall), ms(skillsWarm))
	b.report("with an index, after a look at every file", " ms", ms(warm.wall), 0) // runs alongside the first request; limited by the ratio below
	b.report("with an index, after a look at every file, processor", " ms", ms(warm.cpu), 0)
	b.report("a look for changes", " ms", ms(poll.wall), ms(skillsPoll))
	b.report("without an index, against reading the files", "x", ms(cold.wall)/ms(reads.wall), coldRatio)
	b.report("with a look at every file, against asking for the times", "x", ms(warm.wall)/ms(stats.wall), warmRatio)
	_, memory, err := s.open("")
	if err != nil {
		return err
	}
	b.report("memory", " MB", memory, skillsMemory)
	return nil
}

// A timing is the wall and CPU time of something.
type timing struct{ wall, cpu time.Duration }

// least keeps the minimum of both times independently.
func (s *timing) least(took timing) {
	if *s == (timing{}) {
		*s = took
	}
	s.wall, s.cpu = min(s.wall, took.wall), min(s.cpu, took.cpu)
}

// timeOf returns the time that do takes.
func timeOf(do func() error) (timing, error) {
	used, began := cpuTime(), time.Now()
	err := do()
	return timing{time.Since(began), cpuTime() - used}, err
}

// A skillTree is a set of directories with skills.
type skillTree struct {
	roots []library.Root
	files []string
	index string
}

// make writes user skills below dir, and plugin skills.
func (s *skillTree) make(dir string, plugins int) error {
	add := func(root library.Root, n int) error {
		s.roots = append(s.roots, root)
		for i := range n {
			path := filepath.Join(root.Dir, fmt.Sprintf("skill-%d", i), "SKILL.md")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(skillText(i)), 0o644); err != nil {
				return err
			}
			s.files = append(s.files, path)
		}
		return nil
	}
	if err := add(library.Root{Dir: filepath.Join(dir, "skills"), Origin: skill.Origin{Kind: skill.User}}, ownSkills); err != nil {
		return err
	}
	for i := range plugins {
		name := fmt.Sprintf("plugin-%d", i)
		root := library.Root{
			Dir: filepath.Join(dir, "plugins", "cache", "market", name, "1.0.0", "skills"), Prefix: name + ":",
			Origin: skill.Origin{Kind: skill.Plugin, By: name}, Fixed: true,
		}
		if err := add(root, pluginSkills); err != nil {
			return err
		}
	}
	return nil
}

// open returns the time to know all skills, and their memory in MB.
func (s *skillTree) open(index string) (timing, float64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var l *library.Library
	var set *library.Set
	took, _ := timeOf(func() error { // ok: it fails below
		l = library.Open(library.Config{Roots: func() []library.Root { return s.roots }, Index: index})
		set = l.Set(context.Background())
		return nil
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	l.Close()
	return took, (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / (1 << 20), s.complete(set)
}

// complete returns an error if a set lacks any skill.
func (s *skillTree) complete(set *library.Set) error {
	if n := len(set.Skills); n != len(s.files) {
		return fmt.Errorf("%d skills of %d were found", n, len(s.files))
	}
	return nil
}

// early returns the time to know all skills before every file is checked.
func (s *skillTree) early() (timing, error) {
	var l *library.Library
	took, err := timeOf(func() error {
		l = library.Open(library.Config{Roots: func() []library.Root { return s.roots }, Index: s.index})
		return s.complete(l.Early(context.Background()))
	})
	l.Close()
	return took, err
}

// poll returns the time of a scan that finds nothing new.
func (s *skillTree) poll() (timing, error) {
	l := library.Open(library.Config{Roots: func() []library.Root { return s.roots }, Index: s.index})
	defer l.Close()
	set := l.Set(context.Background())
	return timeOf(func() error {
		if l.Refresh(context.Background()) != set {
			return errors.New("the skills changed")
		}
		return nil
	})
}

// reads returns the time to only list the directories and read the files.
func (s *skillTree) reads() (timing, error) {
	return timeOf(func() error {
		for _, root := range s.roots {
			if _, err := os.ReadDir(root.Dir); err != nil {
				return err
			}
		}
		for _, path := range s.files {
			if _, err := os.ReadFile(path); err != nil {
				return err
			}
		}
		return nil
	})
}

// stats returns the time to only call stat on the directories and files.
func (s *skillTree) stats() (timing, error) {
	return timeOf(func() error {
		for _, root := range s.roots {
			if _, err := os.Stat(root.Dir); err != nil {
				return err
			}
		}
		for _, path := range s.files {
			if _, err := os.Stat(path); err != nil {
				return err
			}
		}
		return nil
	})
}
