package store

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/platform/fs/fsys"
)

// Notes that grant rights, [Mode] and [Dirs], are signed with a key in the state home: a
// transcript written by another user restores the conversation, but not its rights.

// keySize is the size of the key, in bytes.
const keySize = 32

func keyFile(home string) string { return filepath.Join(home, "transcript.key") }

// readKey returns the key in a state home, or nil if it is missing or cannot be trusted.
func readKey(home string) []byte {
	if home == "" {
		return nil
	}
	info, err := os.Lstat(keyFile(home))
	if err != nil || !info.Mode().IsRegular() || info.Size() != keySize {
		return nil
	}
	key, err := os.ReadFile(keyFile(home))
	if err != nil || len(key) != keySize {
		return nil
	}
	return key
}

// makeKey returns the key in a state home, creating it if needed.
func makeKey(home string) ([]byte, error) {
	if key := readKey(home); key != nil {
		return key, nil
	}
	if home == "" {
		return nil, errors.New("no state home")
	}
	if err := fsys.MkdirPrivate(home); err != nil {
		return nil, err
	}
	tmp, err := fsys.CreateTemp(home, ".key-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name()) // ok: already linked or renamed
	key := make([]byte, keySize)
	rand.Read(key) // ok: it never fails
	_, err = tmp.Write(key)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	// The link fails if another process was faster; use its key then.
	if err := os.Link(tmp.Name(), keyFile(home)); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(tmp.Name(), keyFile(home)); err != nil { // file system without links
			return nil, err
		}
	}
	if key = readKey(home); key == nil {
		return nil, fmt.Errorf("%s is not a key; remove it", keyFile(home))
	}
	return key, nil
}

// signature returns the signature of a session's note.
func signature(key []byte, session string, n Note) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(n.appendFields([]byte(session + "\x00" + n.kind() + "\x00")))
	return hex.EncodeToString(mac.Sum(nil))
}

// grants reports whether a note grants rights.
func grants(n Note) bool {
	switch n.(type) {
	case Mode, Dirs:
		return true
	}
	return false
}

// appendSignature appends the signature of a note that grants rights. Without a key the note is
// not signed, and will not be restored.
func appendSignature(dst []byte, n Note, opt *Options) []byte {
	if !grants(n) {
		return dst
	}
	key, err := makeKey(opt.Home)
	if err != nil {
		return dst
	}
	return appendField(dst, "signature", signature(key, opt.Session, n))
}

// signed reports whether this user's adze wrote a note.
func signed(key []byte, session, sign string, n Note) bool {
	return len(key) > 0 && hmac.Equal([]byte(sign), []byte(signature(key, session, n)))
}

// resign returns a forked session's note that grants rights, signed for the copy, or nil if it
// does not grant rights or was not signed.
func resign(rec *Record, key []byte, to *Options) []byte {
	s := State{key: key}
	if !s.take(rec.Type, rec.Line) {
		return nil
	}
	mode, dirs := s.Rights()
	switch {
	case mode != "":
		return appendNote(nil, Mode(mode), to)
	case len(dirs) > 0:
		return appendNote(nil, Dirs(dirs), to)
	}
	return nil
}

// Rights returns the session's permission mode and additional directories if this user's adze
// wrote them.
func (s *State) Rights() (mode string, dirs []string) {
	if s.modeSigned {
		mode = s.Mode
	}
	if s.dirsSigned {
		dirs = s.Dirs
	}
	return mode, dirs
}

// Foreign reports whether the log has rights that this user's adze did not write.
func (s *State) Foreign() bool {
	return s.Mode != "" && !s.modeSigned || len(s.Dirs) > 0 && !s.dirsSigned
}
