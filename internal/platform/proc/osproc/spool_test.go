package osproc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func readAll(t interface{ Fatal(...any) }, s *Spool) string {
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSpoolKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		memory := rapid.IntRange(0, 100).Draw(t, "memory")
		s := NewSpool(dir, int64(memory), 1<<20)
		var want string
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 40_000)).Draw(t, "writes") {
			p := strings.Repeat("0123456\n", n/8+1)[:n]
			if _, err := io.WriteString(s, p); err != nil {
				t.Fatal(err)
			}
			want += p
			if len(want) > 1<<19 {
				break
			}
		}
		if head := s.Head(50); string(head) != want[:min(50, memory, len(want))] {
			t.Fatalf("head %q", head)
		}
		if s.Size() != int64(len(want)) || readAll(t, s) != want {
			t.Fatal("read and written data differ")
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

func TestSpoolIsBounded(t *testing.T) {
	s := NewSpool(t.TempDir(), 10, 25)
	if n, err := s.Write(bytes.Repeat([]byte("x"), 20)); n != 20 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if n, err := s.Write(bytes.Repeat([]byte("y"), 20)); n != 5 || !errors.Is(err, ErrSpoolFull) {
		t.Errorf("Write = %d, %v", n, err)
	}
	if got, want := readAll(t, s), strings.Repeat("x", 20)+"yyyyy"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func TestSpoolMemoryIsConstant(t *testing.T) {
	s := NewSpool(t.TempDir(), 64<<10, 1<<30)
	defer s.Close()
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 4<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 2000 { // 128 MB
		if _, err := s.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

func TestSpoolWithoutADirectory(t *testing.T) {
	s := NewSpool("/nosuchdirectory", 4, 100)
	if _, err := s.Write([]byte("abc")); err != nil {
		t.Errorf("data that fits in memory: %v", err)
	}
	if _, err := s.Write([]byte("defgh")); err == nil {
		t.Error("no error")
	}
	if got := readAll(t, s); got != "abc" {
		t.Errorf("kept %q", got)
	}
}
