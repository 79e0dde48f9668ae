// Package servers lists the strict servers that play scripts in tests, by dialect.
package servers

import (
	"adze/internal/model/bedrock/bedrocktest"
	"adze/internal/model/chat"
	"adze/internal/model/chat/chattest"
	"adze/internal/model/gemini/geminitest"
	"adze/internal/model/messages"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/vertex/vertextest"
	"adze/internal/model/wire"
)

// Named returns the server of the dialect with the given name in scripts.
func Named(name string) wire.Server {
	server, ok := map[string]wire.Server{
		"messages":  messages.Server{},
		"chat":      chattest.Server{Dialect: chat.Dialect{Documents: true, Replay: chat.ReplayContent}},
		"responses": responsestest.Server{},
		"gemini":    geminitest.Server{},
		"bedrock":   bedrocktest.NewServer(),
		"vertex":    vertextest.NewServer(),
	}[name]
	if !ok {
		panic("no server for the dialect " + name) // caller's mistake
	}
	return server
}
