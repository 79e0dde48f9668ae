// Package providers is the table of the built-in model providers: names, servers, variables and
// accounts. Settings and app/models derive everything else from it.
package providers

// A Row describes a provider.
type Row struct {
	Name string
	// API is the name used by ecosystem clients; empty means Name.
	API string
	// Dialect, Quirks and Address describe the server as in the setting providers. Dialect is empty if
	// app/models has a function for the provider.
	Dialect, Quirks, Address string
	// Hosts is true if the provider serves other vendors' models.
	Hosts bool
	// Local is true for a server on this machine, which needs no key and is only used if named.
	Local bool

	// Key and BaseURL are the variables for the key and the address, the first being the setting's ID.
	// Settings declares them.
	Key, BaseURL []string
	// Server names the API in the description of BaseURL. Accepts and About replace the description of
	// other servers.
	Server, Accepts, About string
	// Use is the variable that selects the provider unconditionally, or empty. Settings declares it.
	Use string
	// Token and Helper are other settings for credentials, or empty.
	Token, Helper string

	Account Account
}

// An Account describes how the user gets a key, and how the key is checked.
type Account struct {
	// Page is the URL where the user creates a key.
	Page string
	// Probe is a free request that requires the key, relative to the API version.
	Version, Probe string
	// Authorize is the URL on which the user authorizes a key, and Exchange the path where its
	// code is redeemed, relative to the provider's address. Both are empty if unsupported.
	Authorize, Exchange string
}

// All returns the providers in order of preference.
func All() []Row {
	return []Row{
		{
			Name: "anthropic", API: "firstParty", Key: []string{"ADZE_API_KEY", "ANTHROPIC_API_KEY"}, Token: "ADZE_AUTH_TOKEN", Helper: "apiKeyHelper",
			BaseURL: []string{"ADZE_BASE_URL", "ANTHROPIC_BASE_URL"}, Server: "Anthropic",
			Account: Account{Page: "https://console.anthropic.com/settings/keys", Version: "v1", Probe: "models?limit=1"},
		},
		{Name: "bedrock", Use: "CLAUDE_CODE_USE_BEDROCK", Hosts: true, BaseURL: []string{"ADZE_BEDROCK_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL"}, Server: "Bedrock"},
		{Name: "vertex", Use: "CLAUDE_CODE_USE_VERTEX", Hosts: true, BaseURL: []string{"ADZE_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"}, Server: "Vertex"},
		{
			Name: "foundry", Use: "CLAUDE_CODE_USE_FOUNDRY", Hosts: true, BaseURL: []string{"ADZE_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL"},
			About: "the base URL of the Foundry API, in place of a resource",
		},
		{
			Name: "openai", Key: []string{"ADZE_OPENAI_API_KEY", "OPENAI_API_KEY"}, BaseURL: []string{"ADZE_OPENAI_BASE_URL", "OPENAI_BASE_URL"}, Server: "OpenAI",
			Account: Account{Page: "https://platform.openai.com/api-keys", Version: "v1", Probe: "models"},
		},
		{
			Name: "gemini", Dialect: "gemini", Address: "https://generativelanguage.googleapis.com",
			Key: []string{"ADZE_GEMINI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}, BaseURL: []string{"ADZE_GEMINI_BASE_URL", "GEMINI_BASE_URL"}, Server: "Gemini",
			Account: Account{Page: "https://aistudio.google.com/apikey", Version: "v1beta", Probe: "models?pageSize=1"},
		},
		{
			Name: "grok", Dialect: "responses", Quirks: `{"SystemRole":"system","UserMember":"user","NoSummary":true}`, Address: "https://api.x.ai/v1",
			Key: []string{"ADZE_XAI_API_KEY", "XAI_API_KEY"}, BaseURL: []string{"ADZE_XAI_BASE_URL", "XAI_BASE_URL"}, Server: "xAI",
			Account: Account{Page: "https://console.x.ai", Version: "v1", Probe: "models"},
		},
		{
			Name: "openrouter", Hosts: true, Dialect: "chat", Quirks: `{"Marks":true,"Documents":true,"Replay":"reasoning_details"}`, Address: "https://openrouter.ai/api/v1",
			Key: []string{"ADZE_OPENROUTER_API_KEY", "OPENROUTER_API_KEY"}, BaseURL: []string{"ADZE_OPENROUTER_BASE_URL", "OPENROUTER_BASE_URL"}, Server: "OpenRouter",
			// No client registration: the code is bound to the verifier alone.
			Account: Account{Page: "https://openrouter.ai/keys", Version: "v1", Probe: "key", Authorize: "https://openrouter.ai/auth", Exchange: "auth/keys"},
		},
		{
			Name: "ollama", Hosts: true, Local: true, BaseURL: []string{"ADZE_OLLAMA_HOST", "OLLAMA_HOST"},
			Accepts: "a URL, or a host with or without a port; if not set, 127.0.0.1:11434", About: "where Ollama listens",
		},
		{
			Name: "llamacpp", Hosts: true, Local: true, BaseURL: []string{"ADZE_LLAMACPP_BASE_URL"},
			Accepts: "a URL; if not set, port 8080 of this machine", About: "the base URL of a llama.cpp server",
		},
		{
			Name: "lmstudio", Hosts: true, Local: true, BaseURL: []string{"ADZE_LMSTUDIO_BASE_URL"},
			Accepts: "a URL; if not set, port 1234 of this machine", About: "the base URL of LM Studio",
		},
		{
			Name: "vllm", Hosts: true, Local: true, BaseURL: []string{"ADZE_VLLM_BASE_URL"},
			Accepts: "a URL; if not set, port 8000 of this machine", About: "the base URL of a vLLM server",
		},
	}
}
