package replace

import "golang.org/x/sys/unix"

func setAttribute(path, name, value string) bool {
	return unix.Setxattr(path, name, []byte(value), 0) == nil
}

func getAttribute(path, name string) string {
	buf := make([]byte, 100)
	n, err := unix.Getxattr(path, name, buf)
	if err != nil {
		return err.Error()
	}
	return string(buf[:n])
}
