//go:build unix

package mcp

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/app/wire"
)

// TestCommandsEnd checks that a canceled call and the end of the input both end the running
// command.
func TestCommandsEnd(t *testing.T) {
	c := open(t, ServeOptions{Access: wire.AccessSpec{Allow: []string{"Bash"}}})
	started := func(file string) int {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			var pid int
			if data, err := os.ReadFile(c.Path("work/" + file)); err == nil && strings.HasSuffix(string(data), "\n") {
				if _, err := fmt.Sscan(string(data), &pid); err == nil {
					return pid
				}
			}
		}
		t.Fatal("the command was not started")
		return 0
	}
	gone := func(pid int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
	run := func(ctx context.Context, file string) {
		c.CallTool(ctx, &sdk.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": "echo $$ > " + file + "; sleep 100", "timeout": 100000}}) // ok: it is interrupted
	}
	ctx, cancel := context.WithCancel(t.Context())
	go run(ctx, "first")
	pid := started("first")
	cancel()
	gone(pid)
	go run(t.Context(), "second")
	pid = started("second")
	c.end()
	gone(pid)
}
