package osproc

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// Alive reports whether a process of any user is running.
func Alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0) // a process that ended may still be open elsewhere
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

// Started returns an opaque representation of a process's start time, or "" if the process is
// not running. Together with the PID it distinguishes the process from later ones with the same
// PID.
func Started(pid int) string {
	if !Alive(pid) {
		return ""
	}
	const unknown = "unknown" // the PID must suffice
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return unknown
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return unknown
	}
	return strconv.FormatInt(created.Nanoseconds(), 10)
}
