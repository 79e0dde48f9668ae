// Package localtest emulates local model servers, as their public documentation describes them,
// for tests.
package localtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"adze/internal/model/local"
)

// Gateway is a server that answers every path with its model list.
const Gateway local.Kind = "gateway"

// A Server emulates a server of a kind with one model.
type Server struct {
	Kind  local.Kind
	Model string
	// Others lists additional Ollama models.
	Others []string
	// Window is the actual window, Max the window the model was trained for.
	Window, Max int
	NoTools     bool
	// Remote is true if Ollama runs the model remotely.
	Remote bool
	// Chat, if non-nil, answers requests to the model.
	Chat http.Handler

	mu sync.Mutex
	// Loading is the number of further requests that are rejected because the server has not
	// loaded its model yet.
	Loading int
	// Loaded is true if Ollama or LM Studio has loaded the model. Broken models cannot be
	// loaded.
	Loaded, Broken bool
	asked          []string
}

// Asked returns the paths requested so far.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	loading := s.Loading > 0
	if loading {
		s.Loading--
	}
	s.mu.Unlock()
	if s.Kind == local.LlamaCpp {
		w.Header().Set("Server", "llama.cpp")
	}
	w.Header().Set("Content-Type", "application/json")
	if loading {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") && s.Chat != nil && (s.Kind != local.LMStudio || s.isLoaded()) {
		if r.Header.Get("Authorization") == "" { // the script's server requires a key, but these servers do not
			r.Header.Set("Authorization", "Bearer none")
		}
		s.Chat.ServeHTTP(w, r)
		return
	}
	answer := s.answer(r)
	if s.Kind == Gateway && r.Method == http.MethodGet {
		answer = fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model"}]}`, s.Model)
	}
	if answer == "" {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"error":"not found"}`
	}
	fmt.Fprint(w, answer)
}

func (s *Server) isLoaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Loaded
}

func (s *Server) answer(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch string(s.Kind) + " " + r.Method + " " + r.URL.Path {
	case "ollama GET /v1/models":
		return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","created":1,"owned_by":"library"}]}`, s.Model)
	case "ollama GET /api/version":
		return `{"version":"0.17.4"}`
	case "ollama GET /api/tags":
		list := ""
		for _, name := range append([]string{s.Model}, s.Others...) {
			list += fmt.Sprintf(`,{"name":%q,"model":%[1]q,"details":{"family":"qwen3"}}`, name)
		}
		return `{"models":[` + list[1:] + `]}`
	case "ollama GET /api/ps":
		if !s.Loaded {
			return `{"models":[]}`
		}
		return fmt.Sprintf(`{"models":[{"name":%q,"model":%[1]q,"context_length":%d}]}`, s.Model, s.Window)
	case "ollama POST /api/show":
		able := `"completion","tools","vision"`
		if s.NoTools {
			able = `"completion"`
		}
		if s.Remote {
			able += `],"remote_host":"https://models.example","remote_model":["x"`
		}
		return fmt.Sprintf(`{"parameters":"stop \"x\"\ntemperature 0.6","model_info":{"general.architecture":"qwen3","qwen3.context_length":%d},"capabilities":[%s]}`, s.Max, able)
	case "ollama POST /api/generate":
		var q struct{ Model, Prompt string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || q.Model != s.Model && !slices.Contains(s.Others, q.Model) || q.Prompt != "" || s.Broken {
			return ""
		}
		for i, name := range s.Others {
			if name == q.Model {
				s.Others[i], s.Model = s.Model, name
			}
		}
		s.Loaded = true
		return `{"response":"","done":true,"done_reason":"load"}`
	case "llamacpp GET /v1/models":
		return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","owned_by":"llamacpp","meta":{"n_ctx_train":%d}}]}`, s.Model, s.Max)
	case "llamacpp GET /props":
		return fmt.Sprintf(`{"default_generation_settings":{"n_ctx":%d},"total_slots":2,"modalities":{"vision":true,"audio":false},"chat_template_caps":{"supports_tools":%t}}`, s.Window, !s.NoTools)
	case "lmstudio GET /v1/models":
		return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","owned_by":"organization_owner"}]}`, s.Model)
	case "lmstudio GET /api/v0/models":
		state := `"state":"not-loaded"`
		if s.Loaded {
			state = fmt.Sprintf(`"state":"loaded","loaded_context_length":%d`, s.Window)
		}
		return fmt.Sprintf(`{"data":[{"id":%q,"type":"vlm",%s,"max_context_length":%d},{"id":"embed","type":"embeddings","state":"not-loaded"}]}`, s.Model, state, s.Max)
	case "lmstudio POST /v1/chat/completions":
		s.Loaded = true
		return `{"choices":[{"index":0,"message":{"role":"assistant","content":"."},"finish_reason":"length"}]}`
	case "vllm GET /v1/models":
		return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","owned_by":"vllm","max_model_len":%d}]}`, s.Model, s.Window)
	}
	return ""
}
