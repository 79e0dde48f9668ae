package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/local"
	"adze/internal/model/local/localtest"
	"adze/internal/msg"
)

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// TestFind checks that servers are found by their native interfaces, wherever they listen, with
// the actual windows of their models.
//
// Proves PROV-63.
func TestFind(t *testing.T) {
	var addresses []string
	for _, s := range []*localtest.Server{
		{Kind: local.VLLM, Model: "Qwen/Qwen3-8B", Window: 32768},
		{Kind: local.LMStudio, Model: "qwen3-8b", Window: 8192, Max: 131072, Loaded: true},
		{Kind: local.LlamaCpp, Model: "qwen3.gguf", Window: 16384, Max: 40960},
		{Kind: local.Ollama, Model: "qwen3:8b", Window: 32768, Max: 40960, Loaded: true},
	} {
		addresses = append(addresses, serve(t, s)+"/v1")
	}
	loading := serve(t, &localtest.Server{Kind: local.LlamaCpp, Loading: 99})
	cold := serve(t, &localtest.Server{Kind: local.Ollama, Model: "gemma:2b", Window: 32768, Max: 8192, NoTools: true})
	other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello</html>") }))
	lookalike := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"data":[{"id":"x"}]}`) }))
	redirect := serve(t, http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	got := local.Client{}.Find(t.Context(), append(addresses, loading, cold, other, redirect, "http://127.0.0.1:1/v1", "http://192.0.2.1:11434/v1", "https://127.0.0.1:2", "ftp://x", "://", ""))
	want := []local.Server{
		{Kind: local.Ollama, Address: addresses[3], Models: []local.Model{{Name: "qwen3:8b", Kind: local.Ollama, Window: 32768, MaxWindow: 40960, Sure: true, Images: true, Loaded: true}}},
		{Kind: local.Ollama, Address: cold + "/v1", Models: []local.Model{{Name: "gemma:2b", Kind: local.Ollama, Window: 4096, MaxWindow: 8192, NoTools: true}}},
		{Kind: local.LlamaCpp, Address: addresses[2], Models: []local.Model{{Name: "qwen3.gguf", Kind: local.LlamaCpp, Window: 16384, MaxWindow: 40960, Sure: true, Images: true, Loaded: true}}},
		{Kind: local.LlamaCpp, Address: loading + "/v1", Loading: true},
		{Kind: local.LMStudio, Address: addresses[1], Models: []local.Model{{Name: "qwen3-8b", Kind: local.LMStudio, Window: 8192, MaxWindow: 131072, Sure: true, Images: true, Loaded: true}}},
		{Kind: local.VLLM, Address: addresses[0], Models: []local.Model{{Name: "Qwen/Qwen3-8B", Kind: local.VLLM, Window: 32768, Sure: true, Loaded: true}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A gateway that answers every path with its model list is not LM Studio.
	if found := (local.Client{}).Find(t.Context(), []string{lookalike}); found != nil {
		t.Errorf("found %+v", found)
	}
}

// TestFindIsQuick checks that Find does not wait for a server that does not answer.
func TestFindIsQuick(t *testing.T) {
	slow := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	began := time.Now()
	if got := (local.Client{}).Find(t.Context(), []string{slow, slow + "/v1"}); got != nil || time.Since(began) > time.Minute {
		t.Errorf("found %v after %v", got, time.Since(began))
	}
}

// TestOpen checks that the model to be used is queried: Ollama loads it, adze waits for a
// server that is loading, and errors are actionable.
//
// Proves PROV-63.
func TestOpen(t *testing.T) {
	ollama := &localtest.Server{Kind: local.Ollama, Model: "qwen3:latest", Window: 8192, Max: 40960}
	studio := &localtest.Server{Kind: local.LMStudio, Model: "qwen3-8b", Window: 8192, Max: 131072}
	llama := &localtest.Server{Kind: local.LlamaCpp, Model: "m.gguf", Window: 4096, Max: 40960, Loading: 2}
	for _, tt := range []struct {
		kind   local.Kind
		server http.Handler
		name   string
		want   string
		said   string
	}{
		{local.Ollama, ollama, "qwen3", "qwen3:latest 8192", "Loading qwen3:latest …"},
		{local.Ollama, ollama, "", "qwen3:latest 8192", ""},
		{local.Ollama, ollama, "qwen", "Ollama has no model qwen; did you mean qwen3:latest?", ""},
		{local.Ollama, ollama, "granite4", "Ollama has no model granite4; it has qwen3:latest; get it with `ollama pull granite4`", ""},
		{local.Ollama, &localtest.Server{Kind: local.Ollama, Model: "gpt-oss:120b-cloud", Max: 131072, Remote: true}, "", "gpt-oss:120b-cloud 131072", ""},
		{local.LMStudio, studio, "default", "qwen3-8b 8192", "Loading qwen3-8b …"},
		{local.LMStudio, studio, "", "qwen3-8b 8192", ""},
		{local.LlamaCpp, &localtest.Server{Kind: local.LlamaCpp, Model: "default", Window: 4096}, "default", "default 4096", ""},
		{local.Ollama, &localtest.Server{Kind: local.Ollama, Model: "big", Broken: true}, "", "Ollama could not load big (HTTP 404)", "Loading big …"},
		{local.LlamaCpp, llama, "", "m.gguf 4096", "llama.cpp is still loading its model"},
		{local.VLLM, llama, "x", "llama.cpp answers at ADDRESS, not vLLM; use the provider llamacpp", ""},
		{local.VLLM, http.NotFoundHandler(), "x", "x 0", "the server at ADDRESS is not identifiable as vLLM, and its context window is unknown"},
		{local.VLLM, http.NotFoundHandler(), "", "the server at ADDRESS is not vLLM: HTTP 404. Start it with `vllm serve MODEL`", ""},
	} {
		address := serve(t, tt.server)
		var said []string
		m, err := local.Client{}.Open(t.Context(), tt.kind, address+"/v1", tt.name, func(s string) { said = append(said, s) })
		got := fmt.Sprintf("%s %d", m.Name, m.Window)
		if err != nil {
			got = strings.ReplaceAll(err.Error(), address, "ADDRESS")
		}
		if got != tt.want || strings.ReplaceAll(strings.Join(said, "|"), address, "ADDRESS") != tt.said {
			t.Errorf("%s %s: %s, said %q\nwant %s, said %q", tt.kind, tt.name, got, said, tt.want, tt.said)
		}
	}
	if !slices.Contains(ollama.Asked(), "/api/generate") {
		t.Error("the model was not loaded")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (local.Client{}).Open(ctx, local.Ollama, "http://127.0.0.1:1", "x", func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and %v", err)
	}
}

// answering is a provider that records the last request and reports usage.
type answering struct {
	req  *model.Request
	used int
}

func (a *answering) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	a.req = req
	return func(yield func(model.Event, error) bool) {
		if yield(model.Usage{Usage: msg.Usage{Input: a.used}}, nil) {
			yield(model.Stop{Reason: model.StopEnd}, nil)
		}
	}
}

// TestGuard checks that a request is never larger than the window: its answer is shortened, or
// it is rejected before it is sent.
func TestGuard(t *testing.T) {
	next := &answering{used: 1}
	g := local.Guard(next, func(name string) (local.Model, bool) {
		return local.Model{Name: name, Kind: local.Ollama, Window: 4096, MaxWindow: 40960, Sure: name == "m"}, name != "other"
	})
	ask := func(name string, system, prompt int) error {
		next.req = nil
		req := &model.Request{Model: name, MaxTokens: 3000, System: []msg.Part{&msg.Text{Text: strings.Repeat("word ", system)}}, Messages: []msg.Message{msg.UserText(strings.Repeat("word ", prompt))}}
		for _, err := range g.Stream(t.Context(), req) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := ask("m", 10, 100); err != nil || next.req.MaxTokens != 3000 {
		t.Errorf("a fitting request is changed to %+v, %v", next.req, err)
	}
	if err := ask("m", 10, 2000); err != nil || next.req.MaxTokens >= 2200 || next.req.MaxTokens < 1000 {
		t.Errorf("a tight request is changed to %+v, %v", next.req, err)
	}
	err := ask("m", 10, 5000)
	var e *model.Error
	if !errors.As(err, &e) || next.req != nil || e.Kind != model.TooLong || e.Window != 4096 || e.Hint != "" {
		t.Errorf("too large: %+v, sent %v", err, next.req != nil)
	}
	if err := ask("m", 5000, 10); !errors.As(err, &e) || next.req != nil || !strings.Contains(model.Explain(err, "m", true), "OLLAMA_CONTEXT_LENGTH") {
		t.Errorf("instructions that do not fit: %v", model.Explain(err, "m", true))
	}
	if err := ask("guessed", 5000, 10); err != nil || next.req.MaxTokens != 3000 {
		t.Errorf("a window that is a guess: %v", err)
	}
	if err := ask("other", 5000, 10); err != nil {
		t.Errorf("a model that is not known: %v", err)
	}
}
