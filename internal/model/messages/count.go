package messages

import (
	"encoding/json"
	"errors"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// CountPath implements [wire.CountingDialect].
func (Dialect) CountPath(*model.Request) string { return "v1/messages/count_tokens" }

// EncodeCount implements [wire.CountingDialect].
func (d Dialect) EncodeCount(req *model.Request) ([]byte, error) {
	head, err := d.options(req, nil)
	if err != nil {
		return nil, err
	}
	return new(Encoder).body(req, slices.DeleteFunc(head, func(m wire.Member) bool {
		return m.Name == "max_tokens" || m.Name == "stream" || m.Name == "metadata"
	})).Bytes(), nil
}

// DecodeCount implements [wire.CountingDialect].
func (Dialect) DecodeCount(body []byte) (int, error) {
	var answer struct {
		Input *int `json:"input_tokens"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, err
	}
	if answer.Input == nil || *answer.Input < 0 {
		return 0, errors.New("no number of tokens")
	}
	return *answer.Input, nil
}
