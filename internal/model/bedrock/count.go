package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/model"
)

// areas lists the region groups that can prefix a model ID.
var areas = [...]string{"us-gov", "us", "eu", "apac", "jp", "au", "global"}

// CountPath implements [wire.CountingDialect]. Token counting uses the model ID without an area.
func (d Dialect) CountPath(req *model.Request) string {
	id := ModelID(req.Model, d.Region)
	for _, area := range areas {
		if rest, ok := strings.CutPrefix(id, area+"."); ok {
			id = rest
			break
		}
	}
	return modelPath(id) + "/count-tokens"
}

// EncodeCount implements [wire.CountingDialect].
func (d Dialect) EncodeCount(req *model.Request) ([]byte, error) {
	body, err := d.NewEncoder().EncodeBody(req, nil)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, base64.StdEncoding.EncodedLen(int(body.Len()))+64)
	text = append(text, `{"input":{"invokeModel":{"body":"`...)
	text = base64.StdEncoding.AppendEncode(text, body.Bytes())
	return append(text, `"}}}`...), nil
}

// DecodeCount implements [wire.CountingDialect].
func (d Dialect) DecodeCount(body []byte) (int, error) {
	var answer struct {
		Input *int `json:"inputTokens"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, err
	}
	if answer.Input == nil || *answer.Input < 0 {
		return 0, errors.New("no number of tokens")
	}
	return *answer.Input, nil
}
