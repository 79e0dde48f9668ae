package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/tool"
)

const (
	// helperLimit is how long a command that prints headers may take.
	helperLimit = 10 * time.Second
	maxHeaders  = 64 << 10
)

// Headers runs the command of the entry that prints headers as JSON, and returns them. Without a command there are none.
// What it prints is in no error.
func (k *Keeper) Headers(ctx context.Context, e *roster.Entry) (map[string]string, error) {
	if e.HeadersHelper == "" {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, "sh", "-c", e.HeadersHelper)
	cmd.Dir = k.c.Dir
	if cmd.Env = os.Environ(); k.c.Environ != nil {
		cmd.Env = k.c.Environ()
	}
	cmd.Env = append(cmd.Env, "ADZE_MCP_SERVER_NAME="+e.Name, "ADZE_MCP_SERVER_URL="+e.URL)
	cmd.WaitDelay = time.Second // for what it leaves running in the background
	var out, problems limitedBuffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("headersHelper took longer than %v", helperLimit)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("headersHelper failed: %w%s", err, complaint(problems.kept.String(), out.kept.String()))
	case out.over:
		return nil, fmt.Errorf("headersHelper printed more than %d bytes", maxHeaders)
	}
	var headers map[string]string
	if json.Unmarshal(out.kept.Bytes(), &headers) != nil || headers == nil {
		return nil, errors.New(`headersHelper must print a JSON object of strings, such as {"X-Token": "…"}, and nothing else`)
	}
	for name, value := range headers {
		if !headerName(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("headersHelper printed a header that cannot be sent (%q)", tool.OneLine(name, 40))
		}
	}
	return headers, nil
}

// complaint returns what a command wrote on standard error, unless it is what it printed.
func complaint(problems, out string) string {
	text := tool.OneLine(problems, maxSaid)
	for word := range strings.FieldsFuncSeq(out, func(r rune) bool { return strings.ContainsRune(" \t\n\"{},:", r) }) {
		if len(word) > 3 {
			text = strings.ReplaceAll(text, word, "***")
		}
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// headerName reports whether a text can be the name of a header that is ours to set.
func headerName(name string) bool {
	word, rest := token(name)
	if word == "" || rest != "" {
		return false
	}
	switch strings.ToLower(name) {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "trailer", "te":
		return false
	}
	return true
}

// A limitedBuffer keeps the beginning of what is written to it.
type limitedBuffer struct {
	kept bytes.Buffer // not embedded: it would read from the pipe itself
	over bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	room := maxHeaders - b.kept.Len()
	b.over = b.over || len(p) > room
	b.kept.Write(p[:min(room, len(p))])
	return len(p), nil
}
