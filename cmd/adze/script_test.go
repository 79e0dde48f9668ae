package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"adze/internal/lsp/lsptest"
	"adze/internal/mcp/mcptest"
	"adze/internal/mcp/signin/signintest"
	"adze/internal/model/local"
	"adze/internal/model/local/localtest"
	"adze/internal/model/modeltest/servers"
	"adze/internal/model/replay"
	"adze/internal/platform/proc/osproc"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == osproc.ReaperArg { // regardless of the program's name
		os.Exit(osproc.Reap(os.Args[2:]))
	}
	testscript.Main(bare{m}, map[string]func(){
		"adze": main, "localserver": localServer, "browse": browse,
		"lsptest": func() { os.Exit(lsptest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"mcptest": func() { os.Exit(mcptest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// bare runs the tests without environment variables for terminals, colors, languages and
// providers, so that they behave the same on a build server and on a user's desktop. Programs
// started by tests get only the variables that the tests set.
type bare struct{ *testing.M }

// ours matches the variables that would affect the program.
var ours = regexp.MustCompile(`^(ADZE|ANTHROPIC|OPENAI|GEMINI|GOOGLE|AWS|AZURE|CLAUDE|OLLAMA|LC|TERM|TMUX|KITTY|ALACRITTY|VTE|WT|SSH)_` +
	`|^(CI|ACCESSIBLE|INSIDE_EMACS|NO_COLOR|FORCE_COLOR|COLORTERM|TMUX|STY|DISPLAY|WAYLAND_DISPLAY|LANG|EDITOR|VISUAL|BROWSER|WSL_DISTRO_NAME)$`)

func (b bare) Run() int {
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); {
		case name == "ADZE_LOCAL_SERVER", name == "ADZE_TEST_SERVERS", name == "ADZE_KILLS": // used by tests
		case ours.MatchString(name):
			os.Unsetenv(name)
		}
	}
	os.Setenv("TERM", "xterm-256color")
	return b.M.Run()
}

// TestScript runs the scenarios. Each shows a user-visible behavior with the program itself;
// the model is scripted.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"capture":    capture,
			"exits":      exits,
			"serve":      serve,
			"local":      serveLocally,
			"firstparty": firstParty,
			"field":      field,
			"lines":      countLines,
			"result":     checkResult,
			"mode":       checkMode,
			"fill":       fill,
			"budget":     budget,
			"web":        serveWeb,
			"vault":      vault,
		},
	})
}

// setUp gives each scenario its own home and no access to a real model.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("ADZE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("ADZE_NO_FSYNC", "1")
	env.Setenv("ADZE_GIT_STATUS_WAIT_MS", "60000") // allow for a busy machine
	env.Setenv("IS_SANDBOX", "1")                  // tests may run as root
	env.Setenv("SHELL", "/bin/sh")
	env.Values[vaultKey{}] = new(*signintest.Server)
	return os.MkdirAll(home, 0o755)
}

// exits runs a command and checks its exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serve plays a script as a local server and points the program to it: serve FILE. The
// variables depend on the script's dialect. The server is strict, and its model thinks where
// allowed: content sent back must match content it produced. At the end of the scenario the
// script must have been played completely, unless "partly" follows the file.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: serve FILE [partly]")
	}
	address := "http://" + listen(ts, play(ts, args[0], len(args) == 1), nil)
	line, _, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	provider := "ANTHROPIC"
	switch dialect, _ := strings.CutPrefix(line, "dialect "); dialect {
	case "chat", "responses":
		provider, address = "OPENAI", address+"/v1"
	case "gemini":
		provider = "GEMINI"
	case "bedrock":
		provider = "ANTHROPIC_BEDROCK"
	case "vertex":
		provider, address = "ANTHROPIC_VERTEX", address+"/v1"
	}
	ts.Setenv(provider+"_BASE_URL", address)
	ts.Setenv(provider+"_API_KEY", "key-of-the-scenario")
}

// serveLocally simulates a local model server with a scripted model, and sets its address for
// the program: local KIND MODEL[,MODEL...] WINDOW FILE. If FILE is -, the server only lists its
// models; if "loading" follows, its model is not loaded at first.
func serveLocally(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: local KIND MODEL WINDOW FILE|- [loading]")
	}
	window, err := strconv.Atoi(args[2])
	ts.Check(err)
	names := strings.Split(args[1], ",")
	server := &localtest.Server{Kind: local.Kind(args[0]), Model: names[0], Others: names[1:], Window: window, Max: 131072}
	if args[3] != "-" {
		server.Chat = play(ts, args[3], true)
	}
	if len(args) == 5 {
		server.Loading = 3
	}
	address := listen(ts, server, nil)
	switch server.Kind {
	case local.Ollama:
		ts.Setenv("OLLAMA_HOST", address)
	case localtest.Gateway:
		ts.Setenv("OPENAI_BASE_URL", "http://"+address+"/v1")
	default:
		ts.Setenv("ADZE_"+strings.ToUpper(args[0])+"_BASE_URL", "http://"+address)
	}
}

// firstParty is like serve, but the program reaches the server under the provider's own
// address: firstparty FILE [partly]. A proxy redirects to it, with a certificate that the
// program trusts.
func firstParty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: firstparty FILE [partly]")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"api.anthropic.com"},
	}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	ts.Check(err)
	file := ts.MkAbs("provider.pem")
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644))
	address := listen(ts, play(ts, args[0], len(args) == 1), &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}})
	proxy := listen(ts, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "api.anthropic.com:443" {
			http.Error(w, "the program connects to "+r.Host, http.StatusForbidden)
			return
		}
		tunnel(w, address)
	}), nil)
	ts.Setenv("ANTHROPIC_BASE_URL", "")
	ts.Setenv("ANTHROPIC_API_KEY", "key-of-the-scenario")
	ts.Setenv("ADZE_EXTRA_CA_CERTS", file)
	ts.Setenv("HTTPS_PROXY", "http://"+proxy)
}

// play returns a server that plays a script. If strict is true, the whole script must have been
// played at the end of the scenario.
func play(ts *testscript.TestScript, file string, strict bool) http.Handler {
	script, err := replay.Load(ts.MkAbs(file))
	ts.Check(err)
	player := replay.NewPlayerIn(servers.Named(script.Dialect()), script)
	player.Reason()
	ts.Defer(func() {
		if err := player.Err(); err != nil && strict {
			ts.Fatalf("%v", err)
		}
	})
	return player.Handler()
}

// listen serves a handler until the end of the scenario, and returns its address.
func listen(ts *testscript.TestScript, h http.Handler, secure *tls.Config) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := &http.Server{Handler: h}
	ts.Defer(func() { server.Close() }) // ok: remaining clients are done
	address := listener.Addr().String()
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	go server.Serve(listener) // ok: it ends with the scenario
	return address
}

// checkMode checks the permission bits of the matching files: mode 600 PATTERN...
func checkMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode BITS PATTERN...")
	}
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, pattern := range args[1:] {
		names, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(names) == 0 {
			ts.Fatalf("nothing matches %s", pattern)
		}
		for _, name := range names {
			info, err := os.Stat(name)
			ts.Check(err)
			if got := info.Mode().Perm(); got != os.FileMode(want) {
				ts.Fatalf("%s has mode %o, want %o", name, got, want)
			}
		}
	}
}

// fill writes a file of a given size that begins and ends with given texts: fill FILE BYTES
// BEFORE AFTER
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: fill FILE BYTES BEFORE AFTER")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := args[2] + strings.Repeat("x", size-len(args[2])-len(args[3])) + args[3]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// capture FILE PATTERN NAME sets a variable to the first group of PATTERN matched in FILE,
// which may be a glob pattern.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture FILE PATTERN NAME")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s is %d files", args[0], len(files))
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(files[0]))
	if len(found) < 2 {
		ts.Fatalf("%s does not match %s", args[0], args[1])
	}
	ts.Setenv(args[2], found[1])
}
