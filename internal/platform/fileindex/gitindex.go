package fileindex

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// repository returns the working tree that dir is in, and the directory where git keeps its index;
// nothing if there is none.
func repository(dir string) (top, gitDir string) {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return dir, path
			}
			if gitDir := linkedDir(path); gitDir != "" {
				return dir, gitDir
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		dir = up
	}
}

// linkedDir reads a .git that is a file, as worktrees and submodules have it.
func linkedDir(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return ""
	}
	text, err := os.ReadFile(path)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if err != nil || !ok {
		return ""
	}
	dir = strings.TrimSpace(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(path), dir)
	}
	return dir
}

// indexFile returns the git index of the repository that dir is in, or nothing.
func indexFile(dir string) string {
	_, gitDir := repository(dir)
	if gitDir == "" {
		return ""
	}
	return filepath.Join(gitDir, "index")
}

const maxIndexFile = 512 << 20

// readIndex returns the files of a git index, in the order of their bytes.
func readIndex(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil // nothing was ever added
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxIndexFile:
		return nil, fmt.Errorf("%s is not a file, or too large", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	names, err := parseIndex(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return names, nil
}

var (
	errShape    = errors.New("it is damaged")
	errPartial  = errors.New("it does not list all files itself")
	errChecksum = errors.New("its checksum is wrong")
)

// parseIndex reads an index of version 2, 3 or 4, with either size of object names.
func parseIndex(data []byte) ([]string, error) {
	if len(data) < headerSize+sha1.Size || string(data[:4]) != "DIRC" {
		return nil, errShape
	}
	hash, err := hashSize(data)
	if err != nil {
		return nil, err
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("its version %d is unknown", version)
	}
	r := &indexReader{data: data[:len(data)-hash], at: headerSize, hash: hash, version: int(version)}
	count := binary.BigEndian.Uint32(data[8:])
	names := make([]string, 0, min(int(count), len(data)/r.fixed()))
	for range count {
		name, kept, err := r.entry()
		if err != nil {
			return nil, err
		}
		if kept && (len(names) == 0 || names[len(names)-1] != name) { // a conflict has several entries
			names = append(names, name)
		}
	}
	if !slices.IsSorted(names) {
		return nil, errShape
	}
	return names, r.extensions()
}

const headerSize = 12

// hashSize finds out from the checksum at the end how long object names are. An index without a
// checksum has zeros there.
func hashSize(data []byte) (int, error) {
	if sum := sha1.Sum(data[:len(data)-sha1.Size]); bytes.Equal(sum[:], data[len(data)-sha1.Size:]) {
		return sha1.Size, nil
	}
	if n := len(data) - sha256.Size; n > headerSize {
		if sum := sha256.Sum256(data[:n]); bytes.Equal(sum[:], data[n:]) {
			return sha256.Size, nil
		}
	}
	if bytes.Equal(data[len(data)-sha1.Size:], make([]byte, sha1.Size)) {
		return sha1.Size, nil
	}
	return 0, errChecksum
}

// An indexReader reads the entries of an index one after the other.
type indexReader struct {
	data    []byte
	at      int
	hash    int
	version int
	name    []byte // of the last entry
}

// Layout of an entry: times, device, inode, then mode, owners and size, the object name, and flags.
const (
	modeAt    = 24
	beforeOID = 40

	extended     = 0x4000 // flag: there are two more bytes of flags
	skipWorktree = 0x4000 // flag among these: the file is not checked out
	kindMask     = 0xf000 // of a mode
	kindFile     = 0x8000
	kindLink     = 0xa000
	kindModule   = 0xe000
)

// fixed returns how many bytes an entry has before its name, at least.
func (r *indexReader) fixed() int { return beforeOID + r.hash + 2 }

// entry reads an entry, and reports whether it is a file that is checked out.
func (r *indexReader) entry() (name string, kept bool, err error) {
	start := r.at
	if len(r.data)-start < r.fixed()+2 {
		return "", false, errShape
	}
	mode := binary.BigEndian.Uint32(r.data[start+modeAt:])
	r.at += r.fixed()
	flags := binary.BigEndian.Uint16(r.data[r.at-2:])
	kept = true
	if flags&extended != 0 {
		if r.version < 3 {
			return "", false, errShape
		}
		kept = binary.BigEndian.Uint16(r.data[r.at:])&skipWorktree == 0
		r.at += 2
	}
	if r.version == 4 {
		if err := r.keepPrefix(); err != nil {
			return "", false, err
		}
	} else {
		r.name = r.name[:0]
	}
	n := bytes.IndexByte(r.data[r.at:], 0)
	if n < 0 {
		return "", false, errShape
	}
	r.name = append(r.name, r.data[r.at:r.at+n]...)
	r.at += n + 1
	if r.version < 4 {
		r.at = start + (r.at-1-start+8)&^7
	}
	if r.at > len(r.data) || !legal(r.name) {
		return "", false, errShape
	}
	switch mode & kindMask {
	case kindFile, kindLink:
		return string(r.name), kept, nil
	case kindModule:
		return "", false, nil
	}
	return "", false, errPartial // a directory, of which the files are not listed
}

// legal reports whether a name can be that of a file in the tree.
func legal(name []byte) bool {
	for element := range bytes.SplitSeq(name, []byte{'/'}) {
		if len(element) == 0 || string(element) == ".." {
			return false
		}
	}
	return true
}

// keepPrefix cuts the last name to what the next one begins with. How much is cut off is written in
// groups of seven bits.
func (r *indexReader) keepPrefix() error {
	cut := 0
	for i := 0; ; i++ {
		if r.at >= len(r.data) || i > 4 {
			return errShape
		}
		c := r.data[r.at]
		r.at++
		if i > 0 {
			cut++
		}
		cut = cut<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			break
		}
	}
	if cut > len(r.name) {
		return errShape
	}
	r.name = r.name[:len(r.name)-cut]
	return nil
}

// extensions looks for one that says that there are more files than those listed.
func (r *indexReader) extensions() error {
	for r.at+8 <= len(r.data) {
		switch string(r.data[r.at : r.at+4]) {
		case "link", "sdir":
			return errPartial
		}
		size := int(binary.BigEndian.Uint32(r.data[r.at+4:]))
		if size < 0 || size > len(r.data)-r.at-8 {
			return errShape
		}
		r.at += 8 + size
	}
	return nil
}
