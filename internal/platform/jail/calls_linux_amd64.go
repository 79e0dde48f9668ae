package jail

import "golang.org/x/sys/unix"

// oldCalls are the calls to be refused that newer processors never had.
var oldCalls = [...]uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_INOTIFY_INIT}
