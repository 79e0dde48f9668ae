package pwsh

import (
	"strings"
	"sync"
)

// aliasTable lists PowerShell's built-in aliases after their cmdlets.
const aliasTable = `
add-content ac
clear-content clc
clear-host clear cls
clear-item cli
clear-itemproperty clp
clear-variable clv
compare-object compare diff
copy-item cp copy cpi
copy-itemproperty cpp
convert-path cvpa
export-csv epcsv
foreach-object foreach %
format-custom fc
format-hex fhx
format-list fl
format-table ft
format-wide fw
get-alias gal
get-childitem gci ls dir
get-clipboard gcb
get-command gcm
get-content gc cat type
get-history ghy h history
get-item gi
get-itemproperty gp
get-itempropertyvalue gpv
get-job gjb
get-location gl pwd
get-member gm
get-module gmo
get-process gps ps
get-service gsv
get-unique gu
get-variable gv
get-wmiobject gwmi
group-object group
import-csv ipcsv
import-module ipmo
invoke-command icm
invoke-expression iex
invoke-history ihy r
invoke-item ii
invoke-restmethod irm
invoke-webrequest iwr curl wget
invoke-wmimethod iwmi
measure-object measure
move-item mi mv move
move-itemproperty mp
new-alias nal
new-item ni
new-variable nv
new-psdrive ndr mount
out-host oh
out-printer lp
pop-location popd
push-location pushd
receive-job rcjb
remove-item rm ri del erase rd rmdir
remove-itemproperty rp
remove-job rjb
remove-module rmo
remove-psdrive rdr
remove-variable rv
rename-item rni ren
rename-itemproperty rnp
resolve-path rvpa
select-object select
select-string sls
set-alias sal
set-clipboard scb
set-content sc
set-item si
set-itemproperty sp
set-location sl cd chdir
set-variable sv set
sort-object sort
start-job sajb
start-process saps start
start-service sasv
start-sleep sleep
stop-job spjb
stop-process spps kill
stop-service spsv
tee-object tee
test-connection
trace-command trcm
wait-job wjb
where-object where ?
write-output write echo
`

// aliases maps each alias to its cmdlet. For unknown names PowerShell also tries the prefix
// Get-.
var aliases = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(strings.TrimSpace(aliasTable)) {
		words := strings.Fields(line)
		for _, alias := range words[1:] {
			all[alias] = words[0]
		}
		if noun, ok := strings.CutPrefix(words[0], "get-"); ok && all[noun] == "" {
			all[noun] = words[0]
		}
	}
	return all
})

// resolve normalizes a program name for comparison: it lower-cases the name, removes the path,
// module and Windows extension, and replaces an alias by its cmdlet.
func resolve(word string) string {
	name := strings.ToLower(word)
	if i := strings.LastIndexAny(name, `\/`); i >= 0 {
		name = name[i+1:]
	}
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if cmdlet, ok := aliases()[name]; ok {
		return cmdlet
	}
	return name
}

var (
	// runners run text given to them, or programs of another kind.
	runners = setOf(`invoke-expression invoke-command invoke-item invoke-history invoke-wmimethod invoke-cimmethod start-process start-job
		start-threadjob new-object add-type import-module set-alias new-alias new-psdrive set-item new-item set-variable
		pwsh powershell cmd bash sh wsl cscript wscript mshta rundll32 msbuild regsvr32 wmic forfiles foreach-object where-object
		trace-command register-scheduledtask schtasks register-objectevent register-engineevent python python3 py node perl ruby`)
	packers    = setOf(`copy-item move-item compress-archive robocopy xcopy tar zip 7z scp rsync`)
	destroyers = setOf(`remove-item clear-content clear-item remove-itemproperty clear-recyclebin format-volume clear-disk
		remove-partition initialize-disk diskpart cipher sdelete rmdir`)
	enders = setOf(`stop-process stop-service stop-computer restart-computer shutdown taskkill`)
)
