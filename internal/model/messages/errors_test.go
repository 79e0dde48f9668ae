package messages

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// TestOverWindow checks that the numbers are found in several wordings and that an error
// without numbers is TooLong.
//
// Proves PROV-54.
func TestOverWindow(t *testing.T) {
	tests := []struct {
		message string
		want    model.Error
	}{
		{"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
			model.Error{Kind: model.OverWindow, Input: 188240, Output: 21333, Window: 200000}},
		{"input length and max_tokens exceed context limit: 188,240 + 21,333 > 200,000",
			model.Error{Kind: model.OverWindow, Input: 188240, Output: 21333, Window: 200000}},
		{"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the messages, 2000 in the completion). Please reduce the length.",
			model.Error{Kind: model.OverWindow, Input: 7000, Output: 2000, Window: 8192}},
		{"This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (7000 in the messages, 100 in the functions, and 2000 in the completion).",
			model.Error{Kind: model.OverWindow, Input: 7100, Output: 2000, Window: 8192}},
		{"'max_tokens' is too large: 8000. This model's maximum context length is 8192 tokens and your request has 500 input tokens (8000 > 8192 - 500).",
			model.Error{Kind: model.OverWindow, Input: 500, Output: 8000, Window: 8192}},
		{"This model's maximum context length is 40960 tokens. However, you requested 32000 output tokens and your prompt contains at least 9000 input tokens",
			model.Error{Kind: model.OverWindow, Input: 9000, Output: 32000, Window: 40960}},
		{"input length and `max_tokens` exceed context limit: too + many > tokens", model.Error{Kind: model.TooLong}},
		{"input length and `max_tokens` exceed context limit: 99999999999999999999 + 1 > 200000", model.Error{Kind: model.TooLong}},
		{"prompt is too long: 208310 tokens > 200000 maximum", model.Error{Kind: model.TooLong, Input: 208310, Window: 200000}},
		{"Input is too long for requested model.", model.Error{Kind: model.TooLong}},
		{"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", model.Error{Kind: model.TooLong}},
		{"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", model.Error{Kind: model.TooLong}},
	}
	for _, tt := range tests {
		tt.want.Status, tt.want.Message = 400, tt.message
		got := wireError{"invalid_request_error", tt.message}.classify(400)
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.message, diff)
		}
	}
}

func TestErrorKinds(t *testing.T) {
	tests := []struct {
		status  int
		typ     string
		message string
		want    model.Kind
	}{
		{400, "invalid_request_error", "tools.0: what?", model.Invalid},
		{400, "invalid_request_error", "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", model.Invalid},
		{400, "invalid_request_error", "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum: 7 MB", model.MediaTooLarge},
		{400, "invalid_request_error", "messages.0.content.1: At least one of the image dimensions exceed max allowed size: 8000 pixels", model.MediaTooLarge},
		{400, "invalid_request_error", "Could not process image", model.MediaTooLarge},
		{400, "invalid_request_error", "too much media: 0 document pages + 101 images > 100", model.MediaTooLarge},
		{400, "invalid_request_error", "A maximum of 100 PDF pages may be provided.", model.MediaTooLarge},
		{400, "invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block", model.BadSignature},
		{400, "invalid_request_error", "`thinking` blocks in the latest assistant message cannot be modified", model.BadSignature},
		{400, "invalid_request_error", "Your credit balance is too low to access the API.", model.Quota},
		{400, "invalid_request_error", "Output blocked by content filtering policy", model.Refused},
		{400, "invalid_request_error", "This organization has been disabled.", model.Auth},
		{401, "authentication_error", "invalid x-api-key", model.Auth},
		{402, "billing_error", "Pay first", model.Quota},
		{403, "permission_error", "OAuth token has been revoked", model.Auth},
		{403, "forbidden", "Request not allowed", model.Refused},
		{404, "not_found_error", "model: nonesuch-1", model.NoModel},
		{404, "not_found_error", "Not Found", model.Invalid},
		{408, "", "", model.ServerFault},
		{409, "", "", model.ServerFault},
		{413, "request_too_large", "Request exceeds the maximum size", model.TooLong},
		{413, "", "", model.TooLong},
		{422, "", "", model.Invalid},
		{429, "rate_limit_error", "Slow down", model.RateLimited},
		{500, "api_error", "Internal server error", model.ServerFault},
		{500, "api_error", "Overloaded", model.Overloaded},
		{502, "", "", model.ServerFault},
		{503, "", "", model.ServerFault},
		{504, "timeout_error", "", model.ServerFault},
		{529, "overloaded_error", "Overloaded", model.Overloaded},
		{529, "", "", model.Overloaded},
	}
	for _, tt := range tests {
		if got := (wireError{tt.typ, tt.message}).classify(tt.status); got.Kind != tt.want {
			t.Errorf("%d %s %q is %v, want %v", tt.status, tt.typ, tt.message, got.Kind, tt.want)
		}
	}
}

// TestErrorFromBody checks that markup and control characters from a server or proxy are
// removed.
func TestErrorFromBody(t *testing.T) {
	tests := []struct {
		name, body, want string
	}{
		{"JSON", `{"type":"error","error":{"type":"api_error","message":"Internal\nserver\u001b[31m error"}}`, "Internal server[31m error"},
		{"page", `<html><body><h1>502 Bad Gateway</h1></body></html>`, ""},
		{"page in JSON", `{"error":{"message":"upstream said <html><body>x"}}`, ""},
		{"text", "upstream connect error\n", "upstream connect error"},
		{"trace", "panic: x\ngoroutine 1 [running]:\n", ""},
		{"other JSON", `{"detail":"x"}`, ""},
		{"list", `[1]`, "[1]"},
		{"empty", ``, ""},
		{"long", strings.Repeat("x", 5000), strings.Repeat("x", 1000) + "…"},
	}
	for _, tt := range tests {
		if got := wire.ErrorFrom(Dialect{}, 500, nil, []byte(tt.body)); got.Message != tt.want || got.Kind != model.ServerFault {
			t.Errorf("%s: %v %q, want %q", tt.name, got.Kind, got.Message, tt.want)
		}
	}
}

// TestErrorFromHeader checks that Retry-After is parsed as seconds or a date, that absurd
// values are ignored, and that the server's retry instruction is kept.
//
// Proves PROV-50.
func TestErrorFromHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tests := []struct {
			name   string
			header []string
			want   model.Error
		}{
			{"none", nil, model.Error{}},
			{"seconds", []string{"Retry-After", "7"}, model.Error{RetryAfter: 7 * time.Second, HasRetryAfter: true}},
			{"fraction", []string{"Retry-After", "1.5"}, model.Error{RetryAfter: 1500 * time.Millisecond, HasRetryAfter: true}},
			{"zero", []string{"Retry-After", "0"}, model.Error{HasRetryAfter: true}},
			{"milliseconds", []string{"Retry-After-Ms", "250", "Retry-After", "7"}, model.Error{RetryAfter: 250 * time.Millisecond, HasRetryAfter: true}},
			{"date", []string{"Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)}, model.Error{RetryAfter: time.Minute, HasRetryAfter: true}},
			{"date gone by", []string{"Retry-After", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat)}, model.Error{HasRetryAfter: true}},
			{"negative", []string{"Retry-After", "-5"}, model.Error{}},
			{"more than a day", []string{"Retry-After", "90000"}, model.Error{}},
			{"not a number", []string{"Retry-After", "NaN"}, model.Error{}},
			{"words", []string{"Retry-After", "soon"}, model.Error{}},
			{"retry", []string{"X-Should-Retry", "true"}, model.Error{ShouldRetry: 1}},
			{"do not retry", []string{"X-Should-Retry", "false"}, model.Error{ShouldRetry: -1}},
			{"request id", []string{"Request-Id", "req_9"}, model.Error{RequestID: "req_9"}},
		}
		for _, tt := range tests {
			h := http.Header{}
			for i := 0; i+1 < len(tt.header); i += 2 {
				h.Set(tt.header[i], tt.header[i+1])
			}
			got := wire.ErrorFrom(Dialect{}, 429, h, nil)
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreFields(model.Error{}, "Kind", "Status")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	})
	got := wire.ErrorFrom(Dialect{}, 500, nil, []byte(`{"error":{"type":"api_error"},"request_id":"req_8"}`))
	if got.RequestID != "req_8" {
		t.Errorf("request id %q, want the body's", got.RequestID)
	}
}

func TestErrorBody(t *testing.T) {
	for k := model.Unknown; k <= model.Invalid; k++ {
		want := k
		switch k {
		case model.Unknown, model.Network, model.TLS, model.Broken:
			want = model.ServerFault
		}
		for _, message := range []string{"", `some "words"`} {
			status, body := Server{}.EncodeError(k, message)
			got := wire.ErrorFrom(Dialect{}, status, nil, body)
			if got.Kind != want || !strings.Contains(got.Message, message) || got.Message == "" {
				t.Errorf("%v with %q: %d %s is %v", k, message, status, body, got.Kind)
			}
		}
	}
	if _, body := (Server{}).EncodeError(model.TooLong, "prompt is too long: 3 tokens > 2 maximum"); strings.Count(string(body), "too long") != 1 {
		t.Errorf("a message that says it already is not used as it is: %s", body)
	}
}
