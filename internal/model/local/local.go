// Package local finds model servers on this machine and asks them what they have: which models, what those can do, and how
// much really fits into each. It speaks the servers' own interfaces, which differ; the models themselves are asked in a
// wire dialect, by others.
package local

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A Kind is a program that serves models. Its name is that of its provider.
type Kind string

// The kinds.
const (
	Ollama   Kind = "ollama"
	LlamaCpp Kind = "llamacpp"
	LMStudio Kind = "lmstudio"
	VLLM     Kind = "vllm"
)

// Kinds are all kinds.
var Kinds = [...]Kind{Ollama, LlamaCpp, LMStudio, VLLM}

// Name returns the name of the program, as its makers write it.
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

// port is where a server of the kind listens unless it is told otherwise.
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

// Address returns where a server of the kind is unless it is told otherwise, as a base URL for requests.
func (k Kind) Address() string { return "http://127.0.0.1:" + k.port() + "/v1" }

// A Server is a server that answered.
type Server struct {
	Kind Kind
	// Address is the base URL for requests.
	Address string
	// Loading says that the server is not ready yet. It then has no models.
	Loading bool
	Models  []Model
}

// A Model is a model that a server has.
type Model struct {
	Name string
	Kind Kind // of its server
	// Window is how many tokens fit into a request and its answer, as the server is set up; 0 means that the server does
	// not say.
	Window int
	// MaxWindow is what the model was made for, or 0.
	MaxWindow int
	// Sure is false if Window is only the documented default. A guess never refuses a request.
	Sure bool
	// NoTools says that the model cannot call tools.
	NoTools bool
	Images  bool
	// Loaded says that the model is in memory.
	Loaded bool
}

// Advice returns how the user makes the window of a model larger, as a sentence without its full stop, or nothing if it
// is as large as it can be.
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

// patience is how long Find waits for all servers together.
const patience = time.Second

// Find returns the servers of this machine at the given base URLs, in the order of [Kinds]. It asks nothing but loopback
// addresses, all at once, and takes no longer than a second: where none listens, that is known at once.
func (c Client) Find(ctx context.Context, addresses []string) []Server {
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// At returns the kind of the server on this machine at a base URL, if it is of one. It takes no longer than a
// second.
func (c Client) At(ctx context.Context, address string) (Kind, bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, root := range loopback(address) {
		if s, err := c.identify(ctx, root); err == nil {
			return s.Kind, true
		}
	}
	return "", false
}

// loopback returns the roots of an address on this machine, without a path: as it is given, and for the usual address also
// in the other protocol. An address elsewhere has none.
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
	u, _ := url.Parse(address) // ok: it was made here
	return u.Port()
}
