package acp

import "encoding/json"

// The wire types of the protocol, with the fields that adze reads or writes. Their names are
// the schema's.

type (
	initializeRequest struct {
		ProtocolVersion    *int               `json:"protocolVersion"`
		ClientCapabilities clientCapabilities `json:"clientCapabilities"`
	}

	clientCapabilities struct {
		FS struct {
			ReadTextFile  bool `json:"readTextFile"`
			WriteTextFile bool `json:"writeTextFile"`
		} `json:"fs"`
		Session struct {
			Compaction    *struct{} `json:"compaction"`
			Notices       *struct{} `json:"notices"`
			ConfigOptions struct {
				Boolean *struct{} `json:"boolean"`
			} `json:"configOptions"`
		} `json:"session"`
		Auth struct {
			Terminal bool `json:"terminal"`
		} `json:"auth"`
		Elicitation struct {
			Form *struct{} `json:"form"`
			URL  *struct{} `json:"url"`
		} `json:"elicitation"`
	}

	initializeResponse struct {
		ProtocolVersion   int               `json:"protocolVersion"`
		AgentCapabilities agentCapabilities `json:"agentCapabilities"`
		AuthMethods       []authMethod      `json:"authMethods"`
		AgentInfo         implementation    `json:"agentInfo"`
	}

	agentCapabilities struct {
		LoadSession         bool                `json:"loadSession"`
		PromptCapabilities  promptCapabilities  `json:"promptCapabilities"`
		MCPCapabilities     mcpCapabilities     `json:"mcpCapabilities"`
		SessionCapabilities sessionCapabilities `json:"sessionCapabilities"`
	}

	promptCapabilities struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	}

	mcpCapabilities struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	}

	// sessionCapabilities lists optional methods. Fork is a draft in the schema.
	sessionCapabilities struct {
		List                  struct{} `json:"list"`
		Delete                struct{} `json:"delete"`
		AdditionalDirectories struct{} `json:"additionalDirectories"`
		Resume                struct{} `json:"resume"`
		Close                 struct{} `json:"close"`
		Fork                  struct{} `json:"fork"`
	}

	authMethod struct {
		Type        string   `json:"type,omitempty"` // terminal; empty means that authenticate checks
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Args        []string `json:"args,omitempty"`
	}

	authenticateRequest struct {
		MethodID string `json:"methodId"`
	}

	implementation struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}

	// sessionRequest holds the parameters of the requests that open a session.
	sessionRequest struct {
		SessionID             string      `json:"sessionId"`
		CWD                   string      `json:"cwd"`
		AdditionalDirectories []string    `json:"additionalDirectories"`
		MCPServers            []mcpServer `json:"mcpServers"`
	}

	mcpServer struct {
		Type    string     `json:"type"` // empty means stdio
		Name    string     `json:"name"`
		Command string     `json:"command"`
		Args    []string   `json:"args"`
		Env     []variable `json:"env"`
		URL     string     `json:"url"`
		Headers []variable `json:"headers"`
	}

	variable struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}

	sessionResponse struct {
		SessionID     string         `json:"sessionId,omitempty"`
		Modes         *modeState     `json:"modes"`
		ConfigOptions []configOption `json:"configOptions"`
	}

	modeState struct {
		CurrentModeID  string        `json:"currentModeId"`
		AvailableModes []sessionMode `json:"availableModes"`
	}

	sessionMode struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}

	configOption struct {
		Type         string         `json:"type"` // select or boolean
		ID           string         `json:"id"`
		Name         string         `json:"name"`
		Description  string         `json:"description,omitempty"`
		Category     string         `json:"category,omitempty"`
		CurrentValue any            `json:"currentValue"`
		Options      []configChoice `json:"options,omitempty"`
	}

	configChoice struct {
		Value       string `json:"value"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}

	idRequest struct {
		SessionID string `json:"sessionId"`
	}

	modeRequest struct {
		SessionID string `json:"sessionId"`
		ModeID    string `json:"modeId"`
	}

	configRequest struct {
		SessionID string          `json:"sessionId"`
		ConfigID  string          `json:"configId"`
		Value     json.RawMessage `json:"value"`
	}

	configResponse struct {
		ConfigOptions []configOption `json:"configOptions"`
	}

	listRequest struct {
		CWD    string `json:"cwd"`
		Cursor string `json:"cursor"`
	}

	listResponse struct {
		Sessions   []sessionInfo `json:"sessions"`
		NextCursor string        `json:"nextCursor,omitempty"`
	}

	sessionInfo struct {
		SessionID string `json:"sessionId"`
		CWD       string `json:"cwd"`
		Title     string `json:"title,omitempty"`
		UpdatedAt string `json:"updatedAt,omitempty"`
	}

	promptRequest struct {
		SessionID string         `json:"sessionId"`
		Prompt    []contentBlock `json:"prompt"`
	}

	promptResponse struct {
		StopReason string `json:"stopReason"`
	}

	cancelRequest struct {
		RequestID json.RawMessage `json:"requestId"`
	}

	// none is an empty object.
	none struct{}
)

type (
	// A contentBlock is a text, an image, an audio, a resource_link or a resource.
	contentBlock struct {
		Type     string           `json:"type"`
		Text     *string          `json:"text,omitempty"`
		Data     string           `json:"data,omitempty"`
		MIMEType string           `json:"mimeType,omitempty"`
		URI      string           `json:"uri,omitempty"`
		Name     string           `json:"name,omitempty"`
		Resource *resourceContent `json:"resource,omitempty"`
	}

	resourceContent struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType,omitempty"`
		Text     *string `json:"text,omitempty"`
		Blob     *string `json:"blob,omitempty"`
	}

	notification struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}

	// chunk is a piece of a message: user_message_chunk, agent_message_chunk or
	// agent_thought_chunk.
	chunk struct {
		Update    string       `json:"sessionUpdate"`
		Content   contentBlock `json:"content"`
		MessageID string       `json:"messageId"`
	}

	// toolCall is a tool_call or a tool_call_update, or the call of a permission request, where
	// Update is empty.
	toolCall struct {
		Update     string          `json:"sessionUpdate,omitempty"`
		ToolCallID string          `json:"toolCallId"`
		Title      string          `json:"title,omitempty"`
		Name       string          `json:"name,omitempty"`
		Kind       string          `json:"kind,omitempty"`
		Status     string          `json:"status,omitempty"`
		Content    []callContent   `json:"content,omitempty"`
		Locations  []location      `json:"locations,omitempty"`
		RawInput   json.RawMessage `json:"rawInput,omitempty"`
	}

	// callContent is content or a diff.
	callContent struct {
		Type    string        `json:"type"`
		Content *contentBlock `json:"content,omitempty"`
		Path    string        `json:"path,omitempty"`
		OldText *string       `json:"oldText,omitempty"`
		NewText *string       `json:"newText,omitempty"`
	}

	location struct {
		Path string `json:"path"`
		Line int    `json:"line,omitempty"`
	}

	plan struct {
		Update  string      `json:"sessionUpdate"`
		Entries []planEntry `json:"entries"`
	}

	planEntry struct {
		Content  string `json:"content"`
		Priority string `json:"priority"`
		Status   string `json:"status"`
	}

	commandsUpdate struct {
		Update            string             `json:"sessionUpdate"`
		AvailableCommands []availableCommand `json:"availableCommands"`
	}

	availableCommand struct {
		Name        string        `json:"name"`
		Description string        `json:"description"`
		Input       *commandInput `json:"input,omitempty"`
	}

	commandInput struct {
		Hint string `json:"hint"`
	}

	modeUpdate struct {
		Update        string `json:"sessionUpdate"`
		CurrentModeID string `json:"currentModeId"`
	}

	configUpdate struct {
		Update        string         `json:"sessionUpdate"`
		ConfigOptions []configOption `json:"configOptions"`
	}

	infoUpdate struct {
		Update    string `json:"sessionUpdate"`
		Title     string `json:"title,omitempty"`
		UpdatedAt string `json:"updatedAt"`
	}

	usageUpdate struct {
		Update string `json:"sessionUpdate"`
		Used   int    `json:"used"`
		Size   int    `json:"size"`
		Cost   *cost  `json:"cost,omitempty"`
	}

	cost struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	}

	noticeUpdate struct {
		Update   string `json:"sessionUpdate"`
		Severity string `json:"severity"`
		Title    string `json:"title"`
	}

	compactionUpdate struct {
		Update       string `json:"sessionUpdate"`
		CompactionID string `json:"compactionId"`
		Status       string `json:"status"`
		Error        string `json:"error,omitempty"`
	}

	permissionRequest struct {
		SessionID string             `json:"sessionId"`
		ToolCall  toolCall           `json:"toolCall"`
		Options   []permissionOption `json:"options"`
	}

	permissionOption struct {
		OptionID string `json:"optionId"`
		Name     string `json:"name"`
		Kind     string `json:"kind"`
	}

	permissionResponse struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}

	elicitationRequest struct {
		SessionID       string          `json:"sessionId"`
		ToolCallID      string          `json:"toolCallId,omitempty"`
		Mode            string          `json:"mode"`
		Message         string          `json:"message"`
		RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
		ElicitationID   string          `json:"elicitationId,omitempty"`
		URL             string          `json:"url,omitempty"`
	}

	elicitationResponse struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}

	elicitationComplete struct {
		ElicitationID string `json:"elicitationId"`
	}

	readRequest struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
	}

	readResponse struct {
		Content *string `json:"content"`
	}

	writeRequest struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
		Content   string `json:"content"`
	}
)
