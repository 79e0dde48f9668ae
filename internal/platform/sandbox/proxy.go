package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A proxy is the confined programs' only access to the network. It supports CONNECT and plain
// requests, for allowed hosts only. It sees host names, not the content of TLS connections:
// anything can be sent to an allowed host.
type proxy struct {
	network   Network
	transport *http.Transport
	next      atomic.Int64 // last socket number

	mu      sync.Mutex
	asked   map[string]*question
	serving map[*service]bool
}

// A question is a pending prompt about a host, shared by all requests for it.
type question struct {
	done chan struct{}
	yes  bool
}

func newProxy(n Network) *proxy {
	if n.Resolve == nil {
		n.Resolve = lookUp
	}
	if n.Dial == nil {
		n.Dial = dialTCP
	}
	p := &proxy{network: n, asked: map[string]*question{}, serving: map[*service]bool{}}
	p.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			host, port, err := splitHost(addr)
			if err != nil {
				return nil, err
			}
			return p.dial(ctx, host, port)
		},
		DisableKeepAlives: true, // each connection must be vetted
	}
	return p
}

func (p *proxy) allow() []Domain { return domains(p.network.Allow) }
func (p *proxy) deny() []Domain  { return domains(p.network.Deny) }

func (p *proxy) judge(host string) (allow, deny bool) {
	if p.network.Judge == nil {
		return false, false
	}
	return p.network.Judge(host)
}

func domains(from func() []Domain) []Domain {
	if from == nil {
		return nil
	}
	return from()
}

// ask asks about a host, at most once.
func (p *proxy) ask(ctx context.Context, host string) bool {
	if p.network.Ask == nil {
		return false
	}
	p.mu.Lock()
	q := p.asked[host]
	if q == nil {
		q = &question{done: make(chan struct{})}
		p.asked[host] = q
		p.mu.Unlock()
		q.yes = p.network.Ask(ctx, host)
		if ctx.Err() != nil { // canceled before the answer
			p.mu.Lock()
			delete(p.asked, host)
			p.mu.Unlock()
		}
		close(q.done)
	} else {
		p.mu.Unlock()
	}
	select {
	case <-q.done:
		return q.yes
	case <-ctx.Done():
		return false
	}
}

func (p *proxy) close() {
	p.mu.Lock()
	all := p.serving
	p.serving = map[*service]bool{}
	p.mu.Unlock()
	for s := range all {
		s.end()
	}
}

// A service is the proxy for one command.
type service struct {
	proxy  *proxy
	server *http.Server
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	tunnels map[net.Conn]bool // nil once the service has ended
	refused []string
}

// serve serves requests on l until the service ends.
func (p *proxy) serve(ctx context.Context, l net.Listener) *service {
	ctx, cancel := context.WithCancel(ctx)
	s := &service{proxy: p, cancel: cancel, tunnels: map[net.Conn]bool{}}
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: dialTimeout, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	p.mu.Lock()
	p.serving[s] = true
	p.mu.Unlock()
	s.wg.Go(func() { s.server.Serve(l) }) // ok: always ends with an error
	return s
}

// end stops the service and returns the hosts it has refused.
func (s *service) end() []string {
	s.proxy.mu.Lock()
	delete(s.proxy.serving, s)
	s.proxy.mu.Unlock()
	s.cancel()
	s.server.Close() // ok: the command has ended
	s.mu.Lock()
	for conn := range s.tunnels {
		conn.Close() // ok: the command has ended
	}
	s.tunnels = nil
	s.mu.Unlock()
	s.wg.Wait()
	return s.refused
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close") // one request per connection, so that none stays open
	switch {
	case r.Method == http.MethodConnect:
		s.connect(w, r)
	case r.URL.IsAbs() && r.URL.Scheme == "http" && r.URL.User == nil:
		s.forward(w, r)
	default:
		http.Error(w, "this is a proxy of http for the sandbox: it takes CONNECT and absolute addresses", http.StatusBadRequest)
	}
}

// connect opens a tunnel.
func (s *service) connect(w http.ResponseWriter, r *http.Request) {
	host, port, err := splitHost(r.RequestURI)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := s.proxy.dial(r.Context(), host, port)
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	if !s.keep(in, out) {
		return
	}
	defer s.drop(in, out)
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(out, buffered) // ok: either end closes both
		closeWrite(out)
	}()
	io.Copy(in, out) // ok: either end closes both
	closeWrite(in)
	select {
	case <-done:
	case <-time.After(lingering):
	}
}

// lingering is how long one direction of a tunnel outlives the other.
const lingering = 5 * time.Second

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite() // ok: may be closed
	}
}

// keep registers connections, so that they end with the command.
func (s *service) keep(conns ...net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tunnels == nil {
		return false
	}
	for _, c := range conns {
		s.tunnels[c] = true
	}
	return true
}

func (s *service) drop(conns ...net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range conns {
		delete(s.tunnels, c)
	}
}

// forward forwards a plain request to the host in its URL, ignoring its Host header.
func (s *service) forward(w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI, out.Host = "", r.URL.Host
	for _, name := range hopByHop {
		out.Header.Del(name)
	}
	resp, err := s.proxy.transport.RoundTrip(out)
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer resp.Body.Close()
	for _, name := range hopByHop {
		resp.Header.Del(name)
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body) // ok: the program notices a truncated body
}

var hopByHop = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// refuse reports an error to the program, and records it if the sandbox refused the host.
func (s *service) refuse(w http.ResponseWriter, err error) {
	var no *refusal
	if !errors.As(err, &no) {
		http.Error(w, "the sandbox's proxy: "+err.Error(), http.StatusBadGateway)
		return
	}
	s.mu.Lock()
	if line := "refused the network: " + no.text; !slices.Contains(s.refused, line) && len(s.refused) < maxViolations {
		s.refused = append(s.refused, line)
	}
	s.mu.Unlock()
	http.Error(w, "blocked by the sandbox: "+no.text, http.StatusForbidden)
}

// splitHost parses "host:port", or the host of a plain request.
func splitHost(text string) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not of the form HOST:PORT", text)
	}
	port, err = strconv.Atoi(service)
	if err != nil || port < 1 || port > 65535 || strconv.Itoa(port) != service {
		return "", 0, fmt.Errorf("%q is not a port", service)
	}
	return host, port, nil
}
