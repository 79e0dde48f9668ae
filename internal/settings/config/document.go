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

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/jsonc"
)

// A File is a source of settings for one scope.
type File struct {
	Scope scope.Scope
	// Path is absolute. The file need not exist unless Required is set.
	Path     string
	Required bool
	// Text holds the settings themselves in place of a file. Path is then their display name.
	Text string
	// Dir is the base for relative rules and directories in the file.
	Dir string
	// Grant determines how much of the file takes effect, unless Own reports that the content
	// is the user's own. Own is called whenever the file is read and must not retain data. It
	// may be nil.
	Grant Grant
	Own   func(data []byte) bool
	// Foreign means that the file is shared with another program, so undeclared keys are not
	// reported.
	Foreign bool
}

// An InvalidFile is a file that cannot be used. Its deny rules are unknown.
type InvalidFile struct {
	Scope scope.Scope
	Where string // file:line:column, or only the file if it cannot be read
	Text  string
}

// Error returns the location and the problem.
func (e *InvalidFile) Error() string { return e.Where + ": " + e.Text }

// A document is a parsed file.
type document struct {
	file  File
	scope scope.Scope
	grant Grant
	data  []byte
	root  *jsonc.Node // object, or nil if the file is empty or missing
	stamp stamp

	retained bool // represents claims removed from all files
}

// A member is a value in a document.
type member struct {
	path string // dot-separated names
	node *jsonc.Node
}

// maxFile limits the size of a settings file, in bytes.
const maxFile = 4 << 20

// readDocument reads a file. A missing file counts as empty unless it is required. The error is
// an [*InvalidFile].
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
			err = pathErr.Err // the message already includes the path
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

// asOwn returns the document as if it were the user's own local file.
func (d *document) asOwn() *document {
	return &document{file: d.file, scope: scope.Local, grant: Whole}
}

// promoted reports whether the document has become the user's own since it was read.
func (d *document) promoted(f File) bool {
	return f.Own != nil && d.root != nil && d.grant != Whole && f.Own(d.data)
}

// A stamp detects whether a file may have changed.
type stamp struct {
	info fs.FileInfo // nil if the file does not exist
	read time.Time
}

// settling is how long after a change another change might leave a file's timestamps the same.
const settling = 2 * time.Second

// same reports whether the file is certainly unchanged. It is false if the file changed just
// before it was read; then only the content can tell.
func (s stamp) same(info fs.FileInfo) bool {
	if s.info == nil || info == nil {
		return s.info == nil && info == nil
	}
	return os.SameFile(s.info, info) && s.info.Size() == info.Size() && s.info.ModTime().Equal(info.ModTime()) &&
		s.read.Sub(info.ModTime()) > settling
}

// readSettled reads a regular file that may be modified concurrently. The result is a
// consistent snapshot, as far as size and timestamps can tell.
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
	file, err := fsys.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
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
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // a single allocation, unless the file grows
	if _, err = text.ReadFrom(io.LimitReader(file, maxFile+1)); err != nil {
		return nil, s, false, err
	}
	data = text.Bytes()
	after, err := os.Stat(path)
	moved = err != nil || !os.SameFile(info, after) || after.Size() != int64(len(data)) || !after.ModTime().Equal(info.ModTime())
	return data, s, moved, nil
}

// parse parses data, which must be a single object or empty.
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

// at formats a position in the document.
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

// members returns the document's values in order. It descends into objects for which branch
// returns true.
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

// isObject reports whether the value of --settings is a JSON object rather than a file name.
func isObject(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "{") }
