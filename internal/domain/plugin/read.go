package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"adze/internal/platform/fs/filestate"
)

// Limits of a plugin, in bytes and files.
const (
	MaxManifest = 256 << 10
	MaxFile     = 1 << 20 // limit for each hooks or servers file
	MaxFiles    = 10_000
	MaxTree     = 256 << 20 // limit for all files together
)

// manifestNames are the locations of a manifest; the first that exists is used.
var manifestNames = [...]string{".adze-plugin/plugin.json", ".claude-plugin/plugin.json"}

// Read reads the plugin in a directory. An id without a name gets the name in the manifest, or
// that of the directory. Problems concern components that are omitted and files that are not
// read as intended. After an error the plugin must not be used: it does not exist, its manifest
// is unreadable or names something outside the directory, or it is too large.
func Read(dir string, id ID) (*Plugin, []Problem, error) {
	r, err := openReader(dir, openBundle)
	if err != nil {
		return nil, nil, err
	}
	defer r.bundle.close()
	t, err := r.scan(id)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the plugin in %s: %w", dir, err)
	}
	for _, name := range t.escapes {
		r.problem(name, "", "it is a link that leads out of the plugin")
	}
	p, err := r.read(id)
	if err != nil {
		return nil, r.problems, err
	}
	p.Hash = t.hash()
	return p, r.problems, nil
}

// A reader reads one plugin.
type reader struct {
	*bundle
	tree     *tree // nil if the plugin is known to have no escaping symlinks
	problems []Problem
	used     []usedFile
	stamps   []fileStamp // stamps of the files that were read
}

// A usedFile is a file that determines the commands a plugin runs.
type usedFile struct {
	name string
	data []byte
}

func openReader(dir string, open func(string) (*bundle, error)) (*reader, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("reading a plugin: %w", err)
	}
	return &reader{bundle: f}, nil
}

// scan reads all files of the plugin.
func (r *reader) scan(id ID) (*tree, error) {
	root, err := r.root()
	if err == nil {
		r.tree, err = scan(root, id)
	}
	return r.tree, err
}

// problem records a problem with a file of the plugin.
func (r *reader) problem(name, field, format string, args ...any) {
	r.problems = append(r.problems, Problem{filepath.Join(r.dir, filepath.FromSlash(name)), field, fmt.Sprintf(format, args...)})
}

// read returns the plugin, without its hash.
func (r *reader) read(id ID) (*Plugin, error) {
	name, m, err := r.manifest()
	if err != nil {
		return nil, err
	}
	switch {
	case id.Name != "":
		if m.name != "" && m.name != id.Name {
			r.problem(name, "name", "the plugin calls itself %q: it is %s here", m.name, id.Name)
		}
	case m.name != "":
		id.Name = m.name
	default:
		id.Name = folderName(filepath.Base(r.dir))
	}
	if err := CheckName(id.Name); err != nil {
		return nil, Problem{filepath.Join(r.dir, filepath.FromSlash(name)), "name", err.Error()}
	}
	p := &Plugin{ID: id, Dir: r.dir, Manifest: m.Manifest}
	parts := &partsReader{reader: r, name: id.Name, manifest: name}
	if p.Parts, err = parts.read(m); err != nil {
		return nil, err
	}
	return p, nil
}

// folderName turns a directory name into a plugin name by fixing its spelling.
func folderName(base string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == ' ' {
			return '-'
		}
		return r
	}, base), "-_.")
}

// manifest returns the manifest and its file name; both are empty if there is none.
func (r *reader) manifest() (name string, m manifest, err error) {
	for _, name := range manifestNames {
		data, err := r.file(name, MaxManifest)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			var problems []Problem
			m, problems, err = parseManifest(data)
			for _, p := range problems {
				r.problem(name, p.Field, "%s", p.Text)
			}
		}
		if err != nil {
			return "", manifest{}, Problem{filepath.Join(r.dir, filepath.FromSlash(name)), "", err.Error()}
		}
		r.used = append(r.used, usedFile{name, data})
		return name, m, nil
	}
	return "", manifest{}, nil
}

// file reads a regular file of at most max bytes inside the directory.
func (r *reader) file(name string, max int64) ([]byte, error) {
	if r.tree != nil { // opening a device can have side effects; installed plugins have none
		if info, err := r.stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, errIrregular
		}
	}
	c, err := r.bundle.read(name, max)
	if err == nil || c.stamp != (filestate.Stamp{}) {
		r.stamps = append(r.stamps, fileStamp{name, c.stamp})
	}
	return c.data, err
}

// plain rewords the error for a file that leads out of the directory, and drops the path, which
// callers add themselves.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if err.Error() == "path escapes from parent" {
		return errEscapes
	}
	return err
}

var errEscapes = errors.New("it leads outside the plugin's directory")

// Local returns a manifest path as a slash-separated name in the directory, or an error if it
// is not one.
func Local(written string) (string, error) {
	if strings.ContainsFunc(written, unicode.IsControl) {
		return "", errors.New("the path has control characters")
	}
	name := path.Clean(strings.TrimSuffix(written, "/"))
	if written == "" {
		return "", errors.New("the path is empty")
	}
	if strings.HasPrefix(written, "/") || strings.Contains(written, `\`) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.HasPrefix(name, "~") {
		return "", errEscapes
	}
	for part := range strings.SplitSeq(written, "/") {
		if part == ".." { // refused even if it stays inside: through a symlink it may not
			return "", errEscapes
		}
	}
	return name, nil
}

// digest returns the hash of the files that determine the commands the plugin runs.
func (r *reader) digest() string {
	h := sha256.New()
	for _, f := range r.used {
		fmt.Fprintf(h, "%d %s %d ", len(f.name), f.name, len(f.data))
		h.Write(f.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func isObject(value json.RawMessage) bool { return jsonKind(value) == '{' }
