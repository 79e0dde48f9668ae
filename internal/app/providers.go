package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/anthropic"
	"adze/internal/model/replay"
	"adze/internal/model/retry"
	"adze/internal/model/wire"
	"adze/internal/platform/config"
	"adze/internal/platform/spell"
)

// providerNames are the providers there are to be, in the order in which they are chosen. This file is
// the only one that tells them apart.
var providerNames = [...]string{"anthropic", "bedrock", "vertex", "foundry", "openai", "gemini", "grok"}

// replayPrefix marks the name of a model that is a script.
const replayPrefix = "replay:"

// A backend is the provider of a run, and what there is to say about it.
type backend struct {
	provider model.Provider
	// keySource says where the credentials come from.
	keySource string
	// scripted says that no model answers.
	scripted bool
	// shared says that what is the same in everybody's prompt is cached as a block of its own.
	shared bool
	// close ends a recording. It may be called once.
	close func() error
}

// openBackend returns the provider of the model with the given name. It connects to nothing.
func openBackend(env *Env, o *options, s *config.Settings, modelName string) (*backend, error) {
	again := retry.Config{Max: s.Int("ADZE_MAX_RETRIES"), Unattended: s.Bool("ADZE_UNATTENDED_RETRY")}
	if again.Max == 0 {
		again.Max = -1 // its zero value means the default
	}
	var b *backend
	var err error
	if file, ok := strings.CutPrefix(modelName, replayPrefix); ok {
		b, err = openReplay(file, o.record)
	} else {
		b, err = openProvider(env, o, s)
	}
	if err != nil {
		return nil, err
	}
	b.provider = retry.New(b.provider, again)
	return b, nil
}

func openReplay(file, saveTo string) (*backend, error) {
	script, err := replay.Load(file)
	if err != nil {
		return nil, setupErrorf("%v", err)
	}
	player := replay.NewPlayer(script)
	if saveTo != "" {
		if err := player.SaveRequests(saveTo); err != nil {
			return nil, setupErrorf("--record-requests: %v", err)
		}
	}
	return &backend{provider: player.Provider(), keySource: "none", scripted: true, shared: true, close: func() error { return nil }}, nil
}

// openProvider maps the configuration to an implementation.
func openProvider(env *Env, o *options, s *config.Settings) (*backend, error) {
	name, why, err := chooseProvider(o, s)
	if err != nil {
		return nil, err
	}
	switch name {
	case "anthropic":
		return openAnthropic(env, o, s)
	case "":
		return nil, noProvider("")
	default:
		return nil, noProvider("The provider " + name + " is chosen by " + why + ", and this version does not have it yet.")
	}
}

// chooseProvider returns which provider to use and what says so; no name when nothing does.
func chooseProvider(o *options, s *config.Settings) (name, why string, err error) {
	name, why = o.provider, "--provider"
	if name == "" {
		name, why = s.Text("provider"), s.Origin("provider")
	}
	if name != "" {
		for _, known := range providerNames {
			if name == known {
				return name, why, nil
			}
		}
		hint := ""
		if near := spell.Closest(name, providerNames[:], 1); len(near) > 0 {
			hint = "; did you mean " + near[0] + "?"
		}
		return "", "", setupErrorf("there is no provider %q (%s)%s Providers: %s", name, why, hint, strings.Join(providerNames[:], ", "))
	}
	for _, c := range []struct{ provider, key string }{
		{"bedrock", "CLAUDE_CODE_USE_BEDROCK"}, {"vertex", "CLAUDE_CODE_USE_VERTEX"}, {"foundry", "CLAUDE_CODE_USE_FOUNDRY"},
	} {
		if s.Bool(c.key) {
			return c.provider, c.key, nil
		}
	}
	for _, c := range []struct{ provider, key string }{
		{"anthropic", "ADZE_API_KEY"}, {"anthropic", "ADZE_AUTH_TOKEN"}, {"anthropic", "apiKeyHelper"},
		{"anthropic", "ADZE_BASE_URL"},
		{"openai", "OPENAI_API_KEY"}, {"gemini", "GEMINI_API_KEY"}, {"grok", "XAI_API_KEY"},
	} {
		if s.Text(c.key) != "" {
			return c.provider, s.Origin(c.key), nil
		}
	}
	return "", "", nil
}

func openAnthropic(env *Env, o *options, s *config.Settings) (*backend, error) {
	c := anthropic.Config{
		Config: wire.Config{
			BaseURL:       s.Text("ADZE_BASE_URL"),
			Version:       Version,
			Idle:          time.Duration(s.Int("ADZE_STREAM_IDLE_TIMEOUT_MS")) * time.Millisecond,
			AllowInsecure: s.Bool("ADZE_ALLOW_INSECURE_HTTP"),
		},
		APIKey:    s.Text("ADZE_API_KEY"),
		AuthToken: s.Text("ADZE_AUTH_TOKEN"),
	}
	b := &backend{shared: c.BaseURL == "", close: func() error { return nil }}
	var err error
	if c.Headers, err = parseHeaders(s.Text("ADZE_CUSTOM_HEADERS")); err != nil {
		env.say(s.Origin("ADZE_CUSTOM_HEADERS") + ": " + err.Error())
	}
	helper := s.Text("apiKeyHelper")
	switch {
	case helper != "" && c.AuthToken == "" && c.APIKey == "":
		c.KeyHelper, b.keySource = keyHelper(helper, env.Dir), "apiKeyHelper"
	case c.AuthToken != "":
		b.keySource = s.Origin("ADZE_AUTH_TOKEN")
	case c.APIKey != "":
		b.keySource = s.Origin("ADZE_API_KEY")
	case c.Headers.Get("Authorization") != "" || c.Headers.Get("X-Api-Key") != "":
		b.keySource = s.Origin("ADZE_CUSTOM_HEADERS")
	case isLocal(c.BaseURL):
		// A server on this machine needs no key, but the protocol wants one.
		c.APIKey, b.keySource = "none", "none"
	default:
		return nil, noProvider("The provider anthropic has no credentials.")
	}
	if c.ExtraBody, err = extraBody(s); err != nil {
		env.say(err.Error())
	}
	if file := s.Text("ADZE_EXTRA_CA_CERTS"); file != "" {
		if c.RootCAs, err = os.ReadFile(file); err != nil {
			env.say(s.Origin("ADZE_EXTRA_CA_CERTS") + ": " + err.Error() + "; only the system's certificates are trusted")
		}
	}
	if o.record != "" {
		recorder, err := replay.NewRecorder(o.record, wire.NewTransport(c.RootCAs))
		if err != nil {
			return nil, setupErrorf("--record-requests: %v", err)
		}
		c.Transport, b.close = recorder, recorder.Close
	}
	if b.provider, err = anthropic.New(c); err != nil {
		return nil, setupErrorf("%v", err)
	}
	return b, nil
}

// extraBody returns the members to add to requests.
func extraBody(s *config.Settings) (json.RawMessage, error) {
	raw := s.Object("ADZE_EXTRA_BODY")
	if len(raw) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, errors.New(s.Origin("ADZE_EXTRA_BODY") + " is not a JSON object; it is ignored")
	}
	return raw, nil
}

// parseHeaders reads lines of "Name: value". Lines that are none are left out and reported.
func parseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	var bad []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "":
		case !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(strings.TrimSpace(name), " \t"):
			bad = append(bad, strings.TrimSpace(name))
		default:
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	if bad != nil {
		return h, errors.New("not headers of the form \"Name: value\", and left out: " + strings.Join(bad, ", "))
	}
	return h, nil
}
