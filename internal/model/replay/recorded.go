package replay

import (
	"errors"
	"fmt"
	"net/http"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// checkRecorded returns an error if s has turns that only a server can play.
func (s *Script) checkRecorded() error {
	for _, t := range s.turns {
		if line := t.scripted(); line > 0 {
			return fmt.Errorf("%s:%d: in the dialect %s, adze plays only recorded responses (file, status, html, error network, hang); leave the first line out to play this script in the dialect %s",
				s.name, line, s.dialect.name, dialects[0].name)
		}
	}
	return nil
}

// scripted returns the first line of t that only a server can play, or 0.
func (t *turn) scripted() int {
	switch {
	case len(t.when)+len(t.expect)+len(t.takes) > 0 || t.fixed != nil && t.fixed.kind != model.Unknown:
		return t.line
	case t.fixed != nil:
		return 0
	}
	for _, s := range t.steps {
		if s.op != opWait && s.op != opHang {
			return s.line
		}
	}
	if len(t.steps) == 0 || t.steps[len(t.steps)-1].op != opHang {
		return t.line
	}
	return 0
}

// recorded is the server of a recording. It accepts every request and encodes only errors: the
// script ends, for example.
type recorded struct{ wire.Dialect }

var errRecorded = errors.New("only recorded responses can be played in this dialect")

func (recorded) Admit(string, http.Header, []byte) (wire.RequestInfo, *model.Error) {
	return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Message: errRecorded.Error()}
}

func (recorded) Check(http.Header, []byte) error              { return nil }
func (recorded) Sign(_ []byte, id, _ string) string           { return id }
func (recorded) Read([]byte) (*model.Request, error)          { return nil, errRecorded }
func (recorded) EncodeTokenCount(int) []byte                  { return nil }
func (recorded) NewResponseEncoder(bool) wire.ResponseEncoder { return nil } // hang writes nothing

// EncodeError returns an error that every dialect can read.
func (recorded) EncodeError(_ model.Kind, message string) (status int, body []byte) {
	text := msg.AppendString(nil, message)
	return http.StatusBadRequest, fmt.Appendf(nil, `{"message":%s,"error":{"message":%s}}`, text, text)
}
