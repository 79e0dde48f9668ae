//go:build unix

package term

import (
	"io"
	"os"
	"testing"
	"time"
)

// TestWaiter checks that a waiter detects input without reading it.
func TestWaiter(t *testing.T) {
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w, err := NewWaiter(in)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.Await(time.Millisecond) {
		t.Error("nothing was typed")
	}
	w.Wake()
	if w.Await(0) {
		t.Error("it was only woken")
	}
	go typed.WriteString("key") // ok: the reader detects missing data
	for range 2 {
		if !w.Await(0) {
			t.Error("input is not noticed, or is lost")
		}
	}
	buf := make([]byte, 8)
	if n, _ := io.ReadAtLeast(in, buf, 3); string(buf[:n]) != "key" {
		t.Errorf("read %q", buf[:n])
	}
	typed.Close()
	if !w.Await(0) {
		t.Error("the end is not noticed")
	}
}
