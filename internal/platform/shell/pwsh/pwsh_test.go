package pwsh

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/proc/cputime"
)

func TestReadOnly(t *testing.T) {
	tests := []struct {
		line, proven string
		reads        []string
	}{
		{"Get-ChildItem", `Microsoft.PowerShell.Management\Get-ChildItem`, []string{"."}},
		{"ls", `Microsoft.PowerShell.Management\Get-ChildItem`, []string{"."}},
		{"DIR src -File", `Microsoft.PowerShell.Management\Get-ChildItem 'src' -file`, []string{"src"}},
		{`gci C:\work\*.go`, `Microsoft.PowerShell.Management\Get-ChildItem 'C:\work\*.go'`, []string{`C:\work\`}},
		{"ls *.go | Select-Object -First 5", `Microsoft.PowerShell.Management\Get-ChildItem '*.go' | Microsoft.PowerShell.Utility\Select-Object -first '5'`, []string{"."}},
		{"Get-Content a.txt -TotalCount 10; pwd", "Microsoft.PowerShell.Management\\Get-Content 'a.txt' -totalcount '10'\nMicrosoft.PowerShell.Management\\Get-Location", []string{"a.txt"}},
		{"cat 'my file.txt'", `Microsoft.PowerShell.Management\Get-Content 'my file.txt'`, []string{"my file.txt"}},
		{`type "it's.txt"`, `Microsoft.PowerShell.Management\Get-Content 'it''s.txt'`, []string{"it's.txt"}},
		{"Select-String -Pattern TODO -Path main.go -CaseSensitive", `Microsoft.PowerShell.Utility\Select-String -pattern 'TODO' -path 'main.go' -casesensitive`, []string{"main.go"}},
		{"sls TODO main.go", `Microsoft.PowerShell.Utility\Select-String 'TODO' 'main.go'`, []string{"main.go"}},
		{"gc a.txt | measure -Line", `Microsoft.PowerShell.Management\Get-Content 'a.txt' | Microsoft.PowerShell.Utility\Measure-Object -line`, []string{"a.txt"}},
		{"Test-Path x -PathType Leaf\r\nGet-Date -Format 'yyyy'", "Microsoft.PowerShell.Management\\Test-Path 'x' -pathtype 'Leaf'\nMicrosoft.PowerShell.Utility\\Get-Date -format 'yyyy'", []string{"x"}},
		{"echo a b 'c d'", `Microsoft.PowerShell.Utility\Write-Output 'a' 'b' 'c d'`, nil},
		{"cat größe.txt -ErrorAction SilentlyContinue", `Microsoft.PowerShell.Management\Get-Content 'größe.txt' -erroraction 'SilentlyContinue'`, []string{"größe.txt"}},
		{"Get-FileHash a.zip -Algorithm SHA256", `Microsoft.PowerShell.Utility\Get-FileHash 'a.zip' -algorithm 'SHA256'`, []string{"a.zip"}},
	}
	for _, tt := range tests {
		l := Parse(tt.line)
		got, err := l.Proven()
		if err != nil || got != tt.proven {
			t.Errorf("%q: %q, %v", tt.line, got, err)
		}
		if diff := cmp.Diff(tt.reads, l.Reads()); diff != "" {
			t.Errorf("%q reads (-want +got):\n%s", tt.line, diff)
		}
	}
}

// adversarial lists lines that look read-only but cannot be proven so.
var adversarial = []string{
	"", " ", ";", "|", "ls |", "| ls", "ls || rm x", "ls && rm x", "ls & rm x", "ls; rm x", "ls\nrm x", "ls | rm", "ls | % { rm $_ }", "ls |\nrm",
	"Get-Content $x", "Get-Content $(rm x)", "Get-Content (rm x)", "Get-Content @(rm x)", "Get-Content @x", "Get-Content \"$(rm x)\"", "Get-Content \"`$x\"", "Get-Content `x",
	"Get-`Content x", "ls `\n; rm x", "& ls", "& 'rm' x", ". ./x.ps1", ".\\ls", "./ls", `C:\x\ls.exe`, `evil\Get-Content x`, "iex ls", "Invoke-Expression ls", "powershell ls", "cmd /c dir",
	"Get-Content a > b", "Get-Content a 2>&1", "Get-Content a >> b", "Get-Content <x", "ls # x", "ls <# x #>", "#requires", "ls --% & rm x", "--% rm", "git --% x",
	"Get-Content @'\nx\n'@", "Get-Content @\"\nx\n\"@", "'Get-Content' x", "\"ls\"", "ls 'a'b", "ls 'a''b'", "ls \"a\"\"b\"", "ls 'a", "ls \"a", "ls a'b'",
	// Characters that PowerShell treats as quotes, dashes and blanks.
	"ls \u2018a\u2019", "ls 'a\u2019; rm x #'", "ls \"a\u201d; rm x #\"", "ls \u201ca\u201d", "ls 'a\u201b'", "ls \"a\u201e\"", "ls \u2013Recurse", "ls \u2014Force", "ls \u2015x", "ls\u00a0x", "ls\u0085x", "ls\u2028rm x", "ls\u200bx", "ls\ufeff", "ls\u202ex", "ls\u3000x",
	"ls\x00", "ls\x1b[2J", "ls\rrm x", "ls 'a\nb'", "ls a\x7f", "ls \xff",
	// Other providers, machines and spellings.
	"Get-Content Env:PATH", "ls Env:", "ls HKLM:\\x", "cat Variable:x", "cat FileSystem::C:\\x", "cat Microsoft.PowerShell.Core\\FileSystem::x", "cat a.txt:stream", "cat C:x", "cat C:", `cat \\host\share`, "cat //host/share", `cat \/host`, `cat \\?\C:\x`, "cat ~/x", "cat '~'", "cat 1:\\x",
	"cat *.txt", "cat a?", "cat 'a[b]'", "ls */x", "Select-String x *.go", "Get-FileHash *", "cat ''", "cat ' x'", "cat a,b", "cat 'a,b'", "cat -LiteralPath '*'",
	// Parameters.
	"ls -Recurse", "ls -Rec", "ls -r", "ls -Path:x", "ls -Path", "ls -Path -Force", "ls -OutVariable x", "ls -PipelineVariable x", "cat x -Wait", "cat x -Stream y", "cat x -TotalCount x", "cat x -TotalCount 5 -TotalCount 6",
	"cat '-Wait'", "cat x y", "ls a b c", "Get-Date -Date x", "Get-Date x", "Get-Process -FileVersionInfo", "Get-Location -PSProvider x", "cat x -ErrorAction Inquire", "cat x -ErrorAction Break", "cat", "Select-String x", "Test-Path",
	"ls | cat", "ls | Get-Item", "ls | sls x", "ls | Out-File x", "ls | Tee-Object x", "ls | Set-Content x", "ls | ForEach-Object Delete", "ls | Where-Object Delete", "ls | select @{n='x';e={rm y}}", "ls | sort {rm x}", "ls | Out-String | iex", "gcm x", "Get-Help x", "Import-Module x",
	"Get-Content x; exit", "exit", "if (1) {ls}", "function ls {rm x}", "return ls", "throw x", "using module x", "param x", "1+1", "-join ls", "[IO.File]::Delete('x')", "$x = ls", "x=1", "Set-Location x", "cd x; ls", "New-Item x", "ni x", "mkdir x", "Start-Process x", "Get-Clipboard", "Get-History", "git status", "Out-String x", "ls ^", "ls ~", "ls @a", "ls %x%", "ls !", "ls a#b", "Get-ChildItem -Path a -Path b",
}

func TestNotReadOnly(t *testing.T) {
	for _, line := range adversarial {
		if got, err := Parse(line).Proven(); err == nil {
			t.Errorf("%q is run as %q", line, got)
		}
	}
	if err := Parse("echo " + strings.Repeat("a ", maxLine)).ReadOnly(); err == nil {
		t.Error("a line without end is understood")
	}
}

func TestSuspected(t *testing.T) {
	tests := []struct {
		rule  string
		lines []string
		not   []string
	}{
		{"Remove-Item:*", []string{
			"Remove-Item x", "rm x", "RM x", "del x", "erase x", "rd x", "ri x", "rmdir x", "ls; rm x", "ls | rm", "ls | % { rm $_ }", "if (1) { del x }", "& rm x", "& 'rm' x", "r`m x", "Remove\u2013Item x", "Remove\u2014Item x", "\u2018rm\u2019 x", "& \u201crm\u201d x",
			"Microsoft.PowerShell.Management\\Remove-Item x", "$x = rm y", "@(rm y)", "foo (rm y)", "ls\u00a0; rm\u00a0x", "ls\u2028rm x", "ls && rm x", "ls || rm x", "cmd /c \"del x\"", "iex 'rm x'", "iex \"rm x\"", "r''m x", "rm", "sudo rm x", "ls `\n| rm", "<# x #> rm y", "rm <# x #> y", "{rm x}", "x=rm", "R\u200bm x", "'rm'|iex", "start rm x",
		}, []string{"ls", "Get-Content rm.txt", "echo format", "cat farm", "Rename-Item x y"}},
		{"rm:*", []string{"Remove-Item x", "del x", "rm x"}, []string{"ls"}},
		{"rm*", []string{"rm x", "del x", "rmdir x"}, []string{"ls rd.txt"}},
		{"git push:*", []string{"git push", "git push origin", "GIT PUSH", "git.exe push", `C:\Git\bin\git.exe push`, `& "C:\Program Files\Git\git.exe" push`, "git `\n push", "git <# a #> push", "git 'push'", "git \"push\"", "cd x; git push"}, []string{"git pull", "git status push", "gitpush"}},
		{"git * main", []string{"git push origin main", "git pull git push main"}, []string{"git push origin master"}},
		{"*push*", []string{"git push", "x push y"}, []string{"git pull"}},
		{"npm test", []string{"npm test", "ls; npm test", "NPM Test"}, []string{"npm test x", "npm tes"}},
		{"foo --a=b:*", []string{"foo --a=b", "foo --a=b c"}, []string{"foo --a=c"}},
		{"Get-Content *secret*", []string{"cat secret", "gc .\\secret.txt", "content secret"}, []string{"cat public"}},
		{"echo {x}", []string{"echo {x}", " ECHO {X} "}, []string{"echo x"}},
	}
	for _, tt := range tests {
		pat, err := ParsePattern(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range tt.lines {
			if _, ok := Parse(line).Suspected(pat); !ok {
				t.Errorf("%q does not match %q", tt.rule, line)
			}
		}
		for _, line := range tt.not {
			if text, ok := Parse(line).Suspected(pat); ok {
				t.Errorf("%q matches %q: %q", tt.rule, line, text)
			}
		}
	}
	for _, bad := range []string{"", " ", ":*"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

func TestCovered(t *testing.T) {
	tests := []struct {
		rules []string
		line  string
		want  bool
	}{
		{[]string{"git commit:*"}, "git commit -m 'a b'", true},
		{[]string{"git commit:*"}, "GIT commit", true},
		{[]string{"git commit:*"}, "git commit; git push", false},
		{[]string{"git commit:*", "git push:*"}, "git commit; git push", true},
		{[]string{"git commit:*"}, "git commit; ls", true},
		{[]string{"git commit:*"}, "ls | git commit", true},
		{[]string{"git commit:*"}, "git commit $(rm x)", false},
		{[]string{"git commit:*"}, "git commit `x", false},
		{[]string{"git commit:*"}, "git commit > x", false},
		{[]string{"git commit:*"}, "git commit && rm x", false},
		{[]string{"git commit:*"}, ".\\git commit", false},
		{[]string{"git commit:*"}, "git commit --% & rm x", false},
		{[]string{"git commit:*"}, "git commit\u2028rm x", false},
		{[]string{"git:*"}, "gitx", false},
		{[]string{"rm x"}, "del x", true},
		{[]string{"echo $x"}, "echo $x", true},
		{[]string{"echo $x"}, "echo $X", false},
		{[]string{`ls \*; rm $x`}, " ls *; rm $x ", true},
		{[]string{"*"}, "git push", true},
		{[]string{"git *"}, "git\u00a0push; x", false},
		{nil, "git push", false},
	}
	for _, tt := range tests {
		var pats []Pattern
		for _, rule := range tt.rules {
			pat, err := ParsePattern(rule)
			if err != nil {
				t.Fatal(err)
			}
			pats = append(pats, pat)
		}
		if got := Parse(tt.line).Covered(pats); got != tt.want {
			t.Errorf("%q by %q: %v", tt.line, tt.rules, got)
		}
	}
	for _, line := range []string{"git push * --tags", "echo $x; rm *"} {
		pat, err := ParsePattern(Parse(line).Suggest()[0])
		if err != nil || !Parse(line).Covered([]Pattern{pat}) {
			t.Errorf("what is suggested for %q does not cover it: %v", line, err)
		}
	}
	if Parse("ls\u202ex").Suggest() != nil {
		t.Error("a line that cannot be seen is suggested")
	}
}

func TestWhatALineMayDo(t *testing.T) {
	for line, want := range map[string]bool{"git push": false, "ls": false, "& x": true, "iex x": true, "$x": true, "cmd /c x": true, "echo (ls)": false, "[x]::y()": true, "pwsh -enc x": true, "start x": true, "ls | % x": true} {
		if got := Parse(line).Dynamic(); got != want {
			t.Errorf("%q dynamic: %v", line, got)
		}
	}
	for line, want := range map[string]string{"rm x": "deletes", "git push --force": "rewrites", "git push": "", "kill 5": "stops", "ls": "", "Clear-Content x": "deletes", "if (1) {del x}": "deletes"} {
		if got := Parse(line).Warning(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q", line, got)
		}
	}
	paths, certain := Parse(`rm -Recurse C:\ -Force`).Removals()
	if diff := cmp.Diff([]string{`C:\`}, paths); diff != "" || !certain {
		t.Errorf("%v %v", paths, certain)
	}
	if _, certain := Parse("rm $x").Removals(); certain {
		t.Error("what a variable removes is certain")
	}
	if paths, certain := Parse("ls").Removals(); len(paths) > 0 || !certain {
		t.Error("ls removes")
	}
}

// TestLongLinesAreSearched checks that lines of any length are searched completely in linear
// time.
func TestLongLinesAreSearched(t *testing.T) {
	rm, _ := ParsePattern("rm -Recurse * x *")
	star, _ := ParsePattern("*zz*y")
	for _, filler := range []string{"rm ", "a ", "(", "'", "echo a; ", "rm -recurse ", "<#", "=", "`"} {
		line := strings.Repeat(filler, 100_000/len(filler))
		start := cputime.Used()
		l := Parse(line)
		l.Suspected(rm)
		l.Suspected(star)
		l.Warning()
		l.Dynamic()
		l.ReadOnly() // ok: only the time matters
		if took := cputime.Used() - start; took > 5*time.Second {
			t.Errorf("%q: %v", filler, took)
		}
	}
	del, _ := ParsePattern("Remove-Item:*")
	if _, ok := Parse(strings.Repeat("echo a; ", 20_000) + "; del x").Suspected(del); !ok {
		t.Error("the end of a long line is not searched")
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range adversarial {
		f.Add(line)
	}
	f.Add("Get-Content 'a b' -TotalCount 5 | Select-Object -First 3; ls *.go")
	f.Fuzz(func(t *testing.T, line string) {
		l := Parse(line)
		text, err := l.Proven()
		if err != nil {
			return
		}
		// The line to run has only names outside quotes, and is itself provably the same.
		outside, quoted := "", false
		for _, r := range text {
			if r == '\'' {
				quoted = !quoted
				continue
			}
			if !quoted {
				outside += string(r)
			} else if r >= 0x80 && !letter(r) || r < ' ' {
				t.Fatalf("%q becomes %q", line, text)
			}
		}
		if quoted || strings.Trim(outside, letters+"-.\\ |\n") != "" {
			t.Fatalf("%q becomes %q", line, text)
		}
		if strings.ContainsAny(line, "$`(){}&<>@#%!") && !strings.ContainsAny(line, `'"@`) {
			t.Fatalf("%q is proven", line)
		}
	})
}
