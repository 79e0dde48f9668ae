package grep

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"strconv"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/search"
	"adze/internal/tool"
)

const (
	// seenFile is the maximum size of a file compared with its shown lines, and seenFiles the
	// maximum number of files.
	seenFile  = 1 << 20
	seenFiles = 100
)

// remember records which lines of which files were shown. It compares them with the files, and
// skips lines that are cut or have changed since.
func (c *call) remember(o search.GrepOptions, found *search.GrepResult) {
	if c.finder.State == nil || !o.Numbers || o.Only || pieces(found.Lines).Size() > tool.DefaultMaxChars {
		return
	}
	shown := map[string][][]byte{}
	for i, path := range found.Paths {
		if path != "" {
			shown[path] = append(shown[path], found.Lines[i])
		}
	}
	if len(shown) > seenFiles {
		return
	}
	for path, lines := range shown {
		c.saw(search.Join(c.Path, path), search.Join(o.Real, path), c.shown(path), lines)
	}
}

// saw records the lines of a file, which start with its name.
func (c *call) saw(path, real, name string, shown [][]byte) {
	data, info, err := content(real)
	if err != nil {
		return
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte{'\n'}), []byte{'\n'})
	e := filestate.Entry{Path: path, Real: real, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Total: len(lines)}
	for _, piece := range shown {
		for line := range bytes.Lines(piece) {
			n, text, ok := numbered(line, name)
			if ok && n <= len(lines) && bytes.Equal(text, bytes.TrimSuffix(lines[n-1], []byte{'\r'})) {
				e.Seen = filestate.Add(e.Seen, filestate.Span{First: n, Last: n})
			}
		}
	}
	if e.Seen != nil {
		c.finder.State.Saw(e)
	}
}

// numbered returns the number and the text of a content line.
func numbered(line []byte, name string) (n int, text []byte, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte{'\n'}), []byte(name))
	if !ok || len(rest) == 0 {
		return 0, nil, false
	}
	mark := rest[:1] // a colon for a match, a dash for context
	digits, text, ok := bytes.Cut(rest[1:], mark)
	n, err := strconv.Atoi(string(digits))
	return n, text, ok && err == nil && n > 0
}

// content reads a file up to the size limit.
func content(path string) ([]byte, os.FileInfo, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > seenFile {
		return nil, nil, os.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, seenFile+1))
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || int64(len(data)) != info.Size()) {
		err = os.ErrInvalid
	}
	return data, info, err
}
