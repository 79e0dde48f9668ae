package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"adze/internal/platform/jail"
)

// A helperConfig says what the helper does before it becomes the command.
type helperConfig struct {
	Rules  *rules `json:"rules,omitempty"`
	Filter bool   `json:"filter,omitempty"` // system calls are to be filtered here
	Inet   bool   `json:"inet,omitempty"`   // sockets of the internet may be made
	Socket string `json:"socket,omitempty"` // where the listener of the proxy is handed over
	// Reading is the jail of a command that only reads.
	Reading *jail.Policy `json:"reading,omitempty"`
	// Try says what to try instead of running a command.
	Try *trial `json:"try,omitempty"`
}

// help does as configured and becomes the command. It returns only if it cannot.
func help(args []string) error {
	runtime.LockOSThread() // Landlock holds for a thread and what it executes
	var m helperConfig
	if len(args) < 1 {
		return errors.New("nothing to do")
	}
	if err := json.Unmarshal([]byte(args[0]), &m); err != nil {
		return fmt.Errorf("reading what to do: %w", err)
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

// dropCaps gives up all capabilities of this thread, also those that a program of root would get.
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

// leaveTerminal makes sure that there is no terminal to type into.
func leaveTerminal() error {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	unix.Close(fd) // ok: it was only looked at
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("leaving the terminal: %w", err)
	}
	return nil
}

// sendListener listens for the proxy inside and hands the listener over to the outside. Nothing of it is
// left here.
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
	_, err = conn.Read(make([]byte, 1)) // it has arrived
	return err
}

// receiveListener takes over a listener that is handed over.
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
		l.Close() // ok: the error is what counts
		return nil, err
	}
	return l, nil
}
