//go:build linux || darwin

package replace

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute that holds the access control list. A new file inherits a list if
// its directory has a default list.
const accessList = "system.posix_acl_access"

// copyAttributes copies the extended attributes, including access control lists, and removes an
// inherited list that the old file does not have. It skips attributes that this user may not
// set or that the file system maintains itself.
func copyAttributes(from, to *os.File) error {
	names, err := attribute(func(buf []byte) (int, error) { return unix.Flistxattr(int(from.Fd()), buf) })
	if err != nil {
		return ignorable(err)
	}
	if own := strings.Split(string(names), "\x00"); !slices.Contains(own, accessList) {
		inherited, _ := unix.Fgetxattr(int(to.Fd()), accessList, nil) // ok: an error means no list
		if inherited > 0 {
			if err := unix.Fremovexattr(int(to.Fd()), accessList); err != nil {
				return &os.PathError{Op: "removing the access control list", Path: to.Name(), Err: err}
			}
		}
	}
	for name := range strings.SplitSeq(string(names), "\x00") {
		if name == "" {
			continue
		}
		value, err := attribute(func(buf []byte) (int, error) { return unix.Fgetxattr(int(from.Fd()), name, buf) })
		if err == nil {
			err = unix.Fsetxattr(int(to.Fd()), name, value, 0)
		}
		if err := ignorable(err); err != nil {
			return &os.PathError{Op: "setting the attribute " + name, Path: to.Name(), Err: err}
		}
	}
	return nil
}

// attribute queries the size first and then the value.
func attribute(get func([]byte) (int, error)) ([]byte, error) {
	for {
		size, err := get(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		buf := make([]byte, size)
		n, err := get(buf)
		if errors.Is(err, unix.ERANGE) { // the value has grown
			continue
		}
		return buf[:max(n, 0)], err
	}
}

func ignorable(err error) error {
	switch err {
	case unix.ENOTSUP, unix.EPERM, unix.EACCES, unix.EINVAL:
		return nil
	}
	return err
}
