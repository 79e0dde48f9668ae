package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/roster"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/term"
)

const (
	// maxStderr limits the bytes kept of a program's standard error.
	maxStderr = 64 << 10
	// queueSize is the number of messages queued for a program that does not read.
	queueSize = 64
	// shownStderr is the number of characters of it shown in an error.
	shownStderr = 600
)

// A stdio is a server program that communicates over standard input and output.
type stdio struct {
	*wire
	cmd    osproc.Cmd
	runner *osproc.Runner
	stderr tail
	rest   page // incomplete line of standard output
	queue  chan []byte

	mu      sync.Mutex
	program *osproc.Program // nil before the start
	stopped bool
}

func (d *Dialer) stdio(e *roster.Entry, s *violations) (*stdio, error) {
	env := slices.Clone(d.Env)
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		env = setenv(env, name, e.Env[name])
	}
	name, args := e.Command, e.Args
	if runtime.GOOS == "windows" && strings.EqualFold(strings.TrimSuffix(filepath.Base(name), ".cmd"), "npx") {
		name, args = "cmd", append([]string{"/c", name}, args...)
	}
	path, err := find(name, getenv(env, "PATH"), d.Dir)
	if err != nil {
		return nil, err
	}
	p := &stdio{wire: newWire(s), runner: d.Runner, queue: make(chan []byte, queueSize)}
	p.cmd = osproc.Cmd{Path: path, Name: name, Args: args, Dir: d.Dir, Env: env, Output: (*stdout)(p), Errors: &p.stderr, Reaped: true, NoCore: true}
	p.send = p.enqueue
	p.shut = func() { go p.stop() }
	return p, nil
}

// Connect implements [sdk.Transport]. It starts the program.
func (p *stdio) Connect(context.Context) (sdk.Connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, errClosed
	}
	program, err := p.runner.Start(p.cmd)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.cmd.Name, err)
	}
	p.program = program
	go p.write(program)
	go func() {
		<-program.Done()
		p.fail(p.ended(program.Exit()))
	}()
	return p.wire, nil
}

// stop ends the program within 600 ms.
func (p *stdio) stop() {
	p.mu.Lock()
	program, before := p.program, p.stopped
	p.stopped = true
	p.mu.Unlock()
	if program != nil && !before {
		program.Stop()
	}
	p.fail(errClosed)
}

// enqueue queues a message without waiting for the program to read it.
func (p *stdio) enqueue(ctx context.Context, data []byte) error {
	select {
	case p.queue <- append(data, '\n'):
		return nil
	case <-p.gone:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *stdio) write(program *osproc.Program) {
	for {
		select {
		case data := <-p.queue:
			if _, err := program.Write(data); err != nil {
				return // the program's exit explains the error
			}
		case <-p.gone:
			return
		}
	}
}

// ended returns an error describing the program's exit.
func (p *stdio) ended(exit osproc.Exit) error {
	how := fmt.Sprintf("with exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "by a signal: " + exit.Signal
	}
	text := fmt.Sprintf("the program %s ended %s", line(p.cmd.Name, nameLimit), how)
	if said := lastWords(p.log()); said != "" {
		text += "; it printed: " + said
	}
	return errors.New(text)
}

// lastWords returns the end of a log, for an error message.
func lastWords(log string) string {
	log = strings.TrimSpace(log)
	if len(log) > shownStderr {
		log = "…" + strings.ToValidUTF8(log[len(log)-shownStderr:], "")
	}
	return log
}

func (p *stdio) log() string { return visible(p.stderr.String()) }

// stdout receives the program's standard output and delivers its messages.
type stdout stdio

func (p *stdout) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		text, rest, ended := bytes.Cut(b, []byte("\n"))
		p.rest.add(text)
		if p.rest.skipped > maxSkipped {
			p.fail(errTooLarge)
		}
		if ended {
			p.end()
		}
		b = rest
	}
	return n, nil
}

// end delivers a complete line. For an oversized line, only the request that it answers fails.
func (p *stdout) end() {
	rest := p.rest
	p.rest = page{}
	if data, ok := rest.line(); ok {
		p.deliver(data)
		return
	}
	id, err := rest.answers()
	if err != nil {
		p.fail(err)
		return
	}
	p.pass(tooLarge(id))
}

// A tail keeps the end of the data written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-maxStderr):]...)
	if len(t.buf) > 2*maxStderr {
		t.buf = append([]byte(nil), t.buf[len(t.buf)-maxStderr:]...)
	}
	return len(b), nil
}

// String returns the end as text without control sequences.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return term.Strip(strings.ToValidUTF8(string(t.buf[max(0, len(t.buf)-maxStderr):]), ""))
}

// find looks up a command's program in the directories in path.
func find(name, path, dir string) (string, error) {
	if runtime.GOOS == "windows" {
		return exec.LookPath(name)
	}
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := executable(name); err != nil {
			return "", fmt.Errorf("the program %s cannot be started: %w", line(name, uriLimit), err)
		}
		return name, nil
	}
	for _, place := range filepath.SplitList(path) {
		if !filepath.IsAbs(place) {
			continue // the user's program is wanted, not the project's
		}
		if file := filepath.Join(place, name); executable(file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("program %s not found in PATH (%s); install it or give its full path", line(name, nameLimit), cmp.Or(path, "empty"))
}

// executable returns the reason a file is not executable, or nil.
func executable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("it is a directory")
	case info.Mode()&0o111 == 0:
		return os.ErrPermission
	}
	return nil
}

func setenv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(entry string) bool { return sameName(entry, name) })
	return append(env, name+"="+value)
}

func getenv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if sameName(entry, name) {
			return entry[len(name)+1:]
		}
	}
	return ""
}

// sameName reports whether an environment entry sets the named variable.
func sameName(entry, name string) bool {
	have, _, _ := strings.Cut(entry, "=")
	return have == name || runtime.GOOS == "windows" && strings.EqualFold(have, name)
}

// reason returns the reason the connection broke, or nil.
func (p *stdio) reason() error {
	select {
	case <-p.gone:
		return p.err
	default:
		return nil
	}
}
