package config

import (
	"slices"
	"strings"
)

// Redirects reports whether a variable can redirect adze or a program it starts, or load code
// into it. No workspace may set such a variable, even if trusted. No list of names is complete,
// so all other workspace variables need approval, and commands that run without confirmation
// don't get them.
func Redirects(name string) bool {
	upper := strings.ToUpper(name) // names are case-insensitive on Windows, and proxies are spelled both ways
	return slices.Contains(redirecting[:], upper) ||
		slices.ContainsFunc(redirectingStarts[:], func(s string) bool { return strings.HasPrefix(upper, s) }) ||
		slices.ContainsFunc(redirectingEnds[:], func(s string) bool { return strings.HasSuffix(upper, s) })
}

var redirectingStarts = [...]string{
	"ADZE_", "ANTHROPIC_", "CLAUDE_", "OPENAI_", "AZURE_", "GEMINI_", "GOOGLE_", "XAI_", "OPENROUTER_", "AWS_", "OTEL_",
	"LD_", "DYLD_", "BASH_FUNC_", "GIT_", "SSH_", "PYTHON", "PERL5", "RUBYOPT", "RUBYLIB", "NPM_CONFIG_", "JAVA_", "JDK_", "_JAVA_", "GLIBC_",
	"CARGO_", "RUSTC_", "PIP_", "UV_", "DOTNET_", "CORECLR_", "COMPLUS_", "LUA_", "DOCKER_", "KUBE", "XDG_",
	"BASH", "GCONV_", "MALLOC_", "OPENSSL_", "LESS", "VIM", "NVIM_", "RSYNC_", "PKG_CONFIG", "ANSIBLE_", "BUNDLE_", "GEM_", "RUBY", "R_PROFILE", "R_ENVIRON", "R_LIBS", "R_HOME", "TF_CLI_", "TF_PLUGIN", "TF_REATTACH", "CLOUDSDK_",
	"YARN_", "PNPM_", "BUN_", "DENO_", "COREPACK_", "NVM_", "VOLTA_", "PYTEST_", "TOX_", "CONDA_", "POETRY_", "PYENV_", "RBENV_", "MISE_", "ASDF_", "NIX_",
	"CMAKE_", "CTEST_", "GRADLE_", "MAVEN_", "CGO_", "RUSTUP_", "RUSTDOC", "GHC", "STACK_", "CABAL_", "OCAML", "CAML", "OPAM", "ERL_", "ELIXIR_", "MIX_HOME", "MIX_ARCHIVES", "MIX_EXS", "JULIA_", "PHP_", "COMPOSER_",
	"NUGET_", "MSBUILD", "HELM_", "CONTAINERS_", "BUILDAH_", "GH_", "GLAB_", "HGRC", "HGEDIT", "HGMERGE", "SVN_", "CVS_", "GNUPG", "GPG_", "KRB5", "LDAPCONF", "LDAPRC", "LDAPTLS_", "SUDO_", "TMUX", "FZF_", "BAT_",
	"GTK_", "QT_", "GIO_", "GST_", "GDK_", "FONTCONFIG_", "MAGICK_", "TEXMF", "TCL", "TEXINPUTS", "DBUS_", "APT_", "DPKG_", "RPM_", "HOMEBREW_", "DIRENV_", "JUPYTER_",
}

var redirectingEnds = [...]string{
	"PROXY", "_CA_BUNDLE", "_CA_CERTS", "_CERT_FILE", "_CERT_DIR", "_BASE_URL", "_API_BASE", "_API_URL", "_ENDPOINT", "_OPTS", "_ASKPASS", "_PRELOAD", "_WRAPPER",
	"_OPTIONS", "_ADDOPTS", "_PAGER", "_EDITOR", "_RSH", "_SSH", "_EXECUTABLE", "_EXECUTABLE_PATH", "_CONFIG_FILE", "_RCFILE", "_PLUGINS", "_PLUGIN_PATH",
	"_TOOLCHAIN", "_LAUNCHER", "_INTERPRETER", "_SHELL", "_LOADER",
}

var redirecting = [...]string{
	"PATH", "PATHEXT", "COMSPEC", "SHELL", "SHELLOPTS", "BASHOPTS", "BASH_ENV", "BASH_XTRACEFD", "ENV", "ZDOTDIR", "FPATH", "IFS", "CDPATH", "PS4", "PROMPT_COMMAND",
	"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME",
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "LESSKEY",
	"NODE_OPTIONS", "NODE_PATH", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_REPL_EXTERNAL_MODULE", "PERLLIB", "CLASSPATH", "PHPRC", "PHP_INI_SCAN_DIR",
	"GOFLAGS", "GOENV", "GOROOT", "GOPATH", "GOTOOLCHAIN", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GOINSECURE",
	"RIPGREP_CONFIG_PATH", "MAKEFLAGS", "MFLAGS", "CC", "CXX", "TERMINFO", "INPUTRC", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN", "NETRC", "CURL_HOME", "WGETRC",
	"IS_SANDBOX", "SSLKEYLOGFILE",
	"LOCPATH", "NLSPATH", "MAKEFILES", "GNUMAKEFLAGS", "GOAUTH", "GOCACHEPROG", "GOBIN", "GOCACHE", "GOMODCACHE", "GOVCS", "GOWORK", "GOTOOLDIR", "GOEXPERIMENT",
	"PSQLRC", "PGSERVICEFILE", "PGSYSCONFDIR", "MYSQL_HOME", "REDISCLI_RCFILE", "EXINIT", "MANPATH", "MANOPT", "MAILCAPS", "MAILRC", "SCREENRC", "STARSHIP_CONFIG",
	"GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "FFLAGS", "LDFLAGS", "ASFLAGS", "RUSTFLAGS", "NODE_V8_COVERAGE", "AR", "AS", "LD", "CPP", "FC", "GS_LIB", "TERMINFO_DIRS", "TERMCAP",
	"ACKRC", "ZIPOPT", "UNZIP", "GZIP", "XZ_OPT", "XZ_DEFAULTS", "BOTO_CONFIG", "REGISTRY_AUTH_FILE", "XAUTHORITY", "COVERAGE_PROCESS_START", "COVERAGE_RCFILE", "IPYTHONDIR",
	"DEVELOPER_DIR", "SDKROOT", "DEBUGINFOD_URLS", "TZDIR", "GETCONF_DIR", "RESOLV_HOST_CONF", "HISTFILE", "PS1", "PS2",
}
