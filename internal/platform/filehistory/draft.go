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
)

// A draft is a copy of a large content whose hash is not known yet, since that takes longer than all the
// rest of an edit. It is complete, and the index speaks of it: if the process is killed it gets its hash
// when the history is opened again.
const draftPrefix = "tmp-"

func newDraft() string { return draftPrefix + rand.Text() }

func isDraft(name string) bool {
	return strings.HasPrefix(name, draftPrefix) && !strings.ContainsAny(name, `/\`)
}

// copy stores what file holds, and returns the name of the draft.
func (s *store) copy(ctx context.Context, file *os.File) (name string, err error) {
	if err := os.MkdirAll(s.blobs(), 0o700); err != nil {
		return "", err
	}
	name = newDraft()
	out, err := os.OpenFile(s.blob(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = copyAll(ctx, out, file)
	if err = errors.Join(err, out.Close()); err != nil {
		os.Remove(s.blob(name)) // ok: the error that counts is known
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsynced, s.made = append(s.unsynced, s.blob(name)), true
	return name, nil
}

// copyAll copies files inside the system, which on some file systems only notes that they are the same.
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

// hashDraft returns the hash of a draft. The copy is hashed, and not the file: that may change meanwhile.
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

// settle gives every content its hash. A draft that cannot be read, or renamed, keeps its name until that
// changes, and reading it is an error.
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

// finish stores a draft under its hash. The index is told first: whatever of the two happened, the
// content is found.
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

// adoptDraft gives a draft its name, or removes it if its content is stored already.
func (s *store) adoptDraft(name, hash string) error {
	temp := s.blob(name)
	info, err := os.Stat(temp)
	switch {
	case errors.Is(err, fs.ErrNotExist) && hasBlob(s, hash): // it was done before the process was killed
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
