// Package bedrocktest implements a strict server of the bedrock dialect for tests.
package bedrocktest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/bedrock"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Server implements [wire.Server]. It checks only the form of signatures, because it does not
// know the keys.
type Server struct{ bedrock.Dialect }

// NewServer returns a Server in a fixed region.
func NewServer() Server { return Server{bedrock.NewDialect("us-east-1")} }

func (s Server) inner() messages.Server { return messages.Server{Dialect: s.Dialect.Dialect} }

// Admit implements [wire.Server].
func (s Server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	_, rest, ok := strings.Cut(path, "/model/")
	at := strings.LastIndexByte(rest, '/')
	if !ok || at <= 0 {
		return wire.RequestInfo{}, nothingAt(path)
	}
	id, operation := rest[:at], rest[at+1:]
	if plain, err := url.PathUnescape(id); err == nil {
		id = plain
	}
	if e := admitted(h); e != nil {
		return wire.RequestInfo{}, e
	}
	if operation == "count-tokens" {
		var count struct {
			Input struct {
				Invoke struct {
					Body []byte `json:"body"` // base64-encoded
				} `json:"invokeModel"`
			} `json:"input"`
		}
		if err := json.Unmarshal(body, &count); err != nil || len(count.Input.Invoke.Body) == 0 {
			return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Message: "input.invokeModel.body is missing"}
		}
		if err := s.Check(nil, count.Input.Invoke.Body); err != nil {
			return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Message: err.Error()}
		}
		return wire.RequestInfo{Model: id, Count: true}, nil
	}
	if operation != "invoke" && operation != "invoke-with-response-stream" {
		return wire.RequestInfo{}, nothingAt(path)
	}
	asked, e := s.inner().AdmitBody(h, body)
	asked.Model, asked.Stream = id, operation != "invoke"
	return asked, e
}

func nothingAt(path string) *model.Error {
	return &model.Error{Kind: model.Invalid, Status: http.StatusNotFound, Message: "there is nothing at " + path}
}

// admitted checks that a request is authorized by a bearer token or by a signature that covers
// the required headers.
func admitted(h http.Header) *model.Error {
	refuse := func(format string, args ...any) *model.Error {
		return &model.Error{Kind: model.Auth, Message: fmt.Sprintf(format, args...)}
	}
	proof := h.Get("Authorization")
	if token, ok := strings.CutPrefix(proof, "Bearer "); ok && token != "" {
		return nil
	}
	fields, ok := strings.CutPrefix(proof, "AWS4-HMAC-SHA256 ")
	if !ok {
		return refuse("the security token included in the request is invalid: neither a bearer token nor a signature is there")
	}
	parts := map[string]string{}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		parts[name] = value
	}
	date := h.Get("X-Amz-Date")
	scope := strings.Split(parts["Credential"], "/")
	signed := strings.Split(parts["SignedHeaders"], ";")
	switch {
	case len(scope) != 5 || !strings.HasSuffix(parts["Credential"], "/bedrock/aws4_request") || !strings.HasPrefix(date, scope[1]):
		return refuse("the signature is not for this service: Credential=%s", parts["Credential"])
	case len(parts["Signature"]) != 64:
		return refuse("the signature is not one")
	}
	switch {
	case !slices.Contains(signed, "host") && !slices.Contains(signed, ":authority"): // HTTP/2 name
		return refuse("the signature does not cover host")
	case !slices.Contains(signed, "x-amz-date"):
		return refuse("the signature does not cover x-amz-date")
	}
	if h.Get("X-Amz-Security-Token") != "" && !slices.Contains(signed, "x-amz-security-token") {
		return refuse("the signature does not cover x-amz-security-token")
	}
	return nil
}

// Check implements [wire.Server].
func (s Server) Check(h http.Header, body []byte) error { return s.inner().Check(h, body) }

// Sign implements [wire.Server].
func (s Server) Sign(body []byte, id, before string) string { return s.inner().Sign(body, id, before) }

// Read implements [wire.Server].
func (s Server) Read(body []byte) (*model.Request, error) { return s.inner().Read(body) }

// EncodeTokenCount implements [wire.Server].
func (s Server) EncodeTokenCount(n int) []byte { return fmt.Appendf(nil, `{"inputTokens":%d}`, n) }

// EncodeError implements [wire.Server].
func (s Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
	status, usual := s.inner().EncodeError(kind, message)
	var w struct{ Error struct{ Message string } }
	json.Unmarshal(usual, &w) // ok: it was just written
	text := w.Error.Message
	switch kind {
	case model.Auth:
		status = http.StatusForbidden
		if message == "" {
			text = "The security token included in the request is invalid."
		}
	case model.Overloaded:
		status = http.StatusServiceUnavailable
	case model.NoModel:
		status = http.StatusBadRequest
		if message == "" {
			text = "The provided model identifier is invalid."
		}
	}
	return status, append(msg.AppendString([]byte(`{"message":`), text), '}')
}

// NewResponseEncoder implements [wire.Server].
func (s Server) NewResponseEncoder(stream bool) wire.ResponseEncoder {
	inner := s.inner().NewResponseEncoder(stream)
	if !stream {
		return inner
	}
	return &responseEncoder{inner}
}

// A responseEncoder wraps events of the Messages dialect.
type responseEncoder struct{ inner wire.ResponseEncoder }

// wrap re-frames server-sent events as event-stream messages.
func wrap(events []byte) (out []byte) {
	for event := range bytes.SplitSeq(events, []byte("\n\n")) {
		_, data, ok := bytes.Cut(event, []byte("\ndata: "))
		if !ok {
			continue
		}
		payload := base64.StdEncoding.AppendEncode([]byte(`{"bytes":"`), data)
		payload = append(payload, `","p":"abcdefgh"}`...)
		out = AppendFrame(out, payload, ":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
	}
	return out
}

func (s *responseEncoder) Open(id, name string, u wire.Counts) []byte {
	return wrap(s.inner.Open(id, name, u))
}
func (s *responseEncoder) Event(e model.Event) []byte { return wrap(s.inner.Event(e)) }
func (s *responseEncoder) Usage(u wire.Counts) []byte { return wrap(s.inner.Usage(u)) }
func (s *responseEncoder) Ping() []byte               { return wrap(s.inner.Ping()) }
func (s *responseEncoder) Raw(json string) []byte     { return wrap(s.inner.Raw(json)) }
func (s *responseEncoder) Garble() []byte             { return wrap(s.inner.Garble()) }

func (s *responseEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	return wrap(s.inner.Close(reason, u))
}

// Fail returns an exception.
func (s *responseEncoder) Fail(kind model.Kind, message string) []byte {
	name := "internalServerException"
	switch kind {
	case model.RateLimited:
		name = "throttlingException"
	case model.Overloaded:
		name = "serviceUnavailableException"
	case model.TooLong, model.OverWindow, model.MediaTooLarge, model.BadSignature, model.Refused, model.Invalid, model.Quota:
		name = "validationException"
	}
	_, body := NewServer().EncodeError(kind, message)
	return AppendFrame(nil, body, ":exception-type", name, ":content-type", "application/json", ":message-type", "exception")
}
