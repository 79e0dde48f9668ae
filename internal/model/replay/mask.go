package replay

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strings"
)

// minSecret is the length from which a value is looked for in responses: a shorter one is no secret.
const minSecret = 8

// plainHeaders hold no secret. Any other one may: gateways have names of their own for what authenticates.
var plainHeaders = [...]string{
	"Accept", "Accept-Encoding", "Anthropic-Beta", "Anthropic-Version", "Content-Length", "Content-Type", "Openai-Beta", "User-Agent", "X-Amz-Content-Sha256", "X-Amz-Date",
}

// secretsOf returns the values of the headers of a request that may be secrets, the longest first.
func secretsOf(h http.Header) (secrets [][]byte) {
	for name, values := range h {
		if slices.Contains(plainHeaders[:], name) {
			continue
		}
		for _, v := range values {
			for _, part := range []string{v, v[strings.LastIndexByte(v, ' ')+1:]} { // with the scheme and without
				if len(part) >= minSecret {
					secrets = append(secrets, []byte(part))
				}
			}
		}
	}
	slices.SortFunc(secrets, func(a, b []byte) int { return len(b) - len(a) })
	return secrets
}

// A mask writes to a file without secrets. It holds back what may be the beginning of one.
type mask struct {
	file    *os.File
	secrets [][]byte // the longest first
	held    []byte
}

func (m *mask) Write(p []byte) error {
	m.held = append(m.held, p...)
	for _, s := range m.secrets {
		m.held = bytes.ReplaceAll(m.held, s, []byte("***"))
	}
	keep := 0
	if len(m.secrets) > 0 {
		keep = min(len(m.secrets[0])-1, len(m.held))
	}
	_, err := m.file.Write(m.held[:len(m.held)-keep])
	m.held = append(m.held[:0], m.held[len(m.held)-keep:]...)
	return err
}

func (m *mask) Close() error {
	_, err := m.file.Write(m.held)
	m.held = nil
	if closed := m.file.Close(); err == nil {
		err = closed
	}
	return err
}
