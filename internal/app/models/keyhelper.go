package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"adze/internal/platform/proc/osproc"
	"adze/internal/tool"
)

// helperLimit is the timeout of a key helper.
const helperLimit = 10 * time.Second

// keyHelper returns a function that runs a shell command to print the key, with the environment
// from env, or ours if env is nil.
func keyHelper(command, dir string, env func() []string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		limited, cancel := context.WithTimeout(ctx, helperLimit)
		defer cancel()
		shell, err := osproc.FindShell(exec.LookPath)
		if err != nil {
			return "", fmt.Errorf("apiKeyHelper: %w", err)
		}
		cmd := exec.CommandContext(limited, shell.Path, shell.Args(command)...)
		cmd.Dir = dir
		if env != nil {
			cmd.Env = env()
		}
		cmd.WaitDelay = time.Second // allows for background children
		var out, problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problems
		err = cmd.Run()
		key := strings.TrimSpace(out.String())
		switch {
		case limited.Err() != nil && ctx.Err() == nil:
			return "", fmt.Errorf("apiKeyHelper took longer than %s", helperLimit)
		case err != nil:
			text := problems.String()
			if key != "" {
				text = strings.ReplaceAll(text, key, "***")
			}
			return "", fmt.Errorf("apiKeyHelper: %w: %s", err, tool.OneLine(text, 200))
		case key == "":
			return "", errors.New("apiKeyHelper printed nothing")
		}
		return key, nil
	}
}
