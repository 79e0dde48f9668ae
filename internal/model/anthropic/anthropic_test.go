package anthropic

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
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
	modeltest.Run(t, func(t *testing.T, h http.Handler) model.Provider { return provider(t, h) })
}
