package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/model"
)

// areas are the groups of regions that can stand before the id of a model.
var areas = [...]string{"us-gov", "us", "eu", "apac", "jp", "au", "global"}

// CountPath implements [wire.Counting]. Tokens are counted by the model itself, without an area.
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

// countBody is the body of a request that counts tokens: around one that would be answered.
type countBody struct {
	Input struct {
		Invoke struct {
			Body []byte `json:"body"` // as base64
		} `json:"invokeModel"`
	} `json:"input"`
}

// EncodeCount implements [wire.Counting].
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

// DecodeCount implements [wire.Counting].
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
