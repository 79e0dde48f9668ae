// Package landlock puts a thread, and every program it starts, under rules about files, the network and
// signals that the kernel enforces and nothing can lift.
package landlock

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights are what rules let a program do with files.
type Rights uint64

// The rights by what they are for. File and Dir together are everything that changes a file system.
const (
	Execute Rights = unix.LANDLOCK_ACCESS_FS_EXECUTE
	Read    Rights = unix.LANDLOCK_ACCESS_FS_READ_FILE
	List    Rights = unix.LANDLOCK_ACCESS_FS_READ_DIR
	File    Rights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	Device  Rights = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	Dir     Rights = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// ofFile are the rights that a file can have that is no directory.
const ofFile = Execute | Read | File | Device

// Versions of the kernel's interface from which more is there.
const (
	// Least is the version that rules about writing need: older ones let files be truncated.
	Least = 3
	// Scopes is the version from which signals and abstract sockets can be refused.
	Scopes = 6

	withNet    = 4
	withDevice = 5
)

// Version returns the version of the kernel's interface, 0 for none.
func Version() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// A Ruleset is a set of rules that has not been applied yet.
type Ruleset struct {
	fd      int
	handled Rights
}

// Options say what a ruleset is about.
type Options struct {
	Handled Rights // what needs a rule; unknown to the kernel, it is left out
	NoTCP   bool   // neither bind nor connect
	Scoped  bool   // neither signals to programs outside nor their abstract sockets
}

// New makes a ruleset without rules: of what it handles nothing is allowed.
func New(o Options) (*Ruleset, error) {
	version := Version()
	if version < Least {
		return nil, fmt.Errorf("the kernel has version %d of Landlock, and %d is needed", version, Least)
	}
	if version < withDevice {
		o.Handled &^= Device
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: uint64(o.Handled)}
	size := uintptr(8)
	if version >= withNet {
		size = 16
		if o.NoTCP {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= Scopes {
		size = 24
		if o.Scoped {
			attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("making the rules of Landlock: %w", errno)
	}
	return &Ruleset{int(fd), o.Handled}, nil
}

// Allow adds a rule for path and what is below it. What is not there, or out of reach, needs none.
func (r *Ruleset) Allow(path string, rights Rights) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	return r.allow(path, fd, err, rights)
}

// AllowReal is like [Ruleset.Allow] for a path without links. If there is one in it, it adds none.
func (r *Ruleset) AllowReal(path string, rights Rights) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	return r.allow(path, fd, err, rights)
}

func (r *Ruleset) allow(path string, fd int, err error, rights Rights) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENAMETOOLONG):
		return nil
	case err != nil:
		return fmt.Errorf("opening %s: %w", path, err)
	}
	defer unix.Close(fd) // ok: it was not even read
	rights &= r.handled
	errno := r.add(fd, rights)
	if errno == unix.EINVAL && rights&^ofFile != 0 { // no directory
		errno = r.add(fd, rights&ofFile)
	}
	if errno != 0 {
		return fmt.Errorf("adding %s to the rules of Landlock: %w", path, errno)
	}
	return nil
}

func (r *Ruleset) add(fd int, rights Rights) unix.Errno {
	if rights == 0 {
		return 0
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: uint64(rights), Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	return errno
}

// Restrict puts the calling thread, and what it will start, under the rules, and takes the way to new
// privileges from them.
func (r *Ruleset) Restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("applying the rules of Landlock: %w", errno)
	}
	return nil
}

// Close releases the ruleset. What was restricted stays so.
func (r *Ruleset) Close() { unix.Close(r.fd) } // ok: nothing can be lost
