// Package local finds model servers on this machine and queries their models, capabilities and
// actual window sizes through the servers' native interfaces.
package local

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A Kind is a model server program. Its value is also its provider's name.
type Kind string

// The kinds.
const (
	Ollama   Kind = "ollama"
	LlamaCpp Kind = "llamacpp"
	LMStudio Kind = "lmstudio"
	VLLM     Kind = "vllm"
)

// Kinds lists all kinds.
var Kinds = [...]Kind{Ollama, LlamaCpp, LMStudio, VLLM}

// Name returns the program's official name.
func (k Kind) Name() string {
	switch k {
	case Ollama:
		return "Ollama"
	case LlamaCpp:
		return "llama.cpp"
	case LMStudio:
		return "LM Studio"
	}
	return "vLLM"
}

// port returns the default port.
func (k Kind) port() string {
	switch k {
	case Ollama:
		return "11434"
	case LlamaCpp:
		return "8080"
	case LMStudio:
		return "1234"
	}
	return "8000"
}

// Address returns the default base URL for requests.
func (k Kind) Address() string { return "http://127.0.0.1:" + k.port() + "/v1" }

// A Server is a server that answered.
type Server struct {
	Kind Kind
	// Address is the base URL for requests.
	Address string
	// Loading is true if the server is not ready yet. It then has no models.
	Loading bool
	Models  []Model
}

// A Model is a model on a server.
type Model struct {
	Name string
	Kind Kind // its server's kind
	// Window is the configured context window for a request and its answer, in tokens; 0 means
	// unknown.
	Window int
	// MaxWindow is the window the model was trained for, or 0.
	MaxWindow int
	// Sure is false if Window is only the documented default. Requests are never rejected on
	// the basis of a guess.
	Sure bool
	// NoTools is true if the model cannot call tools.
	NoTools bool
	Images  bool
	// Loaded is true if the model is in memory.
	Loaded bool
}

// Advice tells the user how to enlarge the model's window, as a sentence without a full stop,
// or returns "" if it is as large as it can be.
func (m Model) Advice() string {
	if m.MaxWindow > 0 && m.Window >= m.MaxWindow {
		return ""
	}
	switch m.Kind {
	case Ollama:
		return "Restart Ollama with OLLAMA_CONTEXT_LENGTH=32768, or raise the context length in its settings"
	case LlamaCpp:
		return "Start llama-server with --ctx-size 32768 (the slots of --parallel share it)"
	case LMStudio:
		return "Load the model in LM Studio with a context length of 32768"
	}
	return "Start vLLM with a larger --max-model-len"
}

// findTimeout is the total time Find waits for servers.
const findTimeout = time.Second

// Find returns the servers on this machine at the given base URLs, in the order of [Kinds]. It
// queries only loopback addresses, concurrently, and takes at most a second; a port where
// nothing listens is detected immediately.
func (c Client) Find(ctx context.Context, addresses []string) []Server {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	var roots []string
	for _, address := range addresses {
		for _, root := range loopback(address) {
			if !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
		}
	}
	found := make([]*Server, len(roots))
	var all sync.WaitGroup
	for i, root := range roots {
		all.Go(func() {
			if s, err := c.identify(ctx, root); err == nil {
				c.describe(ctx, s, root)
				found[i] = s
			}
		})
	}
	all.Wait()
	var servers []Server
	for _, k := range Kinds {
		for _, s := range found {
			// One server may listen on both loopback addresses.
			if s != nil && s.Kind == k && !slices.ContainsFunc(servers, func(o Server) bool { return o.Kind == k && portOf(o.Address) == portOf(s.Address) }) {
				servers = append(servers, *s)
			}
		}
	}
	return servers
}

// At returns the kind of the server on this machine at a base URL, if it is a known one. It
// takes at most a second.
func (c Client) At(ctx context.Context, address string) (Kind, bool) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	for _, root := range loopback(address) {
		if s, err := c.identify(ctx, root); err == nil {
			return s.Kind, true
		}
	}
	return "", false
}

// loopback returns the roots, without a path, of an address on this machine. localhost and
// 127.0.0.1 also yield the IPv6 address. It returns nil for any other host.
func loopback(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return nil
	}
	ip := net.ParseIP(u.Hostname())
	switch {
	case u.Hostname() == "localhost" || ip != nil && ip.Equal(net.IPv4(127, 0, 0, 1)):
		port := u.Port()
		if port == "" {
			port = "80"
		}
		return []string{"http://127.0.0.1:" + port, "http://[::1]:" + port}
	case ip != nil && ip.IsLoopback():
		return []string{"http://" + u.Host}
	}
	return nil
}

func portOf(address string) string {
	u, _ := url.Parse(address) // ok: built by us
	return u.Port()
}
