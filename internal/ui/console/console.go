// Package console provides the standard streams and user prompts for commands.
package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"adze/internal/platform/term"
)

// A Console holds a command's standard streams.
type Console struct {
	Stdin  io.Reader
	Stdout io.Writer
	// StdinTerminal and StdoutTerminal report whether the stream is a terminal.
	StdinTerminal, StdoutTerminal bool
	// Say shows the user a message on standard error.
	Say func(string)
	// Getenv returns an environment variable: PAGER, for [Console.Page].
	Getenv func(string) string
	// Height returns the terminal's height, or 0 if it is unknown; may be nil.
	Height func() int
	// Dialog asks a question with a dialog instead of lines; see [Console.Choose]. May be nil.
	Dialog func(q Choice) (chosen int, err error)
	// Done is closed when the user interrupts the program; may be nil.
	Done <-chan struct{}
}

// ErrInterrupted reports that the user interrupted a question.
var ErrInterrupted = errors.New("interrupted")

// Print writes to standard output.
func (c *Console) Print(text string) error {
	_, err := io.WriteString(c.Stdout, text)
	return err
}

// Show writes untrusted text to standard output. If that is a terminal, control and invisible
// characters are escaped.
func (c *Console) Show(text string) error {
	if c.StdoutTerminal {
		text = term.Spell(text)
	}
	return c.Print(text)
}

// Page shows untrusted text like [Console.Show]. Text that does not fit on the terminal goes
// through the user's pager.
func (c *Console) Page(text string) error {
	out, ok := c.Stdout.(*os.File)
	if !ok || !c.StdinTerminal || !c.StdoutTerminal || c.Height == nil || strings.Count(text, "\n") < c.Height() {
		return c.Show(text)
	}
	words := strings.Fields(c.Getenv("PAGER"))
	if len(words) == 0 {
		return c.Show(text)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(term.Spell(text)), out, os.Stderr
	if err := cmd.Start(); err != nil {
		return c.Show(text)
	}
	cmd.Wait() // ok: the user may leave it early
	return nil
}

// PrintJSON writes v as JSON to standard output.
func (c *Console) PrintJSON(v any) error { return c.Print(JSON(v)) }

// JSON returns v as indented JSON.
func JSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("console: %v", err)) // plain data always encodes
	}
	return b.String()
}

// Confirm asks a yes-or-no question; no answer counts as no.
func (c *Console) Confirm(question string) (bool, error) { return c.Agree(Choice{Question: question}) }

// Agree asks a yes-or-no question with what the user should know to answer it; no answer counts
// as no. The answers of q are not used.
func (c *Console) Agree(q Choice) (bool, error) {
	if c.Dialog != nil {
		q.Answers, q.Marked, q.Letters, q.Leaving = []string{"Yes", "No"}, 1, "yn", "no"
		chosen, err := c.Dialog(q)
		if !errors.Is(err, ErrNoDialog) {
			return chosen == 0, err
		}
	}
	if err := c.Show(q.Body); err != nil {
		return false, err
	}
	answer, err := c.Ask(q.Question + " [y/N] ")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// A Choice is a question with a few answers.
type Choice struct {
	// Title names the subject in a few words, and Body is what the user should know to answer
	// the question, in lines. Both may be empty. Without a dialog, there is no title.
	Title, Body string
	Question    string
	Answers     []string
	Remarks     []string // explanations of the answers; may be shorter, and nil
	Marked      int      // default answer
	Letters     string   // keys for the answers, one each; may be empty
	Leaving     string   // effect of Esc, such as "not now"
}

// ErrNoDialog means that no dialog can be shown. The caller asks on a line instead.
var ErrNoDialog = errors.New("the terminal does not deliver keys")

// Choose asks a multiple-choice question. It returns -1 if the user declines, or if no answer
// can be read.
func (c *Console) Choose(q Choice) (int, error) {
	if c.Dialog != nil {
		if chosen, err := c.Dialog(q); !errors.Is(err, ErrNoDialog) {
			return chosen, err
		}
	}
	var b strings.Builder
	b.WriteString(q.Body + q.Question + "\n")
	for i, answer := range q.Answers {
		if i < len(q.Remarks) && q.Remarks[i] != "" {
			answer += ": " + q.Remarks[i]
		}
		fmt.Fprintf(&b, "  %d  %s\n", i+1, answer)
	}
	if err := c.Show(b.String()); err != nil {
		return -1, err
	}
	for {
		answer, err := c.Ask(fmt.Sprintf("1-%d, or Enter: %s ", len(q.Answers), q.Leaving))
		if err != nil || answer == "" {
			return -1, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(q.Answers) {
			return n - 1, nil
		}
		for i, text := range q.Answers {
			if strings.EqualFold(answer, text) || i < len(q.Letters) && strings.EqualFold(answer, q.Letters[i:i+1]) {
				return i, nil
			}
		}
	}
}

// Ask asks for a line; at EOF it is empty. Because a read cannot be interrupted, Ask does not
// wait for it when the user interrupts the program.
func (c *Console) Ask(question string) (string, error) {
	if err := c.Show(question); err != nil {
		return "", err
	}
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReaderSize(byteReader{c.Stdin}, 16).ReadString('\n')
		read <- answer{line, err}
	}()
	select {
	case <-c.Done:
		return "", errors.Join(ErrInterrupted, c.Print("\n"))
	case a := <-read:
		if a.err == io.EOF {
			a.err = nil
		}
		return strings.TrimSpace(a.line), a.err
	}
}

// A byteReader reads single bytes, so that it consumes nothing meant for the next reader.
type byteReader struct{ io.Reader }

func (r byteReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }
