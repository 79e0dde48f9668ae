package web

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errLarge means that the body exceeds the limit.
var errLarge = errors.New("it is too large")

// A counter fails if more than left bytes are read from it.
type counter struct {
	io.Reader
	left int64
}

func (c *counter) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLarge
	}
	n, err := c.Reader.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// decompress decodes a body. It supports the offered encodings and identity.
func decompress(body io.Reader, encodings []string) (io.Reader, error) {
	name := strings.ToLower(strings.TrimSpace(strings.Join(encodings, ",")))
	switch name {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(body)
		if errors.Is(err, io.EOF) {
			return strings.NewReader(""), nil // an empty body has no header
		}
		return r, err
	case "deflate":
		buffered := bufio.NewReader(body)
		head, err := buffered.Peek(2)
		if errors.Is(err, io.EOF) && len(head) == 0 {
			return strings.NewReader(""), nil
		}
		if len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
			return zlib.NewReader(buffered)
		}
		return flate.NewReader(buffered), nil // some servers omit the zlib header
	}
	return nil, fmt.Errorf("unrequested encoding %q", clip(name))
}
