package wire

import (
	"slices"
	"strings"

	"adze/internal/model"
)

// A LenientDialect dialect knows which parts of a request a server can do without.
type LenientDialect interface {
	// Optional returns the part of req that the server rejected with e as unknown, and the
	// server's name for it, or zero values.
	Optional(req *model.Request, e *model.Error) (part model.Omission, name string)
}

// An Optional is a part that can be omitted from a request.
type Optional struct {
	Part model.Omission
	// Names lists the lower-case phrases by which an error names it.
	Names []string
	// Has reports whether a request has the part.
	Has func(*model.Request) bool
}

// RefusedPart returns the first of parts that e names and req has, and the name. words are
// lower-case phrases of servers that reject unknown input. A part must be listed before parts
// whose names its own contains.
func RefusedPart(req *model.Request, e *model.Error, words []string, parts []Optional) (part model.Omission, name string) {
	text := strings.ToLower(e.Message)
	says := func(list []string) string {
		if i := slices.IndexFunc(list, func(w string) bool { return strings.Contains(text, w) }); i >= 0 {
			return list[i]
		}
		return ""
	}
	if e.Kind != model.Invalid || says(words) == "" {
		return 0, ""
	}
	for _, o := range parts {
		if name := says(o.Names); name != "" && req.Omit&o.Part == 0 && o.Has(req) {
			return o.Part, name
		}
	}
	return 0, ""
}
