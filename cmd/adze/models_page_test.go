//go:build unix

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/model/bedrock/bedrocktest"
	"adze/internal/model/chat"
	"adze/internal/model/chat/chattest"
	"adze/internal/model/gemini/geminitest"
	"adze/internal/model/local"
	"adze/internal/model/local/localtest"
	"adze/internal/model/messages"
	"adze/internal/model/replay"
	"adze/internal/model/responses"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/vertex/vertextest"
	"adze/internal/model/wire"
)

// A setUpBlock is a block in docs/models.md that sets up a provider.
type setUpBlock struct{ heading, text string }

func setUpBlocks(t *testing.T) (blocks []setUpBlock) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "models.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading := ""
	inside := false
	for line := range strings.Lines(string(page)) {
		switch {
		case strings.HasPrefix(line, "## "):
			heading = strings.TrimSpace(line[3:])
		case line == "```sh\n":
			inside = true
			blocks = append(blocks, setUpBlock{heading: heading})
		case line == "```\n":
			inside = false
		case inside:
			blocks[len(blocks)-1].text += line
		}
	}
	return blocks
}

// TestModelsPage checks that each block on the page works as written, with a server of that
// family at the provider's own address: a proxy redirects to it, and the program trusts its
// certificate. No other host is contacted.
//
// Proves PROV-01, PROV-03.
func TestModelsPage(t *testing.T) {
	example := "models.example.com"
	families := []struct {
		heading, model string // model as named in requests
		hosts          string // contacted hosts; empty for a local server
		server         wire.Server
		kind           local.Kind // kind of local server
	}{
		{"Anthropic", "claude-opus-5-5", "api.anthropic.com", messages.Server{}, ""},
		{"Amazon Bedrock", "", "bedrock-runtime.us-east-1.amazonaws.com", bedrocktest.NewServer(), ""},
		{"Amazon Bedrock", "", "bedrock-runtime.us-east-1.amazonaws.com", bedrocktest.NewServer(), ""},
		{"Google Vertex AI", "claude-opus-5-5", "oauth2.googleapis.com aiplatform.googleapis.com", vertextest.NewServer(), ""},
		{"Azure AI Foundry", "claude-opus-5-5", "my-resource.services.ai.azure.com", messages.Server{}, ""},
		{"OpenAI", "gpt-6-sol", "api.openai.com", responsestest.Server{}, ""},
		{"Google Gemini", "gemini-3.8-flash", "generativelanguage.googleapis.com", geminitest.Server{}, ""},
		{"xAI Grok", "grok-4.7", "api.x.ai", responsestest.Server{Dialect: responses.Dialect{SystemRole: "system", UserMember: "user"}}, ""},
		{"OpenRouter", "anthropic/claude-opus-5.5", "openrouter.ai", chattest.Server{Dialect: chat.Dialect{Marks: true, Documents: true, Replay: chat.ReplayDetails}}, ""},
		{"Local servers", "qwen3:8b", "", chattest.Server{}, local.Ollama},
		{"Local servers", "qwen3-8b", "", chattest.Server{}, local.LlamaCpp},
		{"Local servers", "qwen3-8b", "", chattest.Server{}, local.LMStudio},
		{"Local servers", "Qwen/Qwen3-8B", "", chattest.Server{}, local.VLLM},
		{"Any other server with the OpenAI API", "the-model-it-serves", example, chattest.Server{}, ""},
		{"Any other server with the Anthropic API", "the-model-it-serves", example, messages.Server{}, ""},
		{"Custom providers", "coder", example, chattest.Server{}, ""},
	}
	blocks := setUpBlocks(t)
	if len(blocks) != len(families) {
		t.Fatalf("the page has %d blocks, and %d are known", len(blocks), len(families))
	}
	var names []string
	for _, f := range families {
		names = append(names, strings.Fields(f.hosts)...)
	}
	net := newPretence(t, names)
	for i, f := range families {
		b := blocks[i]
		if b.heading != f.heading {
			t.Fatalf("block %d is under %s, want %s", i, b.heading, f.heading)
		}
		script := "say Hello from the page.\n"
		if f.model != "" {
			script = "expect model " + f.model + "\n" + script
		}
		s, err := replay.Parse("page.replay", []byte(script))
		if err != nil {
			t.Fatal(err)
		}
		player := replay.NewPlayerIn(f.server, s)
		hosts := net.play(player.Handler())
		var out, problems bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.ReplaceAll(b.text, "...", "key-of-the-page"))
		cmd.Dir = t.TempDir()
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(cmd.Dir, "service-account.json"), []byte(`{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		here := httptest.NewServer(&localtest.Server{Kind: f.kind, Model: f.model, Window: 32768, Max: 131072, Chat: player.Handler()})
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ADZE_HOME=" + filepath.Join(home, ".adze"), "ADZE_NO_FSYNC=1", "ADZE_MAX_RETRIES=0",
			"AWS_EC2_METADATA_DISABLED=true", "ADZE_EXTRA_CA_CERTS=" + net.certificate, "HTTPS_PROXY=" + net.proxy,
		}
		if f.hosts == "" {
			for _, name := range []string{"OLLAMA_HOST", "ADZE_LLAMACPP_BASE_URL", "ADZE_LMSTUDIO_BASE_URL", "ADZE_VLLM_BASE_URL"} {
				cmd.Env = append(cmd.Env, name+"="+here.URL)
			}
		}
		cmd.Stdout, cmd.Stderr = &out, &problems
		err = cmd.Run()
		here.Close()
		if got := strings.Join(hosts(), " "); err != nil || !strings.HasSuffix(out.String(), "Hello from the page.\n") || got != f.hosts {
			t.Errorf("%s: %v, contacted %q\n%s\n%s%s", f.heading, err, got, b.text, out.String(), problems.String())
		}
		if err := player.Err(); err != nil {
			t.Errorf("%s: %v", f.heading, err)
		}
	}
}

// A fakeNetwork is a network in which one server impersonates many hosts.
type fakeNetwork struct {
	proxy       string // its address
	certificate string // file name

	mu      sync.Mutex
	handler http.Handler
	hosts   []string // ordered by first request
}

func newPretence(t *testing.T, names []string) *fakeNetwork {
	t.Helper()
	p := &fakeNetwork{certificate: filepath.Join(t.TempDir(), "ca.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, DNSNames: names}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only https goes through the proxy", http.StatusForbidden)
			return
		}
		through(w, server.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	p.proxy = proxy.URL
	return p
}

// through connects the client with an address.
func through(w http.ResponseWriter, address string) {
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

// serve answers for every host. It issues tokens to everyone.
func (p *fakeNetwork) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if len(p.hosts) == 0 || p.hosts[len(p.hosts)-1] != r.Host {
		p.hosts = append(p.hosts, r.Host)
	}
	handler := p.handler
	p.mu.Unlock()
	if r.Host == "oauth2.googleapis.com" {
		io.WriteString(w, `{"access_token":"token-of-the-page","expires_in":3600}`)
		return
	}
	handler.ServeHTTP(w, r)
}

// play sets the handler, and returns a function that lists the hosts contacted since.
func (p *fakeNetwork) play(h http.Handler) (hosts func() []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handler, p.hosts = h, nil
	return func() []string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.hosts
	}
}
