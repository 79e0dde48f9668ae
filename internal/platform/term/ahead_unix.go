//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package term

import (
	"bytes"
	"io"
	"os"
	"unsafe"
)

// Keys returns a reader for the keys typed into f, a terminal that [Raw] has just changed.
// Input typed before that contains line feeds for Enter; they are converted to carriage
// returns, which represent the key.
func Keys(f *os.File) io.Reader {
	var n int32
	if !ioctl(f, inputQueue, unsafe.Pointer(&n)) {
		return f
	}
	return &aheadReader{f, int(n)}
}

// An aheadReader reads from a terminal. Its first bytes were typed before raw mode.
type aheadReader struct {
	f     *os.File
	ahead int
}

func (r *aheadReader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	if early := p[:min(n, r.ahead)]; len(early) > 0 {
		copy(early, bytes.ReplaceAll(early, []byte("\n"), []byte("\r")))
		r.ahead -= len(early)
	}
	return n, err
}
