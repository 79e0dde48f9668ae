package plugin

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/filestate"
)

// A seal lists the files a plugin was installed with. Any of them can run, so startup compares
// all of them, by stamp first and by content only if the stamp differs. Files added later, such
// as caches and logs of the plugin's hooks, are not in the list. A missing seal is rebuilt from
// files that have the installation's hash.
type seal struct{ files []sealedFile }

type sealedFile struct {
	treeFile
	stamp filestate.Stamp
}

var sealFormat = cachefile.Format{Mark: "adze seal 1\n", Max: 64 << 20}

// sealFile returns the path of a plugin's seal.
func (p places) sealFile(id ID, hash string) string { return p.join("seals", id.Market, id.Name, hash) }

// intact returns the files a plugin was installed with. The error is a [*ChangedError] if one
// was changed or removed.
func (s *Store) intact(id ID, hash string) (*seal, error) {
	dir := s.pluginDir(id, hash)
	x := s.loadSeal(id, hash)
	if x == nil {
		return s.seal(id, hash)
	}
	touched := false
	for i := range x.files {
		f := &x.files[i]
		info, err := os.Lstat(dir + string(filepath.Separator) + f.name)
		if err != nil {
			return nil, &ChangedError{ID: id, File: f.name}
		}
		stamp := filestate.StampOf(info)
		if stamp == f.stamp && stamp.CTime != 0 {
			continue
		}
		if f.kind != sealedKind(info.Mode()) || !f.matches(dir) {
			return nil, &ChangedError{ID: id, File: f.name}
		}
		if (fileStamp{f.name, stamp}).sure(s.settled) {
			f.stamp, touched = stamp, true
		}
	}
	if touched {
		s.saveSeal(id, hash, x)
	}
	return x, nil
}

// stamps returns the stamps that identify a plugin in the index: first the files read, then all
// others.
func (x *seal) stamps(read []fileStamp) []fileStamp {
	all := slices.Clone(read)
	for _, f := range x.files {
		if !slices.ContainsFunc(read, func(r fileStamp) bool { return r.name == f.name }) {
			all = append(all, fileStamp{f.name, f.stamp})
		}
	}
	return all
}

// matches reports whether a file still has its installed content.
func (f *sealedFile) matches(dir string) bool {
	path := filepath.Join(dir, filepath.FromSlash(f.name))
	if f.kind == "link" {
		target, err := os.Readlink(path)
		return err == nil && sha256.Sum256([]byte(target)) == f.sum
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	s := &scanner{root: root, tree: &tree{}, hash: sha256.New()}
	return s.file(f.name) == nil && s.tree.files[0].sum == f.sum
}

func sealedKind(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "link"
	}
	return kindOf(mode)
}

// seal creates the seal of a plugin after verifying that its files are the installed ones.
func (s *Store) seal(id ID, hash string) (*seal, error) {
	dir := s.pluginDir(id, hash)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: its files are gone: %w", id, err)
	}
	defer root.Close()
	stamps := map[string]filestate.Stamp{} // taken before the files are read
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		stamps[filepath.ToSlash(name)] = filestate.StampOf(info)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	t, err := scan(root, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	found := t.hash()
	if found != hash { // before seals existed, interpreters and package managers left files
		t.files = slices.DeleteFunc(t.files, func(f treeFile) bool { return cached(f.name) })
		if t.hash() != hash {
			return nil, &ChangedError{ID: id, Installed: hash, Found: found}
		}
	}
	x := &seal{}
	for _, f := range t.files {
		stamp := stamps[f.name]
		if !(fileStamp{f.name, stamp}).sure(s.settled) {
			stamp = filestate.Stamp{} // the next startup compares the content
		}
		x.files = append(x.files, sealedFile{f, stamp})
	}
	s.saveSeal(id, hash, x)
	return x, nil
}

// cached reports whether a file is in a directory that interpreters and package managers
// create.
func cached(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(folder string) bool {
		return folder == "__pycache__" || folder == "node_modules" || folder == ".venv"
	})
}

// saveSeal stores a seal. If that fails, the next startup rebuilds it.
func (s *Store) saveSeal(id ID, hash string, x *seal) {
	w := &cachefile.Writer{}
	w.Number(uint64(len(x.files)))
	for _, f := range x.files {
		w.Text(f.name, f.kind, string(f.sum[:]))
		w.Stamp(f.stamp)
	}
	_ = sealFormat.Save(s.sealFile(id, hash), w) // ok: see above
}

// loadSeal returns a plugin's seal, or nil.
func (s *Store) loadSeal(id ID, hash string) *seal {
	r := sealFormat.Load(s.sealFile(id, hash))
	if r == nil {
		return nil
	}
	x := &seal{files: make([]sealedFile, r.Count())}
	for i := range x.files {
		f := &x.files[i]
		f.name, f.kind = r.Text(), r.Text()
		if copy(f.sum[:], r.Text()) != len(f.sum) {
			return nil
		}
		f.stamp = r.Stamp()
	}
	if r.Failed() || !r.Whole() {
		return nil
	}
	return x
}
