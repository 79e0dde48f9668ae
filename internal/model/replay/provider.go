package replay

import (
	"context"
	"io"
	"iter"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// Provider returns the script as an in-process model.
func (p *Player) Provider() model.Provider { return &provider{p} }

type provider struct{ player *Player }

func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		a, err := p.player.ask(req)
		if err != nil {
			yield(nil, err)
			return
		}
		a.pause = p.player.pause
		receive(ctx, wire.DialectFor(p.player.dialect, req), a, req)(yield)
	}
}

// ask encodes req as it would go over the wire and returns the answer.
func (p *Player) ask(req *model.Request) (*answer, error) {
	p.encoding.Lock()
	defer p.encoding.Unlock()
	body, err := p.encoder.EncodeBody(req, nil)
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Err: err}
	}
	return p.admit(&query{RequestInfo: wire.RequestInfo{Model: req.Model, Stream: !req.NoStream, Thinks: req.Thinking.Mode != model.ThinkingOff}, server: p.server, body: body.Bytes()}), nil
}

// receive decodes a like a client that sent req.
func receive(ctx context.Context, d wire.Dialect, a *answer, req *model.Request) iter.Seq2[model.Event, error] {
	b := newBody(ctx, a)
	o := wire.StreamOptions{RequestID: wire.RequestID(a.header), Raw: req.Raw}
	if a.drop == 0 && !a.failed() && !req.NoStream {
		return wire.ReadStream(ctx, d, b, o)
	}
	return func(yield func(model.Event, error) bool) {
		data, err := io.ReadAll(b)
		switch {
		case ctx.Err() != nil:
			yield(nil, context.Cause(ctx))
		case a.drop != 0:
			yield(nil, &model.Error{Kind: a.drop, Err: io.ErrUnexpectedEOF})
		case a.failed():
			e := wire.ErrorFrom(d, a.status, a.header, data)
			if a.refused != model.Unknown {
				e.Kind = a.refused
			}
			yield(nil, e)
		case err != nil:
			yield(nil, &model.Error{Kind: model.Broken, RequestID: o.RequestID, Err: err})
		default:
			wire.ReadMessage(d, data, o.RequestID)(yield)
		}
	}
}
