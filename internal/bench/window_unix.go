//go:build unix

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// A window is a terminal that only reads, with the program running in it.
type window struct {
	cmd      *exec.Cmd
	pty      *os.File
	srv      *server
	prompted time.Time
	bursts   atomic.Int64 // writes after a pause

	mu      sync.Mutex
	written int
	end     []byte // last output
	mark    byte   // awaited character; 0 if none
	echoed  chan time.Time
}

var promptMark = regexp.MustCompile(`(>|❯)(\x1b\[0?m)? `)

// open starts the program in a window, with a model, and waits for its prompt.
func (b *terminalBench) open(model http.Handler, width, height uint16, env ...string) (*window, error) {
	srv, err := serve(model)
	if err != nil {
		return nil, err
	}
	cmd := b.command(srv, "", env...)
	cmd.Args = []string{b.adze, "--allowed-tools", "Bash"}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8")
	w := &window{cmd: cmd, srv: srv}
	if w.pty, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		srv.close()
		return nil, err
	}
	prompted := make(chan time.Time, 1)
	go w.read(prompted)
	select {
	case w.prompted = <-prompted:
	case <-time.After(20 * time.Second):
		defer w.close()
		return nil, fmt.Errorf("no prompt appears:\n%s", w.tail())
	}
	return w, nil
}

// read consumes the output.
func (w *window) read(prompted chan<- time.Time) {
	buf := make([]byte, 64<<10)
	var last time.Time
	seen := false
	for {
		n, err := w.pty.Read(buf)
		now := time.Now()
		if err != nil {
			return
		}
		if now.Sub(last) > 3*time.Millisecond {
			w.bursts.Add(1)
		}
		last = now
		w.mu.Lock()
		w.written += n
		w.end = append(w.end, buf[:n]...)
		w.end = w.end[max(0, len(w.end)-4096):]
		for _, c := range buf[:n] {
			if c == w.mark && w.mark != 0 {
				w.mark = 0
				w.echoed <- now
			}
		}
		if !seen && promptMark.Match(w.end) {
			seen = true
			prompted <- now
		}
		w.mu.Unlock()
	}
}

// await returns a channel that receives the time when a character is written.
func (w *window) await(mark byte) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark, w.echoed = mark, make(chan time.Time, 1)
	return w.echoed
}

func (w *window) keys(text string) { w.pty.WriteString(text) } // ok: then nothing is echoed

// enter types a line like a user: the line end comes later than the characters.
func (w *window) enter(text string) {
	w.keys(text)
	time.Sleep(100 * time.Millisecond)
	w.keys("\r")
}

func (w *window) total() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}

// tail returns the last output.
func (w *window) tail() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%q", w.end)
}

func (w *window) close() {
	w.cmd.Process.Signal(syscall.SIGHUP) // ok: it may have ended
	w.cmd.Wait()                         // ok: its exit status does not matter
	w.pty.Close()
	w.srv.close()
}

// A stream is a model that says 200 words per second until the client disconnects.
type stream struct {
	sent  atomic.Int64 // characters
	begun atomic.Bool
}

func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`+"\n\n")
	fmt.Fprint(w, `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`+"\n\n")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	words := []string{"the", "tax", "is", "rounded", "per", "line", "and", "once", "more", "at", "end"}
	for i := 0; ; i++ {
		word := words[i%len(words)] + " "
		if i%60 == 59 {
			word += `\n\n`
		}
		fmt.Fprintf(w, `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`+"\n\n", word)
		s.sent.Add(int64(len(word)))
		s.begun.Store(true)
		http.NewResponseController(w).Flush() // ok: a disconnected reader shows below
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// wait waits for the first request.
func (s *stream) wait() error {
	for range 1000 {
		if s.begun.Load() {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("no request to the model")
}
