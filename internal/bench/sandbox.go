package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/sandbox/jail"
)

// maxConfined is the maximum overhead of the sandbox per command, in milliseconds.
const maxConfined = 12

// confined compares commands inside and outside the sandbox, and reports the cost of its
// self-test, which runs once per session.
func (b *bench) confined() error {
	root := filepath.Join(b.dir, "confined")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	config := sandbox.Config{Roots: func() []string { return []string{root} }, Home: b.dir, Helper: b.adze}
	alone := sandbox.New(config)
	defer alone.Close()
	began := time.Now()
	if tier, err := alone.Tier(); err != nil || tier != sandbox.Bubblewrap {
		return fmt.Errorf("the sandbox is %v: %w", tier, errors.Join(err, errors.ErrUnsupported))
	}
	b.report("sandbox, self-test", " ms", float64(time.Since(began))/float64(time.Millisecond), 0)
	domain, err := sandbox.ParseDomain("example.org")
	if err != nil {
		return err
	}
	config.Network.Allow = func() []sandbox.Domain { return []sandbox.Domain{domain} }
	networked := sandbox.New(config)
	defer networked.Close()
	if _, err := networked.Tier(); err != nil {
		return err
	}
	shell, err := new(jail.Finder).Find("bash", []string{"/usr/bin", "/bin"})
	if err != nil {
		return err
	}
	reading := &jail.Policy{Read: []string{root}, Execute: shell.Files}
	var free, inside, online, jailed []time.Duration
	for range b.runs {
		for _, m := range []struct {
			sandbox *sandbox.Sandbox
			reading *jail.Policy
			to      *[]time.Duration
		}{{nil, nil, &free}, {alone, nil, &inside}, {networked, nil, &online}, {networked, reading, &jailed}} {
			began := time.Now()
			if err := runTrue(m.sandbox, m.reading, root); err != nil {
				return err
			}
			*m.to = append(*m.to, time.Since(began))
		}
	}
	b.report("bash -c true", " ms", median(free), 0)
	b.report("sandbox, added to a command", " ms", median(inside)-median(free), maxConfined)
	b.report("sandbox, added to a command with a network", " ms", median(online)-median(free), 0)
	b.report("sandbox, added to a command that only reads", " ms", median(jailed)-median(free), maxConfined)
	return nil
}

// runTrue runs bash, in the sandbox if s is not nil.
func runTrue(s *sandbox.Sandbox, reading *jail.Policy, dir string) error {
	cmd := osproc.Cmd{Path: "/bin/bash", Args: []string{"-c", "true"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Output: io.Discard}
	if s != nil {
		c, err := s.Wrap(context.Background(), sandbox.Command{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Reading: reading})
		if err != nil {
			return err
		}
		defer c.End("")
		cmd.Path, cmd.Args, cmd.Dir, cmd.Env, cmd.Files = c.Path, c.Args, c.Dir, c.Env, c.Files
	}
	exit, err := new(osproc.Runner).Run(context.Background(), cmd)
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("exit code %d", exit.Code)
	}
	return err
}
