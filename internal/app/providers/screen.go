package providers

import (
	"context"
	"strings"

	"adze/internal/app/setup"
)

// noProvider returns the error for a user who has not configured a model provider. Why says more, or is empty.
func noProvider(why string) error {
	if why == "" {
		why = "no model provider is configured."
	}
	return &setup.Error{Text: why + ` Any one of these is enough:

A key that you store once, in the keyring of the system or a file of yours:

    adze auth login

A key in the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY,
XAI_API_KEY or OPENROUTER_API_KEY.

    export ANTHROPIC_API_KEY=...

Models of a cloud, with the credentials that its own tools use: Bedrock, or
CLAUDE_CODE_USE_VERTEX=1, or CLAUDE_CODE_USE_FOUNDRY=1.

    export CLAUDE_CODE_USE_BEDROCK=1

A server on this machine, without a key: ollama, llamacpp, lmstudio or vllm.

    adze --provider ollama

A gateway, or any server that speaks the Messages API; OPENAI_BASE_URL names
one that speaks OpenAI's.

    export ANTHROPIC_BASE_URL=http://127.0.0.1:8080
    export ADZE_MODEL=the-model-it-serves

Nothing at all, to watch adze work with a scripted model:

    adze demo`}
}

// Unset returns the error for a user who has configured nothing that the named model could be asked through, and models of
// servers on this machine that could be asked instead; or nothing.
func Unset(ctx context.Context, c Config, name string) (models []string, screen error) {
	rows := newTable(c.Settings, func(string) {}) // what is wrong is said when they are opened
	chosen, err := rows.chooseFor(c, name)
	if err != nil || chosen.provider != nil || strings.HasPrefix(name, ReplayPrefix) {
		return nil, nil
	}
	models = FindLocal(ctx, c.Settings, c.Version).first()
	return models, noProvider(offer(models))
}
