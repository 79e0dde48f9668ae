//go:build unix && (portable || !linux || !(amd64 || arm64))

package walk

import "syscall"

const (
	openFlags = syscall.O_RDONLY | syscall.O_NONBLOCK
	noFollow  = syscall.O_NOFOLLOW
)
