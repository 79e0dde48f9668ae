package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/skill"
	"adze/internal/skill/library"
)

// Figures of finding skills: 100 of the user and three of each of 300 plugins.
const (
	ownSkills    = 100
	skillPlugins = 300
	pluginSkills = 3
	skillsCold   = 10 * time.Millisecond
	skillsWarm   = 2 * time.Millisecond
	skillsPoll   = 2 * time.Millisecond
	skillsMemory = 6.0 // MB
	coldRatio    = 1.5 // against reading the same files one after the other
	warmRatio    = 2.0 // against asking for the times of the same files and folders, one after the other
	// skillsAge is how old files must be for their times to tell versions apart.
	skillsAge = 2100 * time.Millisecond
)

// runSkills measures how long a start takes to know all skills: without an index, with one, and a look for changes. It
// reports the best of the runs, since others use the machine too.
func runSkills(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &skillTree{index: filepath.Join(dir, "index")}
	if err := s.make(dir); err != nil {
		return err
	}
	time.Sleep(skillsAge)
	b := &bench{}
	fmt.Printf("%s/%s, %d cores, %s, %d skills, %d runs, the best\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), len(s.files), runs)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	if _, _, err := s.open(s.index); err != nil {
		return err
	}
	var reads, stats, cold, early, warm, poll []time.Duration
	for range runs {
		for _, m := range []struct {
			to      *[]time.Duration
			measure func() (time.Duration, error)
		}{
			{&reads, s.reads}, {&stats, s.stats}, {&poll, s.poll},
			{&cold, func() (time.Duration, error) { took, _, err := s.open(""); return took, err }},
			{&early, s.early},
			{&warm, func() (time.Duration, error) { took, _, err := s.open(s.index); return took, err }},
		} {
			runtime.GC()
			took, err := m.measure()
			if err != nil {
				return err
			}
			*m.to = append(*m.to, took)
		}
	}
	best := func(list []time.Duration) float64 { return float64(slices.Min(list)) / float64(time.Millisecond) }
	b.report("reading the files, one after the other", " ms", best(reads), 0)
	b.report("asking for their times, one after the other", " ms", best(stats), 0)
	b.report("without an index", " ms", best(cold), float64(skillsCold)/float64(time.Millisecond))
	b.report("with an index", " ms", best(early), float64(skillsWarm)/float64(time.Millisecond))
	b.report("with an index, after a look at every file", " ms", best(warm), 0)
	b.report("a look for changes", " ms", best(poll), float64(skillsPoll)/float64(time.Millisecond))
	b.report("without an index, against reading the files", "x", best(cold)/best(reads), coldRatio)
	b.report("with a look at every file, against asking for the times", "x", best(warm)/best(stats), warmRatio)
	_, memory, err := s.open("")
	if err != nil {
		return err
	}
	b.report("memory", " MB", memory, skillsMemory)
	reportCompletion(b, runs)
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// A skillTree is folders with skills.
type skillTree struct {
	roots []library.Root
	files []string
	index string
}

// make writes the skills below dir.
func (s *skillTree) make(dir string) error {
	body := "\n# Steps\n\n" + strings.Repeat("A line that says what the model is to do in this step.\n", 40)
	add := func(root library.Root, n int) error {
		s.roots = append(s.roots, root)
		for i := range n {
			path := filepath.Join(root.Dir, fmt.Sprintf("skill-%d", i), "SKILL.md")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			head := fmt.Sprintf("---\nname: skill-%d\ndescription: Does one of many things, and says when it is to be used. Use when the user asks for thing %d.\n"+
				"allowed-tools: Bash(git status), Read\n---\n", i, i)
			if err := os.WriteFile(path, []byte(head+body), 0o644); err != nil {
				return err
			}
			s.files = append(s.files, path)
		}
		return nil
	}
	if err := add(library.Root{Dir: filepath.Join(dir, "home", "skills"), Origin: skill.Origin{Kind: skill.User}}, ownSkills); err != nil {
		return err
	}
	for i := range skillPlugins {
		name := fmt.Sprintf("plugin-%d", i)
		root := library.Root{
			Dir: filepath.Join(dir, "home", "plugins", "cache", "market", name, "1.0.0", "skills"), Prefix: name + ":",
			Origin: skill.Origin{Kind: skill.Plugin, By: name},
		}
		if err := add(root, pluginSkills); err != nil {
			return err
		}
	}
	return nil
}

// open returns how long it takes to know all skills, and how much memory they take, in MB.
func (s *skillTree) open(index string) (time.Duration, float64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	l := library.Open(library.Config{Roots: func() []library.Root { return s.roots }, Index: index})
	set := l.Set(context.Background())
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	l.Close()
	if n := len(set.Skills); n != len(s.files) {
		return 0, 0, fmt.Errorf("%d skills of %d were found", n, len(s.files))
	}
	return took, (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / (1 << 20), nil
}

// early returns how long it takes to know all skills before every file is looked at.
func (s *skillTree) early() (time.Duration, error) {
	began := time.Now()
	l := library.Open(library.Config{Roots: func() []library.Root { return s.roots }, Index: s.index})
	set := l.Early(context.Background())
	took := time.Since(began)
	l.Close()
	if n := len(set.Skills); n != len(s.files) {
		return 0, fmt.Errorf("%d skills of %d were found", n, len(s.files))
	}
	return took, nil
}

// poll returns how long a look takes that finds nothing new.
func (s *skillTree) poll() (time.Duration, error) {
	l := library.Open(library.Config{Roots: func() []library.Root { return s.roots }, Index: s.index})
	defer l.Close()
	set := l.Set(context.Background())
	began := time.Now()
	if l.Refresh(context.Background()) != set {
		return 0, fmt.Errorf("the skills changed")
	}
	return time.Since(began), nil
}

// reads returns how long a program takes that only lists the folders and reads the files.
func (s *skillTree) reads() (time.Duration, error) {
	began := time.Now()
	for _, root := range s.roots {
		if _, err := os.ReadDir(root.Dir); err != nil {
			return 0, err
		}
	}
	for _, path := range s.files {
		if _, err := os.ReadFile(path); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// stats returns how long a program takes that only asks for the times of the folders and files.
func (s *skillTree) stats() (time.Duration, error) {
	began := time.Now()
	for _, root := range s.roots {
		if _, err := os.Stat(root.Dir); err != nil {
			return 0, err
		}
	}
	for _, path := range s.files {
		if _, err := os.Stat(path); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
