package bash

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// seenBytes is the maximum size of files compared with a command's output.
const seenBytes = 1 << 20

// remember records the file lines that a command has shown: a read-only line of cat, head, tail
// and sed -n whose output is exactly the corresponding part of the current files.
func (c *call) remember(res tool.Result) {
	out, ok := res.Structured.(command.Output)
	if !ok || c.config.Files == nil || res.IsError || out.ExitCode != 0 || out.TaskID != "" || out.Truncated || res.Body != nil ||
		c.in.Background || !c.ReadOnly() || !c.script.Simple || c.script.ChangesDir() || len(out.Stdout) > c.config.MaxChars {
		return
	}
	var want bytes.Buffer
	var seen []filestate.Entry
	for _, part := range c.script.Parts {
		shown, ok := c.shows(&want, part)
		if !ok {
			return
		}
		seen = append(seen, shown...)
	}
	if plain(want.String()) != plain(out.Stdout) {
		return
	}
	for _, e := range seen {
		c.config.Files.State.Saw(e)
	}
}

// plain returns a text without leading and trailing blank lines, and with normalized line ends.
func plain(s string) string {
	return strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

// shows writes the output of a part, and returns the file lines in it. It returns false for any
// other part.
func (c *call) shows(w *bytes.Buffer, part *shell.Part) (seen []filestate.Entry, ok bool) {
	if len(part.Assigns)+len(part.Redirects) > 0 || len(part.Words) == 0 {
		return nil, false
	}
	words := make([]string, len(part.Words))
	for i, word := range part.Words {
		if !word.Static || word.Glob {
			return nil, false
		}
		words[i] = word.Value
	}
	if words[0] == "echo" {
		fmt.Fprintln(w, strings.Join(words[1:], " "))
		return nil, true
	}
	cut, files, numbers := excerpt(words)
	if cut == nil {
		return nil, false
	}
	for _, name := range files {
		e, lines, ok := c.version(name)
		if !ok {
			return nil, false
		}
		first, last := cut(len(lines))
		first, last = max(first, 1), min(last, len(lines))
		for n := first; n <= last; n++ {
			if numbers {
				fmt.Fprintf(w, "%6d\t", n)
			}
			w.Write(lines[n-1])
			w.WriteByte('\n')
		}
		if first <= last {
			e.Seen = []filestate.Span{{First: first, Last: last}}
			seen = append(seen, e)
		}
	}
	return seen, true
}

// excerpt returns the range of lines and the files that a command prints, or nil if it does not
// print an excerpt.
func excerpt(words []string) (cut func(total int) (first, last int), files []string, numbers bool) {
	all := func(total int) (int, int) { return 1, total }
	args := words[1:]
	switch words[0] {
	case "cat":
		if len(args) > 0 && args[0] == "-n" {
			numbers, args = true, args[1:]
			if len(args) > 1 {
				return nil, nil, false // line numbers continue across files
			}
		}
		cut = all
	case "head", "tail":
		count := "10"
		switch {
		case len(args) > 1 && args[0] == "-n":
			count, args = args[1], args[2:]
		case len(args) > 0 && strings.HasPrefix(args[0], "-n"):
			count, args = args[0][2:], args[1:]
		case len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-':
			count, args = args[0][1:], args[1:]
		}
		n, err := strconv.Atoi(strings.TrimPrefix(count, "+"))
		if err != nil || n < 0 || len(args) != 1 {
			return nil, nil, false
		}
		switch from := strings.HasPrefix(count, "+"); {
		case words[0] == "tail" && from:
			cut = func(total int) (int, int) { return n, total }
		case words[0] == "tail":
			cut = func(total int) (int, int) { return total - n + 1, total }
		case !from:
			cut = func(int) (int, int) { return 1, n }
		}
	case "sed":
		if len(args) != 3 || args[0] != "-n" {
			return nil, nil, false
		}
		first, last, ranged := strings.Cut(strings.TrimSuffix(args[1], "p"), ",")
		if !ranged {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if last == "$" {
			to, err2 = int(^uint(0)>>1), nil
		}
		if err != nil || err2 != nil || !strings.HasSuffix(args[1], "p") {
			return nil, nil, false
		}
		args = args[2:]
		cut = func(int) (int, int) { return from, max(from, to) }
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			return nil, nil, false
		}
	}
	if len(args) == 0 {
		return nil, nil, false
	}
	return cut, args, numbers
}

// version returns the current lines of a file.
func (c *call) version(name string) (e filestate.Entry, lines [][]byte, ok bool) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.here.Path, path)
	}
	target, err := c.config.Files.Target(path)
	if err != nil || target.Remote() || target.Secret() {
		return e, nil, false
	}
	set, err := target.Find()
	if err != nil || set.Info == nil || set.Info.Size() > seenBytes {
		return e, nil, false
	}
	f, err := set.Open()
	if err != nil {
		return e, nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, seenBytes+1))
	if err != nil || len(data) > seenBytes {
		return e, nil, false
	}
	var info os.FileInfo
	if info, err = f.Stat(); err != nil {
		return e, nil, false
	}
	if len(data) > 0 {
		lines = bytes.Split(bytes.TrimSuffix(data, []byte{'\n'}), []byte{'\n'})
	}
	return filestate.Entry{
		Path: target.Path, Real: set.Real, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Total: len(lines),
	}, lines, true
}
