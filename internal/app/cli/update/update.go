// Package update replaces the program with another released version. It trusts only what the
// release key has signed, and replaces the program in one step that can be undone.
package update

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"adze/internal/platform/fs/lockfile"
	"adze/internal/setup"
)

// Config configures an Updater.
type Config struct {
	Program string // the program's file, with links resolved
	Version string
	Source  string // the address of the releases
	Key     string // the public minisign key of the releases
	HTTP    http.RoundTripper
	Say     func(string) // reports progress
}

// An Updater updates one installation.
type Updater struct {
	Config
	client *http.Client
}

// New returns an Updater.
func New(c Config) *Updater {
	return &Updater{c, &http.Client{Transport: c.HTTP, CheckRedirect: redirect}}
}

// maxRedirects limits how often a mirror may redirect.
const maxRedirects = 5

// redirect follows redirects, but never from https to http.
func redirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return errors.New("too many redirects")
	case req.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https":
		return fmt.Errorf("redirected from https to %s", req.URL)
	}
	return nil
}

// Newest returns the version that a channel offers.
func (u *Updater) Newest(ctx context.Context, channel string) (string, error) {
	if channel == "" || strings.Trim(channel, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "", setup.Errorf("%q is not a channel; use latest or stable", channel)
	}
	text, err := u.signed(ctx, channel, "channel "+channel+" of adze")
	if err != nil {
		return "", err
	}
	version := strings.TrimSpace(text)
	if !Valid(version) {
		return "", fmt.Errorf("the channel %s offers %q, which is not a version", channel, version)
	}
	return version, nil
}

// Install replaces the program with a version. The replaced program is kept for [Updater.Rollback].
func (u *Updater) Install(ctx context.Context, version string) error {
	unlock, err := u.lock()
	if err != nil {
		return err
	}
	defer unlock()
	name := fmt.Sprintf("adze-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	archive := name + ".tar.gz"
	if runtime.GOOS == "windows" {
		archive = name + ".zip"
	}
	u.Say("Downloading adze " + version)
	data, err := u.download(ctx, version, archive)
	if err != nil {
		return err
	}
	program, err := extract(data, archive, name+"/bin/"+filepath.Base(exeName))
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	stage, err := u.stage(program)
	if err != nil {
		return err
	}
	defer os.Remove(stage) // ok: after success it has another name
	u.Say("Testing adze " + version)
	if err := selfTest(ctx, stage, version); err != nil {
		return fmt.Errorf("adze %s does not work on this system, so nothing was changed: %w", version, err)
	}
	return u.swap(stage)
}

// Rollback exchanges the program with the one that the last update replaced, and returns its
// version.
func (u *Updater) Rollback(ctx context.Context) (string, error) {
	unlock, err := u.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	version, err := versionOf(ctx, u.previous())
	if errors.Is(err, os.ErrNotExist) {
		return "", setup.Errorf("there is no version to go back to: %s does not exist", u.previous())
	}
	if err != nil {
		return "", fmt.Errorf("the previous version does not work, so nothing was changed: %w", err)
	}
	return version, u.exchange()
}

// lock makes sure that one process changes the installation at a time, and removes what killed
// ones left behind.
func (u *Updater) lock() (unlock func(), err error) {
	path := filepath.Join(filepath.Dir(u.Program), lockName)
	f, err := lockfile.Try(path)
	switch {
	case errors.Is(err, lockfile.ErrLocked):
		return nil, fmt.Errorf("adze is being updated already, by %s", lockfile.Holder(path))
	case err != nil:
		return nil, setup.Errorf("cannot write to %s: %v\nUpdate as a user who may, or install it again elsewhere", filepath.Dir(u.Program), err)
	}
	if err := u.recover(); err != nil {
		f.Close()
		return nil, err
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(u.Program), stagePrefix+"*")) // ok: the pattern is valid
	for _, path := range left {
		os.Remove(path) // ok: a leftover is harmless
	}
	return func() {
		os.Remove(path) // ok: a leftover is harmless
		f.Close()
	}, nil
}

// testLimit is how long a new program may take to answer.
const testLimit = 30 * time.Second

// selfTest runs a new program: it must report its version and build its tools.
func selfTest(ctx context.Context, program, version string) error {
	got, err := versionOf(ctx, program)
	if err != nil {
		return err
	}
	if got != version {
		return fmt.Errorf("it says that it is version %s", got)
	}
	_, err = ask(ctx, program, "tools", "--json")
	return err
}

// versionOf returns the version that a program reports.
func versionOf(ctx context.Context, program string) (string, error) {
	out, err := ask(ctx, program, "--version")
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(out), " ")
	version, _, _ = strings.Cut(version, "+")
	return version, nil
}

// ask runs a program in an empty state home and returns what it prints.
func ask(ctx context.Context, program string, args ...string) (string, error) {
	if _, err := os.Stat(program); err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "adze-update-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home) // ok: a leftover temporary directory is harmless
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "ADZE_HOME="+home)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
