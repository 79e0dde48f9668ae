package osproc

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A reaper is a job: the system ends all that is in it when our handle, the only one, is closed, however
// that came about.
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
		windows.CloseHandle(job) // ok: the error is what counts
		return nil, fmt.Errorf("making a job for programs: %w", err)
	}
	return &reaper{job}, nil
}

// tell puts a program that has begun into the job, with all it starts from then on.
func (r *reaper) tell(sign string, pid int) {
	if r == nil || sign != "+" {
		return
	}
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return // it has ended
	}
	windows.AssignProcessToJobObject(r.job, p) // ok: as above
	windows.CloseHandle(p)                     // ok: it was only used
}

func (r *reaper) close() {
	if r != nil {
		windows.CloseHandle(r.job) // ok: nothing depends on it
	}
}

// Reap is not needed here.
func Reap([]string) int { return 1 }
