package sandbox

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestKernelSettings checks F1: to the kernel, root in a sandbox owns the kernel's settings. In
// no tier can they be opened for writing, and files that reveal the machine to root are hidden.
//
// Proves PERM-60, PERM-61.
func TestKernelSettings(t *testing.T) {
	for name, p := range map[string]*prison{
		"bubblewrap": newPrison(t, Bubblewrap, nil), "with a network": newPrison(t, Bubblewrap, networked), "landlock": newPrison(t, Landlock, nil),
	} {
		out, _ := p.run(t, `for f in $(find /proc/sys /proc/irq /proc/bus /proc/acpi /proc/fs /proc/scsi -type f 2>/dev/null) $(find /proc -maxdepth 1 -type f 2>/dev/null) \
			$(find /sys -maxdepth 4 -type f -not -path '*/module/*' 2>/dev/null); do
			n=$((n+1)); { : >> "$f"; } 2>/dev/null && echo "opened $f"
		done; [ "$n" -gt 500 ] && echo tried; v=$(cat /proc/sys/fs/lease-break-time); { echo "$v" > /proc/sys/fs/lease-break-time; } 2>/dev/null && echo wrote; cat /proc/sys/kernel/ostype`)
		if out != "tried\nLinux\n" {
			t.Errorf("%s: %s", name, out)
		}
		if name == "landlock" {
			continue
		}
		if out, _ := p.run(t, "cat /proc/timer_list /proc/keys /proc/kcore 2>/dev/null | head -c 9; ls /sys/firmware 2>/dev/null; echo x > /proc/self/fd/1; echo y > /dev/stderr"); out != "x\ny\n" && os.Geteuid() == 0 {
			t.Errorf("%s: %q", name, out)
		}
	}
	unprivileged(t)
}

// TestKernelSettingsAreTried checks that the sandbox's self-test tries to open kernel settings.
func TestKernelSettingsAreTried(t *testing.T) {
	for _, tier := range []Tier{Bubblewrap, Landlock} {
		attempts, err := newPrison(t, tier, nil).Try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(attempts, func(a Attempt) bool { return a.Name == tryKernel })
		if i < 0 || !attempts[i].Held || !attempts[i].Promised || strings.Contains(attempts[i].Detail, "no such file") {
			t.Errorf("%v: %+v", tier, attempts)
		}
	}
	unprivileged(t)
}
