package models

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"adze/internal/model"
	"adze/internal/model/bedrock"
	"adze/internal/model/foundry"
	"adze/internal/model/vertex"
	"adze/internal/model/wire"
	"adze/internal/platform/net/aws"
	"adze/internal/platform/net/oauth"
	"adze/internal/platform/proc/osproc"
	"adze/internal/settings"
	"adze/internal/tool"
)

// amazonBedrock reads the credentials and region like the AWS tools.
func amazonBedrock(a *access, c *wire.Config) (wire.Service, string, error) {
	set := settings.DecodeProviders(a.Settings).Bedrock
	c.BaseURL = set.Address
	s, err := bedrock.Service(bedrock.Config{
		Env: aws.Env{Getenv: a.Getenv, Home: a.Home}, BaseURL: c.BaseURL, SkipAuth: set.SkipAuth,
		Refresh: set.Refresh, Export: set.Export, Run: a.run, SignIn: a.signIn, Note: a.Say,
	})
	if adapt := s.Adapt; set.CacheHour {
		s.Adapt = func(req *model.Request) { adapt(req); cacheLong(req) }
	}
	return s, "the AWS configuration", err
}

// cacheLong requests the long lifetime for all cached blocks.
func cacheLong(req *model.Request) {
	req.Cache = slices.Clone(req.Cache)
	for i := range req.Cache {
		req.Cache[i].Hour = true
	}
}

// googleVertex reads the credentials like the Google Cloud tools.
func googleVertex(a *access, c *wire.Config) (wire.Service, string, error) {
	set := settings.DecodeProviders(a.Settings).Vertex
	c.BaseURL = set.Address
	s, err := vertex.Service(vertex.Config{
		Env: oauth.Env{Getenv: a.Getenv, Home: a.Home, Run: a.run}, BaseURL: c.BaseURL,
		Project: set.Project, Region: set.Region,
		SkipAuth: set.SkipAuth, Refresh: set.Refresh, SignIn: a.signIn, Note: a.Say,
	})
	if err == nil && c.BaseURL != "" {
		c.BaseURL = normalized(s.Dialect, c.BaseURL)
	}
	return s, "the Google Cloud configuration", err
}

// azureFoundry uses a key or a directory token.
func azureFoundry(a *access, c *wire.Config) (wire.Service, string, error) {
	set := settings.DecodeProviders(a.Settings).Foundry
	c.BaseURL, c.APIKey = set.Address, set.Key.Text
	source := "the Azure configuration"
	if c.APIKey != "" {
		source = set.Key.Origin
	}
	s, err := foundry.Service(foundry.Config{
		Env:      oauth.Env{Getenv: a.Getenv, Home: a.Home, Run: a.run},
		Resource: set.Resource, BaseURL: c.BaseURL,
		HasKey: c.APIKey != "", SkipAuth: set.SkipAuth,
	})
	return s, source, err
}

// Timeouts of credential commands. A sign-in may wait for a browser.
const (
	runLimit    = time.Minute
	signInLimit = 5 * time.Minute
)

// run runs a shell command that prints credentials and returns its output.
func (a *access) run(ctx context.Context, command string) ([]byte, error) {
	var out bytes.Buffer
	err := a.shell(ctx, command, runLimit, &out, nil)
	return out.Bytes(), err
}

// signIn runs a shell command and shows the user its output, such as a URL and a code.
func (a *access) signIn(ctx context.Context, command string) error {
	shown := &lineWriter{say: a.Say}
	defer shown.Close()
	return a.shell(ctx, command, signInLimit, shown, shown)
}

// shell runs a shell command. If problems is nil, stderr becomes part of the error.
func (a *access) shell(ctx context.Context, command string, limit time.Duration, out, problems io.Writer) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	shell, err := osproc.FindShell(exec.LookPath)
	if err != nil {
		return fmt.Errorf("the command %q: %w", command, err)
	}
	cmd := exec.CommandContext(limited, shell.Path, shell.Args(command)...)
	cmd.Dir, cmd.WaitDelay = a.Dir, time.Second // allows for background children
	if a.Environ != nil {
		cmd.Env = a.Environ()
	}
	var text bytes.Buffer
	if problems == nil {
		problems = &text
	}
	cmd.Stdout, cmd.Stderr = out, problems
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return fmt.Errorf("the command %q took longer than %s", command, limit)
	case err != nil && text.Len() > 0:
		return fmt.Errorf("the command %q: %w: %s", command, err, tool.OneLine(text.String(), 200))
	case err != nil:
		return fmt.Errorf("the command %q: %w", command, err)
	}
	return nil
}

// A lineWriter passes each line written to it to say.
type lineWriter struct {
	say  func(string)
	rest []byte
}

// maxLine is the length at which an unterminated line is split.
const maxLine = 4096

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok && len(w.rest) < maxLine {
			return len(p), nil
		}
		w.rest = rest
		w.line(line)
	}
}

// Close flushes the rest.
func (w *lineWriter) Close() { w.line(w.rest) }

func (w *lineWriter) line(text []byte) {
	if text = bytes.TrimSpace(text); len(text) > 0 {
		w.say(wire.Clean(string(text)))
	}
}
