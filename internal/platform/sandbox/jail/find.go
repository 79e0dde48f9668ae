package jail

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Finder finds the files that the kernel executes to run a program. It is safe for concurrent
// use. Its zero value is ready to use.
type Finder struct {
	mu    sync.Mutex
	heads map[string]head // keyed by path
}

// A Program is a program found by a [Finder].
type Program struct {
	Path string // path found in the search path
	// Files are the executed files: the program with links resolved, its interpreters and their
	// loader.
	Files []string
	// Script is true if the program is a script run by an interpreter.
	Script bool
}

// maxInterpreters is how many nested interpreters the kernel follows.
const maxInterpreters = 5

// Find finds a program by name in dirs, or at an absolute path. The error is [exec.ErrNotFound]
// if it does not exist.
func (f *Finder) Find(name string, dirs []string) (Program, error) {
	path, err := lookUp(name, dirs)
	if err != nil {
		return Program{}, err
	}
	p := Program{Path: path}
	for range maxInterpreters {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return Program{}, err
		}
		h, err := f.head(real)
		if err != nil {
			return Program{}, err
		}
		if !slices.Contains(p.Files, real) {
			p.Files = append(p.Files, real)
		}
		switch {
		case h.interpreter == "":
			return p, nil
		case h.script:
			p.Script = true
			if filepath.Base(h.interpreter) == "env" {
				inner, err := f.Find(h.argument, dirs)
				if err != nil {
					return Program{}, err
				}
				p.Files = append(p.Files, inner.Files...)
			}
		}
		path = h.interpreter
	}
	return Program{}, fmt.Errorf("%s has too many interpreters", name)
}

func lookUp(name string, dirs []string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	if name == "" || strings.ContainsRune(name, '/') {
		return "", exec.ErrNotFound
	}
	for _, dir := range dirs {
		if path, err := exec.LookPath(dir + "/" + name); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// A head is the execution information at the beginning of a program file.
type head struct {
	info        os.FileInfo // file info at the time of reading
	interpreter string      // script interpreter or binary loader; may be empty
	argument    string      // argument to a script's interpreter
	script      bool
}

// head returns the head of a program, cached until the file changes.
func (f *Finder) head(path string) (head, error) {
	info, err := os.Stat(path)
	if err != nil {
		return head{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if h, ok := f.heads[path]; ok && os.SameFile(h.info, info) && h.info.ModTime().Equal(info.ModTime()) && h.info.Size() == info.Size() {
		return h, nil
	}
	h, err := readHead(path)
	if err != nil {
		return head{}, err
	}
	h.info = info
	if f.heads == nil {
		f.heads = make(map[string]head)
	}
	f.heads[path] = h
	return h, nil
}

// maxHead is the number of bytes read from a program.
const maxHead = 4096

func readHead(path string) (head, error) {
	r, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return head{}, nil // execute-only binary; a script would have to be readable
	}
	if err != nil {
		return head{}, err
	}
	defer r.Close() // ok: read only
	text := make([]byte, maxHead)
	n, err := io.ReadFull(r, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	text = text[:n]
	switch {
	case bytes.HasPrefix(text, []byte("#!")):
		line, _, _ := bytes.Cut(text[2:], []byte("\n"))
		interpreter, argument, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		argument = strings.TrimSpace(argument)
		if !filepath.IsAbs(interpreter) {
			return head{}, fmt.Errorf("%s has no absolute interpreter", path)
		}
		if strings.HasPrefix(argument, "-S") || strings.ContainsAny(argument, " \t=") && filepath.Base(interpreter) == "env" {
			return head{}, fmt.Errorf("%s is started in an unusual way", path)
		}
		return head{interpreter: interpreter, argument: argument, script: true}, nil
	case bytes.HasPrefix(text, []byte("\x7fELF")):
		return head{interpreter: loader(text)}, nil
	case bytes.ContainsRune(text, 0):
		return head{}, nil // binary for another system
	}
	return head{}, fmt.Errorf("%s has no interpreter line", path)
}

// loader returns the loader that a binary requests, or "". It must be within the head, where
// linkers put it.
func loader(text []byte) string {
	if len(text) < 64 {
		return ""
	}
	const (
		wide      = 2 // 64-bit class
		bigEndian = 2
		interp    = 3 // PT_INTERP segment
	)
	var order binary.ByteOrder = binary.LittleEndian
	if text[5] == bigEndian {
		order = binary.BigEndian
	}
	table, size, count := uint64(order.Uint32(text[28:])), int(order.Uint16(text[42:])), int(order.Uint16(text[44:]))
	if text[4] == wide {
		table, size, count = order.Uint64(text[32:]), int(order.Uint16(text[54:])), int(order.Uint16(text[56:]))
	}
	for i := range count {
		at := table + uint64(i*size)
		if at+56 > uint64(len(text)) {
			break
		}
		entry := text[at:]
		if order.Uint32(entry) != interp {
			continue
		}
		from, length := uint64(order.Uint32(entry[4:])), uint64(order.Uint32(entry[16:]))
		if text[4] == wide {
			from, length = order.Uint64(entry[8:]), order.Uint64(entry[32:])
		}
		if length == 0 || from+length < from || from+length > uint64(len(text)) {
			return ""
		}
		return strings.TrimRight(string(text[from:from+length]), "\x00")
	}
	return ""
}
