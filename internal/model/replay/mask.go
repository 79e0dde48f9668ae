package replay

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strings"
)

// minSecret is the minimum length of a value to mask in responses; shorter values are not
// considered secrets.
const minSecret = 8

// plainHeaders lists the headers without secrets. Any other header may hold one, because
// gateways use their own names for credentials.
var plainHeaders = [...]string{
	"Accept", "Accept-Encoding", "Anthropic-Beta", "Anthropic-Version", "Content-Length", "Content-Type", "Openai-Beta", "User-Agent", "X-Amz-Content-Sha256", "X-Amz-Date",
}

// secretsOf returns the header values of a request that may be secrets, longest first.
func secretsOf(h http.Header) (secrets [][]byte) {
	for name, values := range h {
		if slices.Contains(plainHeaders[:], name) {
			continue
		}
		for _, v := range values {
			for _, part := range []string{v, v[strings.LastIndexByte(v, ' ')+1:]} { // including and excluding the scheme
				if len(part) >= minSecret {
					secrets = append(secrets, []byte(part))
				}
			}
		}
	}
	slices.SortFunc(secrets, func(a, b []byte) int { return len(b) - len(a) })
	return secrets
}

// A mask writes to a file without secrets. It holds back bytes that may begin a secret.
type mask struct {
	file    *os.File
	secrets [][]byte // longest first
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
