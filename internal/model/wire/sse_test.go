package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readAll(r io.Reader) (events []string, err error) {
	s := &sseReader{r: r}
	for {
		name, data, err := s.Next()
		if err != nil {
			return events, err
		}
		events = append(events, name+"="+string(data))
	}
}

// Proves PROV-20.
func TestSSE(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"plain", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []string{"a=1", "b=2"}},
		{"crlf", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []string{"a=1", "=2"}},
		{"cr", "event: a\rdata: 1\r\rdata: 2\r\r", []string{"a=1", "=2"}},
		{"comments", ": hello\n\n:\nevent: a\n: in between\ndata: 1\n\n", []string{"a=1"}},
		{"many lines of data", "data: 1\ndata:\ndata:2\n\n", []string{"=1\n\n2"}},
		{"no final blank line", "event: a\ndata: 1\n", []string{"a=1"}},
		{"no final line end", "event: a\ndata: 1", []string{"a=1"}},
		{"no data, no event", "event: a\n\ndata: 1\n\n", []string{"=1"}},
		{"other fields", "id: 7\nretry: 5\nwhat\ndata: 1\n\n", []string{"=1"}},
		{"byte order mark and blank lines", "\ufeff\n\ndata: 1\n\n", []string{"=1"}},
		{"only one space is padding", "data:  1\n\n", []string{"= 1"}},
		{"long", "data: " + strings.Repeat("x", 100_000) + "\n\n", []string{"=" + strings.Repeat("x", 100_000)}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(tt.in),
				iotest.OneByteReader(strings.NewReader(tt.in)),
				iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := readAll(r)
				if err != io.EOF {
					t.Errorf("ends with %v, want EOF", err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// endless yields the same byte forever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// Proves PROV-20.
func TestSSELimit(t *testing.T) {
	in := io.MultiReader(strings.NewReader("data: "), endless('x'))
	if _, err := readAll(in); !errors.Is(err, errLineTooLong) {
		t.Errorf("an endless line ends with %v", err)
	}
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	if _, err := readAll(strings.NewReader(strings.Repeat(line, 17) + "\n")); !errors.Is(err, errLineTooLong) {
		t.Errorf("an endless event ends with %v", err)
	}
}

func TestSSEKeepsReadError(t *testing.T) {
	broken := errors.New("reset")
	got, err := readAll(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken)))
	if err != broken || !cmp.Equal(got, []string{"=1"}) {
		t.Errorf("got %q, %v; want only the complete event and the error", got, err)
	}
}

// FuzzSSE checks that a stream yields the same events however it is split into reads.
func FuzzSSE(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: 1\r\n\r\n"))
	f.Add([]byte(": c\ndata: 1\ndata: 2\rdata: 3\n\n\ndata"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(bytes.NewReader(in))
		pieces, perr := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if (err == io.EOF) != (perr == io.EOF) || !cmp.Equal(whole, pieces) {
			t.Errorf("whole: %q, %v\npieces: %q, %v", whole, err, pieces, perr)
		}
	})
}
