//go:build linux || darwin

package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// run tries everything and prints the results. It uses raw system calls, which run on this
// thread: only this thread is confined.
func (t *trial) run() error {
	time.AfterFunc(trialTimeout, func() { os.Exit(1) }) // even if no other process is left
	var all []Attempt
	blocked := func(name string, err error) {
		all = append(all, Attempt{Name: name, Held: err != nil, Detail: detail(err)})
	}
	err := create(filepath.Join(t.Write, "file"))
	all = append(all, Attempt{Name: tryWork, Held: err == nil, Detail: detail(err)})
	blocked(tryOutside, firstSuccess(t.Outside, func(dir string) error { return create(filepath.Join(dir, "adze-sandbox-test")) }))
	blocked(tryMetadata, firstSuccess(t.Outside, chmodSame))
	blocked(trySecret, firstSuccess(t.Secrets, readable))
	blocked(tryGuarded, firstSuccess(t.Guarded, t.change))
	for _, name := range t.Absent {
		t.make(name)
	}
	blocked(tryAppear, nil) // checked from outside
	blocked(tryTCP, reach(unix.SOCK_STREAM, t.TCP))
	all = append(all, Attempt{Name: tryUDP, Held: true, Detail: detail(reach(unix.SOCK_DGRAM, t.UDP))})
	blocked(tryUnix, connectUnix(t.Unix))
	blocked(trySignal, unix.Kill(t.PID, 0))
	t.system(blocked)
	return json.NewEncoder(os.Stdout).Encode(all)
}

func detail(err error) string {
	if err == nil {
		return worked
	}
	return err.Error()
}

// firstSuccess returns nil if try succeeds for any path, otherwise the first error.
func firstSuccess(paths []string, try func(string) error) error {
	var first error = unix.ENOENT
	for i, path := range paths {
		err := try(path)
		if err == nil {
			return nil
		}
		if i == 0 {
			first = err
		}
	}
	return first
}

func create(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	unix.Close(fd)           // ok: empty
	return unix.Unlink(path) // ok: creating it is enough
}

func chmodSame(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return err
	}
	return unix.Chmod(path, uint32(stat.Mode)&0o7777)
}

func readable(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, make([]byte, 1))
	if err == nil && n == 0 {
		return errors.New("it is empty")
	}
	return err
}

// change tries to write into, move away and create a protected name.
func (t *trial) change(name string) error {
	path := filepath.Join(t.Write, name)
	if err := create(filepath.Join(path, "file")); err == nil {
		return nil
	}
	if fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {
		unix.Close(fd) // ok: should not be open
		return nil
	}
	if err := unix.Mkdir(path, 0o700); err == nil {
		return nil
	}
	if err := unix.Unlink(path); err == nil {
		return nil
	}
	return unix.Rename(path, filepath.Join(t.Write, "moved-"+strings.ReplaceAll(name, "/", "-")))
}

// make tries to create a protected name.
func (t *trial) make(name string) {
	path := filepath.Join(t.Write, name)
	if unix.Mkdir(path, 0o700) == nil {
		create(filepath.Join(path, "file")) // ok: only the directory's removal is checked
	}
}

// reach sends data to a local port.
func reach(kind, port int) error {
	fd, err := unix.Socket(unix.AF_INET, kind, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("x"))
	return err
}

func connectUnix(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: name})
}
