package osproc

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A reaper is a job object: the system ends all its processes when our handle, the only one, is
// closed for any reason.
type reaper struct{ job windows.Handle }

func newReaper(string, mark) (*reaper, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job for programs: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job) // ok: the first error is returned
		return nil, fmt.Errorf("making a job for programs: %w", err)
	}
	return &reaper{job}, nil
}

// tell adds a started program, and its future descendants, to the job.
func (r *reaper) tell(sign string, pid int) {
	if r == nil || sign != "+" {
		return
	}
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return // already exited
	}
	windows.AssignProcessToJobObject(r.job, p) // ok: as above
	windows.CloseHandle(p)                     // ok: no longer needed
}

func (r *reaper) close() {
	if r != nil {
		windows.CloseHandle(r.job) // ok: nothing depends on it
	}
}

// Reap is not used on Windows.
func Reap([]string) int { return 1 }
