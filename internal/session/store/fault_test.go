//go:build unix

package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A fault is a way for a file to fail. Its write function determines how much of the data is
// written.
type fault struct {
	name  string
	write func(f file, p []byte) (int, error)
	other error
}

func faults() []fault {
	part := func(n func(len int) int, tail string, err error) func(file, []byte) (int, error) {
		return func(f file, p []byte) (int, error) {
			written, _ := f.Write(append(p[:n(len(p)):n(len(p))], tail...)) // ok: the fault's error counts
			return min(written, len(p)), err
		}
	}
	half := func(n int) int { return n / 2 }
	return []fault{
		{"full disk", part(half, "", syscall.ENOSPC), syscall.ENOSPC},
		{"quota", part(func(int) int { return 0 }, "", syscall.EDQUOT), syscall.EDQUOT},
		{"I/O error", part(func(int) int { return 0 }, "", syscall.EIO), syscall.EIO},
		{"I/O error after the fact", part(func(n int) int { return n }, "", syscall.EIO), syscall.EIO},
		{"short write", part(half, "", nil), syscall.EIO},
		{"torn block", part(half, strings.Repeat("\x00", 700), syscall.EIO), syscall.EIO},
	}
}

// A faulty file fails at its n-th operation and at some operations after it.
type faulty struct {
	file
	fault       *fault
	ops, failAt int
	times       int
}

// forGood is more than the number of operations.
const forGood = 1 << 30

func (f *faulty) fails() bool {
	f.ops++
	return f.ops >= f.failAt && f.ops < f.failAt+f.times
}

func (f *faulty) Write(p []byte) (int, error) {
	if f.fails() {
		return f.fault.write(f.file, p)
	}
	return f.file.Write(p)
}

func (f *faulty) Truncate(size int64) error {
	if f.fails() {
		return f.fault.other
	}
	return f.file.Truncate(size)
}

func (f *faulty) Sync() error {
	if f.fails() {
		return f.fault.other
	}
	return nil // skip the slow sync: these tests simulate no power loss
}

func (f *faulty) Size() (int64, error) {
	if f.fails() {
		return 0, f.fault.other
	}
	return f.file.Size()
}

// open fails like any other operation.
func (f *faulty) open(path string) (file, *Torn, error) {
	if f.fails() {
		return nil, nil, f.fault.other
	}
	real, torn, err := openFile(path)
	f.file = real
	return f, torn, err
}

// TestEveryFault runs the same session with a fault at each operation in turn, until a run
// completes without one. After each run, the log holds complete records in order, including all
// acknowledged ones, and the next start continues it.
//
// Proves SESS-12.
func TestEveryFault(t *testing.T) {
	for _, fault := range faults() {
		for _, times := range []int{1, 2, 3, forGood} {
			t.Run(fmt.Sprintf("%s, %d times", fault.name, times), func(t *testing.T) {
				for failAt := 1; ; failAt++ {
					if untouched := runWithFault(t, &faulty{fault: &fault, failAt: failAt, times: times}); untouched {
						return
					}
					if failAt > 100 {
						t.Fatal("no run passes untouched")
					}
				}
			})
		}
	}
}

func runWithFault(t *testing.T, f *faulty) (untouched bool) {
	t.Helper()
	opt := options(t)
	opt.NoSync = false
	l := open(t, opt)
	l.open = f.open
	acknowledged := -1
	const records = 6
	for i := range records {
		err := l.Append(linked(i))
		if err == nil {
			acknowledged = i // includes all before it
		}
		if i == 3 {
			l.Note(Title("t")) // ok: may fail as part of the test
		}
		if (len(l.unsaved) == 0) != (err == nil) && i != 3 {
			t.Errorf("fault %d: append says %v, and %d records wait", f.failAt, err, len(l.unsaved))
		}
		if i%2 == 1 {
			l.Sync() // ok: likewise
		}
	}
	waiting := len(l.unsaved)
	closeErr := l.Close()
	if f.times == forGood && waiting > 0 && closeErr == nil {
		t.Errorf("fault %d: records are lost without an error", f.failAt)
	}
	if _, err := os.Stat(l.Path()); err != nil && acknowledged < 0 {
		return false // never opened
	}
	checkNextStart(t, opt, f, acknowledged, records)
	return f.ops < f.failAt
}

// checkNextStart resumes the session after a fault.
func checkNextStart(t *testing.T, opt Options, f *faulty, acknowledged, records int) {
	t.Helper()
	l, c, err := Resume(opt, LoadOptions{})
	if errors.Is(err, ErrNoMessages) && acknowledged < 0 {
		return
	}
	if err != nil {
		t.Fatalf("fault %d: %v", f.failAt, err)
	}
	if acknowledged >= 0 {
		checkPrefix(t, c, fmt.Sprint(acknowledged))
	}
	if f.times == 1 && len(c.Entries) != records {
		t.Errorf("fault %d, once: %d of %d records there", f.failAt, len(c.Entries), records)
	}
	next := linked(len(c.Entries))
	if err := errors.Join(l.Append(next), l.Close()); err != nil {
		t.Fatalf("fault %d: %v", f.failAt, err)
	}
	checkPrefix(t, load(t, l.Path()), next.ID)
}

// A recorder records the operations on a file, so that they can be replayed in part.
type recorder struct {
	file
	ops []op
}

type op struct {
	data     string // appended
	truncate int64  // new size of the file, if not negative
	sync     bool   // the file was synced
	promised string // message acknowledged to the caller; the file is unchanged
}

func (r *recorder) Write(p []byte) (int, error) {
	r.ops = append(r.ops, op{data: string(p), truncate: -1})
	return r.file.Write(p)
}

func (r *recorder) Truncate(size int64) error {
	r.ops = append(r.ops, op{truncate: size})
	return r.file.Truncate(size)
}

func (r *recorder) Sync() error {
	r.ops = append(r.ops, op{sync: true, truncate: -1})
	return nil
}

// TestPowerCut replays a session up to each operation and simulates a power loss: synced data
// survives, and an arbitrary part of the rest, sometimes as zeros.
//
// Proves SESS-12.
func TestPowerCut(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	var r *recorder
	l.open = func(path string) (file, *Torn, error) {
		real, torn, err := openFile(path)
		r = &recorder{file: real}
		return r, torn, err
	}
	for i := range 9 {
		if err := l.Append(linked(i)); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
			r.ops = append(r.ops, op{truncate: -1, promised: fmt.Sprint(i)})
		}
	}
	ops := r.ops
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for cut := range ops {
		for range 6 {
			checkPowerCut(t, ops[:cut+1], random)
		}
	}
}

func checkPowerCut(t *testing.T, ops []op, random *rand.Rand) {
	t.Helper()
	safe, promised := 0, ""
	var disk []byte
	for i, o := range ops {
		if o.sync {
			safe = i + 1
		}
		if o.promised != "" {
			promised = o.promised
		}
	}
	for _, o := range ops[:safe] {
		disk = append(disk, o.data...)
	}
	var loose []byte
	for _, o := range ops[safe:] {
		loose = append(loose, o.data...)
	}
	loose = loose[:random.IntN(len(loose)+1)]
	if random.IntN(3) == 0 { // the length was written but the last data was not
		clear(loose[random.IntN(len(loose)+1):])
	}
	path := filepath.Join(t.TempDir(), "s-1.jsonl")
	if err := os.WriteFile(path, append(disk, loose...), 0o600); err != nil {
		t.Fatal(err)
	}
	l, c, err := Resume(Options{Session: "s-1", Path: path}, LoadOptions{})
	if errors.Is(err, ErrNoMessages) && promised == "" {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if promised != "" {
		c.Bad = 0 // a line of zeros may have been terminated
		checkPrefix(t, c, promised)
	}
	if err := errors.Join(l.Append(linked(len(c.Entries))), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// Proves SESS-12.
func TestFolderCannotBeCreated(t *testing.T) {
	opt := options(t)
	appendTo(t, opt.Home, "a file in the way")
	l := open(t, opt)
	for i := range 3 {
		if err := l.Append(text(fmt.Sprint(i), "hi")); err == nil || !strings.Contains(err.Error(), "creating the project's folder") {
			t.Fatal(err)
		}
	}
	if len(l.unsaved) != 3 {
		t.Errorf("%d records wait", len(l.unsaved))
	}
	if err := errors.Join(syscall.Unlink(opt.Home), l.Append(text("3", "hi"))); err != nil || len(l.unsaved) > 0 {
		t.Fatal(err)
	}
	if got := load(t, l.Path()); len(got.Entries) != 4 || got.Entries[0].ID != "0" || got.Entries[3].ID != "3" {
		t.Errorf("%d entries", len(got.Entries))
	}
}
