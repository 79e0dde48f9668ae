package web

import (
	"net/netip"
	"strings"
	"testing"
)

// Proves WFT-01.
func TestCheck(t *testing.T) {
	hosts, err := ParseHosts([]string{"localhost:3000", "[::1]:8080", "127.0.0.1", "dev.internal", "box"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ in, want string }{ // want is the URL, or "!" and a substring of the refusal
		{"https://example.org", "https://example.org/"},
		{"http://example.org/a?b=c#d", "http://example.org/a?b=c"},
		{" HTTPS://EXAMPLE.ORG./x ", "https://example.org/x"},
		{"https://example.org:443/", "https://example.org/"},
		{"https://example.org:8443/", "https://example.org:8443/"},
		{"https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"},
		{"https://ｅｘａｍｐｌｅ。ｏｒｇ/", "https://example.org/"},
		{"https://faß.example/", "https://xn--fa-hia.example/"},
		{"https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"},
		{"https://r3---sn-x.example.org/", "https://r3---sn-x.example.org/"},
		{"https://example.org/%5C", "https://example.org/%5C"},
		{"http://localhost:3000/x", "http://localhost:3000/x"},
		{"http://LOCALHOST.:3000/x", "http://localhost:3000/x"},
		{"http://[::1]:8080/", "http://[::1]:8080/"},
		{"http://[0:0::1]:8080/", "http://[::1]:8080/"},
		{"http://127.0.0.1/", "http://127.0.0.1/"},
		{"https://127.0.0.1/", "https://127.0.0.1/"},
		{"http://dev.internal/", "http://dev.internal/"},
		{"https://box/", "https://box/"},

		{"", "!empty"},
		{"https://example.org/" + strings.Repeat("a", 2000), "!2020 characters; at most 2000"},
		{"example.org/page", "!only http and https"},
		{"//example.org/page", "!only http and https"},
		{"ftp://example.org/", `!not "ftp"`},
		{"file:///etc/passwd", `!not "file"`},
		{"javascript:alert(1)", `!not "javascript"`},
		{"https:example.org", "!names no host"},
		{"https:///etc/passwd", "!names no host"},
		{"https://:443/", "!names no host"},
		{"https://user:secret@example.org/", "!without, as https://example.org/"},
		{"https://example.org@evil.example/", "!user name"},
		{"https://example.org\\@evil.example/", "!backslash"},
		{"https://example.org/\x00", "!control"},
		{"https://example.org/a\nb", "!control"},
		{"https://exa\tmple.org/", "!control"},
		{"https://example.org/\u202egpj", "!U+202E"},
		{"https://exam\u200bple.org/", "!U+200B"},
		{"https://example.org/\xff", "!not UTF-8"},
		{"https://example.org:0/", "!no valid port"},
		{"https://example.org:65536/", "!no valid port"},
		{"https://example.org:/", "!no valid port"},
		{"https://example.org:8x/", "!cannot be read"},
		{"https://exa%6dple.org/", "!cannot be read"},
		{"https://example..org/", "!is not a host name"},
		{"https://exam ple.org/", "!cannot be read"},
		{"https://-a.example/", "!hyphen"},
		{"https://a_b.example/", "!is not a host name"},
		{"https://" + strings.Repeat("a", 64) + ".example/", "!is not a host name"},
		{"https://" + strings.Repeat("a.", 130) + "example/", "!is not a host name"},
		{"https://xn--a.example/", "!is not a host name"},
		{"https://example/", "!not a public host"},
		{"https://localhost/", "!not a public host"},
		{"https://localhost:3001/", "!not a public host"},
		{"https://a.localhost/", "!curl in a shell"},
		{"https://printer.local/", "!not a public host"},
		{"https://metadata.google.internal/", "!not a public host"},
		{"https://nas.home.arpa/", "!not a public host"},
		{"https://192.0.2.1/", "!is an address"},
		{"https://8.8.8.8/", "!is an address"},
		{"http://127.1/", "!is an address"},
		{"http://[::1]:8081/", "!is an address"},
		{"http://[::1%25lo]:8080/", "!is an address"},
		{"http://127.0.0.1:81/", "!is an address"},
		{"http://１２７.0.0.1/", "!is an address"},
	}
	for _, tt := range tests {
		u, err := hosts.Check(tt.in)
		switch part, refused := strings.CutPrefix(tt.want, "!"); {
		case refused && (err == nil || !strings.Contains(err.Error(), part)):
			t.Errorf("Check(%q) = %v, %v; want %q", tt.in, u, err, part)
		case !refused && (err != nil || u.String() != tt.want):
			t.Errorf("Check(%q) = %v, %v; want %s", tt.in, u, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("Check(%q) shows the password: %v", tt.in, err)
		}
	}
}

func TestParseHosts(t *testing.T) {
	for _, bad := range []string{"", "http://localhost", "a b", "*.example.org", "localhost:0", "localhost:http", "fe80::1%eth0", "x@y"} {
		if _, err := ParseHosts([]string{bad, "localhost"}); err == nil || strings.Count(err.Error(), "not a host") != 1 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"https://example.org/a", "http://0x7f.1", "https://[::ffff:127.0.0.1]", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Hosts{}.Check(text)
		if err != nil {
			return
		}
		if again, err := (Hosts{}).Check(u.String()); err != nil || again.Host != u.Host {
			t.Errorf("%q became %q, which is %v, %v", text, u, again, err)
		}
		if _, err := netip.ParseAddr(u.Hostname()); err == nil || !strings.Contains(u.Hostname(), ".") {
			t.Errorf("%q was accepted", text)
		}
	})
}
