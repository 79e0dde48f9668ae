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

	"adze/internal/platform/filestate"
)

// Limits of a plugin, in bytes and files.
const (
	MaxManifest = 256 << 10
	MaxFile     = 1 << 20 // of one that is read: hooks, servers
	MaxFiles    = 10_000
	MaxTree     = 256 << 20 // of all of its files
)

// manifestNames are where a manifest is; the first that exists counts.
var manifestNames = [...]string{".adze-plugin/plugin.json", ".claude-plugin/plugin.json"}

// Read reads the plugin in a folder. An id without a name gets that of the manifest, or of the folder. Problems are of parts
// that are left out, and of files that are not read as they were meant. With an error the plugin must not be used: it is not
// there, its manifest cannot be read or names something outside of the folder, or it is too large.
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
	tree     *tree // may be nil, for one that is known to have no links that lead out
	problems []Problem
	used     []usedFile
	stamps   []fileStamp // of the files that were read
}

// A usedFile is one that says what the plugin runs.
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

// problem reports something about a file of the plugin.
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

// folderName makes the name of a folder one of a plugin, where that is a matter of spelling.
func folderName(base string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == ' ' {
			return '-'
		}
		return r
	}, base), "-_.")
}

// manifest returns the manifest and what it is called; both are empty if there is none.
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

// file reads a regular file of at most max bytes, which is inside of the folder.
func (r *reader) file(name string, max int64) ([]byte, error) {
	if r.tree != nil { // opening a device can have effects; one that was installed has none
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

// plain words the error of a file that leads out of the folder, and leaves out the path, which others know better.
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

var errEscapes = errors.New("it leads out of the folder of the plugin")

// Local returns a path of a manifest as a name in the folder, with slashes. An error says that it cannot be one.
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
		if part == ".." { // also where it would come back in: through a link it need not
			return "", errEscapes
		}
	}
	return name, nil
}

// digest returns the hash of the files that say what the plugin runs.
func (r *reader) digest() string {
	h := sha256.New()
	for _, f := range r.used {
		fmt.Fprintf(h, "%d %s %d ", len(f.name), f.name, len(f.data))
		h.Write(f.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isObject reports whether a value is an object.
func isObject(value json.RawMessage) bool { return jsonKind(value) == '{' }
