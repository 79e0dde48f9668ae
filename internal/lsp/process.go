package lsp

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

const (
	// maxStderr limits the bytes kept of a server's standard error.
	maxStderr = 8 << 10
	// maxShown limits the characters of it shown in an error.
	maxShown = 300
	// maxQueued limits the bytes queued for a server that does not read.
	maxQueued = 16 << 20
)

// A process is a running server.
type process struct {
	*conn
	name    string
	program *osproc.Program
	stderr  tail

	mu     sync.Mutex
	queue  [][]byte
	queued int
	wake   chan struct{}
}

// start starts the program. Its connection closes when it exits.
func start(runner *osproc.Runner, cmd osproc.Cmd, c *conn) (*process, error) {
	p := &process{conn: c, name: cmd.Name, wake: make(chan struct{}, 1)}
	c.send = p.enqueue
	cmd.Output = &frameReader{deliver: c.receive, fail: func(err error) { c.close(fmt.Errorf("%s: %w", cmd.Name, err)) }}
	cmd.Errors = &p.stderr
	cmd.Reaped, cmd.NoCore = true, true
	program, err := runner.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Name, err)
	}
	p.program = program
	go p.write()
	go func() {
		<-program.Done()
		c.close(p.ended(program.Exit()))
	}()
	return p, nil
}

// enqueue queues data without waiting for the server to read it.
func (p *process) enqueue(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued += len(data); p.queued > maxQueued {
		err := fmt.Errorf("%s does not read its input", p.name)
		p.queue = nil
		go p.close(err)
		return err
	}
	p.queue = append(p.queue, data)
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

// write writes the queue to the server.
func (p *process) write() {
	for {
		select {
		case <-p.wake:
		case <-p.gone:
			return
		}
		for {
			p.mu.Lock()
			if len(p.queue) == 0 {
				p.mu.Unlock()
				break
			}
			data := p.queue[0]
			p.queue = p.queue[1:]
			p.mu.Unlock()
			if _, err := p.program.Write(data); err != nil {
				return // the exit explains the error
			}
			p.mu.Lock()
			p.queued -= len(data)
			p.mu.Unlock()
		}
	}
}

// stop ends the program, within a second.
func (p *process) stop() {
	p.close(errClosed)
	p.program.Stop()
}

// ended returns an error describing the program's exit.
func (p *process) ended(exit osproc.Exit) error {
	how := fmt.Sprintf("with exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "by a signal: " + exit.Signal
	}
	text := fmt.Sprintf("%s ended %s", p.name, how)
	if printed := p.stderr.last(); printed != "" {
		text += "; it printed: " + printed
	}
	return errors.New(text)
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
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxStderr:]...)
	}
	return len(b), nil
}

// last returns the end as one line for an error message.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(term.Strip(strings.ToValidUTF8(string(t.buf), "")))
	if len(text) > maxShown {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxShown:], "")
	}
	return line(text)
}

// line returns a server's text on one line, bounded and without control characters.
func line(text string) string {
	return tool.OneLine(strings.ToValidUTF8(text[:min(len(text), 8*maxMessageText)], ""), maxMessageText)
}

// maxMessageText limits a text of a server, in characters.
const maxMessageText = 400
