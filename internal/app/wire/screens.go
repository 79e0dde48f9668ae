package wire

import "adze/internal/app/setup"

// noProvider returns the error for a user who has not configured a model provider. Why says more, or is empty.
func noProvider(why string) error {
	text := "no model provider is configured."
	if why != "" {
		text = why + ""
	}
	return &setup.Error{Text: text + `

To use the Anthropic API, set a key:

    export ANTHROPIC_API_KEY=...

To use a local server or a gateway with the same API:

    export ANTHROPIC_BASE_URL=http://127.0.0.1:8080
    export ADZE_MODEL=the-model-it-serves

A key can also come from a command (apiKeyHelper in ~/.adze/settings.json), or be a bearer token
(ANTHROPIC_AUTH_TOKEN). To watch adze work with a scripted model, without any of this:

    adze demo`}
}
