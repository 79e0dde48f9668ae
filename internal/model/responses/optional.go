package responses

import (
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// notTaken are words of servers that refuse a part of a request because they do not know it, or do not let this user have it.
var notTaken = []string{
	"not supported", "unsupported", "does not support", "not permitted", "not allowed", "unknown parameter", "unknown field", "unrecognized",
	"unexpected", "extra inputs", "additional properties", "invalid schema", "must be verified", "not available",
}

// optionals are the parts that a request can do without, with the words by which an error names them. A part stands before
// those whose names its own contains.
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

// Optional implements [wire.Lenient].
func (Dialect) Optional(req *model.Request, e *model.Error) (part model.Omission, name string) {
	part, name = wire.Refused(req, e, notTaken, optionals)
	return part, strings.Trim(name, "'")
}
