//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package term

import (
	"bytes"
	"io"
	"os"
	"unsafe"
)

// Keys returns what is typed into f, a terminal that [Raw] has just changed. What was typed before that holds line feeds
// where the user pressed Enter; they are read as carriage returns, which are the key.
func Keys(f *os.File) io.Reader {
	var n int32
	if !ioctl(f, inputQueue, unsafe.Pointer(&n)) {
		return f
	}
	return &aheadReader{f, int(n)}
}

// An aheadReader reads from a terminal. Its first bytes were typed before it delivered keys.
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
