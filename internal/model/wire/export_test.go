package wire

import (
	"slices"

	"adze/internal/model"
	"adze/internal/platform/transport"
)

// CloseIdle closes the connections of a provider with the default transport.
func (p *Provider) CloseIdle() {
	p.c.Transport.(*transport.Transport).CloseIdleConnections()
}

// MaxEncoders is how many encoders a provider keeps.
const MaxEncoders = maxEncoders

// Encoders returns the idle ones.
func (p *Provider) Encoders() []Encoder {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.encoders)
}

// Encode writes req with the encoder for it, and returns that.
func (p *Provider) Encode(req *model.Request) (Encoder, error) {
	e := p.takeEncoder(req)
	defer p.returnEncoder(e)
	_, err := e.EncodeBody(req, nil)
	return e, err
}
