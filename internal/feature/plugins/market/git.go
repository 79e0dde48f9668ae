package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"adze/internal/domain/plugin"
	"adze/internal/platform/proc/osproc"
)

// fetchTime bounds a fetch, and askTime a query of the fetched repository.
const (
	fetchTime = 10 * time.Minute
	askTime   = 2 * time.Minute
	watchTime = 200 * time.Millisecond
)

// A git fetches commits from repositories. It never checks out a repository: files are read one
// by one, so that no hook, filter or submodule takes effect.
type git struct {
	run     *osproc.Runner
	environ func() []string
	report  func(string) // may be nil
	max     int64        // limit on fetched bytes, compressed
}

// program returns git's path and the environment to run it in. Of the user's git configuration,
// only settings for reaching repositories apply.
func (g *git) program(protocols string) (path string, env []string, err error) {
	var dirs []string
	for _, entry := range osproc.ScrubEnv(g.environ()) {
		name, value, _ := strings.Cut(entry, "=")
		switch upper := strings.ToUpper(name); {
		case upper == "PATH":
			dirs = slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !filepath.IsAbs(dir) })
			continue
		case slices.Contains([]string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}, upper):
		case strings.HasPrefix(upper, "GIT_"), upper == "SSH_ASKPASS", strings.HasPrefix(upper, "LC_"), upper == "LANGUAGE":
			continue
		}
		env = append(env, entry)
	}
	for _, dir := range dirs {
		if path, err = exec.LookPath(filepath.Join(dir, "git")); err == nil {
			break
		}
	}
	if path == "" || err != nil {
		return "", nil, errors.New("git is not installed, and repositories cannot be fetched without it")
	}
	return path, append(env, "PATH="+strings.Join(dirs, string(os.PathListSeparator)), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"GIT_ALLOW_PROTOCOL="+protocols, "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ADVICE=0"), nil
}

// settings returns configuration that overrides all config files.
func settings() []string {
	none := "/dev/null"
	if runtime.GOOS == "windows" {
		none = "NUL"
	}
	var args []string
	for _, s := range []string{
		"core.hooksPath=" + none, "core.fsmonitor=", "core.askPass=", "core.attributesFile=" + none, "core.alternateRefsCommand=", "credential.interactive=false", "submodule.recurse=false",
		"fetch.recurseSubmodules=false", "fetch.unpackLimit=1", "transfer.unpackLimit=1", "transfer.bundleURI=false", "fetch.writeCommitGraph=false", "gc.auto=0", "maintenance.auto=false",
		"http.lowSpeedLimit=1000", "http.lowSpeedTime=60", "http.followRedirects=false", "uploadpack.packObjectsHook=",
		"core.bigFileThreshold=16m", // don't hold larger files in memory
	} {
		args = append(args, "-c", s)
	}
	return args
}

// A gitCommand is a git invocation.
type gitCommand struct {
	dir       string // bare repository directory
	protocols string // allowed protocols
	args      []string
	input     []byte
	output    func(p []byte) error // may be nil
	progress  bool
	timeout   time.Duration
}

// ask runs git. The error includes git's error output.
func (g *git) ask(ctx context.Context, q gitCommand) error {
	path, env, err := g.program(q.protocols)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	said := &tail{}
	if q.progress {
		said.report = g.report
	}
	out := writerFunc(func(p []byte) (int, error) {
		if q.output == nil {
			return len(p), nil
		}
		if err := q.output(p); err != nil {
			cancel(err)
			return 0, err
		}
		return len(p), nil
	})
	exit, err := g.run.Run(ctx, osproc.Cmd{Path: path, Args: slices.Concat(settings(), []string{"--git-dir=" + q.dir}, q.args), Dir: filepath.Dir(q.dir), Env: env,
		Input: q.input, Output: out, Errors: said, Timeout: q.timeout})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case err != nil:
		return err
	case exit.TimedOut:
		return fmt.Errorf("git took longer than %v, and was stopped", q.timeout)
	case exit.Code != 0:
		return fmt.Errorf("git: %s%s", said, redirectHint(said))
	}
	return nil
}

// redirected matches git's error for an HTTP redirect.
var redirected = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`returned error: 30\d`)
})

// redirectHint returns a hint for the user if the server redirected. Redirects are not followed
// because the user approved only the original address.
func redirectHint(said *tail) string {
	if !redirected().MatchString(said.String()) {
		return ""
	}
	return "; the server sends to another address, which is not followed: if the repository has moved, name its new address"
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A tail keeps the end of git's error output and reports progress.
type tail struct {
	report func(string) // may be nil
	line   []byte
	last   []string
}

// maxLine bounds a line of git's output, and maxLines the number of lines kept.
const (
	maxLine  = 300
	maxLines = 4
)

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			t.end()
		case len(t.line) < maxLine:
			t.line = append(t.line, c)
		}
	}
	return len(p), nil
}

func (t *tail) end() {
	line := strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(t.line), "")))
	t.line = t.line[:0]
	switch {
	case line == "":
	case strings.HasPrefix(line, "Receiving objects:") || strings.HasPrefix(line, "Resolving deltas:"):
		if t.report != nil {
			t.report(line)
		}
	case strings.HasPrefix(line, "remote: Enumerating") || strings.HasPrefix(line, "remote: Counting") || strings.HasPrefix(line, "remote: Compressing") || strings.HasPrefix(line, "remote: Total"):
	default:
		if t.last = append(t.last, line); len(t.last) > maxLines {
			t.last = t.last[1:]
		}
	}
}

// String returns the last lines.
func (t *tail) String() string {
	t.end()
	if len(t.last) == 0 {
		return "it failed without an error message"
	}
	return strings.Join(t.last, "; ")
}

// fetch fetches one commit of a repository into dir, which it creates, and returns the commit.
func (g *git) fetch(ctx context.Context, src plugin.Source, dir string) (commit string, err error) {
	protocols := "https:ssh"
	if filepath.IsAbs(src.At) {
		protocols = "file"
	}
	if err := g.ask(ctx, gitCommand{dir: dir, args: []string{"init", "--quiet", "--bare", "--template="}, timeout: askTime}); err != nil {
		return "", err
	}
	want := "HEAD"
	switch {
	case src.SHA != "":
		want = src.SHA
	case src.Ref != "":
		want = src.Ref
	}
	fetching, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		g.watch(fetching, dir, cancel)
	}()
	err = g.ask(fetching, gitCommand{dir: dir, protocols: protocols, progress: true, timeout: fetchTime, args: []string{
		"fetch", "--progress", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--refmap=", "--", src.At, "+" + want + ":refs/adze/fetched"}})
	if err == nil && size(dir) > g.max {
		err = g.tooLarge()
	}
	cancel(nil)
	<-watching
	if err != nil {
		return "", fmt.Errorf("fetching %s: %w", src, err)
	}
	var out bytes.Buffer
	err = g.ask(ctx, gitCommand{dir: dir, timeout: askTime, output: keep(&out, 100), args: []string{"rev-parse", "--verify", "--quiet", "refs/adze/fetched^{commit}"}})
	commit = strings.TrimSpace(out.String())
	switch {
	case err != nil:
		return "", fmt.Errorf("fetching %s: %w", src, err)
	case checkSHA(commit) != nil || commit == "":
		return "", fmt.Errorf("fetching %s: git answered %q", src, commit)
	case src.SHA != "" && commit != src.SHA:
		return "", fmt.Errorf("fetching %s: the marketplace asks for commit %s, and the repository has %s", src, src.SHA, commit)
	}
	return commit, nil
}

// tooLarge returns the error for a repository over the size limit.
func (g *git) tooLarge() error {
	return fmt.Errorf("the repository has more than %d MB", g.max>>20)
}

// watch cancels a fetch that exceeds the size limit.
func (g *git) watch(ctx context.Context, dir string, cancel context.CancelCauseFunc) {
	t := time.NewTicker(watchTime)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if size(dir) > g.max {
				cancel(g.tooLarge())
				return
			}
		}
	}
}

// size returns the total size of the files in a directory.
func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // ok: git renames files concurrently
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// keep returns an output function that appends to b, up to max bytes.
func keep(b *bytes.Buffer, max int) func([]byte) error {
	return func(p []byte) error {
		if b.Len()+len(p) > max {
			return errors.New("git returned more output than expected")
		}
		b.Write(p)
		return nil
	}
}
