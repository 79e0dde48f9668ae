package lines

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func readAll(t interface{ Fatal(...any) }, r io.Reader, max int) []string {
	var got []string
	for l := NewReader(r, max); ; {
		line, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return got
		case errors.Is(err, ErrTooLong):
			got = append(got, "TOO LONG")
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, string(line))
		}
	}
}

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct {
		name, in string
		max      int
		want     []string
	}{
		{"nothing", "", 8, nil},
		{"lines", "a\n\nb\n", 8, []string{"a", "", "b"}},
		{"no end", "a\nb", 8, []string{"a", "b"}},
		{"exactly", "12345678\n", 8, []string{"12345678"}},
		{"exactly, no end", "12345678", 8, []string{"12345678"}},
		{"one more", "123456789\na\n", 8, []string{"TOO LONG", "a"}},
		{"one more, no end", "123456789", 8, []string{"TOO LONG"}},
		{"longer than the buffer", long + "\na\n", 1 << 20, []string{long, "a"}},
		{"much too long", long + "\na\n", 8, []string{"TOO LONG", "a"}},
		{"much too long at the end", "a\n" + long, 8, []string{"a", "TOO LONG"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, readAll(t, strings.NewReader(tt.in), tt.max)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNextReportsFailures(t *testing.T) {
	broken := errors.New("broken")
	l := NewReader(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), 8)
	if line, err := l.Next(); string(line) != "a" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
	if _, err := l.Next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestSkippingKeepsNothing checks that an endless line does not exhaust memory.
func TestSkippingKeepsNothing(t *testing.T) {
	endless := io.LimitReader(zeros{}, 64<<20)
	allocated := testing.AllocsPerRun(1, func() {
		l := NewReader(endless, 1<<10)
		if _, err := l.Next(); err != nil && !errors.Is(err, ErrTooLong) && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	if allocated > 20 {
		t.Errorf("%v allocations", allocated)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestLinesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.IntRange(0, 20).Draw(t, "max")
		in := rapid.SliceOf(rapid.StringMatching(`[a-c]{0,40}`)).Draw(t, "lines")
		var want []string
		for _, line := range in {
			if len(line) > max {
				line = "TOO LONG"
			}
			want = append(want, line)
		}
		var b bytes.Buffer
		for _, line := range in {
			b.WriteString(line + "\n")
		}
		got := readAll(t, iotest.OneByteReader(&b), max)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
