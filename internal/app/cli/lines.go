package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"adze/internal/platform/text/lines"
)

// serveLines answers each line of standard input with a line of JSON, until the input ends. An
// overlong line gets an error; empty ones are skipped.
func serveLines(ctx context.Context, env *Env, answer func(line []byte, err error) any) error {
	in := lines.NewReader(env.Stdin, maxPrompt)
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, lines.ErrTooLong):
			err = fmt.Errorf("the line is longer than %d MB", maxPrompt>>20)
		case err != nil:
			return fmt.Errorf("reading stdin: %w", err)
		case strings.TrimSpace(string(line)) == "":
			continue
		}
		out, err := json.Marshal(answer(line, err))
		if err == nil {
			err = env.print(string(out) + "\n")
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}
