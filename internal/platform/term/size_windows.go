package term

import (
	"os"
	"syscall"
	"unsafe"
)

// IsTerminal reports whether f is a console.
func IsTerminal(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}

// Size returns the width and height of the console f in characters, or zeros if unknown.
func Size(f *os.File) (width, height int) {
	var info struct {
		size, cursor             [2]int16
		attributes               uint16
		left, top, right, bottom int16
		maximum                  [2]int16
	}
	proc := syscall.NewLazyDLL("kernel32.dll").NewProc("GetConsoleScreenBufferInfo")
	if ok, _, _ := proc.Call(f.Fd(), uintptr(unsafe.Pointer(&info))); ok == 0 {
		return 0, 0
	}
	return int(info.right-info.left) + 1, int(info.bottom-info.top) + 1
}
