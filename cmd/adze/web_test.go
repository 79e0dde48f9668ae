package main

import (
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"adze/internal/platform/net/web/webtest"
)

// serveWeb simulates the internet for a scenario: web DIR. The page at host/path is the file
// DIR/host/path; a file that ends in .redirect contains its target. The program reaches every
// host through a proxy, and this machine directly at localhost:$WEB_PORT.
func serveWeb(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: web DIR")
	}
	dir := ts.MkAbs(args[0])
	server, err := webtest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		name := filepath.Join(dir, host, filepath.FromSlash(path.Clean(r.URL.Path)))
		if to, err := os.ReadFile(name + ".redirect"); err == nil {
			http.Redirect(w, r, strings.TrimSpace(string(to)), http.StatusFound)
			return
		}
		data, err := os.ReadFile(name)
		if err != nil {
			http.Error(w, "no such page", http.StatusNotFound)
			return
		}
		kind := mime.TypeByExtension(path.Ext(name))
		if path.Ext(name) == ".md" {
			kind = "text/markdown"
		}
		w.Header().Set("Content-Type", kind)
		w.Write(data) // ok: the program notices missing data
	}))
	ts.Check(err)
	ts.Defer(server.Close)
	proxy := listen(ts, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tunnel(w, server.Listener.Addr().String())
	}), nil)
	file := ts.MkAbs("web.pem")
	ts.Check(os.WriteFile(file, server.PEM, 0o644))
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("WEB_PORT", port)
	ts.Setenv("ADZE_EXTRA_CA_CERTS", file)
	ts.Setenv("HTTPS_PROXY", "http://"+proxy)
}

// tunnel connects a proxy's client with a server.
func tunnel(w http.ResponseWriter, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		io.Copy(server, buffered) // ok: the program has everything it needs
		server.Close()
	}()
	io.Copy(client, server) // ok: as above
}
