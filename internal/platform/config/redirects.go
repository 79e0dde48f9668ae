package config

import (
	"slices"
	"strings"
)

// Redirects reports whether a variable can send adze or a program it starts somewhere else, or load
// code into it. A workspace may not set it, whether it is trusted or not.
func Redirects(name string) bool {
	upper := strings.ToUpper(name) // Windows does not tell them apart, and proxies are written both ways
	return slices.Contains(redirecting[:], upper) ||
		slices.ContainsFunc(redirectingStarts[:], func(s string) bool { return strings.HasPrefix(upper, s) }) ||
		slices.ContainsFunc(redirectingEnds[:], func(s string) bool { return strings.HasSuffix(upper, s) })
}

var redirectingStarts = [...]string{
	"ADZE_", "ANTHROPIC_", "CLAUDE_", "OPENAI_", "AZURE_", "GEMINI_", "GOOGLE_", "XAI_", "OPENROUTER_", "AWS_", "OTEL_",
	"LD_", "DYLD_", "BASH_FUNC_", "GIT_", "SSH_", "PYTHON", "PERL5", "RUBYOPT", "RUBYLIB", "NPM_CONFIG_", "JAVA_", "JDK_", "_JAVA_", "GLIBC_",
	"CARGO_", "RUSTC_", "PIP_", "UV_", "DOTNET_", "CORECLR_", "COMPLUS_", "LUA_", "DOCKER_", "KUBE", "XDG_",
}

var redirectingEnds = [...]string{
	"PROXY", "_CA_BUNDLE", "_CA_CERTS", "_CERT_FILE", "_CERT_DIR", "_BASE_URL", "_API_BASE", "_API_URL", "_ENDPOINT", "_OPTS", "_ASKPASS", "_PRELOAD", "_WRAPPER",
}

var redirecting = [...]string{
	"PATH", "PATHEXT", "COMSPEC", "SHELL", "SHELLOPTS", "BASHOPTS", "BASH_ENV", "BASH_XTRACEFD", "ENV", "ZDOTDIR", "FPATH", "IFS", "CDPATH", "PS4", "PROMPT_COMMAND",
	"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME",
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "LESSKEY",
	"NODE_OPTIONS", "NODE_PATH", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_REPL_EXTERNAL_MODULE", "PERLLIB", "CLASSPATH", "PHPRC", "PHP_INI_SCAN_DIR",
	"GOFLAGS", "GOENV", "GOROOT", "GOPATH", "GOTOOLCHAIN", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GOINSECURE",
	"RIPGREP_CONFIG_PATH", "MAKEFLAGS", "MFLAGS", "CC", "CXX", "TERMINFO", "INPUTRC", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN", "NETRC", "CURL_HOME", "WGETRC",
	"IS_SANDBOX", "SSLKEYLOGFILE",
}
