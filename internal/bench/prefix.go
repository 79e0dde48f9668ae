package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Parameters and limit for a long session with a host.
const (
	prefixTurns   = 50
	prefixChanged = 1.0 // percent
)

// prefix measures how much of a request differs from the previous one, over a session of many
// turns in which files are edited and instructions change. The unchanged prefix is cached by
// the provider.
func (b *bench) prefix() error {
	var script strings.Builder
	for i := range prefixTurns {
		fmt.Fprintf(&script, "use Write {\"file_path\":\"f%d.txt\",\"content\":\"%d\"}\n---\n"+
			"use Read {\"file_path\":\"f%d.txt\"}\n---\nsay Turn %d.\n---\n", i, i, i, i)
	}
	srv, err := newServer(strings.TrimSuffix(script.String(), "---\n"))
	if err != nil {
		return err
	}
	defer srv.close()
	cmd := b.command(srv, "", "ADZE_NO_FSYNC=1")
	cmd.Args = []string{b.adze, "-p", "--input-format", "stream-json", "--output-format", "stream-json",
		"--verbose", "--trust", "--permission-mode", "acceptEdits"}
	cmd.Dir = filepath.Join(b.dir, "project")
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	var before []byte
	worst := 0.0
	for i := range prefixTurns {
		if i%10 == 0 {
			if err := os.WriteFile(filepath.Join(cmd.Dir, "CLAUDE.md"), fmt.Appendf(nil, "Rule %d.", i), 0o600); err != nil {
				return err
			}
		}
		fmt.Fprintf(in, `{"type":"user","message":{"role":"user","content":"Step %d."}}`+"\n", i) // ok: the answer will be missing
		for lines.Scan() && !bytes.Contains(lines.Bytes(), []byte(`"type":"result"`)) {
		}
		body := unmarked(srv.lastBody())
		if len(body) == 0 || bytes.Equal(body, before) {
			return fmt.Errorf("turn %d sent nothing: %s", i+1, said.String())
		}
		if len(before) > 0 {
			worst = max(worst, 100*(1-float64(sameBytes(before, body))/float64(len(before))))
		}
		before = body
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("adze: %w\n%s", err, said.String())
	}
	b.report(fmt.Sprintf("changed bytes of a request's prefix, %d turns, at worst", prefixTurns), " %", worst, prefixChanged)
	return nil
}

// unmarked returns a request up to the end of its messages, without the cache marks, which move
// by design.
func unmarked(body []byte) []byte {
	body = regexp.MustCompile(`,"cache_control":\{[^}]*\}`).ReplaceAll(body, nil)
	return bytes.TrimSuffix(bytes.TrimSpace(body), []byte("]}"))
}

// sameBytes returns the length of the common prefix of two texts.
func sameBytes(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
