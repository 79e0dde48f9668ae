package messages

import (
	"net/http"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

const interleavedBeta = "interleaved-thinking-2025-05-14"

// Header implements [wire.HeaderDialect]: it lists req's betas.
func (d Dialect) Header(req *model.Request) http.Header {
	if wanted := betas(req); len(wanted) > 0 && !d.BetasInBody {
		return http.Header{"Anthropic-Beta": {strings.Join(wanted, ",")}}
	}
	return nil
}

// betas returns the user's betas and the betas that req requires.
func betas(req *model.Request) []string {
	betas := slices.Clone(req.Betas)
	sent := thinking(req) != nil
	if sent && display(req) == model.DisplayUpdates {
		betas = append(betas, updatesBeta)
	}
	if sent && forgiving(req) {
		betas = append(betas, bindingBeta)
	}
	if sent && req.Thinking.Mode == model.ThinkingBudget && req.Thinking.Interleaved {
		betas = append(betas, interleavedBeta)
	}
	return betas
}

// notTaken lists phrases of servers that reject an unknown part of a request.
var notTaken = []string{
	"extra inputs are not permitted", "not supported", "unsupported", "does not support", "not permitted", "not allowed",
	"unknown field", "unknown parameter", "unknown name", "unrecognized", "unexpected value", "unexpected keyword", "unexpected property",
	"additional properties", "grammar is too large", "too complex", "too many strict",
}

// optionals lists the parts that can be omitted from a request, with the phrases by which an
// error names them. A part is listed before parts whose names its own contains.
var optionals = []wire.Optional{
	{Part: model.OmitStrict, Names: []string{"strict", "compiled grammar", "schema is too complex"}, Has: func(r *model.Request) bool {
		return slices.ContainsFunc(r.Tools, func(t msg.ToolSpec) bool { return t.Strict })
	}},
	{Part: model.OmitHour, Names: []string{"ttl"}, Has: func(r *model.Request) bool {
		return slices.ContainsFunc(r.Cache, func(m model.Mark) bool { return m.Hour })
	}},
	{Part: model.OmitCache, Names: []string{"cache_control"}, Has: func(r *model.Request) bool { return len(r.Cache) > 0 }},
	{Part: model.OmitDisplay, Names: []string{"display"}, Has: func(r *model.Request) bool { return thinking(r) != nil && display(r) != "" }},
	{Part: model.OmitForgiving, Names: []string{"block_binding", "thinking-binding"}, Has: func(r *model.Request) bool { return thinking(r) != nil && forgiving(r) }},
	{Part: model.OmitThinking, Names: []string{"thinking"}, Has: func(r *model.Request) bool { return thinking(r) != nil }},
	{Part: model.OmitFormat, Names: []string{"output_config.format", "output_format", "json_schema"}, Has: func(r *model.Request) bool { return r.Format != nil }},
	{Part: model.OmitEffort, Names: []string{"effort", "output_config"}, Has: func(r *model.Request) bool { return r.Effort != model.EffortDefault }},
	{Part: model.OmitFormat, Names: []string{"output_config"}, Has: func(r *model.Request) bool { return r.Format != nil }},
	{Part: model.OmitUserID, Names: []string{"metadata"}, Has: func(r *model.Request) bool { return r.UserID != "" }},
}

// Optional implements [wire.LenientDialect].
func (Dialect) Optional(req *model.Request, e *model.Error) (part model.Omission, name string) {
	return wire.RefusedPart(req, e, notTaken, optionals)
}
