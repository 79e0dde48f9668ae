// Package landlock applies Landlock rules for files, network and signals to a thread and every
// program it starts. The kernel enforces them and they cannot be lifted.
package landlock

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights are file access rights that a rule grants.
type Rights uint64

// Access rights, grouped by purpose. File and Dir together cover every way to change a file
// system.
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

// fileRights are the rights that apply to a non-directory.
const fileRights = Execute | Read | File | Device

// Landlock ABI versions that add features used here.
const (
	// MinVersion is the ABI version needed to restrict writing: older versions allow truncation.
	MinVersion = 3
	// ScopeVersion is the ABI version that adds restrictions on signals and abstract sockets.
	ScopeVersion = 6

	withNet    = 4
	withDevice = 5
)

// Version returns the kernel's Landlock ABI version, or 0 if Landlock is unavailable.
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

// Options configure a Ruleset.
type Options struct {
	Handled Rights // rights denied unless a rule grants them; rights unknown to the kernel are ignored
	NoTCP   bool   // deny TCP bind and connect
	Scoped  bool   // deny signals to, and abstract sockets of, processes outside
}

// New returns a ruleset without rules, which denies everything it handles.
func New(o Options) (*Ruleset, error) {
	version := Version()
	if version < MinVersion {
		return nil, fmt.Errorf("the kernel has version %d of Landlock, and %d is needed", version, MinVersion)
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
	if version >= ScopeVersion {
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

// Allow adds a rule for path and everything below it. Missing and inaccessible paths are
// ignored.
func (r *Ruleset) Allow(path string, rights Rights) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	return r.allow(path, fd, err, rights)
}

// AllowReal is like [Ruleset.Allow], but does nothing if path contains a symbolic link.
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
	defer unix.Close(fd) // ok: opened with O_PATH only
	rights &= r.handled
	errno := r.add(fd, rights)
	if errno == unix.EINVAL && rights&^fileRights != 0 { // path is a file
		errno = r.add(fd, rights&fileRights)
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

// Restrict applies the rules to the calling thread and everything it will start, and sets
// no_new_privs.
func (r *Ruleset) Restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("applying the rules of Landlock: %w", errno)
	}
	return nil
}

// Close releases the ruleset. Threads already restricted stay restricted.
func (r *Ruleset) Close() { unix.Close(r.fd) } // ok: nothing can be lost
