package settings

import (
	"encoding/json"
	"time"

	"adze/internal/settings/config"
)

// Providers configures the model providers and the connections to them. Addresses, keys and
// switches that belong to a row of the provider table are read by the names in that row.
type Providers struct {
	Provider  Value  // empty means automatic
	OpenAIAPI string // responses, chat or empty
	Network   Network
	Bedrock   Bedrock
	Vertex    Vertex
	Foundry   Foundry
}

// Network configures the connections to providers.
type Network struct {
	Headers       Value // unparsed lines
	ExtraBody     json.RawMessage
	ExtraOrigin   string // of ExtraBody
	CAs           Value  // file
	Certificate   Value  // file
	ClientKey     string // file
	AllowInsecure bool
	Idle          time.Duration // limit between two events of a response
	Retries       int
	Unattended    bool // retry for hours
}

// Bedrock configures Amazon Bedrock.
type Bedrock struct {
	Address         string
	SkipAuth        bool
	Refresh, Export string // commands that sign in, and that print credentials
	CacheHour       bool
}

// Vertex configures Google Vertex AI.
type Vertex struct {
	Address, Project, Region string
	SkipAuth                 bool
	Refresh                  string // command that signs in
}

// Foundry configures Azure AI Foundry.
type Foundry struct {
	Address, Resource string
	Key               Value
	SkipAuth          bool
}

// DecodeProviders decodes the settings of the providers.
func DecodeProviders(s *config.Settings) *Providers {
	return &Providers{
		Provider: value(s, "provider"), OpenAIAPI: s.Text("ADZE_OPENAI_API"),
		Network: Network{
			Headers: value(s, "ADZE_CUSTOM_HEADERS"), ExtraBody: s.Object("ADZE_EXTRA_BODY"), ExtraOrigin: s.Origin("ADZE_EXTRA_BODY"),
			CAs: value(s, "ADZE_EXTRA_CA_CERTS"), Certificate: value(s, "ADZE_CLIENT_CERT"), ClientKey: s.Text("ADZE_CLIENT_KEY"),
			AllowInsecure: s.Bool("ADZE_ALLOW_INSECURE_HTTP"), Idle: milliseconds(s, "ADZE_STREAM_IDLE_TIMEOUT_MS"),
			Retries: s.Int("ADZE_MAX_RETRIES"), Unattended: s.Bool("ADZE_UNATTENDED_RETRY"),
		},
		Bedrock: Bedrock{
			Address: s.Text("ADZE_BEDROCK_BASE_URL"), SkipAuth: s.Bool("CLAUDE_CODE_SKIP_BEDROCK_AUTH"),
			Refresh: s.Text("awsAuthRefresh"), Export: s.Text("awsCredentialExport"), CacheHour: s.Bool("ADZE_CACHE_1H_BEDROCK"),
		},
		Vertex: Vertex{
			Address: s.Text("ADZE_VERTEX_BASE_URL"), Project: s.Text("ADZE_VERTEX_PROJECT_ID"), Region: s.Text("ADZE_VERTEX_REGION"),
			SkipAuth: s.Bool("CLAUDE_CODE_SKIP_VERTEX_AUTH"), Refresh: s.Text("gcpAuthRefresh"),
		},
		Foundry: Foundry{
			Address: s.Text("ADZE_FOUNDRY_BASE_URL"), Resource: s.Text("ADZE_FOUNDRY_RESOURCE"),
			Key: value(s, "ADZE_FOUNDRY_API_KEY"), SkipAuth: s.Bool("CLAUDE_CODE_SKIP_FOUNDRY_AUTH"),
		},
	}
}
