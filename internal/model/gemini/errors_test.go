package gemini_test

import (
	. "adze/internal/model/gemini"
	"adze/internal/model/gemini/geminitest"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
)

// TestErrorKinds checks that errors are classified correctly in every format.
//
// Proves PROV-54, PROV-55.
func TestErrorKinds(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   model.Kind
	}{
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`, model.Auth},
		{400, `{"error":{"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}`, model.Auth},
		{403, `{"error":{"code":403,"message":"Method doesn't allow unregistered callers","status":"PERMISSION_DENIED"}}`, model.Auth},
		{401, `{"error":{"code":401,"status":"UNAUTHENTICATED"}}`, model.Auth},
		{400, `[{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, model.TooLong},
		{400, `{"error":{"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`, model.TooLong},
		{404, `{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}`, model.NoModel},
		{404, `{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}`, model.Invalid},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x/QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"x/RetryInfo","retryDelay":"31.5s"}]}}`, model.RateLimited},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"3600s"}]}}`, model.Quota},
		{429, `{"error":{"code":429,"message":"Your prepay credits are used up. Go to billing.","status":"RESOURCE_EXHAUSTED"}}`, model.Quota},
		{429, `{"error":{"code":429,"message":"Resource exhausted. Please try again later.","status":"RESOURCE_EXHAUSTED","details":["odd",7]}}`, model.RateLimited},
		{503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, model.Overloaded},
		{500, `{"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}`, model.ServerFault},
		{504, `{"error":{"code":504,"message":"Deadline expired","status":"DEADLINE_EXCEEDED"}}`, model.ServerFault},
		{400, `{"error":{"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, model.Refused},
		{400, `{"error":{"message":"Gemini API free tier is not available in your country. Please enable billing on your project.","status":"FAILED_PRECONDITION"}}`, model.Quota},
		{400, `{"error":{"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}`, model.BadSignature},
		{400, `{"error":{"message":"Unable to process input image. Please retry or report.","status":"INVALID_ARGUMENT"}}`, model.MediaTooLarge},
		{400, `{"error":{"message":"Unsupported MIME type: video/x","status":"INVALID_ARGUMENT"}}`, model.MediaTooLarge},
		{400, `{"error":{"message":"* GenerateContentRequest.contents: contents is not specified","status":"INVALID_ARGUMENT"}}`, model.Invalid},
		{400, `{"error":"plain"}`, model.Invalid},
		{502, `<html>Bad gateway</html>`, model.ServerFault},
		{429, ``, model.RateLimited},
		{500, `[]`, model.ServerFault},
		{500, `null`, model.ServerFault},
	} {
		e := Dialect{}.Error(c.status, []byte(c.body))
		if e.Kind != c.kind || e.Status != c.status {
			t.Errorf("%d %s: kind %v, want %v", c.status, c.body, e.Kind, c.kind)
		}
		if text := model.Explain(e, "gemini-9", false); strings.ContainsAny(text, "<>{}") {
			t.Errorf("%s", text)
		}
	}
	e := Dialect{}.Error(400, []byte(`{"error":{"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`))
	if e.Input != 1200293 || e.Window != 1048576 {
		t.Errorf("numbers %d, %d", e.Input, e.Window)
	}
	e = Dialect{}.Error(400, []byte(`{"error":{"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}}`))
	if e.Kind != model.TooLong || e.Input != 0 || e.Window != 1048576 {
		t.Errorf("%v, numbers %d, %d", e, e.Input, e.Window)
	}
}

// TestRetryDelay checks that the delay is taken from the body if no header has it.
//
// Proves PROV-50.
func TestRetryDelay(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 31500 * time.Millisecond, "3": 3 * time.Second} {
		p := provider(t, Dialect{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(429)
			io.WriteString(w, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"31.5s"}]}}`)
		}))
		_, err := collect(p.Stream(t.Context(), &model.Request{Model: "m", MaxTokens: 1, Messages: talk([]msg.Part{text("hi")})}))
		e, ok := err.(*model.Error)
		if !ok || !e.HasRetryAfter || e.RetryAfter != want {
			t.Errorf("%+v, want a wait of %v", err, want)
		}
	}
}

// TestOptional checks that a part that the server does not know is omitted from then on.
//
// Proves PROV-12.
func TestOptional(t *testing.T) {
	whole := model.Request{
		Model: "gemini-3.8-pro", MaxTokens: 9, Messages: talk([]msg.Part{text("hi")}), Format: json.RawMessage(`{"type":"object"}`),
		Effort: model.EffortLow, Thinking: model.Thinking{Mode: model.ThinkingAdaptive},
	}
	for message, want := range map[string]model.Omission{
		`Invalid JSON payload received. Unknown name "thinkingConfig" at 'generation_config': Cannot find field.`: model.OmitThinking,
		`Thinking is not enabled for models/gemini-2.0-flash`:                                                     model.OmitThinking,
		`Thinking level MINIMAL is not supported for this model.`:                                                 model.OmitEffort,
		`Unknown name "includeThoughts": Cannot find field.`:                                                      model.OmitDisplay,
		`Function calling with a response mime type: 'application/json' is unsupported`:                           model.OmitFormat,
		`Unknown name "responseJsonSchema" at 'generation_config': Cannot find field.`:                            model.OmitFormat,
		`contents.parts must not be empty.`:                                                                       0,
	} {
		e := Dialect{}.Error(400, []byte(`{"error":{"status":"INVALID_ARGUMENT","message":`+string(msg.AppendString(nil, message))+`}}`))
		part, name := Dialect{}.Optional(&whole, e)
		if part != want || (name == "") != (want == 0) {
			t.Errorf("%s: %v %q, want %v", message, part, name, want)
		}
		left := whole
		left.Omit = part
		if again, _ := (Dialect{}).Optional(&left, e); again != 0 && again == part {
			t.Errorf("%s: %v is left out twice", message, part)
		}
	}
}

// TestCheckRejects checks that the emulated server rejects the same requests as the service.
func TestCheckRejects(t *testing.T) {
	user := `{"role":"user","parts":[{"text":"hi"}]}`
	call := `{"role":"model","parts":[{"functionCall":{"id":"c","name":"A","args":{}}}]}`
	answer := `{"role":"user","parts":[{"functionResponse":{"id":"c","name":"A","response":{"output":"x"}}}]}`
	contents := func(all ...string) string { return `{"contents":[` + strings.Join(all, ",") + `]}` }
	with := func(more string) string { return `{` + more + `,"contents":[` + user + `]}` }
	for body, want := range map[string]string{
		contents(user):               "",
		contents(user, call, answer): "",
		contents():                   "not specified",
		`{}`:                         "not specified",
		`[]`:                         "wrong type",
		with(`"messages":[]`):        "unknown field",
		contents(call, answer):       "begin and end",
		contents(user, call):         "begin and end",
		contents(user, call, user):   "number of function response parts",
		contents(answer):             "number of function response parts",
		contents(user, call, strings.Replace(answer, `"c"`, `"d"`, 1)):                                                          "answers no call",
		contents(user, call, strings.Replace(answer, `"A"`, `"B"`, 1)):                                                          "answers no call",
		contents(user, strings.Replace(call, `{}`, `[]`, 1), answer):                                                            "must be an object",
		contents(user, strings.Replace(call, `"A"`, `"1"`, 1), answer):                                                          "invalid",
		contents(strings.Replace(user, "user", "assistant", 1), user):                                                           "valid role",
		contents(`{"role":"user","parts":[]}`):                                                                                  "must not be empty",
		contents(`{"role":"user","parts":[{"text":""}]}`):                                                                       "must not be empty",
		contents(`{"role":"user","parts":[{}]}`):                                                                                "one initialized field",
		contents(`{"role":"user","parts":[{"text":"a","inlineData":{}}]}`):                                                      "one initialized field",
		contents(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"%"}}]}`):                                "Base64",
		contents(`{"role":"user","parts":[{"inlineData":{"data":"eA=="}}]}`):                                                    "must not be empty",
		contents(`{"role":"user","parts":[{"text":"a","thought":true}]}`):                                                       "only a model",
		contents(user, `{"role":"model","parts":[{"text":"a","thoughtSignature":"%%%"}]}`, user):                                "thought signature",
		`{"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}},"contents":[` + user + `,` + call + `,` + answer + `]}`: "missing a thought_signature",
		with(`"generationConfig":{"thinkingConfig":{"thinkingLevel":"low","thinkingBudget":1}}`):                                "cannot be used together",
		with(`"generationConfig":{"thinkingConfig":{"thinkingLevel":"extreme"}}`):                                               "invalid value",
		with(`"generationConfig":{"thinkingConfig":{"thinkingBudget":99999}}`):                                                  "out of range",
		with(`"generationConfig":{"maxOutputTokens":-1}`):                                                                       "whole number",
		with(`"generationConfig":{"responseJsonSchema":{}}`):                                                                    "requires response mime type",
		with(`"tools":[{"functionDeclarations":[{"name":"a b"}]}]`):                                                             "Invalid function name",
		with(`"tools":[{"functionDeclarations":[{"name":"a"},{"name":"a"}]}]`):                                                  "Duplicate",
		with(`"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"object","additionalProperties":false}}]}]`):   "Cannot find field",
		with(`"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"array"}}]}]`):                                 "missing field",
		with(`"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"object","required":["x"]}}]}]`):               "not defined",
		with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a"]}}`):                              "not among the functions",
		with(`"toolConfig":{"functionCallingConfig":{"mode":"MAYBE"}}`):                                                         "invalid value",
	} {
		err := geminitest.Server{}.Check(nil, []byte(body))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	for _, c := range []struct {
		path   string
		header http.Header
		want   model.Kind
	}{
		{"/v1beta/models/m:generateContent", nil, model.Auth},
		{"/v1beta/models/m:embedContent", http.Header{"X-Goog-Api-Key": {"k"}}, model.Invalid},
		{"/v1beta/models", http.Header{"X-Goog-Api-Key": {"k"}}, model.Invalid},
		{"/v1beta/models/m:generateContent", http.Header{"X-Goog-Api-Key": {"k"}, "Content-Type": {"text/plain"}}, model.Invalid},
	} {
		if asked, err := (geminitest.Server{}).Admit(c.path, c.header, []byte(`{}`)); err == nil || err.Kind != c.want {
			t.Errorf("%s with %v: asked %+v, %v", c.path, c.header, asked, err)
		}
	}
}
