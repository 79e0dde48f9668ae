package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"adze/internal/domain/plugin"
)

// maxTarget bounds a symlink's target, in bytes.
const maxTarget = 4096

// A blob is a file in a commit.
type blob struct {
	name, object string
	size         int64
	kind         string // git file mode
}

// extract writes a commit's files, or those below folder if it is not empty, to a new
// directory. It returns the names of submodules, which are omitted.
func (g *git) extract(ctx context.Context, repo, commit, folder, to string) (submodules []string, err error) {
	tree := commit
	if folder != "" && folder != "." {
		tree += ":" + folder
	}
	b, err := plugin.NewBuilder(to)
	if err != nil {
		return nil, err
	}
	list := &lister{b: b}
	err = g.ask(ctx, gitCommand{dir: repo, timeout: askTime, output: list.take, args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", tree}})
	if err == nil && len(list.rest) > 0 {
		err = errors.New("git did not finish its answer")
	}
	if err == nil && len(list.blobs) > 0 {
		var input bytes.Buffer
		for _, f := range list.blobs {
			input.WriteString(f.object + "\n")
		}
		w := &blobWriter{b: b, blobs: list.blobs}
		err = g.ask(ctx, gitCommand{dir: repo, timeout: askTime, input: input.Bytes(), output: w.take, args: []string{"cat-file", "--batch", "--buffer"}})
		err = errors.Join(err, w.close(err == nil))
	}
	err = errors.Join(err, b.Close())
	if err != nil {
		return nil, fmt.Errorf("reading commit %s: %w", commit, err)
	}
	return list.submodules, nil
}

// A lister parses git's list of the files in a commit.
type lister struct {
	b          *plugin.Builder
	rest       []byte
	blobs      []blob
	submodules []string
}

// maxEntry bounds a list entry, in bytes.
const maxEntry = 16 << 10

// take parses a chunk of the list: NUL-terminated entries of the form MODE TYPE OBJECT SIZE, a
// tab and a name.
func (l *lister) take(p []byte) error {
	l.rest = append(l.rest, p...)
	for {
		entry, rest, ok := bytes.Cut(l.rest, []byte{0})
		if !ok {
			if len(l.rest) > maxEntry {
				return errors.New("it has a name that is too long")
			}
			return nil
		}
		if err := l.entry(string(entry)); err != nil {
			return err
		}
		l.rest = rest
	}
}

func (l *lister) entry(entry string) error {
	head, name, ok := strings.Cut(entry, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 {
		return fmt.Errorf("git answered %q", entry)
	}
	f := blob{name: name, kind: fields[0], object: fields[2]}
	switch f.kind {
	case "160000":
		l.submodules = append(l.submodules, name)
		return l.b.Check(name, 0)
	case "100644", "100755", "100664", "120000":
	default:
		return fmt.Errorf("%q has the mode %s", name, f.kind)
	}
	var err error
	if f.size, err = strconv.ParseInt(fields[3], 10, 64); err != nil || checkSHA(f.object) != nil || fields[1] != "blob" {
		return fmt.Errorf("git answered %q", entry)
	}
	if f.kind == "120000" && f.size > maxTarget {
		return fmt.Errorf("the link %q is too long", name)
	}
	if err := l.b.Check(name, f.size); err != nil {
		return err
	}
	l.blobs = append(l.blobs, f)
	return nil
}

// A blobWriter writes the files that git outputs one after another.
type blobWriter struct {
	b     *plugin.Builder
	blobs []blob // remaining blobs
	head  []byte // header line read so far
	// out is the file being written, or nil for a symlink, whose target is collected in target.
	// left is the number of bytes missing, including the trailing newline.
	out    io.WriteCloser
	target []byte
	left   int64
	open   bool
}

// take parses a chunk of the output: for each file a line OBJECT TYPE SIZE, the content, and a
// newline.
func (w *blobWriter) take(p []byte) error {
	for len(p) > 0 {
		if !w.open {
			line, rest, ok := bytes.Cut(p, []byte{'\n'})
			if w.head = append(w.head, line...); len(w.head) > 200 {
				return errors.New("git answered something else")
			}
			if !ok {
				return nil
			}
			if err := w.begin(string(w.head)); err != nil {
				return err
			}
			w.head, p = w.head[:0], rest
			continue
		}
		n := min(int64(len(p)), w.left)
		if content := min(n, w.left-1); content > 0 {
			if w.out == nil {
				w.target = append(w.target, p[:content]...)
			} else if _, err := w.out.Write(p[:content]); err != nil {
				return err
			}
		}
		w.left, p = w.left-n, p[n:]
		if w.left == 0 {
			if err := w.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *blobWriter) begin(line string) (err error) {
	if len(w.blobs) == 0 {
		return errors.New("git returned more output than expected")
	}
	f := w.blobs[0]
	if line != fmt.Sprintf("%s blob %d", f.object, f.size) {
		return fmt.Errorf("%s: git answered %q", f.name, line)
	}
	w.open, w.left = true, f.size+1
	if f.kind != "120000" {
		w.out, err = w.b.File(f.name, f.kind == "100755")
	}
	return err
}

func (w *blobWriter) end() (err error) {
	f := w.blobs[0]
	if w.out != nil {
		err = w.out.Close()
	} else {
		w.b.Link(f.name, string(w.target))
	}
	w.open, w.out, w.target, w.blobs = false, nil, nil, w.blobs[1:]
	return err
}

// close ends writing. If all is true, a missing file is an error.
func (w *blobWriter) close(all bool) error {
	if w.out != nil {
		_ = w.out.Close() // ok: the directory is discarded
	}
	if all && len(w.blobs) > 0 {
		return fmt.Errorf("%s: git did not hand it out", w.blobs[0].name)
	}
	return nil
}
