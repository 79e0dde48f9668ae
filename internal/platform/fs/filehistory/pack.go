package filehistory

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// packed is the maximum size of a content stored in the pack, a single file. A file per content
// would cost more than the edit.
const packed = 64 << 10

// A pack is that file. The index has the position of each content; everything else in it is
// dead.
type pack struct {
	name   string
	file   *os.File
	size   int64
	places map[string]place // keyed by hash
	dead   int64
	// unsynced is true if its end may not be on disk yet.
	unsynced bool
}

// A place is the position of a content in the pack.
type place struct{ at, size int64 }

// add appends a content and returns the records for it, and for the pack if it is new.
func (k *pack) add(dir string, hash string, data []byte) (records []record, err error) {
	if k.name == "" {
		k.name = newPackName()
		records = append(records, record{Type: "pack", ID: k.name})
		defer func() {
			if err != nil {
				k.discard()
			}
		}()
	}
	if err := k.open(dir); err != nil {
		return nil, err
	}
	p := place{k.size, int64(len(data))}
	if _, err := k.file.WriteAt(data, p.at); err != nil {
		return nil, err
	}
	k.size += p.size
	k.places[hash] = p
	k.unsynced = true
	return append(records, p.record(hash)), nil
}

// dropContent removes a content, and the pack if it was created for it, since the index does not
// refer to them.
func (s *store) dropContent(hash string, wholePack bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pack.places, hash)
	if wholePack {
		s.pack.discard()
	}
}

// discard drops the pack. Its file is removed when the history is next opened.
func (k *pack) discard() {
	if k.file != nil {
		k.file.Close() // ok: unreferenced
	}
	*k = pack{places: map[string]place{}}
}

func (p place) record(hash string) record {
	return record{Type: "content", Hash: hash, At: p.at, Size: p.size}
}

func newPackName() string { return "pack-" + rand.Text() }

// open opens or creates the file, unless it is already open.
func (k *pack) open(dir string) error {
	if k.file != nil {
		return nil
	}
	if err := fsys.MkdirPrivate(dir); err != nil {
		return err
	}
	file, err := fsys.OpenFile(filepath.Join(dir, k.name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	k.file, k.size = file, info.Size()
	return nil
}

// load reads a content from the pack.
func (k *pack) load(dir string, p place) ([]byte, error) {
	if err := k.open(dir); err != nil {
		return nil, err
	}
	data := make([]byte, p.size)
	_, err := k.file.ReadAt(data, p.at)
	return data, err
}

// drop removes an unreferenced content.
func (s *store) drop(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.pack.places[hash]; ok {
		delete(s.pack.places, hash)
		s.pack.dead += p.size
		return
	}
	os.Remove(s.blob(hash)) // ok: removed when the history is next opened
}

// repack writes the remaining contents to a new pack. The returned function removes the old
// pack once the index refers to the new one.
func (s *store) repack() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := pack{name: newPackName(), places: map[string]place{}}
	if len(s.pack.places) > 0 {
		if fresh.file, err = fsys.OpenFile(filepath.Join(s.dir, fresh.name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return nil, err
		}
	}
	for hash, p := range s.pack.places {
		data, err := s.pack.load(s.dir, p)
		if err == nil {
			_, err = fresh.file.WriteAt(data, fresh.size)
		}
		if err != nil {
			fresh.file.Close()
			return nil, err
		}
		fresh.places[hash] = place{fresh.size, p.size}
		fresh.size += p.size
	}
	if fresh.file != nil {
		if err := fresh.file.Sync(); err != nil {
			fresh.file.Close()
			return nil, err
		}
	}
	old := s.pack
	s.pack = fresh
	return func() {
		if old.file != nil {
			old.file.Close()
		}
		if old.name != "" {
			os.Remove(filepath.Join(s.dir, old.name)) // ok: retried next time
		}
	}, nil
}

// packs returns the names of the packs in dir.
func packs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "pack-") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// find finds the name of a pack whose record is lost: it must be the only pack in dir. If there
// are several, the content records for it are useless.
func (k *pack) find(dir string) error {
	if k.name != "" || len(k.places) == 0 {
		return nil
	}
	names, err := packs(dir)
	if err != nil {
		return err
	}
	if len(names) == 1 {
		k.name = names[0]
		return nil
	}
	k.discard()
	return nil
}

// sweep removes other packs from dir, since the index does not refer to them.
func (k *pack) sweep(dir string) error {
	names, err := packs(dir)
	for _, name := range names {
		if name != k.name {
			os.Remove(filepath.Join(dir, name)) // ok: retried next time
		}
	}
	return err
}

// records returns the index records for the pack.
func (k *pack) records() []record {
	records := []record{{Type: "pack", ID: k.name}}
	for hash, p := range k.places {
		records = append(records, p.record(hash))
	}
	return records
}
