//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"syscall"
)

func (p *place) pipe(rel string) {
	p.T.Helper()
	if err := os.MkdirAll(filepath.Dir(p.Path(rel)), 0o755); err != nil {
		p.T.Fatal(err)
	}
	if err := syscall.Mkfifo(p.Path(rel), 0o600); err != nil {
		p.T.Skip(err)
	}
}
