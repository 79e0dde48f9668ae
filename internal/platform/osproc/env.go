package osproc

import (
	"slices"
	"strings"
)

// ScrubEnv returns environ without what no program may inherit: our own variables, the credentials
// and settings of model providers, and variables that make a shell or the loader run code.
func ScrubEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return private(name)
	})
}

func private(name string) bool {
	upper := strings.ToUpper(name)
	for _, prefix := range []string{"ADZE_", "CLAUDE_", "ANTHROPIC_", "LD_", "DYLD_", "BASH_FUNC_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	for _, provider := range []string{
		"OPENAI", "AZURE_OPENAI", "GEMINI", "GOOGLE_GENERATIVE", "OPENROUTER", "MISTRAL", "GROQ", "XAI", "DEEPSEEK", "COHERE", "BRAVE",
	} {
		if strings.HasPrefix(upper, provider+"_") && secret(upper) {
			return true
		}
	}
	switch upper {
	case "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "IFS", "CDPATH", "SHELLOPTS", "BASHOPTS", "GOOGLE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK":
		return true
	}
	return name == "" // Windows keeps the directory of each drive under no name
}

// DropSecrets returns environ without the variables whose names look like those of secrets, except
// those that are listed in keep.
func DropSecrets(environ, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return secret(strings.ToUpper(name)) && !slices.Contains(keep, name)
	})
}

func secret(upper string) bool {
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH"}, func(word string) bool {
		return strings.Contains(upper, word)
	})
}
