package messages

import (
	"slices"

	"adze/internal/model"
	"adze/internal/msg"
)

// maxMarks is the maximum number of cache marks a server accepts.
const maxMarks = 4

// A position identifies a block that can carry a mark. All message marks share the index 0,
// which represents the last message.
type position struct {
	place model.Place
	index int
}

// place returns the marks of req that can be applied, by position. If there are too many, it
// drops message marks first, then tool marks, then system marks, and within a place the last
// one given.
func place(req *model.Request) map[position]model.Mark {
	if len(req.Cache) == 0 || req.Omit&model.OmitCache != 0 {
		return nil
	}
	marks := make(map[position]model.Mark, maxMarks)
	for _, where := range []model.Place{model.InSystem, model.InTools, model.InMessages} {
		for _, m := range req.Cache {
			at := position{m.Place, m.Index}
			m.Hour = m.Hour && req.Omit&model.OmitHour == 0
			switch {
			case m.Place != where:
				continue
			case where == model.InMessages:
				at.index = 0
			case where == model.InTools && (m.Index < 0 || m.Index >= len(req.Tools)):
				continue
			case where == model.InSystem && !markable(req, m.Index):
				continue
			}
			if _, double := marks[at]; !double && len(marks) < maxMarks {
				marks[at] = m
			}
		}
	}
	return marks
}

// markable reports whether system block i exists and is sent.
func markable(req *model.Request, i int) bool {
	return i >= 0 && i < len(req.System) && !isEmptyText(req.System[i])
}

// isEmptyText reports whether p is an empty text, which a server would reject.
func isEmptyText(p msg.Part) bool {
	t, ok := p.(*msg.Text)
	return ok && t.Text == ""
}

// markBlock adds the mark for position at, if any, to the block at the end of dst.
func markBlock(dst []byte, marks map[position]model.Mark, at position) []byte {
	m, ok := marks[at]
	if !ok {
		return dst
	}
	return append(appendMark(dst[:len(dst)-1], m), '}')
}

func appendMark(dst []byte, m model.Mark) []byte {
	dst = append(dst, `,"cache_control":{"type":"ephemeral"`...)
	if m.Hour {
		dst = append(dst, `,"ttl":"1h"`...)
	}
	if m.Global {
		dst = append(dst, `,"scope":"global"`...)
	}
	return append(dst, '}')
}

// LocalCache removes requests for a cache shared between users from req, for endpoints that
// would reject them.
func LocalCache(req *model.Request) {
	if !slices.ContainsFunc(req.Cache, func(m model.Mark) bool { return m.Global }) {
		return
	}
	req.Cache = slices.Clone(req.Cache)
	for i := range req.Cache {
		req.Cache[i].Global = false
	}
}
