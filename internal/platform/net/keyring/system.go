package keyring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	ring "github.com/zalando/go-keyring"
)

// patience limits how long to wait for the keyring. A locked keyring prompts for a password in
// its own window, which a terminal program cannot wait for.
const patience = 2 * time.Second

// system is the operating system's keyring.
type system struct {
	service  string
	patience time.Duration
}

// An absentError means that this machine has no keyring.
type absentError struct{ error }

func (e absentError) Unwrap() error { return e.error }

func (s system) get(ctx context.Context, name string) (string, error) {
	return s.ask(ctx, func() (string, error) { return ring.Get(s.service, name) })
}

func (s system) set(ctx context.Context, name, key string) error {
	_, err := s.ask(ctx, func() (string, error) { return "", ring.Set(s.service, name, key) })
	return err
}

func (s system) remove(ctx context.Context, name string) error {
	_, err := s.ask(ctx, func() (string, error) { return "", ring.Delete(s.service, name) })
	return err
}

type answer struct {
	key string
	err error
}

// ask calls question and waits up to s.patience for the result. After a timeout, the call
// continues in the background.
func (s system) ask(ctx context.Context, question func() (string, error)) (string, error) {
	if !present() {
		return "", absentError{errors.New("this machine has no keyring that runs; the file keeps keys without one (--file)")}
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if broken := recover(); broken != nil { // caused by a malformed response
				done <- answer{err: fmt.Errorf("it answered nonsense: %v", broken)}
			}
		}()
		key, err := question()
		done <- answer{key, err}
	}()
	late := time.NewTimer(s.patience)
	defer late.Stop()
	select {
	case a := <-done:
		return a.key, failure(a.err)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-late.C:
		return "", fmt.Errorf("the keyring did not answer within %v, probably because it is locked; unlock it and try again, or keep the key in a file with `adze auth login --file`", s.patience)
	}
}

// failure translates a keyring error.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ring.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, ring.ErrUnsupportedPlatform) || noService(err):
		return absentError{fmt.Errorf("no keyring: %w", err)}
	}
	if strings.Contains(err.Error(), "failed to unlock") {
		return errors.New("the keyring is locked, and could not be unlocked from here; unlock it and try again, or keep the key in a file with `adze auth login --file`")
	}
	return fmt.Errorf("the keyring failed: %w; to keep the key in a file instead, use `adze auth login --file`", err)
}

// noService reports whether an error means that no program provides the Secret Service.
func noService(err error) bool {
	for _, part := range [...]string{"org.freedesktop.secrets was not provided", "no such file or directory", "connection refused"} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}

// present reports whether a keyring may be available. Where it is a D-Bus service, a session
// bus must exist, because the library would start one.
func present() bool {
	switch runtime.GOOS {
	case "darwin":
		_, err := os.Stat("/usr/bin/security")
		return err == nil
	case "windows":
		return true
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}
