package gemini

import "adze/internal/model"

// stopReason maps the service's finish reason.
func stopReason(finish string, calls bool) model.StopReason {
	switch finish {
	case "MAX_TOKENS":
		return model.StopMaxTokens
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "MODEL_ARMOR":
		return model.StopRefusal
	}
	if calls {
		return model.StopTools
	}
	return model.StopEnd
}

// ends reports whether the finish reason is for a usable answer.
func ends(finish string) bool { return unusable(finish) == "" }

// unusable describes the problem with an answer with this finish reason, or returns "".
func unusable(finish string) string {
	switch finish {
	case "MALFORMED_FUNCTION_CALL":
		return "the model wrote a tool call that cannot be read (MALFORMED_FUNCTION_CALL)"
	case "UNEXPECTED_TOOL_CALL":
		return "the model called a tool that it was not given (UNEXPECTED_TOOL_CALL)"
	case "TOO_MANY_TOOL_CALLS":
		return "the model called too many tools at once (TOO_MANY_TOOL_CALLS)"
	case "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE":
		return "the model wrote an answer that cannot be read (" + finish + ")"
	}
	return ""
}
