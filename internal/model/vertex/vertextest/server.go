// Package vertextest implements a strict server of the vertex dialect for tests.
package vertextest

import (
	"net/http"
	"strings"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/vertex"
	"adze/internal/model/wire"
)

// NewServer returns a server of a fixed project.
func NewServer() wire.Server {
	d := vertex.NewDialect("project", "global")
	return server{messages.Server{Dialect: d.Dialect}, d}
}

// server implements [wire.Server].
type server struct {
	messages.Server
	own vertex.Dialect
}

// Path implements [wire.Dialect].
func (s server) Path(req *model.Request) string { return s.own.Path(req) }

// Error implements [wire.Dialect].
func (s server) Error(code int, body []byte) *model.Error { return s.own.Error(code, body) }

// Admit implements [wire.Server].
func (s server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	place, rest, ok := strings.Cut(path, "/publishers/anthropic/models/")
	name, operation, named := strings.Cut(rest, ":")
	_, at, project := strings.Cut(place, "/projects/")
	if !ok || !named || !project || !strings.Contains(at, "/locations/") || operation != "rawPredict" && operation != "streamRawPredict" {
		return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Status: http.StatusNotFound, Message: "there is nothing at " + path}
	}
	if token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); !ok || token == "" {
		return wire.RequestInfo{}, &model.Error{Kind: model.Auth, Message: "request is missing required authentication credential"}
	}
	asked, e := s.AdmitBody(h, body)
	switch {
	case e != nil:
		return asked, e
	case name == "count-tokens":
		if asked.Model == "" {
			return asked, &model.Error{Kind: model.Invalid, Message: "model: field required"}
		}
		asked.Count = true
		return asked, nil
	case asked.Stream != (operation == "streamRawPredict"):
		return asked, &model.Error{Kind: model.Invalid, Message: "stream: does not fit " + operation}
	}
	asked.Model = name
	return asked, nil
}
