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
	switch name {
	case "messages":
		return messages.Server{}
	case "chat":
		return chattest.Server{Dialect: chat.Dialect{Documents: true, Replay: chat.ReplayContent}}
	case "responses":
		return responsestest.Server{}
	case "gemini":
		return geminitest.Server{}
	case "bedrock":
		return bedrocktest.NewServer()
	case "vertex":
		return vertextest.NewServer()
	}
	panic("no server for the dialect " + name) // caller's mistake
}
