package wire

import (
	"slices"
	"strings"

	"adze/internal/model"
)

// A Lenient dialect knows which parts of a request a server can do without.
type Lenient interface {
	// Optional returns the part of req that the server refuses by e because it does not know it, and what the
	// server calls it; or nothing.
	Optional(req *model.Request, e *model.Error) (part model.Omission, name string)
}

// An Optional is a part that a request can do without.
type Optional struct {
	Part model.Omission
	// Names are the words, in small letters, by which an error names it.
	Names []string
	// Has reports whether a request has the part.
	Has func(*model.Request) bool
}

// Refused returns the first of the parts that e names, in a request that has it, and the name. Words are those of servers that
// refuse what they do not know, in small letters. A part stands before those whose names its own contains.
func Refused(req *model.Request, e *model.Error, words []string, parts []Optional) (part model.Omission, name string) {
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
