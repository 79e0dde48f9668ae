package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A faulty file fails at its n-th operation, once or for good. A write that fails leaves half of
// its bytes behind, as a full disk does.
type faulty struct {
	file
	ops, failAt int
	forGood     bool
}

func (f *faulty) fails() bool {
	f.ops++
	return f.ops == f.failAt || f.forGood && f.ops > f.failAt
}

func (f *faulty) Write(p []byte) (int, error) {
	if f.fails() {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return f.file.Write(p)
}

func (f *faulty) Truncate(size int64) error {
	if f.fails() {
		return syscall.EIO
	}
	return f.file.Truncate(size)
}

func (f *faulty) Sync() error {
	if f.fails() {
		return syscall.EIO
	}
	return nil // the disk is slow, and nobody pulls the plug
}

func (f *faulty) Size() (int64, error) {
	if f.fails() {
		return 0, syscall.EIO
	}
	return f.file.Size()
}

// TestEveryFault runs the same session with a fault at each operation in turn, until one run passes
// untouched. After each, the log holds whole records in order, and all those that were acknowledged.
//
// Proves SESS-12.
func TestEveryFault(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		t.Run(fmt.Sprintf("for good %t", forGood), func(t *testing.T) {
			for failAt := 1; ; failAt++ {
				if untouched := runWithFault(t, failAt, forGood); untouched {
					return
				}
				if failAt > 100 {
					t.Fatal("no run passes untouched")
				}
			}
		})
	}
}

func runWithFault(t *testing.T, failAt int, forGood bool) (untouched bool) {
	opt := options(t)
	f := &faulty{failAt: failAt, forGood: forGood}
	l := open(t, opt)
	l.open = func(path string) (file, *Torn, error) {
		real, torn, err := openFile(path)
		f.file = real
		return f, torn, err
	}
	acknowledged := 0
	const records = 6
	for i := range records {
		err := l.Append(text(fmt.Sprint(i), strings.Repeat("x", 1000)))
		if err == nil {
			acknowledged = i + 1 // and with it all before
		}
		if (err == nil) != (l.Unsaved() == nil) {
			t.Errorf("fault %d: append says %v, the state %v", failAt, err, l.Unsaved())
		}
		if i%2 == 1 {
			l.Sync() // ok: may fail, that is the point
		}
	}
	waiting := len(l.unsaved)
	closeErr := l.Close()

	got := load(t, l.Path())
	if len(got.Entries) < acknowledged {
		t.Errorf("fault %d: %d records acknowledged, %d there", failAt, acknowledged, len(got.Entries))
	}
	for i, e := range got.Entries {
		if e.ID != fmt.Sprint(i) {
			t.Fatalf("fault %d: record %s at %d", failAt, e.ID, i)
		}
	}
	if got.Bad != 0 {
		t.Errorf("fault %d: %d bad lines", failAt, got.Bad)
	}
	if !forGood && (len(got.Entries) != records || got.Torn) {
		t.Errorf("fault %d, once: %d of %d records there, torn %t", failAt, len(got.Entries), records, got.Torn)
	}
	if forGood && waiting > 0 && closeErr == nil {
		t.Errorf("fault %d: records are lost without an error", failAt)
	}
	return f.ops < failAt
}

// Proves SESS-12.
func TestFolderCannotBeCreated(t *testing.T) {
	opt := options(t)
	appendTo(t, opt.Home, "a file in the way")
	l := open(t, opt)
	for i := range 3 {
		if err := l.Append(text(fmt.Sprint(i), "hi")); err == nil {
			t.Fatal("no error")
		}
	}
	if err := l.Unsaved(); err == nil || !strings.Contains(err.Error(), "transcript not saved (3 records are waiting): creating the project's folder") {
		t.Errorf("state: %v", err)
	}
	if err := errors.Join(syscall.Unlink(opt.Home), l.Append(text("3", "hi")), l.Unsaved()); err != nil {
		t.Fatal(err)
	}
	if got := load(t, l.Path()); len(got.Entries) != 4 || got.Entries[0].ID != "0" || got.Entries[3].ID != "3" {
		t.Errorf("%d entries", len(got.Entries))
	}
}
