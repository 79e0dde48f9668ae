package chaos_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/bedrock"
	"adze/internal/model/bedrock/bedrocktest"
	"adze/internal/model/chat/chattest"
	"adze/internal/model/gemini/geminitest"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest/chaos"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/wire"
	"adze/internal/platform/net/aws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Proves PROV-11, PROV-20, PROV-21, PROV-55, PROV-60.
func TestChaos(t *testing.T) {
	for name, d := range map[string]wire.Server{
		"messages": messages.Server{}, "chat": chattest.Server{}, "responses": responsestest.Server{}, "gemini": geminitest.Server{},
	} {
		t.Run(name, func(t *testing.T) {
			chaos.Run(t, seeds, d, func(tr http.RoundTripper) model.Provider {
				p, err := wire.New(wire.Service{
					Dialect: d, Address: "http://127.0.0.1/v1", KeyHeader: "Authorization", Header: http.Header{"Anthropic-Version": {"2023-06-01"}},
				}, wire.Config{AuthToken: "key", Transport: tr})
				if err != nil {
					t.Fatal(err)
				}
				return p
			})
		})
	}
	t.Run("bedrock", func(t *testing.T) { // has its own framing
		env := map[string]string{"AWS_REGION": "us-east-1", "AWS_BEARER_TOKEN_BEDROCK": "key"}
		service, err := bedrock.Service(bedrock.Config{Env: aws.Env{Getenv: func(name string) string { return env[name] }, Home: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		chaos.Run(t, seeds, bedrocktest.NewServer(), func(tr http.RoundTripper) model.Provider {
			p, err := wire.New(service, wire.Config{BaseURL: "http://127.0.0.1", Transport: tr, AuthTransport: tr})
			if err != nil {
				t.Fatal(err)
			}
			return p
		})
	})
}
