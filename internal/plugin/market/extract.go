package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"adze/internal/plugin"
)

// maxTarget bounds the target of a link, in bytes.
const maxTarget = 4096

// A blob is a file of a commit.
type blob struct {
	name, object string
	size         int64
	kind         string // the mode, as git writes it
}

// extract writes the files of a commit to a new folder: those of a folder of it, unless that is empty. It returns the
// names of submodules, which are left out.
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
	err = g.ask(ctx, question{dir: repo, timeout: askTime, output: list.take, args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", tree}})
	if err == nil && len(list.rest) > 0 {
		err = errors.New("git did not finish its answer")
	}
	if err == nil && len(list.blobs) > 0 {
		var input bytes.Buffer
		for _, f := range list.blobs {
			input.WriteString(f.object + "\n")
		}
		w := &blobWriter{b: b, blobs: list.blobs}
		err = g.ask(ctx, question{dir: repo, timeout: askTime, input: input.Bytes(), output: w.take, args: []string{"cat-file", "--batch", "--buffer"}})
		err = errors.Join(err, w.close(err == nil))
	}
	err = errors.Join(err, b.Close())
	if err != nil {
		return nil, fmt.Errorf("reading commit %s: %w", commit, err)
	}
	return list.submodules, nil
}

// A lister reads the list of the files of a commit.
type lister struct {
	b          *plugin.Builder
	rest       []byte
	blobs      []blob
	submodules []string
}

// maxEntry bounds an entry of the list, in bytes.
const maxEntry = 16 << 10

// take takes a piece of the list: entries of the form MODE TYPE OBJECT SIZE, a tabulator and a name, each with a zero
// behind it.
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

// A blobWriter writes the files that git hands out one after the other.
type blobWriter struct {
	b     *plugin.Builder
	blobs []blob // that are still to come
	head  []byte // the line before a file, as far as it is there
	// out is the file that is being written, and left what is missing of it with the line end behind it. Target is in its
	// place for a link.
	out    io.WriteCloser
	target []byte
	left   int64
	open   bool
}

// take takes a piece of the answer: for each file a line OBJECT TYPE SIZE, the content, and a line end.
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
		return errors.New("git answered more than was asked for")
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

// close ends the writing. If all files should be there, one that is missing is an error.
func (w *blobWriter) close(all bool) error {
	if w.out != nil {
		_ = w.out.Close() // ok: the folder is of no use
	}
	if all && len(w.blobs) > 0 {
		return fmt.Errorf("%s: git did not hand it out", w.blobs[0].name)
	}
	return nil
}
