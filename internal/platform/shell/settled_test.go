package shell

import "testing"

// TestWordsThatMayBecomeOptions checks that no word known only at run time can make a program
// run another.
//
// Proves SHRO-09.
func TestWordsThatMayBecomeOptions(t *testing.T) {
	for _, line := range []string{
		`xargs find . -maxdepth 0 < words`, `find . $(cat words)`, `x=-exec; find . $x /lib64/ld-linux-x86-64.so.2 ./prog ';'`, `echo a | xargs xargs`,
		`echo a | xargs -n1 xargs -n1`, `x=-exec; find . "$x" ls`, `find . "$(cat a)" "$(cat b)"`, `read x < f; find . $x`, `read x y < f; find "$x" "$y"`,
		`find "$1" "$2" "$3"`, `set -- $(cat f); find . "$@"`, `find . -name $(cat f)`, `mapfile -t a < f; find . "${a[@]}"`, `for w in $(cat f); do find . $w; done`,
		`find "$x" /lib64/ld-linux-x86-64.so.2 ./prog ';'`, `find . -exec ls {} \; $(cat f)`, `ls | xargs -I{} find {}  "$(cat f)"`, `cat f | xargs timeout 5 find .`,
		`cat f | xargs env find .`, `cat f | xargs rg x`, `rg x $(cat f)`, `rg $(cat f) .`, `rg "$(cat f)"`, `rg -"$x$(cat f)" y`, `read x < f; rg foo $x`, `read x < f; rg foo "$x"`,
		`cat f | xargs -I{} rg {} .`, `cat f | xargs -I X rg X .`, `cat f | xargs --replace rg {} .`, `cat f | xargs -0I{} rg {} .`, `cat f | xargs rg -e`, `x=--pre=cat; rg a $x`,
		`x=--pre=cat; rg a "$x"`, `x="a --pre=cat"; rg $x`, `for x in --pre=cat b; do rg a $x; done`, `fd $(cat f)`, `cat f | xargs fd`, `sort $(cat f)`, `cat f | xargs sort`,
		`cat f | xargs git grep foo`, `git grep foo $(cat f)`, `git grep "$(cat f)"`, `tar $(cat f)`, `tar -tf a.tar $(cat f)`, `cat f | xargs tar -tf`, `awk $(cat f)`, `awk "$(cat f)" a`,
		`read p < f; awk "$p" a`, `ag x $(cat f)`, `ack x $(cat f)`, `cat f | xargs bat`, `bash -n $(cat f)`, `cat f | xargs bash -n`, `node --check $(cat f)`, `openssl dgst $(cat f)`,
		`cat f | xargs openssl dgst -sha256`, `x="5 /lib/ld.so ./prog"; timeout $x ls`, `timeout $(cat f) ls`, `nice -n $(cat f) ls`, `xargs -n $(cat f) ls`, `stdbuf -o $(cat f) ls`,
		`f() { rg x $1; }; f --pre=cat`, `f() { find . $@; }; f -exec ls`, `y=$(cat f); x=$y; rg a $x`, `rg a ${x:-$(cat f)}`, `IFS=, read a b < f; rg x "$b"`, `printf -v x %s "$(cat f)"; rg a "$x"`,
		`exiftool $(cat f)`, `cloc $(cat f)`, `less $(cat f)`, `cat f | xargs less`, `git ls-files | while read f; do node --check "$f"; done`, `rg x "${a[0]}" $(cat f)`,
	} {
		if n, err := Parse(line, Vars{}).Jailed(); err == nil {
			t.Errorf("%s runs unasked, and needs %+v", line, n)
		}
	}
	for _, line := range []string{
		`find . -name '*.go' | xargs grep foo`, `find . -name '*.go' -print0 | xargs -0 wc -l`, `cat f | xargs -I{} rg foo ./{}`, `cat f | xargs rg foo --`, `cat f | xargs -I{} rg -e {} src`,
		`cat f | xargs git log --oneline`, `cat f | xargs -n1 git show --stat`, `cat f | xargs git grep foo --`, `cat f | xargs awk '{print $1}'`, `git diff $(git merge-base HEAD main)`,
		`git log $(git describe --abbrev=0)..HEAD`, `find "$d" -name x`, `find . -name "$x"`, `find "$PWD" -type f`, `d=src; find $d -name '*.go'`, `for d in src test; do find $d -type f; done`,
		`for d in */; do find "$d" -type f | wc -l; done`, `for f in *.go; do sort "$f"; done`, `for f in a.txt b.txt; do rg foo $f; done`, `for f in src/*.go; do rg foo $f; done`,
		`n=3; awk "NR==$n" f`, `rg -m "$n" foo`, `rg -A$n foo`, `rg -e "$(cat f)" src`, `rg foo -- $(cat f)`, `rg foo "./$(cat f)"`, `head -$n f`, `cat $(cat f)`, `ls $(cat f)`,
		`grep -n foo $(git ls-files)`, `wc -l $(git ls-files '*.go')`, `sed -n "$(cat n)p" f`, `l=$(cat n); sed -n "${l},$((l+9))p" f`, `grep -l x | xargs sed -n 1p`,
		`timeout 5 rg foo`, `timeout "$t" ls`, `rg -m $((1+2)) x`, `tar -tf "$f"`, `sort -k2 f`, `find . -newer "$f"`, `echo "$(rg foo)"`, `cat f | while read -r l; do grep "$l" g; done`,
	} {
		if _, err := Parse(line, Vars{Dir: "/w", Home: "/h"}).Jailed(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for line, want := range map[string]bool{`sed -n "$(cat n)p" f`: true, `ls | xargs sed -n 1p`: true, `sed -n 5p f`: false, `n=3; sed -n "${n}p" f`: false, `for f in a b; do sed -n 1p $f; done`: false, `awk "NR==$(cat n)" f`: true} {
		if n, err := Parse(line, Vars{}).Jailed(); err != nil || n.Scripted != want {
			t.Errorf("%s: %+v, %v", line, n, err)
		}
	}
}
