//go:build testresolver

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestNoNameLeadsInside makes the program query a local name server whose answers all point to
// internal addresses. A listener waits at the port of every URL, on all local addresses. See
// docs/testing.md.
func TestNoNameLeadsInside(t *testing.T) {
	bin, err := exec.LookPath("adze") // TestMain puts it into the PATH
	if err != nil {
		t.Fatal(err)
	}
	var reached atomic.Int32
	witness, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer witness.Close()
	go func() {
		for {
			conn, err := witness.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			conn.Close()
		}
	}()
	port := witness.Addr().(*net.TCPAddr).Port
	answers := map[string][]netip.Addr{} // keyed by name
	for i, text := range strings.Fields(`127.0.0.1 127.1.2.3 0.0.0.0 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 192.0.0.1 192.0.2.1 192.88.99.1
		198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: fc00::1
		fd00:ec2::254 fe80::1 fec0::1 ff02::1 3fff::1 5f00::1`) {
		a := netip.MustParseAddr(text)
		answers[fmt.Sprintf("alone%d.example.org.", i)] = []netip.Addr{a}
		answers[fmt.Sprintf("mixed%d.example.org.", i)] = []netip.Addr{netip.MustParseAddr("93.184.215.14"), a}
	}
	var calls bytes.Buffer
	for name := range answers {
		fmt.Fprintf(&calls, "{\"id\":%q,\"tool\":\"WebFetch\",\"input\":{\"url\":\"https://%s:%d/\",\"prompt\":\"x\"}}\n", name, strings.TrimSuffix(name, "."), port)
	}
	named := fmt.Sprintf("named.example.org:%d", port) // an allowed host proves that the listener is reachable
	answers["named.example.org."] = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	home := t.TempDir()
	settings, err := json.Marshal(map[string]any{"webFetch": map[string]any{"allowedPrivateHosts": []string{named}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "settings.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(input string) []string {
		cmd := exec.CommandContext(t.Context(), bin, "tool", "--stdin")
		cmd.Dir, cmd.Stdin, cmd.Stderr = home, strings.NewReader(input), os.Stderr
		cmd.Env = append(os.Environ(), "HOME="+home, "ADZE_HOME="+home, "HTTPS_PROXY=", "ADZE_TEST_RESOLVER="+serveNames(t, answers))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			lines = append(lines, s.Text())
		}
		return lines
	}
	lines := run(calls.String())
	if len(lines) != len(answers)-1 {
		t.Errorf("%d results", len(lines))
	}
	for _, line := range lines {
		if !strings.Contains(line, "is not on the public internet") {
			t.Errorf("got %s", line)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("the witness was reached %d times", n)
	}
	run(fmt.Sprintf("{\"id\":1,\"tool\":\"WebFetch\",\"input\":{\"url\":\"https://%s/\",\"prompt\":\"x\"}}\n", named))
	if reached.Load() == 0 {
		t.Error("the witness sees nothing")
	}
}

// serveNames answers DNS queries until the end of the test, and returns its address.
func serveNames(t *testing.T, answers map[string][]netip.Addr) string {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply, err := answerName(buffer[:n], answers); err == nil {
				conn.WriteTo(reply, from) // ok: the client retries
			}
		}
	}()
	return conn.LocalAddr().String()
}

func answerName(query []byte, answers map[string][]netip.Addr) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil, fmt.Errorf("not one question: %w", err)
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
	for _, a := range answers[strings.ToLower(q.Name.String())] {
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}
