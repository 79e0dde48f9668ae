package gemini

import (
	"errors"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// CountPath implements [wire.CountingDialect].
func (d Dialect) CountPath(req *model.Request) string { return d.path(req, "countTokens") }

// EncodeCount implements [wire.CountingDialect]. The service itself takes the whole request wrapped,
// with the model's name in it; a cloud takes its members directly.
func (d Dialect) EncodeCount(req *model.Request) ([]byte, error) {
	e := encoder{dialect: d}
	if d.Models != "" {
		body := e.body(req, []byte("{")).Bytes()
		return append(body[:1], body[2:]...), nil // drops the comma
	}
	head := append([]byte(`{"generateContentRequest":{"model":`), msg.AppendString(nil, "models/"+req.Model)...)
	return append(e.body(req, head).Bytes(), '}'), nil
}

// DecodeCount implements [wire.CountingDialect].
func (Dialect) DecodeCount(body []byte) (int, error) {
	total := -1
	err := jsonscan.Object(body, func(name, value []byte) error {
		if n, ok := jsonscan.Int(value); ok && string(name) == "totalTokens" {
			total = n
		}
		return nil
	})
	if err == nil && total < 0 {
		err = errors.New("no number of tokens")
	}
	return total, err
}
