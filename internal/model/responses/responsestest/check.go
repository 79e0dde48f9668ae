package responsestest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"adze/internal/model"
	"adze/internal/platform/text/jsonscan"
)

// Request limits.
const (
	maxBody = 50 << 20
	maxName = 64
	// minOutput is the lowest output limit.
	minOutput = 16
)

// knownMembers lists the members a request may have.
var knownMembers = []string{
	"background", "conversation", "include", "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model",
	"parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_retention", "reasoning", "safety_identifier",
	"service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
}

type checkedRequest struct {
	Model     string          `json:"model"`
	Limit     *float64        `json:"max_output_tokens"`
	Store     *bool           `json:"store"`
	Include   []string        `json:"include"`
	Reasoning *checkedReason  `json:"reasoning"`
	Text      *checkedText    `json:"text"`
	Choice    json.RawMessage `json:"tool_choice"`
	Tools     []readTool      `json:"tools"`
	Input     readInput       `json:"input"`
}

type checkedReason struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

type checkedText struct {
	Format *struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	} `json:"format"`
}

// Check implements [wire.Server]: it returns an error for the first rule that a request
// violates, with the server's wording.
func (Server) Check(_ http.Header, body []byte) error {
	if len(body) > maxBody {
		return fmt.Errorf("the body has %d bytes, more than 50 MB", len(body))
	}
	seen := make(map[string]bool)
	err := jsonscan.Object(body, func(name, _ []byte) error {
		switch n := string(name); {
		case seen[n]:
			return fmt.Errorf("Duplicate parameter: '%s'", n)
		case !slices.Contains(knownMembers, n):
			return fmt.Errorf("Unknown parameter: '%s'.", n)
		default:
			seen[n] = true
			return nil
		}
	})
	if err != nil {
		return err
	}
	var r checkedRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("Invalid type: %w", err)
	}
	for _, rule := range []func(*checkedRequest) error{checkOptions, checkTools, checkItems, checkPairs, checkReasoning} {
		if err := rule(&r); err != nil {
			return err
		}
	}
	return nil
}

func checkOptions(r *checkedRequest) error {
	switch {
	case r.Model == "":
		return fmt.Errorf("Missing required parameter: 'model'.")
	case r.Limit != nil && (*r.Limit < minOutput || *r.Limit != float64(int(*r.Limit))):
		return fmt.Errorf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= %d, but got %v instead.", minOutput, *r.Limit)
	case len(r.Input) == 0:
		return fmt.Errorf("Missing required parameter: 'input'.")
	}
	for _, name := range r.Include {
		switch name {
		case encryptedReasoning, "web_search_call.action.sources", "web_search_call.results", "file_search_call.results",
			"message.input_image.image_url", "message.output_text.logprobs", "code_interpreter_call.outputs", "computer_call_output.output.image_url":
		default:
			return fmt.Errorf("Invalid value: '%s'. It is no value of 'include'.", name)
		}
	}
	if r.Reasoning != nil {
		switch r.Reasoning.Effort {
		case "", "none", "minimal", "low", "medium", "high", "xhigh", "max":
		default:
			return fmt.Errorf("Invalid value: '%s'. It is no value of 'reasoning.effort'.", r.Reasoning.Effort)
		}
		switch r.Reasoning.Summary {
		case "", "auto", "concise", "detailed":
		default:
			return fmt.Errorf("Invalid value: '%s'. It is no value of 'reasoning.summary'.", r.Reasoning.Summary)
		}
	}
	if r.Text != nil && r.Text.Format != nil {
		f := r.Text.Format
		switch {
		case f.Type != "json_schema":
		case !validName(f.Name):
			return fmt.Errorf("Invalid 'text.format.name': it is not 1 to 64 letters, digits, _ and -.")
		case f.Strict:
			return checkStrict("response_format '"+f.Name+"'", f.Schema)
		}
	}
	return nil
}

// checkStrict checks that a schema can be enforced.
func checkStrict(what string, schema json.RawMessage) error {
	var s any
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("Invalid schema for %s: %w", what, err)
	}
	if why := loose(s); why != "" {
		return fmt.Errorf("Invalid schema for %s: In context=(), %s.", what, why)
	}
	return nil
}

func validName(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= maxName
}

func checkTools(r *checkedRequest) error {
	names := make(map[string]bool)
	for i, t := range r.Tools {
		switch t.Type {
		case "function":
		case "web_search", "web_search_preview", "file_search", "code_interpreter", "image_generation", "mcp", "local_shell", "custom":
			continue // run by the server, or without a schema
		default:
			return fmt.Errorf("Invalid value: '%s'. It is no value of 'tools[%d].type'.", t.Type, i)
		}
		if !validName(t.Name) {
			return fmt.Errorf("Invalid 'tools[%d].name': %q is not 1 to 64 letters, digits, _ and -.", i, t.Name)
		}
		if names[t.Name] {
			return fmt.Errorf("Duplicate function name: %s", t.Name)
		}
		names[t.Name] = true
		if err := t.checkSchema(); err != nil {
			return err
		}
	}
	return r.checkChoice(names)
}

// checkSchema checks that a schema describes an object and can be enforced unless the request
// disables that.
func (t *readTool) checkSchema() error {
	what := "function '" + t.Name + "'"
	var top map[string]json.RawMessage
	if err := json.Unmarshal(t.Parameters, &top); err != nil || !jsonscan.Is(top["type"], "object") {
		return fmt.Errorf("Invalid schema for %s: schema must be a JSON Schema of 'type: \"object\"'.", what)
	}
	for _, union := range []string{"anyOf", "oneOf", "allOf", "not", "enum"} {
		if _, found := top[union]; found {
			return fmt.Errorf("Invalid schema for %s: schema must have type 'object' and not have '%s' at the top level.", what, union)
		}
	}
	if _, found := top["properties"]; !found {
		return fmt.Errorf("Invalid schema for %s: In context=(), object schema missing properties.", what)
	}
	if t.Strict == nil || *t.Strict {
		return checkStrict(what, t.Parameters)
	}
	return nil
}

func (r *checkedRequest) checkChoice(names map[string]bool) error {
	if len(r.Choice) == 0 || r.Choice[0] != '{' {
		return nil
	}
	var c struct{ Type, Name string }
	if json.Unmarshal(r.Choice, &c) == nil && c.Type == "function" && !names[c.Name] {
		return fmt.Errorf("Tool choice 'function' %q not found in 'tools' parameter.", c.Name)
	}
	return nil
}

func checkItems(r *checkedRequest) error {
	for i := range r.Input {
		it := &r.Input[i]
		place := fmt.Sprintf("input[%d]", i)
		var err error
		switch it.Type {
		case "message":
			err = it.checkMessage(place)
		case "function_call":
			switch {
			case it.CallID == "" || len(it.CallID) > maxName:
				err = fmt.Errorf("Invalid '%s.call_id': string of 1 to %d characters expected.", place, maxName)
			case !validName(it.Name):
				err = fmt.Errorf("Invalid '%s.name': %q is not 1 to 64 letters, digits, _ and -.", place, it.Name)
			}
		case "function_call_output":
			err = it.Output.check(place+".output", "input_text", "input_image", "input_file")
		case "reasoning":
			if it.Summary == nil {
				err = fmt.Errorf("Missing required parameter: '%s.summary'.", place)
			}
		case "web_search_call", "item_reference", "compaction":
		default:
			err = fmt.Errorf("Invalid value: '%s'. It is no value of '%s.type'.", it.Type, place)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (i *readItem) checkMessage(place string) error {
	kinds := []string{"input_text", "input_image", "input_file"}
	switch i.Role {
	case "user":
	case "system", "developer":
		kinds = kinds[:1]
	case "assistant":
		kinds = []string{"output_text", "refusal"}
	default:
		return fmt.Errorf("Invalid value: '%s'. It is no value of '%s.role'.", i.Role, place)
	}
	switch phase := string(i.Phase); {
	case phase == "" || phase == "null":
	case i.Role != "assistant" || phase != `"commentary"` && phase != `"final_answer"`:
		return fmt.Errorf("Invalid value: '%s'. It is no value of '%s.phase'.", phase, place)
	}
	if len(i.Content) == 0 {
		return fmt.Errorf("Missing required parameter: '%s.content'.", place)
	}
	return i.Content.check(place+".content", kinds...)
}

func (c readContent) check(place string, kinds ...string) error {
	for i, p := range c {
		at := fmt.Sprintf("%s[%d]", place, i)
		if p.Type == "text" && len(c) == 1 { // a string
			continue
		}
		if !slices.Contains(kinds, p.Type) {
			return fmt.Errorf("Invalid value: '%s'. Supported values of '%s' are: %q.", p.Type, at, kinds)
		}
		switch p.Type {
		case "input_image":
			media, data, err := dataURI(p.ImageURL)
			if err != nil || len(data) == 0 {
				return &model.Error{Kind: model.MediaTooLarge, Message: fmt.Sprintf("Invalid '%s.image_url': expected a base64-encoded data URL with an image.", at)}
			}
			if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media) {
				return &model.Error{Kind: model.MediaTooLarge, Message: fmt.Sprintf("Invalid '%s.image_url': unsupported image %q.", at, media)}
			}
		case "input_file":
			if media, data, err := dataURI(p.FileData); err != nil || len(data) == 0 || media != "application/pdf" || p.Filename == "" {
				return fmt.Errorf("Invalid '%s.file_data': expected a base64-encoded data URL with a PDF, and a filename.", at)
			}
		}
	}
	return nil
}

// checkPairs checks that each call is answered exactly once, after it, and that the request has
// no other results.
func checkPairs(r *checkedRequest) error {
	const made, answered = 1, 2
	state := make(map[string]int)
	var calls []string
	for i := range r.Input {
		switch it := &r.Input[i]; it.Type {
		case "function_call":
			if state[it.CallID] != 0 {
				return fmt.Errorf("Duplicate call id '%s'.", it.CallID)
			}
			state[it.CallID] = made
			calls = append(calls, it.CallID)
		case "function_call_output":
			switch state[it.CallID] {
			case made:
				state[it.CallID] = answered
			case answered:
				return fmt.Errorf("Duplicate output for function call with call_id %s.", it.CallID)
			default:
				return fmt.Errorf("No tool call found for function call output with call_id %s.", it.CallID)
			}
		}
	}
	for _, id := range calls {
		if state[id] != answered {
			return fmt.Errorf("No tool output found for function call %s.", id)
		}
	}
	return nil
}

// checkReasoning checks that reasoning can be read if nothing is stored, and that the output it
// led to follows it.
func checkReasoning(r *checkedRequest) error {
	stored := r.Store == nil || *r.Store
	for i := range r.Input {
		it := &r.Input[i]
		if it.Type != "reasoning" {
			continue
		}
		if it.Encrypted == "" && len(it.Content) == 0 && !stored {
			return fmt.Errorf("Item 'input[%d]' of type 'reasoning' not found. Items are not persisted when `store` is set to false.", i)
		}
		j := i + 1
		for j < len(r.Input) && r.Input[j].Type == "reasoning" {
			j++
		}
		if j == len(r.Input) || r.Input[j].Type == "function_call_output" || r.Input[j].Type == "message" && r.Input[j].Role != "assistant" {
			return fmt.Errorf("Item 'input[%d]' of type 'reasoning' was provided without its required following item.", i)
		}
	}
	return nil
}

// looseKeywords lists the keywords not allowed in an enforced schema.
var looseKeywords = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
	"minProperties", "maxProperties", "uniqueItems", "contains", "unevaluatedProperties", "unevaluatedItems",
}

// loose returns the reason a schema cannot be enforced, or "".
func loose(schema any) string {
	s, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	for _, keyword := range looseKeywords {
		if _, found := s[keyword]; found {
			return "'" + keyword + "' is not permitted"
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if _, isObject := s["properties"]; isObject || s["type"] == "object" {
		if s["additionalProperties"] != false {
			return "'additionalProperties' is required to be supplied and to be false"
		}
		required, _ := s["required"].([]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(required, any(name)) {
				return "'required' is required to be supplied and to be an array including every key in properties. Missing '" + name + "'"
			}
		}
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			if why := loose(inner[name]); why != "" {
				return why
			}
		}
	}
	list, _ := s["anyOf"].([]any)
	for _, inner := range list {
		if why := loose(inner); why != "" {
			return why
		}
	}
	return loose(s["items"])
}
