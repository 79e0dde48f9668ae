package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/proc/cputime"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// maxSessionRuns bounds the repetitions with large files.
const maxSessionRuns = 7

// runSessions measures session files: resuming a large one, listing many, searching all, and
// writing to one.
func runSessions(runs int) error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return errors.New("no ripgrep (rg) to compare with")
	}
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &sessionBench{comparison{&bench{dir: dir, runs: runs}, rg}}
	fmt.Printf("%s/%s, %d cores, %s, %d runs, medians\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	for _, m := range []func() error{b.resume, b.list, b.search, b.append} {
		if err := m(); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

type sessionBench struct{ comparison }

// session writes a realistic session of about size bytes: prompts, answers with calls, results.
func (b *sessionBench) session(home, project, id string, size int64) (path string, err error) {
	l, err := store.Open(store.Options{Home: home, Dir: project, Session: id, Version: "bench", Branch: "main", NoSync: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	const code = "\tif err := f.Sync(); err != nil {\n\t\treturn fmt.Errorf(\"syncing %s: %w\", path, err)\n\t}\n"
	parent, written := "", int64(0)
	add := func(e msg.Entry) {
		e.ID, e.Parent, e.Time = msg.NewID(), parent, time.Now()
		parent = e.ID
		err = errors.Join(err, l.Append(e))
		written += 600 + int64(len(e.Message.Text()))
	}
	for n := 0; written < size && err == nil; n++ {
		use := fmt.Sprintf("toolu_%d", n)
		result := strings.Repeat(code, 20+n%50)
		add(msg.Entry{Message: msg.UserText(fmt.Sprintf("Please look at file %d of %s and say what is wrong with it.", n, id))})
		add(msg.Entry{Model: "bench", Stop: "tool_use", Usage: &msg.Usage{Input: 1, Output: 2},
			Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{
				&msg.Text{Text: strings.Repeat("I will read the file. ", 10)},
				&msg.ToolUse{ID: use, Name: "Read", Input: json.RawMessage(`{"file_path":"/work/app/main.go","offset":1}`)},
			}}})
		add(msg.Entry{Message: msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.ToolResult{ID: use, Parts: []msg.Part{&msg.Text{Text: result}}},
		}}})
		written += int64(len(result))
	}
	return l.Path(), err
}

// resume compares resuming with decoding every line of the same file once.
func (b *sessionBench) resume() error {
	path, err := b.session(filepath.Join(b.dir, "one"), "/work/app", "s", 49_000_000)
	if err != nil {
		return err
	}
	var once, resumed []time.Duration
	for range min(b.runs, maxSessionRuns) {
		err := timed(&once, func() error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var entries []msg.Entry
			for line := range bytes.Lines(data) {
				e, err := (&store.Record{Line: line}).Entry()
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = timed(&resumed, func() error {
			c, err := store.Load(path, store.LoadOptions{})
			if err == nil && c.Other+c.Bad > 0 {
				err = fmt.Errorf("%d records are missing", c.Other+c.Bad)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	b.report(fmt.Sprintf("resuming 50 MB, %.0f ms, to decoding it once", median(resumed)), "", median(resumed)/median(once), 2)
	return nil
}

const listedSessions = 5000

// list measures listing with and without the index.
func (b *sessionBench) list() error {
	home := filepath.Join(b.dir, "many")
	for n := range listedSessions {
		if _, err := b.session(home, fmt.Sprintf("/work/app%d", n%40), msg.NewID(), int64(5_000+n%20*5_000)); err != nil {
			return err
		}
	}
	index := filepath.Join(store.Projects(home), ".index")
	var cold, warm []time.Duration
	list := func() error {
		infos, err := archive.List(home, archive.ListOptions{})
		if err == nil && len(infos) != listedSessions {
			err = fmt.Errorf("%d of %d sessions are listed", len(infos), listedSessions)
		}
		return err
	}
	var coldCPU, warmCPU []time.Duration
	measured := func(to, cpu *[]time.Duration) error {
		before := cputime.Used()
		err := timed(to, list)
		*cpu = append(*cpu, cputime.Used()-before)
		return err
	}
	for range b.runs {
		if err := os.Remove(index); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := errors.Join(measured(&cold, &coldCPU), measured(&warm, &warmCPU)); err != nil {
			return err
		}
	}
	b.report(fmt.Sprintf("listing 5,000 sessions without an index, cpu %.0f ms", median(coldCPU)), " ms", median(cold), 150)
	b.report(fmt.Sprintf("listing 5,000 sessions with it, cpu %.0f ms", median(warmCPU)), " ms", median(warm), 20)
	return nil
}

// search compares searching one gigabyte with ripgrep for the same bytes.
func (b *sessionBench) search() error {
	home := filepath.Join(b.dir, "gigabyte")
	for n := range 200 {
		if _, err := b.session(home, "/work/app", fmt.Sprintf("s%d", n), 5_400_000); err != nil {
			return err
		}
	}
	runs := b.runs
	defer func() { b.runs = runs }()
	b.runs = min(runs, maxSessionRuns)
	for _, q := range []struct{ name, text string }{
		{"search 1 GB, in no session", "flux capacitor"},
		{"search 1 GB, in one session", "of s77 and"},
		{"search 1 GB, in every session", "Please look"},
	} {
		_, err := b.ratio(q.name, 2, func() error {
			for _, err := range archive.Search(context.Background(), home, archive.Query{Text: q.text}) {
				if err != nil {
					return err
				}
			}
			return nil
		}, "-l", "-i", "-F", q.text, store.Projects(home))
		if err != nil {
			return err
		}
	}
	return nil
}

// append measures writing a one-kilobyte record, without waiting for the disk.
func (b *sessionBench) append() error {
	l, err := store.Open(store.Options{Home: filepath.Join(b.dir, "log"), Dir: "/work/app", Session: "s", NoSync: true})
	if err != nil {
		return err
	}
	defer l.Close() // ok: the file goes away
	e := msg.Entry{ID: msg.NewID(), Time: time.Now(), Message: msg.UserText(strings.Repeat("x", 1000))}
	const records = 5000
	var all []time.Duration
	for range b.runs {
		err := timed(&all, func() error {
			for range records {
				if err := l.Append(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	b.report("appending a record of 1 KB", " us", median(all)*1000/records, 20)
	return nil
}
