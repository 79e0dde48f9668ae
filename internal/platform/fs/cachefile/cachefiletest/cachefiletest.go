// Package cachefiletest helps test users of package cachefile.
package cachefiletest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"testing"

	"adze/internal/platform/fs/cachefile"
)

// The mark is followed by the checksum and the stamp of the program that wrote the file.
const (
	sumSize   = 4
	stampSize = 40
)

// Forge makes a file look as if another program had written it.
func Forge(t *testing.T, f cachefile.Format, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := len(f.Mark)
	data[head+sumSize]++ // the first byte of the stamp
	binary.LittleEndian.PutUint32(data[head:], crc32.ChecksumIEEE(data[head+sumSize:]))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Written returns a file's mark and a hash of its content.
func Written(t *testing.T, f cachefile.Format, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data[len(f.Mark)+sumSize+stampSize:])
	return f.Mark + hex.EncodeToString(sum[:8])
}
