package anthropic

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-secret-0123456789"

// provider returns a provider connected to h in memory.
func provider(t *testing.T, h http.Handler, change ...func(*wire.Config)) *wire.Provider {
	t.Helper()
	c := wire.Config{Version: "1.2.3", Transport: modeltest.Transport(h), APIKey: secret}
	for _, f := range change {
		f(&c)
	}
	p, err := wire.New(Service(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Proves PROV-60, PROV-11, PROV-21, PROV-22.
func TestConformance(t *testing.T) {
	block := func(raw string, part msg.Part) modeltest.Answer {
		return modeltest.Answer{
			Name:  raw,
			Spell: modeltest.Events(model.BlockDone{Part: &msg.Opaque{Raw: []byte(raw)}}),
			Want: modeltest.Reply{
				Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{part}},
				Usage:   msg.Usage{Input: 10, Output: 5}, Stop: model.StopPause,
			},
		}
	}
	const search, hologram = `{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}}`, `{"type":"hologram"}`
	d := modeltest.Dialect{Server: messages.Server{}, Answers: []modeltest.Answer{
		block(search, &msg.Server{Raw: []byte(search)}), block(hologram, &msg.Opaque{Raw: []byte(hologram)}),
	}}
	modeltest.Run(t, d, func(t *testing.T, h http.Handler) model.Provider { return provider(t, h) })
}
