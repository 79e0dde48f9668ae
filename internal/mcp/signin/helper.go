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
	"adze/internal/platform/proc/osproc"
	"adze/internal/tool"
)

const (
	// helperLimit is the timeout of a command that prints headers.
	helperLimit = 10 * time.Second
	maxHeaders  = 64 << 10
)

// Headers runs the entry's command that prints headers as JSON, and returns them, or nil
// without a command. Errors never contain its output.
func (k *TokenStore) Headers(ctx context.Context, e *roster.Entry) (map[string]string, error) {
	if e.HeadersHelper == "" {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	shell, err := osproc.FindShell(exec.LookPath)
	if err != nil {
		return nil, fmt.Errorf("headersHelper: %w", err)
	}
	cmd := exec.CommandContext(limited, shell.Path, shell.Args(e.HeadersHelper)...)
	cmd.Dir = k.c.Dir
	if cmd.Env = os.Environ(); k.c.Environ != nil {
		cmd.Env = k.c.Environ()
	}
	cmd.Env = append(cmd.Env, "ADZE_MCP_SERVER_NAME="+e.Name, "ADZE_MCP_SERVER_URL="+e.URL)
	cmd.WaitDelay = time.Second // limits waiting for background processes
	var out, problems limitedBuffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
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

// complaint returns a command's standard error for an error message, with words from its output
// masked.
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

// headerName reports whether name is a valid header name that adze may set.
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

// A limitedBuffer keeps the start of the data written to it.
type limitedBuffer struct {
	kept bytes.Buffer // unembedded, because ReadFrom would bypass the limit
	over bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	room := maxHeaders - b.kept.Len()
	b.over = b.over || len(p) > room
	b.kept.Write(p[:min(room, len(p))])
	return len(p), nil
}
