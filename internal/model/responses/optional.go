package responses

import (
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// notTaken lists phrases of servers that reject a part of a request because it is unknown or
// not available to this user.
var notTaken = []string{
	"not supported", "unsupported", "does not support", "not permitted", "not allowed", "unknown parameter", "unknown field", "unrecognized",
	"unexpected", "extra inputs", "additional properties", "invalid schema", "must be verified", "not available",
}

// optionals lists the parts that can be omitted from a request, with the phrases by which an
// error names them. A part is listed before parts whose names its own contains.
var optionals = []wire.Optional{
	{Part: model.OmitStrict, Names: []string{"strict", "schema for function"}, Has: func(r *model.Request) bool {
		return slices.ContainsFunc(r.Tools, func(t msg.ToolSpec) bool { return t.Strict })
	}},
	{Part: model.OmitDisplay, Names: []string{"reasoning.summary", "reasoning summar", "summary"}, Has: thinks},
	{Part: model.OmitEffort, Names: []string{"reasoning.effort", "effort"}, Has: func(r *model.Request) bool { return effort(r) != "" }},
	{Part: model.OmitThinking, Names: []string{"encrypted_content", "encrypted content", "include", "reasoning"}, Has: func(r *model.Request) bool {
		return thinks(r) || effort(r) != ""
	}},
	{Part: model.OmitFormat, Names: []string{"text.format", "json_schema", "response_format", "structured output"}, Has: func(r *model.Request) bool { return r.Format != nil }},
	{Part: model.OmitCache, Names: []string{"prompt_cache_key"}, Has: func(r *model.Request) bool { return r.CacheKey != "" }},
	{Part: model.OmitUserID, Names: []string{"safety_identifier", "'user'", "metadata"}, Has: func(r *model.Request) bool { return r.UserID != "" }},
}

// Optional implements [wire.LenientDialect].
func (Dialect) Optional(req *model.Request, e *model.Error) (part model.Omission, name string) {
	part, name = wire.RefusedPart(req, e, notTaken, optionals)
	return part, strings.Trim(name, "'")
}
