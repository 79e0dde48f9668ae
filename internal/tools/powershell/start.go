package powershell

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// The command is handed over in variables of the environment, in pieces that are letters and digits:
// there is no quoting, and so none to get wrong, no code page to get lost in, and its input stays empty.
const (
	commandVariable = "ADZE_COMMAND_"
	reportVariable  = "ADZE_REPORT"
	// maxVariable is less than the longest value that Windows takes.
	maxVariable = 30_000
)

// starter is what PowerShell is started with. It takes the command out of the environment, runs it, and
// leaves word of where it ended.
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

// ending is put after a command, so that its exit code is that of the program that failed last. The blank
// line is for a command that ends in the mark of a continued one.
const ending = "\n\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }\n"

// arguments returns what PowerShell is started with.
func arguments() []string {
	return []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand", encoded(starter)}
}

// encoded returns text as -EncodedCommand wants it.
func encoded(text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// handedOver returns the variables that carry the command.
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

// readOnlyEnv returns what a read-only command gets to know of env: what programs need to start. Where
// modules are looked for is not among it, so that only those of PowerShell itself are found.
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
