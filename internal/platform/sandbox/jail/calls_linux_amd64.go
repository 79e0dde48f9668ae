package jail

import "golang.org/x/sys/unix"

// oldCalls are refused calls that newer architectures never had.
var oldCalls = [...]uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_INOTIFY_INIT}
