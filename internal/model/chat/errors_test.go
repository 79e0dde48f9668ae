package chat_test

import (
	. "adze/internal/model/chat"
	"adze/internal/model/chat/chattest"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"adze/internal/model"
)

// TestErrors covers the error formats and messages of many servers.
//
// Proves PROV-54, PROV-55.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status            int
		body              string
		kind              model.Kind
		input, out, limit int
	}{
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 8203 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, model.TooLong, 8203, 0, 8192},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (6000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, model.OverWindow, 6000, 4000, 8192},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (5000 in the messages, 1000 in the functions, and 4000 in the completion).","code":"context_length_exceeded"}}`, model.OverWindow, 6000, 4000, 8192},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, model.OverWindow, 1000, 4000, 4096},
		{400, `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (8192 > 4096 - 1000).","type":"BadRequestError","code":400}}`, model.OverWindow, 1000, 8192, 4096},
		{400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.","code":400}}`, model.TooLong, 5000, 0, 4096},
		{400, `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096."}}`, model.TooLong, 5000, 0, 4096},
		{400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (110000 of text input, 11000 of tool input, 19000 in the output). Please reduce the length of either one.","code":400}}`, model.OverWindow, 121000, 19000, 131072},
		{400, `{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, model.TooLong, 5000, 0, 4096},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, model.TooLong, 5000, 0, 4096},
		{400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"}`, model.TooLong, 5000, 0, 4096},
		{400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}`, model.TooLong, 0, 0, 0},
		{400, `{"error":{"message":"the input length exceeds the context length","type":"api_error","param":null,"code":null}}`, model.TooLong, 0, 0, 0},
		{400, `{"error":{"message":"prompt too long; exceeded max context length by 700 tokens"}}`, model.TooLong, 0, 0, 700},
		{400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, model.TooLong, 0, 0, 0},
		{400, `{"error":{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"}}`, model.TooLong, 9000, 0, 8192},
		{400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}`, model.TooLong, 40000, 0, 32768},
		{400, `{"error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, model.TooLong, 140000, 0, 131072},
		{422, "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`\"}}", model.OverWindow, 4000, 1000, 4097},
		{400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, model.TooLong, 1200000, 0, 1048576},
		{413, `{"error":{"message":"Request too large for model m in organization o on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size","code":"rate_limit_exceeded"}}`, model.TooLong, 9000, 0, 6000},
		{429, `{"error":{"message":"Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 40000.","type":"tokens","code":"rate_limit_exceeded"}}`, model.TooLong, 40000, 0, 30000},
		{429, `{"error":{"message":"Rate limit reached for gpt: Limit 500, Used 500, Requested 1.","type":"requests","code":"rate_limit_exceeded"}}`, model.RateLimited, 0, 0, 0},
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, model.Quota, 0, 0, 0},
		{402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, model.Quota, 0, 0, 0},
		{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402}}`, model.Quota, 0, 0, 0},
		{401, `{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","code":"invalid_api_key"}}`, model.Auth, 0, 0, 0},
		{401, `{"error":{"message":"No auth credentials found","code":401}}`, model.Auth, 0, 0, 0},
		{400, `{"code":"invalid argument","error":"Incorrect API key provided: xa***. You can obtain an API key elsewhere."}`, model.Auth, 0, 0, 0},
		{403, `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`, model.Auth, 0, 0, 0},
		{403, `{"error":{"message":"Your input was flagged","code":403,"metadata":{"reasons":["violence"]}}}`, model.Refused, 0, 0, 0},
		{404, `{"error":{"message":"The model 'x' does not exist or you do not have access to it.","code":"model_not_found"}}`, model.NoModel, 0, 0, 0},
		{404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`, model.NoModel, 0, 0, 0},
		{404, `{"object":"error","message":"The model 'x' does not exist.","type":"NotFoundError","code":404}`, model.NoModel, 0, 0, 0},
		{400, `{"error":{"message":"x is not a valid model ID","code":400}}`, model.NoModel, 0, 0, 0},
		{404, `{"error":"No models loaded. Please load a model in the developer page or use the lms load command."}`, model.NoModel, 0, 0, 0},
		{404, `{"detail":"Not Found"}`, model.Invalid, 0, 0, 0},
		{404, `404 page not found`, model.Invalid, 0, 0, 0},
		{400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}`, model.NoTools, 0, 0, 0},
		{500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, model.NoTools, 0, 0, 0},
		{400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`, model.NoTools, 0, 0, 0},
		{404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit the documentation","code":404}}`, model.NoTools, 0, 0, 0},
		{503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, model.ServerFault, 0, 0, 0},
		{503, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error"}}`, model.Overloaded, 0, 0, 0},
		{503, `{"error":{"message":"Service Unavailable"}}`, model.ServerFault, 0, 0, 0},
		{500, `{"error":{"message":"llama runner process has terminated: exit status 2","type":"api_error"}}`, model.ServerFault, 0, 0, 0},
		{400, `{"error":{"message":"Your request was rejected as a result of our safety system.","code":"content_policy_violation"}}`, model.Refused, 0, 0, 0},
		{400, `{"error":{"message":"The response was filtered due to the prompt triggering the content management policy.","code":"content_filter"}}`, model.Refused, 0, 0, 0},
		{400, `{"error":{"message":"Image exceeds the maximum size of 20 MB","code":"image_too_large"}}`, model.MediaTooLarge, 0, 0, 0},
		{422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, model.Invalid, 0, 0, 0},
		{400, `{"error":{"message":"Invalid value","param":"messages[0]"}}`, model.Invalid, 0, 0, 0},
		{400, `{}`, model.Invalid, 0, 0, 0}, {500, ``, model.ServerFault, 0, 0, 0}, {400, `null`, model.Invalid, 0, 0, 0}, {400, `{"error":null}`, model.Invalid, 0, 0, 0}, {400, `{"error":{"message":7}}`, model.Invalid, 0, 0, 0},
	} {
		e := Dialect{}.Error(tt.status, []byte(tt.body))
		if e.Kind != tt.kind || e.Input != tt.input || e.Output != tt.out || e.Window != tt.limit || e.Status != tt.status {
			t.Errorf("%d %s\nis %v with %d + %d > %d, want %v with %d + %d > %d", tt.status, tt.body, e.Kind, e.Input, e.Output, e.Window, tt.kind, tt.input, tt.out, tt.limit)
		}
	}
	if e := (Dialect{}).Error(503, []byte(`{"error":{"message":"Loading model"}}`)); e.Message != "the server is still loading the model" {
		t.Errorf("a server that loads its model says %q", e.Message)
	}
	if e := (Dialect{}).Error(404, []byte(`404 page not found`)); !strings.Contains(e.Hint, "/v1") || strings.Contains(e.Message, "/v1") {
		t.Errorf("a wrong address says %q", e.Message)
	}
	e := Dialect{}.Error(400, []byte(`{"error":{"message":"gemma does not support tools"}}`))
	if s := model.Explain(e, "gemma", true); !strings.Contains(s, "tools") || !strings.Contains(s, "/model") {
		t.Errorf("a model without tools is explained by %q", s)
	}
}

// TestOptional checks that an error naming an optional part drops that part, and no other error
// does.
//
// Proves PROV-12.
func TestOptional(t *testing.T) {
	r := request(0)
	r.Effort, r.Format, r.CacheKey = model.EffortLow, json.RawMessage(`{"type":"object"}`), "u"
	d := Dialect{CacheKey: true, Parallel: true, Marks: true}
	for words, want := range map[string]model.Omission{
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": model.OmitLimit,
		"Unrecognized request argument supplied: reasoning_effort":                                                   model.OmitEffort,
		"body.stream_options: Extra inputs are not permitted":                                                        model.OmitUsage,
		"unknown field prompt_cache_key":                                                                             model.OmitCache,
		"response_format is not supported by this model":                                                             model.OmitFormat,
		"parallel_tool_calls is not supported":                                                                       model.OmitParallel,
		"Unknown parameter: 'tools[1].function.strict'":                                                              model.OmitStrict,
		"cache_control is not supported":                                                                             model.OmitCache,
		"max_tokens must be positive":                                                                                0, "unsupported": 0, "": 0,
	} {
		e := &model.Error{Kind: model.Invalid, Message: words}
		if got, name := d.Optional(r, e); got != want || (name == "") != (want == 0) {
			t.Errorf("%q drops %b (%s), want %b", words, got, name, want)
		}
		again := *r
		again.Omit = want
		if got, _ := d.Optional(&again, e); got == want && want != 0 {
			t.Errorf("%q drops the same again", words)
		}
	}
}

// TestCheck checks that the emulated server rejects the same requests as the real one.
func TestCheck(t *testing.T) {
	const user = `{"role":"user","content":"q"}`
	call := func(id, args string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"Read","arguments":"` + args + `"}}]}`
	}
	for body, says := range map[string]string{
		`{"model":"m","max_tokens":1,"messages":[` + user + `]}`: "",
		`[]`: "parse", `{"model":"m","model":"n"}`: "twice", `{"model":"m","thinking":{}}`: "unrecognized", `{"model":7}`: "wrong type",
		`{"max_tokens":1,"messages":[` + user + `]}`:                                                                                                    "model",
		`{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[` + user + `]}`:                                                              "both",
		`{"model":"m","max_tokens":0,"messages":[` + user + `]}`:                                                                                        "at least 1",
		`{"model":"m","max_tokens":1,"stream_options":{},"messages":[` + user + `]}`:                                                                    "stream",
		`{"model":"m","max_tokens":1,"reasoning_effort":"more","messages":[` + user + `]}`:                                                              "reasoning_effort",
		`{"model":"m","max_tokens":1,"parallel_tool_calls":true,"messages":[` + user + `]}`:                                                             "tools",
		`{"model":"m","max_tokens":1,"tool_choice":"auto","messages":[` + user + `]}`:                                                                   "tools",
		`{"model":"m","max_tokens":1,"response_format":{"type":"json_schema"},"messages":[` + user + `]}`:                                               "name",
		`{"model":"m","max_tokens":1,"messages":[]}`:                                                                                                    "empty",
		`{"model":"m","max_tokens":1,"messages":[{"role":"model","content":"x"}]}`:                                                                      "role",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":null}]}`:                                                                      "content",
		`{"model":"m","max_tokens":1,"messages":[` + user + `,{"role":"assistant","content":null}]}`:                                                    "content is required",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"hologram"}]}]}`:                                                     "hologram",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`:                            "data URL",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/tiff;base64,eA=="}}]}]}`:  "tiff",
		`{"model":"m","max_tokens":1,"messages":[{"role":"system","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]}]}`: "not allowed",
		`{"model":"m","max_tokens":1,"messages":[` + user + `,` + call("a", "{}") + `]}`:                                                                "no response",
		`{"model":"m","max_tokens":1,"messages":[` + user + `,` + call("a", "{}") + `,` + user + `]}`:                                                   "followed by",
		`{"model":"m","max_tokens":1,"messages":[` + user + `,{"role":"tool","tool_call_id":"a","content":"x"}]}`:                                       "preceding",
		`{"model":"m","max_tokens":1,"messages":[` + user + `,` + call("a", "{") + `]}`:                                                                 "not JSON",
		`{"model":"m","max_tokens":1,"messages":[` + user + `,` + call(strings.Repeat("a", 41), "{}") + `]}`:                                            "40",
		`{"model":"m","max_tokens":1,"tools":[{"type":"function","function":{"name":"a b","parameters":{"type":"object"}}}],"messages":[` + user + `]}`: "match",
		`{"model":"m","messages":[` + user + `]}`:                                                                                                       "", // the official client omits the limit
		`{"model":"m","max_tokens":1,"tools":[{"type":"function","function":{"name":"a","parameters":{}}}],"messages":[` + user + `]}`:                  "object",
	} {
		err := (chattest.Server{}).Check(nil, []byte(body))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", body, err, says)
		}
	}
	for path, ok := range map[string]bool{"/v1/chat/completions": true, "/v1/messages": false} {
		h := http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
		if _, err := (chattest.Server{}).Admit(path, h, []byte(`{"model":"m"}`)); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := (chattest.Server{}).Admit(path, http.Header{"Content-Type": {"application/json"}}, []byte(`{}`)); err == nil {
			t.Errorf("%s is served without a key", path)
		}
	}
}
