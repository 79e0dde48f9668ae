package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"adze/internal/platform/sandbox/jail"
)

// A helperConfig configures the helper's actions before it executes the command.
type helperConfig struct {
	Rules  *rules `json:"rules,omitempty"`
	Filter bool   `json:"filter,omitempty"` // apply the system call filter
	Inet   bool   `json:"inet,omitempty"`   // allow internet sockets
	Socket string `json:"socket,omitempty"` // socket for handing over the proxy's listener
	// Reading is the jail for a read-only command.
	Reading *jail.Policy `json:"reading,omitempty"`
	// Try is a trial to run instead of a command.
	Try *trial `json:"try,omitempty"`
}

// help acts on its configuration and executes the command. It returns only on failure.
func help(args []string) error {
	runtime.LockOSThread() // Landlock applies to a thread and the programs it executes
	var m helperConfig
	if len(args) < 1 {
		return errors.New("nothing to do")
	}
	if err := json.Unmarshal([]byte(args[0]), &m); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	if err := leaveTerminal(); err != nil {
		return err
	}
	if m.Socket != "" {
		if err := sendListener(m.Socket); err != nil {
			return fmt.Errorf("opening the way to the network: %w", err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbidding core dumps: %w", err)
	}
	if err := dropCaps(); err != nil {
		return err
	}
	if m.Rules != nil {
		if err := m.Rules.apply(); err != nil {
			return err
		}
	}
	if m.Filter {
		if err := applyFilter(m.Inet); err != nil {
			return err
		}
	}
	if m.Reading != nil {
		if err := m.Reading.Enter(); err != nil {
			return err
		}
	}
	if m.Try != nil {
		return m.Try.run()
	}
	if len(args) < 2 {
		return errors.New("no command")
	}
	return fmt.Errorf("starting %s: %w", args[1], unix.Exec(args[1], args[1:], os.Environ()))
}

// dropCaps drops all capabilities of this thread, including the ones root's programs would
// gain.
func dropCaps() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("dropping capabilities: %w", err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

// leaveTerminal detaches from the controlling terminal, so that nothing can be typed into it.
func leaveTerminal() error {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	unix.Close(fd) // ok: nothing was written
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("leaving the terminal: %w", err)
	}
	return nil
}

// sendListener creates the proxy's listener inside and sends it outside. It keeps no copy.
func sendListener(socket string) error {
	l, err := net.Listen("tcp4", insideProxy)
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer f.Close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(int(f.Fd())), nil); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1)) // acknowledged
	return err
}

// receiveListener receives a listener from the helper.
func receiveListener(conn *net.UnixConn) (net.Listener, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), control)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, errNoListener
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errNoListener
	}
	l, err := listenerOf(fds[0])
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte{0}); err != nil {
		l.Close() // ok: the error matters more
		return nil, err
	}
	return l, nil
}
