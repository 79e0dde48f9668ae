package gemini

import (
	"adze/internal/model"
	"adze/internal/model/wire"
)

// notTaken lists phrases with which the service rejects unknown parts.
var notTaken = []string{"unknown name", "cannot find field", "unsupported", "not supported", "does not support", "not enabled", "cannot be used", "invalid value", "is not allowed"}

// optionals lists the parts that can be omitted from a request, with the phrases by which an
// error names them. A part is listed before parts whose names its own contains.
var optionals = []wire.Optional{
	{Part: model.OmitDisplay, Names: []string{"includethoughts", "include_thoughts"}, Has: shows},
	{Part: model.OmitEffort, Names: []string{"thinkinglevel", "thinking_level", "thinking level"}, Has: func(r *model.Request) bool {
		return thinking(r) != nil && r.Effort != model.EffortDefault
	}},
	{Part: model.OmitThinking, Names: []string{"thinkingconfig", "thinking_config", "thinkingbudget", "thinking_budget", "thinking"}, Has: func(r *model.Request) bool {
		return thinking(r) != nil
	}},
	{Part: model.OmitFormat, Names: []string{"responsejsonschema", "response_json_schema", "response mime type", "responsemimetype", "response_mime_type"}, Has: formats},
}

// Optional implements [wire.LenientDialect].
func (Dialect) Optional(req *model.Request, e *model.Error) (part model.Omission, name string) {
	return wire.RefusedPart(req, e, notTaken, optionals)
}
