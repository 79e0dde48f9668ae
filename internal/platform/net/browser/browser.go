// Package browser opens URLs in the user's web browser. The URL is passed as a single argument,
// never through a shell.
package browser

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
)

// Check returns an error unless the URL is safe to open: it must be https, or http on this
// machine, and contain no characters that a terminal or program could misinterpret.
func Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"'`<>\\^{|}", r) }):
		return errors.New("it is not an address of the web")
	case u.User != nil:
		return errors.New("it holds a user name")
	case u.Scheme == "https" && u.Hostname() != "", u.Scheme == "http" && Local(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New("it is not encrypted (http)")
	}
	return fmt.Errorf("it is not an address of the web (%q)", u.Scheme)
}

// Local reports whether a host name or address refers to this machine.
func Local(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && a.IsLoopback()
}

// Open starts the browser named by $BROWSER, or the system's default, and does not wait for it.
func Open(address string, getenv func(string) string) error {
	if err := Check(address); err != nil {
		return err
	}
	var errs []error
	for _, args := range commands(address, getenv("BROWSER")) {
		cmd := exec.Command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			errs = append(errs, err)
			continue
		}
		go cmd.Wait() // ok: the browser's exit status doesn't matter
		return nil
	}
	return errors.Join(errs...)
}

// commands returns the commands to try, in order. variable lists programs with arguments,
// separated by colons (semicolons on Windows); %s is replaced by the URL.
func commands(address, variable string) (list [][]string) {
	separator := ":"
	if runtime.GOOS == "windows" {
		separator = ";"
	}
	for one := range strings.SplitSeq(variable, separator) {
		args := strings.Fields(one)
		if len(args) == 0 {
			continue
		}
		placed := false
		for i, arg := range args[1:] {
			if strings.Contains(arg, "%s") {
				args[i+1], placed = strings.ReplaceAll(arg, "%s", address), true
			}
		}
		if !placed {
			args = append(args, address)
		}
		list = append(list, args)
	}
	if len(list) > 0 {
		return list
	}
	switch runtime.GOOS {
	case "darwin":
		return [][]string{{"open", address}}
	case "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler", address}}
	}
	return [][]string{{"xdg-open", address}, {"wslview", address}} // the second under Windows
}
