package gemini

import "adze/internal/msg"

const ForeignCall = foreignCall

var (
	Original   = original
	Parameters = parameters
	Thinking   = thinking
	WireName   = wireName
)

// SignatureOf returns the data of a signature of this dialect.
func SignatureOf(p msg.Part) (data string, ok bool) {
	s, ok := signatureOf(p)
	return s.data, ok
}
