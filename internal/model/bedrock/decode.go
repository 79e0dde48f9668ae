package bedrock

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// NewFrames implements [wire.FramedDialect].
func (Dialect) NewFrames(r io.Reader) wire.Frames { return &frameReader{r: r} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{Decoder: d.Dialect.NewDecoder(requestID, raw)}
}

// A decoder unwraps the events of the Messages dialect.
type decoder struct {
	wire.Decoder
	buf []byte
}

// Event implements [wire.Decoder]. An event that is neither a chunk nor an exception comes from
// a gateway and is not wrapped.
func (d *decoder) Event(name string, data []byte) (wire.Progress, error) {
	kind, failed := strings.CutPrefix(name, exceptionPrefix)
	switch {
	case failed:
		return d.Decoder.Event("error", exception(kind, data))
	case name != chunkName:
		return d.Decoder.Event(name, data)
	}
	inner, err := d.unwrap(data)
	if err != nil {
		return wire.Ignored, err
	}
	return d.Decoder.Event("", inner)
}

var errChunk = errors.New("the stream has a chunk without an event")

// unwrap returns the event in a chunk. It is valid until the next call.
func (d *decoder) unwrap(chunk []byte) ([]byte, error) {
	const open = `{"bytes":"`
	text, ok := bytes.CutPrefix(chunk, []byte(open))
	if ok {
		text, _, ok = bytes.Cut(text, []byte(`"`))
	}
	if !ok || bytes.IndexByte(text, '\\') >= 0 { // unusual formatting
		var c struct{ Bytes string }
		if err := json.Unmarshal(chunk, &c); err != nil || c.Bytes == "" {
			return nil, errChunk
		}
		text = []byte(c.Bytes)
	}
	var err error
	if d.buf, err = base64.StdEncoding.AppendDecode(d.buf[:0], text); err != nil {
		return nil, errChunk
	}
	return d.buf, nil
}

// exception converts an exception in a stream to a Messages error event.
func exception(kind string, payload []byte) []byte {
	text := string(payload)
	var p struct {
		Message         string
		OriginalMessage string
	}
	if json.Unmarshal(payload, &p) == nil {
		if text = p.Message; p.OriginalMessage != "" {
			text = p.OriginalMessage
		}
	}
	if text == "" {
		text = kind
	}
	return errorBody(exceptionKind(kind), text)
}

// exceptionKind returns the Messages error type for an exception. Most names have the same
// suffix, with varying capitalization.
func exceptionKind(name string) string {
	switch strings.TrimSuffix(strings.ToLower(name), "exception") {
	case "throttling", "modelnotready":
		return "rate_limit_error"
	case "serviceunavailable":
		return "overloaded_error"
	case "validation":
		return "invalid_request_error"
	case "accessdenied":
		return "permission_error"
	case "resourcenotfound":
		return "not_found_error"
	}
	return "api_error"
}

// errorBody returns an error body in the Messages format.
func errorBody(kind, text string) []byte {
	b := msg.AppendString([]byte(`{"type":"error","error":{"type":`), kind)
	b = msg.AppendString(append(b, `,"message":`...), text)
	return append(b, "}}"...)
}

// Error implements [wire.Dialect].
func (d Dialect) Error(status int, body []byte) *model.Error {
	var answer struct{ Message string }
	if json.Unmarshal(body, &answer) != nil || answer.Message == "" {
		return d.Dialect.Error(status, body)
	}
	text := strings.ReplaceAll(answer.Message, "’", "'")
	lower := strings.ToLower(text)
	has := func(words string) bool { return strings.Contains(lower, words) }
	kind := ""
	switch {
	case status == 403 && has("access to the model"), has("on-demand throughput isn't supported"), has("model identifier is invalid"),
		has("marked by provider as legacy"), has("end of its life"):
		kind = "not_found_error"
	case status == 403:
		kind = "authentication_error"
	case status == 424:
		kind = "api_error"
	case status == 503:
		kind = "overloaded_error"
	}
	e := d.Dialect.Error(status, errorBody(kind, text))
	if kind == "not_found_error" {
		e.Kind = model.NoModel
	}
	e.Hint = d.hint(status, lower)
	return e
}

// hint returns advice for an error with the given lower-case message, or "".
func (d Dialect) hint(status int, words string) string {
	has := func(s string) bool { return strings.Contains(words, s) }
	switch {
	case has("on-demand throughput isn't supported"):
		return "Name the model with its area, such as " + area("", d.Region) + ".anthropic.claude-…, or use the ARN of an inference profile"
	case has("model identifier is invalid"):
		return "Check the id of the model, and that region " + d.Region + " has it: run `aws bedrock list-inference-profiles` to list the profiles"
	case status == 403 && has("access to the model"):
		return "Ask for access to the model in the Bedrock console, region " + d.Region + ", or choose another model"
	case has("signature expired") || has("signature not yet current"):
		return "Set the clock of this machine right"
	case status == 403 && has("expired"):
		return "Renew the AWS credentials, with `aws sso login` for example, or name that command in awsAuthRefresh"
	case status == 403 && has("not authorized to perform"):
		return "Ask your administrator for permission to invoke the model, or check AWS_PROFILE"
	case status == 403 && (has("security token") || has("signature")):
		return "Check the AWS credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE or AWS_BEARER_TOKEN_BEDROCK"
	}
	return ""
}
