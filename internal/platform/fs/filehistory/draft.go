package filehistory

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// A draft is a copy of a large content whose hash is not yet known, since hashing takes longer
// than the rest of an edit. It is complete and listed in the index: if the process is killed,
// it gets its hash when the history is reopened.
const draftPrefix = "tmp-"

func newDraft() string { return draftPrefix + rand.Text() }

func isDraft(name string) bool {
	return strings.HasPrefix(name, draftPrefix) && !strings.ContainsAny(name, `/\`)
}

// copy stores the content of file and returns the name of the draft.
func (s *store) copy(ctx context.Context, file *os.File) (name string, err error) {
	if err := fsys.MkdirPrivate(s.blobs()); err != nil {
		return "", err
	}
	name = newDraft()
	out, err := fsys.OpenFile(s.blob(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = copyAll(ctx, out, file)
	if err = errors.Join(err, out.Close()); err != nil {
		os.Remove(s.blob(name)) // ok: the original error matters more
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsynced, s.made = append(s.unsynced, s.blob(name)), true
	return name, nil
}

// copyAll copies a file inside the kernel, which some file systems do by sharing the data.
func copyAll(ctx context.Context, to, from *os.File) error {
	const part = 4 << 20
	for offset := int64(0); ; offset += part {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.Copy(to, io.LimitReader(from, part))
		beginSync(to, offset, n)
		if n < part || err != nil {
			return err
		}
	}
}

// hashDraft returns the hash of a draft. It hashes the copy because the original may change in
// the meantime.
func (s *store) hashDraft(name string) (string, error) {
	file, err := os.Open(s.blob(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// settle hashes all drafts. A draft that cannot be read or renamed keeps its name, and reading
// it is an error, until that succeeds.
func (h *History) settle() {
	if len(h.drafts) == 0 {
		return
	}
	used := h.used()
	h.drafts = slices.DeleteFunc(h.drafts, func(name string) bool {
		if !used[name] {
			return true
		}
		_, err := h.finish(name)
		if err != nil {
			h.log.Warn("a large content of the file history cannot be stored", "name", name, "error", err)
		}
		return err == nil
	})
}

// finish stores a draft under its hash. It updates the index first, so that the content is
// found after either step.
func (h *History) finish(name string) (hash string, err error) {
	hash, err = h.store.hashDraft(name)
	if err == nil {
		err = h.store.append(record{Type: "hash", ID: name, Hash: hash})
	}
	if err != nil {
		return "", err
	}
	if err := h.store.adoptDraft(name, hash); err != nil {
		return "", err
	}
	h.rename(name, hash)
	return hash, nil
}

// adoptDraft renames a draft to its hash, or removes it if the content is already stored.
func (s *store) adoptDraft(name, hash string) error {
	temp := s.blob(name)
	info, err := os.Stat(temp)
	switch {
	case errors.Is(err, fs.ErrNotExist) && hasBlob(s, hash): // done before the process was killed
		return nil
	case err != nil:
		return err
	case has(s.blob(hash), info.Size()):
		return os.Remove(temp)
	}
	return s.adopt(temp, hash)
}

func hasBlob(s *store, hash string) bool {
	_, err := os.Stat(s.blob(hash))
	return err == nil
}
