package osproc

import (
	"slices"
	"strings"
)

// ScrubEnv returns environ without variables that no program may inherit: adze's own variables,
// credentials and settings of model providers (more names additional ones), and variables that
// make a shell or the loader run code.
func ScrubEnv(environ []string, more ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return private(name) || slices.Contains(more, name)
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
	return name == "" // Windows stores each drive's current directory in a variable with an empty name
}

// SecretName reports whether a variable's name indicates a secret.
func SecretName(name string) bool { return secret(strings.ToUpper(name)) }

// secret reports whether an upper-case name indicates a secret.
func secret(upper string) bool {
	if hasSecretWord(upper) {
		for _, word := range harmlessWords {
			upper = strings.ReplaceAll(upper, word, " ")
		}
		if hasSecretWord(upper) {
			return true
		}
	}
	for part := range strings.SplitSeq(upper, "_") {
		switch part {
		case "PASS", "PAT", "CREDS", "JWT", "BEARER", "COOKIE":
			return true
		}
	}
	return strings.HasSuffix(upper, "_PWD")
}

func hasSecretWord(upper string) bool {
	for _, word := range secretWords {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

var (
	secretWords = [...]string{"KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTH"}
	// harmlessWords contain a secret word but don't indicate a secret.
	harmlessWords = [...]string{
		"SSH_AUTH_SOCK", "GIT_CONFIG_KEY_", "GOAUTH", "LESSKEY", "AUTHORITY", "AUTHOR_", "TOKENIZER", "KEYBOARD", "KEYMAP", "KEYRING", "KEYTIMEOUT", "KEYWORD", "MONKEY", "HOTKEY",
	}
)
