package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/search/walk"
)

// A ripgrep is an installed ripgrep program.
type ripgrep struct{ path string }

// A ripgrepError means that ripgrep cannot perform a search that the built-in engine can.
type ripgrepError struct{ text string }

func (e *ripgrepError) Error() string { return e.text }

const minVersion = 13

// chooseRipgrep returns the installed ripgrep if it should be used.
func (e *Engine) chooseRipgrep() (ripgrep, bool) {
	if e.Kind == Builtin {
		return ripgrep{}, false
	}
	rg, err := e.ripper()
	if err != nil && e.Kind == System {
		e.warn(err)
	}
	return rg, err == nil
}

// Describe names the search program. It returns an error if ripgrep was requested and is not
// used.
func (e *Engine) Describe() (string, error) {
	if e.Kind == Builtin {
		return "built in", nil
	}
	rg, err := e.ripper()
	switch {
	case err == nil:
		return "ripgrep, " + rg.path, nil
	case e.Kind == Auto:
		return "built in", nil
	}
	return "", fmt.Errorf("%w: the built-in search is used instead; install ripgrep, or set search.engine to builtin", err)
}

// warn reports, once, why the built-in engine is used instead of ripgrep.
func (e *Engine) warn(err error) {
	if e.Warn != nil {
		e.warned.Do(func() { e.Warn(fmt.Sprintf("%v: the built-in search is used instead", err)) })
	}
}

// findRipgrep looks for rg in PATH and checks its version. A repository cannot provide its own:
// programs in the current directory or a working directory, and relative PATH entries, are
// ignored.
func (e *Engine) findRipgrep() (ripgrep, error) {
	name := "rg"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if real, err := filepath.EvalSymlinks(path); err == nil && isProgram(real) && !e.planted(path) && !e.planted(real) {
			return e.checkVersion(path)
		}
	}
	return ripgrep{}, errors.New("no ripgrep (rg) in PATH")
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// planted reports whether a program may be part of the project.
func (e *Engine) planted(path string) bool {
	dirs := e.WorkDirs()
	if cwd, err := os.Getwd(); err == nil {
		dirs = append(dirs, cwd)
	}
	for _, dir := range dirs {
		if inside(dir, path) {
			return true
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && inside(real, path) {
			return true
		}
	}
	return false
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func (e *Engine) checkVersion(path string) (ripgrep, error) {
	var out bytes.Buffer
	_, err := e.runner.Run(context.Background(), osproc.Cmd{
		Path: path, Args: []string{"--version"}, Dir: filepath.Dir(path), Env: e.rgEnv(), Output: &out, Timeout: 5 * time.Second,
	})
	if err != nil {
		return ripgrep{}, fmt.Errorf("running %s: %w", path, err)
	}
	words := strings.Fields(out.String())
	if len(words) < 2 || words[0] != "ripgrep" {
		return ripgrep{}, fmt.Errorf("%s is not ripgrep", path)
	}
	major, _, _ := strings.Cut(words[1], ".")
	if n, err := strconv.Atoi(major); err != nil || n < minVersion {
		return ripgrep{}, fmt.Errorf("%s has version %s, older than %d", path, words[1], minVersion)
	}
	return ripgrep{path}, nil
}

// rgEnv returns ripgrep's environment, of which it needs almost nothing.
func (e *Engine) rgEnv() []string { return []string{"LC_ALL=C.UTF-8", "PATH=" + e.Getenv("PATH")} }

const (
	// maxArgs is the maximum size of the paths passed to one process in bytes, maxFiles the
	// maximum number of open files.
	maxArgs  = 16 << 10
	maxFiles = 256
	// byName makes ripgrep open the files itself, on systems where open files cannot be
	// inherited.
	byName = runtime.GOOS == "windows"
	// inherited is the path prefix of a process's open files.
	inherited = "/dev/fd/"
)

// spawn searches with ripgrep. The built-in walk selects the files, so that both engines search
// the same ones. ripgrep inherits open files: given names, it would open whichever files exist
// by then.
func (s *grep) spawn(ctx context.Context, rg ripgrep) outcome {
	r := &rgRun{worker: s.newWorker(), program: rg}
	var names []string
	size := 0
	flush := func() error {
		if len(names) == 0 {
			return nil
		}
		err := r.run(ctx, names)
		names, size = names[:0], 0
		return err
	}
	stats, err := walk.List(ctx, s.tree.walk, func(rels []string) error {
		for _, path := range rels {
			names = append(names, path)
			if size += len(path) + 8; byName && size >= maxArgs || !byName && len(names) == maxFiles {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return outcome{stats, err, errors.Is(err, errShort) || stats.Partial && err == nil}
}

// args returns ripgrep's options for the search.
func (s *grep) args() []string {
	args := []string{"--no-config", "--json", "--no-ignore", "--hidden", "--no-messages"}
	if s.tree.walk.Workers == 1 {
		args = append(args, "--threads=1")
	}
	if s.IgnoreCase {
		args = append(args, "--ignore-case")
	}
	if s.Multiline {
		args = append(args, "--multiline", "--multiline-dotall")
	}
	switch s.Mode {
	case Files:
		args = append(args, "--max-count=1")
	case Content:
		args = append(args, fmt.Sprintf("--before-context=%d", s.Before), fmt.Sprintf("--after-context=%d", s.After))
	}
	return append(args, "--regexp", s.Pattern, "--")
}

// openFiles opens files of the tree.
func (r *rgRun) openFiles(rels []string) error {
	for _, rel := range rels {
		f, err := paths.OpenReal(Join(r.tree.real, rel))
		switch {
		case err == nil:
			r.rels, r.files = append(r.rels, rel), append(r.files, f)
		case errors.Is(err, paths.ErrMoved), errors.Is(err, paths.ErrSpecial): // no longer a file in the tree
		default:
			if err := r.couldNot(err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rgRun) closeFiles() {
	for _, f := range r.files {
		f.Close()
	}
	r.rels, r.files = nil, nil
}

// run runs ripgrep on some files.
func (r *rgRun) run(ctx context.Context, rels []string) error {
	defer r.closeFiles()
	if err := r.openFiles(rels); err != nil || len(r.files) == 0 {
		return err
	}
	args := r.args()
	for i, rel := range r.rels {
		if byName {
			args = append(args, Join(r.tree.real, rel))
		} else {
			args = append(args, fmt.Sprint(inherited, 3+i))
		}
	}
	r.ctx, r.err = ctx, nil
	r.complaint.Reset()
	c := osproc.Cmd{Path: r.program.path, Args: args, Dir: filepath.Dir(r.program.path), Env: r.engine.rgEnv(), Output: r}
	if !byName {
		c.Files = r.files
	}
	exit, err := r.engine.runner.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.err != nil:
		return r.err
	case err != nil && walk.IsShort(err):
		return r.shortage()
	case err != nil:
		return &ripgrepError{fmt.Sprintf("running %s: %v", r.program.path, err)}
	case exit.Signal != "":
		return &ripgrepError{"ripgrep was ended by a signal: " + exit.Signal}
	case exit.Code == 2 && r.complaint.Len() > 0:
		text := r.complaint.String()
		if strings.Contains(text, "Resource temporarily unavailable") || strings.Contains(text, "Too many open files") {
			return r.shortage()
		}
		return &ripgrepError{"ripgrep says: " + strings.TrimSpace(text)}
	}
	return nil
}

// shortage restarts with one worker, or records that even that fails.
func (r *rgRun) shortage() error {
	if r.tree.walk.Workers != 1 {
		return errShort
	}
	r.found.short.Store(true)
	return nil
}
