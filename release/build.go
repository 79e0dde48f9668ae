package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A commit is the state of the repository that a release is built from.
type commit struct {
	id   string
	time time.Time
}

// lastCommit returns the commit checked out in root. Files that differ from it are an error: the
// release could not be built again.
func lastCommit(ctx context.Context, root string) (commit, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = root
		out, err := output(cmd)
		return strings.TrimSpace(string(out)), err
	}
	status, err := git("status", "--porcelain")
	if err != nil {
		return commit{}, err
	}
	if status != "" {
		return commit{}, fmt.Errorf("the repository has changes that are not committed:\n%s", status)
	}
	text, err := git("log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, err
	}
	id, seconds, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return commit{}, err
	}
	return commit{id, time.Unix(n, 0).UTC()}, nil
}

// build builds the program for all platforms.
func (r *release) build(ctx context.Context, work string) error {
	r.binaries = map[platform]string{}
	for _, p := range r.platforms {
		path := filepath.Join(work, p.os, p.arch, p.exe())
		if err := r.goBuild(ctx, p, path); err != nil {
			return err
		}
		r.binaries[p] = path
		fmt.Println("  " + p.String())
	}
	return nil
}

// goBuild builds the program for one platform. The result depends on the commit, the version, the
// configuration and the Go toolchain alone.
func (r *release) goBuild(ctx context.Context, p platform, path string) error {
	const pkg = "adze/internal/app"
	flags := []string{"-s", "-w", "-X", pkg + ".Version=" + r.version}
	if r.config.published() {
		flags = append(flags, "-X", pkg+".Downloads="+r.config.Downloads, "-X", pkg+".ReleaseKey="+r.config.Key)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", strings.Join(flags, " "), "-o", path, "./cmd/adze")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	_, err := output(cmd)
	return err
}

// output runs a command and returns its output. The error contains its error output.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:min(3, len(cmd.Args))], " "), err, stderr.String())
	}
	return out, nil
}
