package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/net/contacts"
)

// maxAnswer is the maximum number of bytes read from an answer.
const maxAnswer = 8 << 20

// errLoading is returned for a server that has not loaded its model yet.
var errLoading = errors.New("the server is still loading its model")

// errOther is returned for a server that has none of the known interfaces.
var errOther = errors.New("it does not identify itself")

// A statusError is an HTTP status other than 200. It matches [errOther].
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("HTTP %d", int(e)) }
func (statusError) Unwrap() error   { return errOther }

// A Client queries servers. It uses no proxy, follows no redirects and keeps no connections
// open.
type Client struct {
	// Agent is the user agent.
	Agent string
	// Key is sent to servers that require one. It may be empty.
	Key string
}

func (c Client) http() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ask fetches address, or posts question to it if there is one, and decodes the answer.
func (c Client) ask(ctx context.Context, address string, question, answer any) (http.Header, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if question != nil {
		data, err := json.Marshal(question)
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", c.Agent)
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	contacts.Add(req.URL.Host, contacts.Local)
	res, err := c.http().Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode == http.StatusServiceUnavailable && strings.Contains(strings.ToLower(string(data)), "loading"):
		return res.Header, errLoading
	case res.StatusCode != http.StatusOK:
		return res.Header, statusError(res.StatusCode)
	}
	if json.Unmarshal(data, answer) != nil {
		return res.Header, errOther
	}
	return res.Header, nil
}

// identify returns the server at a root, without its models. Any program may listen there, so a
// server counts only if it has the interface of its kind.
func (c Client) identify(ctx context.Context, root string) (*Server, error) {
	s := &Server{Address: root + "/v1"}
	var list struct {
		Data []struct {
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	h, err := c.ask(ctx, root+"/v1/models", nil, &list)
	switch {
	case errors.Is(err, errLoading):
		s.Kind, s.Loading = LlamaCpp, true
		return s, nil
	case err != nil:
		return nil, err
	case len(list.Data) > 0 && list.Data[0].Owner == "vllm":
		s.Kind = VLLM
		return s, nil
	case strings.HasPrefix(h.Get("Server"), "llama.cpp"), len(list.Data) > 0 && list.Data[0].Owner == "llamacpp":
		s.Kind = LlamaCpp
		return s, nil
	}
	var version struct {
		Version string `json:"version"`
	}
	if _, err := c.ask(ctx, root+"/api/version", nil, &version); err == nil && version.Version != "" {
		s.Kind = Ollama
		return s, nil
	}
	var studio studioList
	if _, err := c.ask(ctx, root+"/api/v0/models", nil, &studio); err != nil || !studio.genuine() {
		return nil, errOther
	}
	s.Kind = LMStudio
	return s, nil
}

// A studioList is LM Studio's native model list.
type studioList struct {
	Data []studioModel `json:"data"`
}

type studioModel struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	State  string `json:"state"`
	Max    int    `json:"max_context_length"`
	Loaded int    `json:"loaded_context_length"`
}

// genuine reports whether the list has members that only LM Studio sends. Some gateways answer
// every path with their model list.
func (l studioList) genuine() bool {
	return l.Data != nil && !slices.ContainsFunc(l.Data, func(m studioModel) bool { return m.State == "" && m.Max == 0 })
}

// describe fills in the models as far as the server describes them in time.
func (c Client) describe(ctx context.Context, s *Server, root string) {
	switch {
	case s.Loading:
	case s.Kind == Ollama:
		s.Models = c.ollamaModels(ctx, root)
	case s.Kind == LlamaCpp:
		s.Models = c.llamaModels(ctx, root)
	case s.Kind == LMStudio:
		s.Models = c.studioModels(ctx, root)
	default:
		s.Models = c.vllmModels(ctx, root)
	}
	for i := range s.Models {
		s.Models[i].Kind = s.Kind
	}
}

// ollamaWindow is Ollama's documented default window. Machines with more memory get a larger
// one.
const ollamaWindow = 4096

func (c Client) ollamaModels(ctx context.Context, root string) []Model {
	var list, running struct {
		Models []struct {
			Name   string `json:"name"`
			Window int    `json:"context_length"`
		} `json:"models"`
	}
	if _, err := c.ask(ctx, root+"/api/tags", nil, &list); err != nil {
		return nil
	}
	c.ask(ctx, root+"/api/ps", nil, &running) // ok: no model is known to be loaded then
	loaded := map[string]int{}
	for _, m := range running.Models {
		loaded[m.Name] = m.Window
	}
	models := make([]Model, len(list.Models))
	limit := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i, m := range list.Models {
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			models[i] = c.ollamaModel(ctx, root, m.Name)
			if window, ok := loaded[m.Name]; ok {
				models[i].Loaded = true
				if window > 0 {
					models[i].Window, models[i].Sure = window, true
				}
			}
		})
	}
	all.Wait()
	return models
}

// ollamaModel returns Ollama's description of a model that may not be loaded.
func (c Client) ollamaModel(ctx context.Context, root, name string) Model {
	m := Model{Name: name, Window: ollamaWindow}
	var about struct {
		Parameters   string                     `json:"parameters"`
		Remote       string                     `json:"remote_host"`
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if _, err := c.ask(ctx, root+"/api/show", map[string]string{"model": name}, &about); err != nil {
		return m
	}
	var family string
	json.Unmarshal(about.Info["general.architecture"], &family)        // ok: the window is unknown then
	json.Unmarshal(about.Info[family+".context_length"], &m.MaxWindow) // ok: as above
	for line := range strings.Lines(about.Parameters) {
		var n int
		if found, _ := fmt.Sscanf(line, "num_ctx %d", &n); found == 1 && n > 0 { // the model sets its own
			m.Window, m.Sure = n, true
		}
	}
	switch {
	case about.Remote != "" && m.MaxWindow > 0: // runs remotely and is never loaded here
		m.Window, m.Sure, m.Loaded = m.MaxWindow, true, true
	case m.MaxWindow > 0:
		m.Window = min(m.Window, m.MaxWindow)
	}
	m.NoTools = len(about.Capabilities) > 0
	for _, c := range about.Capabilities {
		switch c {
		case "tools":
			m.NoTools = false
		case "vision":
			m.Images = true
		}
	}
	return m
}

func (c Client) llamaModels(ctx context.Context, root string) []Model {
	var list struct {
		Data []struct {
			ID   string `json:"id"`
			Meta struct {
				Trained int `json:"n_ctx_train"`
			} `json:"meta"`
		} `json:"data"`
	}
	if _, err := c.ask(ctx, root+"/v1/models", nil, &list); err != nil {
		return nil
	}
	var props struct {
		Settings struct {
			Window int `json:"n_ctx"` // per slot
		} `json:"default_generation_settings"`
		Modalities struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
		Template struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	c.ask(ctx, root+"/props", nil, &props) // ok: the endpoint can be disabled
	var models []Model
	for _, d := range list.Data {
		m := Model{Name: d.ID, MaxWindow: d.Meta.Trained, Window: props.Settings.Window, Sure: props.Settings.Window > 0, Images: props.Modalities.Vision, Loaded: true}
		m.NoTools = props.Template.Tools != nil && !*props.Template.Tools
		models = append(models, m)
	}
	return models
}

func (c Client) studioModels(ctx context.Context, root string) []Model {
	var list studioList
	if _, err := c.ask(ctx, root+"/api/v0/models", nil, &list); err != nil {
		return nil
	}
	var models []Model
	for _, d := range list.Data {
		if d.Type == "embeddings" {
			continue
		}
		models = append(models, Model{Name: d.ID, MaxWindow: d.Max, Window: d.Loaded, Sure: d.Loaded > 0, Images: d.Type == "vlm", Loaded: d.State == "loaded"})
	}
	return models
}

func (c Client) vllmModels(ctx context.Context, root string) []Model {
	var list struct {
		Data []struct {
			ID     string `json:"id"`
			Window int    `json:"max_model_len"`
		} `json:"data"`
	}
	c.ask(ctx, root+"/v1/models", nil, &list) // ok: no models then
	var models []Model
	for _, d := range list.Data {
		models = append(models, Model{Name: d.ID, Window: d.Window, MaxWindow: 0, Sure: d.Window > 0, Loaded: true})
	}
	return models
}
