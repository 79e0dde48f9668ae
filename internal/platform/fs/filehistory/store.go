package filehistory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
)

// A store is the history on disk: contents under their hash, small ones in a pack and large
// ones in separate files, and an append-only index. A line or content that was partially
// written when the process was killed is ignored.
type store struct {
	dir string

	mu    sync.Mutex
	index *os.File
	lock  *os.File // held while the store is open; nil before it exists
	sequence
	refused  error // reason the lock is not held; nothing is written then
	excess   int64 // if not 0, the index size before a partial record that could not be truncated
	pack     pack
	unsynced []string // large contents that may not be on disk yet
	dirty    bool     // the end of the index may not be on disk yet
	made     bool     // file names may not be on disk yet
	fsync    func(*os.File) error
}

func newStore(dir string) *store {
	return &store{dir: dir, pack: pack{places: map[string]place{}}, fsync: fsync}
}

func (s *store) indexPath() string       { return filepath.Join(s.dir, "index.jsonl") }
func (s *store) blobs() string           { return filepath.Join(s.dir, "blobs") }
func (s *store) blob(hash string) string { return filepath.Join(s.blobs(), hash) }

func (s *store) read(hash string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.pack.places[hash]; ok {
		return s.pack.load(s.dir, p)
	}
	return os.ReadFile(s.blob(hash))
}

// content returns a stored content after verifying its hash.
func (s *store) content(v version) ([]byte, error) {
	if v.absent() {
		return nil, nil
	}
	data, err := s.read(v.hash)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != v.hash {
		return nil, errors.New("its content is damaged")
	}
	return data, nil
}

// small is the maximum size of a file that is hashed before it is copied, which avoids the copy
// if the content is already stored. For larger files the hash takes longer than the copy and
// the rest of the edit.
const small = 1 << 20

// open opens the file at path if it is small enough to be saved. It returns nil if the file
// does not exist.
func open(path string) (*os.File, fs.FileInfo, error) {
	file, err := paths.OpenReal(path) // the caller has resolved path; do not follow a new link
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is not a regular file (%s)", info.Mode().Type())
	}
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("it has %d bytes, and files of more than %d cannot be kept", info.Size(), maxFile)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// currentVersion returns the version of the file at path without storing it.
func currentVersion(path string) (version, []byte, error) {
	file, info, err := open(path)
	if file == nil || err != nil {
		return version{}, nil, err
	}
	defer file.Close()
	return readAll(file, info)
}

func readAll(file io.Reader, info fs.FileInfo) (version, []byte, error) {
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(file, maxFile)); err != nil {
		return version{}, nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	return version{hash: hex.EncodeToString(sum[:]), mode: info.Mode().Perm()}, b.Bytes(), nil
}

// keep stores the content of the file at path. A large file is stored as a draft first.
func (s *store) keep(ctx context.Context, path string) (version, error) {
	file, info, err := open(path)
	if file == nil || err != nil {
		return version{}, err
	}
	defer file.Close()
	s.mu.Lock()
	err = s.claim()
	s.mu.Unlock()
	if err != nil {
		return version{}, err
	}
	if info.Size() > small {
		draft, err := s.copy(ctx, file)
		return version{draft: draft, mode: info.Mode().Perm()}, err
	}
	v, data, err := readAll(file, info)
	if err != nil {
		return v, err
	}
	return v, s.put(v.hash, data)
}

// put stores a content unless it is already stored.
func (s *store) put(hash string, data []byte) error {
	if len(data) <= packed {
		return s.putPacked(hash, data)
	}
	if has(s.blob(hash), int64(len(data))) {
		return nil
	}
	if err := fsys.MkdirPrivate(s.blobs()); err != nil {
		return err
	}
	temp := s.blob(newDraft())
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		os.Remove(temp) // ok: the original error matters more
		return err
	}
	if err := s.adopt(temp, hash); err != nil {
		os.Remove(temp) // ok: the original error matters more
		return err
	}
	return nil
}

func (s *store) putPacked(hash string, data []byte) error {
	s.mu.Lock()
	if _, ok := s.pack.places[hash]; ok {
		s.mu.Unlock()
		return nil
	}
	records, err := s.pack.add(s.dir, hash, data)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if err := s.append(records...); err != nil {
		s.dropContent(hash, len(records) > 1)
		return err
	}
	return nil
}

// has reports whether a content of this size is stored.
func has(blob string, size int64) bool {
	info, err := os.Stat(blob)
	return err == nil && info.Size() == size
}

// adopt renames a new content to its hash.
func (s *store) adopt(temp, hash string) error {
	if err := fsys.Rename(temp, s.blob(hash)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsynced, s.made = append(s.unsynced, s.blob(hash)), true
	return nil
}

// append adds records to the index, all or none.
func (s *store) append(records ...record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, err := encodeAll(records, s.last)
	if err != nil {
		return err
	}
	if err := s.openIndex(); err != nil {
		return err
	}
	if s.excess > 0 {
		if err := fsys.Truncate(s.index, s.excess); err != nil {
			return err
		}
		s.excess = 0
	}
	info, err := s.index.Stat()
	if err != nil {
		return err
	}
	if _, err := s.index.Write(lines); err != nil {
		if fsys.Truncate(s.index, info.Size()) != nil {
			s.excess = info.Size()
		}
		return err
	}
	s.dirty = true
	s.last += int64(len(records))
	s.numbered = true
	return nil
}

func (s *store) openIndex() (err error) {
	if err := s.claim(); err != nil || s.index != nil {
		return err
	}
	s.made = true
	s.index, err = fsys.OpenFile(s.indexPath(), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	return err
}

// sync makes all stored data survive a power failure. It syncs contents and index in parallel,
// which takes little longer than one sync.
func (s *store) sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	contents := make(chan error, 1)
	if s.pack.unsynced || len(s.unsynced) > 0 {
		go func() { contents <- s.syncContents() }()
	} else {
		contents <- nil
	}
	var err error
	if s.dirty && s.index != nil {
		err = s.fsync(s.index)
	}
	if err = errors.Join(<-contents, err); err != nil {
		return err
	}
	s.dirty = false
	if s.made {
		for _, dir := range []string{s.blobs(), s.dir, filepath.Dir(s.dir)} {
			syncFile(dir, os.O_RDONLY, s.fsync) // ok: not every system can sync a directory, and it may not exist
		}
		s.made = false
	}
	return nil
}

func (s *store) syncContents() error {
	for _, blob := range s.unsynced {
		if err := syncFile(blob, os.O_RDWR, s.fsync); err != nil && !errors.Is(err, fs.ErrNotExist) { // may have been renamed
			return err
		}
	}
	s.unsynced = nil
	if s.pack.unsynced && s.pack.file != nil {
		if err := s.fsync(s.pack.file); err != nil {
			return err
		}
	}
	s.pack.unsynced = false
	return nil
}

// syncFile syncs a file, which Windows only does if it is open for writing, or a directory.
func syncFile(path string, flag int, fsync func(*os.File) error) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return fsync(f)
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, f := range []**os.File{&s.index, &s.pack.file, &s.lock} {
		if *f != nil {
			err = errors.Join(err, (*f).Close())
			*f = nil
		}
	}
	return err
}
