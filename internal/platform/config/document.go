package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"adze/internal/platform/jsonc"
	"adze/internal/platform/scope"
)

// A File is where settings of one scope stand.
type File struct {
	Scope scope.Scope
	// Path is absolute. It need not exist unless Required is set.
	Path     string
	Required bool
	// Text are the settings themselves instead of a file; Path is then what they are called.
	Text string
	// Dir is what rules and directories in the file are relative to.
	Dir string
	// Grant is how much of the file counts, unless Own reports that what was read is the user's own. Own is asked
	// whenever the file is read, and must not keep data; it may be nil.
	Grant Grant
	Own   func(data []byte) bool
	// Foreign says that the file is written for another program too: what it says beyond the keys
	// declared here is no mistake.
	Foreign bool
}

// An InvalidFile is a file that cannot be used: what its rules forbid is not known.
type InvalidFile struct {
	Scope scope.Scope
	Where string // file:line:column, or the file if it cannot be read at all
	Text  string
}

// Error names the place and the problem.
func (e *InvalidFile) Error() string { return e.Where + ": " + e.Text }

// A document is a file as it was read.
type document struct {
	file  File
	scope scope.Scope
	grant Grant
	data  []byte
	root  *jsonc.Node // an object, or nil if the file is empty or missing
	stamp stamp

	retained bool // it stands for claims that no file has any more
}

// A member is a value in a document.
type member struct {
	path string // names of the levels with dots between
	node *jsonc.Node
}

// maxFile bounds a settings file, in bytes.
const maxFile = 4 << 20

// readDocument reads a file. One that is missing is as good as an empty one if it is not required. The
// error is an [*InvalidFile].
func readDocument(f File) (*document, error) {
	d := &document{file: f, scope: f.Scope, grant: f.Grant}
	data := []byte(f.Text)
	if f.Text == "" {
		var err error
		data, d.stamp, err = readSettled(f.Path)
		if errors.Is(err, fs.ErrNotExist) && !f.Required {
			return d, nil
		}
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err // the name is said already
		}
		if err != nil {
			return d, &InvalidFile{f.Scope, f.Path, fmt.Sprintf("cannot be read: %v", err)}
		}
	}
	if f.Own != nil && len(bytes.TrimSpace(data)) > 0 {
		if f.Own(data) {
			d.grant = Whole
		} else {
			d.scope = scope.Project
		}
	}
	return d, d.parse(data)
}

// asOwn returns the document as it would count if it were the user's own local file.
func (d *document) asOwn() *document {
	return &document{file: d.file, scope: scope.Local, grant: Whole}
}

// promoted reports whether the document, which was not the user's own when it was read, is so now.
func (d *document) promoted(f File) bool {
	return f.Own != nil && d.root != nil && d.grant != Whole && f.Own(d.data)
}

// A stamp tells whether a file may have changed.
type stamp struct {
	info fs.FileInfo // nil if there is no file
	read time.Time
}

// settling is how long after a change the times of a file cannot tell it from a further one.
const settling = 2 * time.Second

// same reports whether the file is certainly still what it was. If its last change was just before it
// was read, only the content can tell.
func (s stamp) same(info fs.FileInfo) bool {
	if s.info == nil || info == nil {
		return s.info == nil && info == nil
	}
	return os.SameFile(s.info, info) && s.info.Size() == info.Size() && s.info.ModTime().Equal(info.ModTime()) &&
		s.read.Sub(info.ModTime()) > settling
}

// readSettled reads a regular file that may be written to at the same time: what it returns stood there
// at one moment, as far as size and times can tell.
func readSettled(path string) (data []byte, s stamp, err error) {
	for range 5 {
		var moved bool
		if data, s, moved, err = readOnce(path); !moved {
			break
		}
	}
	return data, s, err
}

var errSpecial = errors.New("it is not a regular file")

func readOnce(path string) (data []byte, s stamp, moved bool, err error) {
	info, err := os.Stat(path) // opening a device can have effects
	if err != nil || !info.Mode().IsRegular() {
		return nil, s, false, cmp.Or(err, errSpecial)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return nil, s, false, err
	}
	defer file.Close()
	s.read = time.Now()
	info, err = file.Stat()
	switch {
	case err != nil:
		return nil, s, false, err
	case !info.Mode().IsRegular():
		return nil, s, false, errSpecial
	case info.Size() > maxFile:
		return nil, s, false, fmt.Errorf("it is larger than %d MB", maxFile>>20)
	}
	s.info = info
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // one piece, unless the file grows
	if _, err = text.ReadFrom(io.LimitReader(file, maxFile+1)); err != nil {
		return nil, s, false, err
	}
	data = text.Bytes()
	after, err := os.Stat(path)
	moved = err != nil || !os.SameFile(info, after) || after.Size() != int64(len(data)) || !after.ModTime().Equal(info.ModTime())
	return data, s, moved, nil
}

// parse reads data, which is one object or nothing.
func (d *document) parse(data []byte) error {
	d.data = data
	root, err := jsonc.Parse(data)
	var syntax *jsonc.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &InvalidFile{d.scope, d.at(syntax.Offset), "is not JSON: " + syntax.Text}
	case root != nil && root.Kind != jsonc.Object:
		return &InvalidFile{d.scope, d.at(root.Start), "is not a JSON object"}
	}
	d.root = root
	return nil
}

// at names a position in the document.
func (d *document) at(offset int) string {
	line, column := d.position(offset)
	return place(d.file.Path, line, column)
}

func place(file string, line, column int) string { return fmt.Sprintf("%s:%d:%d", file, line, column) }

func (d *document) position(offset int) (line, column int) {
	before := d.data[:min(offset, len(d.data))]
	line = 1 + bytes.Count(before, []byte("\n"))
	before = bytes.TrimPrefix(before[bytes.LastIndexByte(before, '\n')+1:], []byte("\ufeff"))
	return line, 1 + utf8.RuneCount(before)
}

func (d *document) raw(n *jsonc.Node) json.RawMessage { return jsonc.Plain(d.data, n) }

// members returns the values of the document, in order. It looks into the objects that branch says
// are not values.
func (d *document) members(branch func(path string) bool) []member {
	if d.root == nil {
		return nil
	}
	return appendMembers(nil, d.root, "", branch)
}

func appendMembers(list []member, object *jsonc.Node, prefix string, branch func(string) bool) []member {
	for _, m := range object.Members {
		path := prefix + m.Name
		if m.Value.Kind == jsonc.Object && branch(path) {
			list = appendMembers(list, m.Value, path+".", branch)
			continue
		}
		list = append(list, member{path, m.Value})
	}
	return list
}

// isObject reports whether the text of --settings is an object rather than the name of a file.
func isObject(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "{") }
