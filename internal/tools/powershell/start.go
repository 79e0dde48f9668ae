package powershell

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// The command is passed in environment variables, in alphanumeric pieces: this needs no
// quoting, does not depend on a code page, and leaves stdin empty.
const (
	commandVariable = "ADZE_COMMAND_"
	reportVariable  = "ADZE_REPORT"
	// maxVariable is less than the maximum length of a value on Windows.
	maxVariable = 30_000
)

// starter is the script that PowerShell starts with. It takes the command from the environment,
// runs it, and reports its final directory.
const starter = `
$ProgressPreference = 'SilentlyContinue'
$OutputEncoding = New-Object System.Text.UTF8Encoding $false
[Console]::OutputEncoding = $OutputEncoding
$adzeText = ''
for ($adzeIndex = 0; Test-Path "Env:ADZE_COMMAND_$adzeIndex"; $adzeIndex++) {
	$adzeText += (Get-Item "Env:ADZE_COMMAND_$adzeIndex").Value
	Remove-Item "Env:ADZE_COMMAND_$adzeIndex"
}
$adzeReport = $Env:ADZE_REPORT
Remove-Item Env:ADZE_REPORT
try {
	. ([ScriptBlock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($adzeText))))
} finally {
	[IO.File]::WriteAllText($adzeReport, (Get-Location -PSProvider FileSystem).ProviderPath)
}
`

// ending is appended to a command, so that its exit code is the code of the last failed
// program. The blank line is for a command that ends in a continuation mark.
const ending = "\n\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }\n"

// arguments returns the arguments of PowerShell.
func arguments() []string {
	return []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand", encoded(starter)}
}

// encoded encodes text for -EncodedCommand.
func encoded(text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// handedOver returns the variables that contain the command.
func handedOver(text, report string) []string {
	env := []string{reportVariable + "=" + report}
	left := base64.StdEncoding.EncodeToString([]byte(text + ending))
	for i := 0; left != ""; i++ {
		n := min(len(left), maxVariable)
		env = append(env, fmt.Sprintf("%s%d=%s", commandVariable, i, left[:n]))
		left = left[n:]
	}
	return env
}

// readOnlyEnv returns the variables of env that a read-only command gets: only variables that
// programs need to start. The module path is not included, so that only PowerShell's own
// modules are found.
func readOnlyEnv(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name = strings.ToUpper(name); name {
		case "PATH", "PATHEXT", "HOME", "USER", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "LANG", "TERM", "TMPDIR", "TEMP", "TMP",
			"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PROGRAMFILES", "PROGRAMDATA", "LOCALAPPDATA", "OS", "PROCESSOR_ARCHITECTURE":
			return false
		}
		return !strings.HasPrefix(name, "LC_")
	})
}
