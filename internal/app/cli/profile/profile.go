// Package profile serves profiles of the program over HTTP at a loopback address.
package profile

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/pprof"
	"strings"
	"time"

	"adze/internal/setup"
)

// CheckAddress returns an error unless address is a loopback address: profiles expose the
// program's memory.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address such as 127.0.0.1:6060", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not a loopback address, such as 127.0.0.1:6060", address)
	}
	return nil
}

// Serve serves the program's profiles at an address until stop is called; an empty address
// serves none.
func Serve(address string, say func(string)) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, setup.Errorf("--pprof: %v", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", serveProfile)
	server := &http.Server{Handler: mux}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			say(fmt.Sprintf("--pprof: %v", err))
		}
	}()
	say("profiles are at http://" + listener.Addr().String() + "/debug/pprof/")
	return func() { server.Close() }, nil // ok: a profile in transit is lost
}

// profileTime is the duration of a CPU profile.
const profileTime = 30 * time.Second

// serveProfile writes the profile named by the path: heap, goroutine and so on, or profile, a
// CPU profile. Importing the standard handlers would slow down every start.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/debug/pprof/")
	switch profile := pprof.Lookup(name); {
	case name == "profile":
		d, err := time.ParseDuration(r.URL.Query().Get("seconds") + "s")
		if err != nil || d <= 0 || d > 10*profileTime {
			d = profileTime
		}
		if err := pprof.StartCPUProfile(w); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		defer pprof.StopCPUProfile()
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	case profile != nil:
		profile.WriteTo(w, 0) // ok: the reader sees a truncated profile
	default:
		for _, p := range pprof.Profiles() {
			fmt.Fprintln(w, p.Name())
		}
		fmt.Fprintln(w, "profile")
	}
}
