package wire

import "adze/internal/app/setup"

// noProvider is the screen for a user who has not configured a model provider. Why says what is known beyond
// that.
func noProvider(why string) error {
	text := "no model provider is configured, so nothing was run."
	if why != "" {
		text = why + " Nothing was run."
	}
	return &setup.Error{Text: text + `

To use the Anthropic API, set a key:

    export ANTHROPIC_API_KEY=...

To use a server on this machine, or a gateway, that speaks the same protocol:

    export ANTHROPIC_BASE_URL=http://127.0.0.1:8080
    export ADZE_MODEL=the-model-it-serves

A key can also come from a command (apiKeyHelper in ~/.adze/settings.json) or be a bearer token
(ANTHROPIC_AUTH_TOKEN). To see what adze does without any of this, with a scripted model:

    adze demo`}
}
