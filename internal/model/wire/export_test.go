package wire

import (
	"slices"

	"adze/internal/model"
	"adze/internal/platform/net/transport"
)

// CloseIdle closes the idle connections of a provider with the default transport.
func (p *Provider) CloseIdle() {
	p.c.Transport.(*transport.Transport).CloseIdleConnections()
}

// MaxEncoders is the maximum number of idle encoders of a provider.
const MaxEncoders = maxEncoders

// Encoders returns the idle encoders.
func (p *Provider) Encoders() []Encoder {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.encoders)
}

// Encode encodes req with the encoder for it and returns that encoder.
func (p *Provider) Encode(req *model.Request) (Encoder, error) {
	e := p.takeEncoder(req)
	defer p.returnEncoder(e)
	_, err := e.EncodeBody(req, nil)
	return e, err
}
