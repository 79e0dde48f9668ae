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

// patience is how long the keyring may take. One that is locked asks the user for a password in a window of its own,
// which a program at a terminal cannot wait for.
const patience = 2 * time.Second

// system is the keyring of the operating system.
type system struct {
	service  string
	patience time.Duration
}

// An absentError says that this machine has no keyring.
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

// ask waits for the keyring, as long as there is patience. What it was asked then continues in the background.
func (s system) ask(ctx context.Context, question func() (string, error)) (string, error) {
	if !present() {
		return "", absentError{errors.New("this machine has no keyring that runs; the file keeps keys without one (--file)")}
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if broken := recover(); broken != nil { // by a service that answers with what it must not
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

// failure returns what an error of the keyring means.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ring.ErrNotFound):
		return ErrNone
	case errors.Is(err, ring.ErrUnsupportedPlatform) || noService(err):
		return absentError{fmt.Errorf("there is no keyring: %w", err)}
	}
	if strings.Contains(err.Error(), "failed to unlock") {
		return errors.New("the keyring is locked, and could not be unlocked from here; unlock it and try again, or keep the key in a file with `adze auth login --file`")
	}
	return fmt.Errorf("the keyring failed: %w; to keep the key in a file instead, use `adze auth login --file`", err)
}

// noService reports whether an error says that no program offers the Secret Service.
func noService(err error) bool {
	for _, part := range [...]string{"org.freedesktop.secrets was not provided", "no such file or directory", "connection refused"} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}

// present reports whether there may be a keyring. Where it is a service on the session bus, there must be a bus: the
// library would start one.
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
