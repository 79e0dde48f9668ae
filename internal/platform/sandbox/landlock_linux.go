package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, by what they let a program do.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	fileRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	dirRights  = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// leastLandlock is the version that the tier without namespaces needs: older ones let files be
// truncated.
const leastLandlock = 3

// Versions from which more is there.
const (
	landlockNet   = 4
	landlockScope = 6
)

// landlockVersion returns the version of the kernel's Landlock, 0 for none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// Rules are what Landlock lets a program do with files.
type rules struct {
	Write []string `json:"write"` // and everything below
	// Read are the files that can be read, with everything below, and Refuse says that no others can.
	Read   []string `json:"read,omitempty"`
	Refuse bool     `json:"refuse,omitempty"`
	// Alone says that there are no namespaces: the network and signals are to be refused here as well.
	Alone bool `json:"alone,omitempty"`
}

// apply puts the calling thread, and what it will execute, under the rules.
func (r *rules) apply() error {
	version := landlockVersion()
	if version < leastLandlock {
		if r.Alone {
			return fmt.Errorf("the kernel has version %d of Landlock, and %d is needed", version, leastLandlock)
		}
		return nil
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fileRights | dirRights}
	if r.Refuse {
		attr.Handled_access_fs |= readRights
	}
	if r.Alone && version >= landlockNet {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= landlockScope {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), sizeFor(version), 0)
	if errno != 0 {
		return fmt.Errorf("making the rules of Landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, path := range r.Write {
		if err := allow(int(fd), path, fileRights|dirRights); err != nil {
			return err
		}
	}
	for _, path := range r.Read {
		if err := allow(int(fd), path, readRights); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("applying the rules of Landlock: %w", errno)
	}
	return nil
}

// sizeFor returns how much of the attributes a version of the kernel knows.
func sizeFor(version int) uintptr {
	switch {
	case version >= landlockScope:
		return 24
	case version >= landlockNet:
		return 16
	}
	return 8
}

// allow adds a rule for path and what is below it. What is not there needs none.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("looking at %s: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights | readRights
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("adding %s to the rules of Landlock: %w", path, errno)
	}
	return nil
}

// without returns paths that together hold everything except what is hidden: Landlock can only allow, and
// what it allows it allows below as well.
func without(hidden []string) ([]string, error) {
	if len(hidden) == 0 {
		return []string{"/"}, nil
	}
	var paths []string
	var descend func(dir string) error
	descend = func(dir string) error {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case slices.Contains(hidden, path) || e.Type()&os.ModeSymlink != 0:
			case slices.ContainsFunc(hidden, func(h string) bool { return below(path, h) }):
				if err := descend(path); err != nil {
					return err
				}
			default:
				paths = append(paths, path)
			}
		}
		return nil
	}
	return paths, descend("/")
}
