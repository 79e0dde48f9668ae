// Package cachefiletest helps tests of what is kept in files of package cachefile.
package cachefiletest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"testing"

	"adze/internal/platform/cachefile"
)

// After the mark a file has its checksum and the stamp of the program that wrote it.
const (
	sumSize   = 4
	stampSize = 40
)

// Forge makes a file one of another program.
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

// Written returns the mark of a file and a hash of what it holds.
func Written(t *testing.T, f cachefile.Format, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data[len(f.Mark)+sumSize+stampSize:])
	return f.Mark + hex.EncodeToString(sum[:8])
}
