package geminitest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"adze/internal/model"
)

// maxBody is the maximum request size.
const maxBody = 20 << 20

// Check implements [wire.Server]: it returns an error for the first rule that a request
// violates, and is as strict as the service.
func (Server) Check(_ http.Header, body []byte) error {
	if len(body) > maxBody {
		return fmt.Errorf("Request payload size exceeds the limit: %d bytes", maxBody)
	}
	var r checkedRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return fmt.Errorf("Invalid JSON payload received. Unknown name or wrong type: %w", err)
	}
	for _, rule := range []func(*checkedRequest) error{checkConfig, checkTools, checkContents, checkPairs, checkSignatures} {
		if err := rule(&r); err != nil {
			return err
		}
	}
	return nil
}

type checkedRequest struct {
	Config struct {
		MaxTokens  float64 `json:"maxOutputTokens"`
		Candidates float64 `json:"candidateCount"`
		Thinking   *struct {
			Include bool     `json:"includeThoughts"`
			Budget  *float64 `json:"thinkingBudget"`
			Level   string   `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
		MimeType    string          `json:"responseMimeType"`
		JSONSchema  json.RawMessage `json:"responseJsonSchema"`
		Schema      json.RawMessage `json:"responseSchema"`
		Temperature any             `json:"temperature"`
		TopP        any             `json:"topP"`
		TopK        any             `json:"topK"`
		Seed        any             `json:"seed"`
		Stop        []string        `json:"stopSequences"`
		Media       any             `json:"mediaResolution"`
	} `json:"generationConfig"`
	ToolConfig *struct {
		Calling struct {
			Mode  string   `json:"mode"`
			Names []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	System   checkedContent   `json:"systemInstruction"`
	Tools    []checkedTool    `json:"tools"`
	Contents []checkedContent `json:"contents"`
	Safety   json.RawMessage  `json:"safetySettings"`
	Cached   string           `json:"cachedContent"`
	Labels   json.RawMessage  `json:"labels"`
}

type checkedTool struct {
	Functions []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Behavior    string          `json:"behavior"`
		Parameters  json.RawMessage `json:"parameters"`
		JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
		Response    json.RawMessage `json:"response"`
	} `json:"functionDeclarations"`
	Search json.RawMessage `json:"googleSearch"`
	URLs   json.RawMessage `json:"urlContext"`
	Code   json.RawMessage `json:"codeExecution"`
}

type checkedContent struct {
	Role  string        `json:"role"`
	Parts []checkedPart `json:"parts"`
}

type checkedPart struct {
	Text      *string      `json:"text"`
	Thought   bool         `json:"thought"`
	Signature string       `json:"thoughtSignature"`
	Inline    *checkedBlob `json:"inlineData"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response checkedResponse `json:"response"`
		Parts    []struct {
			Inline *checkedBlob `json:"inlineData"`
		} `json:"parts"`
	} `json:"functionResponse"`
	Code    json.RawMessage `json:"executableCode"`
	Outcome json.RawMessage `json:"codeExecutionResult"`
	File    json.RawMessage `json:"fileData"`
}

type checkedBlob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

// A checkedResponse may be any object; adze sends its texts under two names.
type checkedResponse struct{ Output, Error *string }

func (r *checkedResponse) UnmarshalJSON(data []byte) error {
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for name, to := range map[string]**string{"output": &r.Output, "error": &r.Error} {
		if text, ok := all[name].(string); ok {
			*to = &text
		}
	}
	return nil
}

func checkConfig(r *checkedRequest) error {
	c := r.Config
	switch t := c.Thinking; {
	case c.MaxTokens < 0 || c.MaxTokens != float64(int(c.MaxTokens)):
		return fmt.Errorf("generation_config.max_output_tokens: must be a whole number of at least 1")
	case c.Candidates > 1:
		return fmt.Errorf("generation_config.candidate_count: only one is supported")
	case c.JSONSchema != nil && c.Schema != nil:
		return fmt.Errorf("generation_config: response_schema and response_json_schema cannot be used together")
	case (c.JSONSchema != nil || c.Schema != nil) && c.MimeType != "application/json":
		return fmt.Errorf("generation_config.response_schema: requires response mime type application/json")
	case t == nil:
	case t.Budget != nil && t.Level != "":
		return fmt.Errorf("generation_config.thinking_config: thinking_budget and thinking_level cannot be used together")
	case t.Budget != nil && (*t.Budget < -1 || *t.Budget > 32_768 || *t.Budget != float64(int(*t.Budget))):
		return fmt.Errorf("generation_config.thinking_config.thinking_budget: %v is out of range; supported values are integers from -1 to 32768", *t.Budget)
	case !slices.Contains([]string{"", "minimal", "low", "medium", "high"}, strings.ToLower(t.Level)):
		return fmt.Errorf("generation_config.thinking_config.thinking_level: invalid value %q", t.Level)
	}
	return nil
}

func checkTools(r *checkedRequest) error {
	names := map[string]bool{}
	for i, t := range r.Tools {
		for j, f := range t.Functions {
			place := fmt.Sprintf("tools[%d].function_declarations[%d]", i, j)
			switch {
			case !validName(f.Name):
				return fmt.Errorf("%s.name: Invalid function name %q. Must start with a letter or an underscore and be at most 64 letters, digits, _, . : and -", place, f.Name)
			case names[f.Name]:
				return fmt.Errorf("%s.name: Duplicate function declaration found: %s", place, f.Name)
			case f.Parameters != nil && f.JSONSchema != nil:
				return fmt.Errorf("%s: parameters and parameters_json_schema cannot be used together", place)
			case f.JSONSchema != nil && !bytes.HasPrefix(f.JSONSchema, []byte("{")):
				return fmt.Errorf("%s.parameters_json_schema: must be an object", place)
			case f.Parameters != nil:
				if err := checkSchema(place+".parameters", f.Parameters); err != nil {
					return err
				}
			}
			names[f.Name] = true
		}
	}
	if r.ToolConfig == nil {
		return nil
	}
	c := r.ToolConfig.Calling
	if !slices.Contains([]string{"", "AUTO", "ANY", "NONE", "VALIDATED"}, c.Mode) {
		return fmt.Errorf("tool_config.function_calling_config.mode: invalid value %q", c.Mode)
	}
	for _, name := range c.Names {
		if !names[name] || c.Mode != "ANY" {
			return fmt.Errorf("tool_config.function_calling_config.allowed_function_names: %q is not among the functions, or the mode is not ANY", name)
		}
	}
	return nil
}

// validName reports whether the service accepts the name s.
func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || !('0' <= c && c <= '9') && !strings.ContainsRune(".:-", rune(c))) {
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

// A checkedSchema has the keywords of the OpenAPI subset and no others.
type checkedSchema struct {
	checkedLimits
	Type        string                     `json:"type"`
	Format      string                     `json:"format"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Nullable    bool                       `json:"nullable"`
	Enum        []string                   `json:"enum"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Example     any                        `json:"example"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	Ordering    []string                   `json:"propertyOrdering"`
	Default     any                        `json:"default"`
	Items       json.RawMessage            `json:"items"`
}

// checkedLimits holds the size keywords.
type checkedLimits struct {
	MaxItems  any    `json:"maxItems"`
	MinItems  any    `json:"minItems"`
	MinProps  any    `json:"minProperties"`
	MaxProps  any    `json:"maxProperties"`
	MinLength any    `json:"minLength"`
	MaxLength any    `json:"maxLength"`
	Pattern   string `json:"pattern"`
	Minimum   any    `json:"minimum"`
	Maximum   any    `json:"maximum"`
}

func checkSchema(place string, raw json.RawMessage) error {
	var s checkedSchema
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return fmt.Errorf("%s: Unknown name: Cannot find field: %w", place, err)
	}
	for name, inner := range s.Properties {
		if err := checkSchema(place+".properties."+name, inner); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("%s.required: property %q is not defined", place, name)
		}
	}
	for i, inner := range s.AnyOf {
		if err := checkSchema(fmt.Sprintf("%s.any_of[%d]", place, i), inner); err != nil {
			return err
		}
	}
	switch {
	case s.Items != nil:
		return checkSchema(place+".items", s.Items)
	case strings.EqualFold(s.Type, "array"):
		return fmt.Errorf("%s.items: missing field", place)
	}
	return nil
}

func checkContents(r *checkedRequest) error {
	for i, p := range r.System.Parts {
		if p.Text == nil {
			return fmt.Errorf("system_instruction.parts[%d]: must be text", i)
		}
	}
	if len(r.Contents) == 0 {
		return fmt.Errorf("contents: contents is not specified")
	}
	for i, c := range r.Contents {
		place := fmt.Sprintf("contents[%d]", i)
		switch {
		case c.Role != "user" && c.Role != "model" && (c.Role != "" || len(r.Contents) > 1):
			return fmt.Errorf("%s.role: Please use a valid role: user, model", place)
		case len(c.Parts) == 0:
			return fmt.Errorf("%s.parts: contents.parts must not be empty", place)
		case c.Role == "model" && (i == 0 || i == len(r.Contents)-1):
			return fmt.Errorf("%s.role: Please ensure that multiturn requests begin and end with a user role", place)
		}
		for j, p := range c.Parts {
			if err := p.check(fmt.Sprintf("%s.parts[%d]", place, j), c.Role); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *checkedPart) check(place, role string) error {
	data := 0
	for _, has := range []bool{p.Text != nil, p.Inline != nil, p.Call != nil, p.Result != nil, p.Code != nil, p.Outcome != nil, p.File != nil} {
		if has {
			data++
		}
	}
	switch {
	case data != 1:
		return fmt.Errorf("%s.data: required oneof field 'data' must have one initialized field, and has %d", place, data)
	case p.Text != nil && *p.Text == "" && p.Signature == "" && role != "model": // clients echo empty parts
		return fmt.Errorf("%s.text: must not be empty", place)
	case role != "model" && (p.Call != nil || p.Thought || p.Signature != ""):
		return fmt.Errorf("%s: only a model calls functions and thinks", place)
	case role == "model" && p.Result != nil:
		return fmt.Errorf("%s: only a user has function responses", place)
	case p.Call != nil && !validName(p.Call.Name):
		return fmt.Errorf("%s.function_call.name: Name cannot be empty or invalid: %q", place, p.Call.Name)
	case p.Call != nil && p.Call.Args != nil && !bytes.HasPrefix(p.Call.Args, []byte("{")):
		return fmt.Errorf("%s.function_call.args: must be an object", place)
	case p.Inline != nil:
		return p.Inline.check(place + ".inline_data")
	case p.Result != nil:
		for j, m := range p.Result.Parts {
			if m.Inline == nil {
				return fmt.Errorf("%s.function_response.parts[%d]: must have inline_data", place, j)
			}
			if err := m.Inline.check(fmt.Sprintf("%s.function_response.parts[%d].inline_data", place, j)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *checkedBlob) check(place string) error {
	if b.MimeType == "" || b.Data == "" {
		return fmt.Errorf("%s: mime_type and data must not be empty", place)
	}
	if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil {
		return fmt.Errorf("%s.data: Base64 decoding failed: %w", place, err)
	}
	return nil
}

// turns merges consecutive contents of the same role: clients send an answer back as it was
// streamed.
func (r *checkedRequest) turns() (turns []checkedContent) {
	for _, c := range r.Contents {
		if n := len(turns); n > 0 && turns[n-1].Role == c.Role {
			turns[n-1].Parts = slices.Concat(turns[n-1].Parts, c.Parts)
			continue
		}
		turns = append(turns, c)
	}
	return turns
}

// checkPairs checks that each turn with calls is followed by exactly their responses.
func checkPairs(r *checkedRequest) error {
	var due []checkedPart
	for i, c := range r.turns() {
		var answered, calls []checkedPart
		for _, p := range c.Parts {
			switch {
			case p.Call != nil:
				calls = append(calls, p)
			case p.Result != nil:
				answered = append(answered, p)
			}
		}
		if len(answered) != len(due) {
			return fmt.Errorf("contents[%d]: Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: %d and %d", i, len(answered), len(due))
		}
		for _, p := range answered {
			at := slices.IndexFunc(due, func(d checkedPart) bool { return d.Call.ID == p.Result.ID && d.Call.Name == p.Result.Name })
			if at < 0 {
				return fmt.Errorf("contents[%d]: the function response %q with id %q answers no call of the turn before", i, p.Result.Name, p.Result.ID)
			}
			due = slices.Delete(due, at, at+1)
		}
		due = calls
	}
	return nil
}

// checkSignatures checks that signatures are readable and that in the current turn, which
// begins with the last user content without function responses, the first call of each step has
// one. Only models with thinking levels require that.
func checkSignatures(r *checkedRequest) error {
	turn := 0
	turns := r.turns()
	for i, c := range turns {
		if c.Role != "model" && !slices.ContainsFunc(c.Parts, func(p checkedPart) bool { return p.Result != nil }) {
			turn = i
		}
	}
	insists := r.Config.Thinking != nil && r.Config.Thinking.Level != ""
	for i, c := range turns {
		calls := 0
		for j, p := range c.Parts {
			place := fmt.Sprintf("contents[%d].parts[%d]", i, j)
			if !isBase64(p.Signature) {
				return &model.Error{Kind: model.BadSignature, Message: place + ".thought_signature: Base64 decoding failed; thought signature is not valid"}
			}
			if p.Call == nil {
				continue
			}
			if calls++; calls == 1 && p.Signature == "" && i > turn && insists {
				return &model.Error{Kind: model.BadSignature, Message: place + ": Function call is missing a thought_signature in functionCall parts"}
			}
		}
	}
	return nil
}

// isBase64 reports whether s is base64 in either alphabet.
func isBase64(s string) bool {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	_, err := base64.RawStdEncoding.DecodeString(s)
	return err == nil
}
