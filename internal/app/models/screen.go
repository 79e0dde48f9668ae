package models

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"adze/internal/model/local"
	"adze/internal/model/wire"
	"adze/internal/setup"
)

// ErrNoProvider is wrapped by the error for a user without a configured provider.
var ErrNoProvider = errors.New("no model provider is configured")

// A noProviderError is [ErrNoProvider] with the ways to configure one.
type noProviderError struct{ text string }

func (e *noProviderError) Error() string { return e.text }
func (e *noProviderError) Unwrap() error { return ErrNoProvider }

// noProvider returns the error for a user without a configured provider. why adds a reason; it
// may be empty.
func noProvider(why string) error {
	switch {
	case why == "":
		why = "no model provider is configured. Any of these is enough:"
	case strings.HasSuffix(why, "."):
		why += " Any of these is enough:"
	}
	return setup.Wrap(&noProviderError{why + `

Store an API key:

    adze auth login

A key in the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY,
XAI_API_KEY or OPENROUTER_API_KEY.

    export ANTHROPIC_API_KEY=...

Cloud models, with your existing credentials: Bedrock, or
CLAUDE_CODE_USE_VERTEX=1, or CLAUDE_CODE_USE_FOUNDRY=1.

    export CLAUDE_CODE_USE_BEDROCK=1

A server on this machine, without a key: ollama, llamacpp, lmstudio or vllm.

    adze --provider ollama

A gateway, or any server that speaks the Messages API; OPENAI_BASE_URL names
one that speaks OpenAI's.

    export ANTHROPIC_BASE_URL=http://127.0.0.1:8080
    export ADZE_MODEL=the-model-it-serves

Just looking?

    adze demo`})
}

// Unset returns the error for a user without a provider for the named model, and models of
// local servers that could be used instead. Both are nil if a provider is configured.
func Unset(ctx context.Context, c Config, name string) (models []string, screen error) {
	rows := newTable(c.Settings, func(string) {}) // opening them reports problems
	chosen, err := rows.chooseFor(c, name)
	if err != nil || chosen.provider != nil || strings.HasPrefix(name, ReplayPrefix) {
		return nil, nil
	}
	models = FindLocal(ctx, c.Settings, c.Version).offered()
	return models, noProvider(offer(models))
}

// Several returns the models to choose from if the user selects a local server with several
// models but names none.
func Several(ctx context.Context, c Config, name string) (models []string) {
	rows := newTable(c.Settings, func(string) {}) // opening them reports problems
	chosen, err := rows.chooseFor(c, name)
	if err != nil || chosen.provider == nil || !chosen.provider.local {
		return nil
	}
	to := newNames(c, rows, chosen).route(cmp.Or(name, "default"))
	if to.row != chosen.provider || !isShort(to.sent) {
		return nil
	}
	for _, s := range (local.Client{Agent: wire.UserAgent(c.Version)}).Find(ctx, []string{to.row.base(c.Settings)}) {
		if _, err := s.Pick(""); string(s.Kind) == to.row.name && errors.Is(err, local.ErrSeveral) {
			for _, m := range s.Models {
				models = append(models, to.row.name+"/"+m.Name)
			}
		}
	}
	return models
}

// Alone reports whether only local servers are configured, so that a local model can be the
// default.
func Alone(c Config) bool {
	chosen, err := newTable(c.Settings, func(string) {}).choose("", c.Settings, c.Keys)
	return err == nil && (chosen.provider == nil || chosen.provider.local)
}
