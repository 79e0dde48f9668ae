package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// describe formats path uses briefly: r, w, x (removed) or cd, the path, and its base
// directory.
func describe(uses []PathUse) string {
	var all []string
	for _, u := range uses {
		verb := map[Verb]string{ReadPath: "r", WritePath: "w", RemovePath: "x", EnterPath: "cd"}[u.Verb]
		text := verb + " " + u.Path
		if u.Glob != "" {
			text += " (" + u.Glob + ")"
		}
		if u.Dir != "" {
			text += " in " + u.Dir
		}
		if !u.Known {
			text += " ?"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// Proves PERM-38.
func TestPaths(t *testing.T) {
	tests := []struct{ line, want string }{
		{"cat a b", "r a, r b"},
		{"cat -n -- -a", "r -a"},
		{"cat -", "r -"},
		{"ls", ""},
		{"ls -la src /etc", "r src, r /etc"},
		{"ls *.go", "r  (*.go)"},
		{"ls src/*/x.go", "r src/ (src/*/x.go)"},
		{"find src -name '*.go'", "r src"},
		{"find . -delete", "x ."},
		{"find -delete", "x ."},
		{"find a b -exec rm {} +", "w a, w b"},
		{"find a -fprint out", "w a, w out"},
		{"mkdir -p a/b", "w a/b"},
		{"mkdir -m 755 a", "w a"},
		{"touch a b", "w a, w b"},
		{"rm -rf a b", "x a, x b"},
		{"rm -- -a", "x -a"},
		{"rmdir a", "x a"},
		{"mv a b", "x a, w b"},
		{"mv -t d a b", "x a, x b, w d"},
		{"cp a b c", "r a, r b, w c"},
		{"cp -r a b", "r a, w b"},
		{"cp --target-directory=d a", "r a, w d"},
		{"ln a b", "r a, w b"},
		{"ln -s a b", "w b"},
		{"head -n 5 f", "r f"},
		{"tail -20 f", "r f"},
		{"sort -k 2 f", "r f"},
		{"sort -o out f", "r out, r f, w out"},
		{"sort --output=out f", "r f, w out"},
		{"uniq a b", "r a, w b"},
		{"wc -l f", "r f"},
		{"cut -d: -f1 f", "r f"},
		{"paste a b", "r a, r b"},
		{"column -t f", "r f"},
		{"tr a b", ""},
		{"file f", "r f"},
		{"df", ""},
		{"df -h . link", "r ., r link"},
		{"df --output=source -t ext4 -- -a", "r -a"},
		{"stat f", "r f"},
		{"diff a b", "r a, r b"},
		{"awk '{print}' f g", "r f, r g"},
		{"awk -F: '{print}' x=1 f", "r f"},
		{"strings f", "r f"},
		{"hexdump -C f", "r f"},
		{"od f", "r f"},
		{"base64 f", "r f"},
		{"nl f", "r f"},
		{"grep foo f g", "r f, r g"},
		{"grep -e foo f", "r f"},
		{"grep -f pats f", "r pats, r f"},
		{"rg foo src", "r src"},
		{"sed -n 1p f", "r f"},
		{"sed -i s/a/b/ f", "w f"},
		{"sed -i -e s/a/b/ f g", "w f, w g"},
		{"sed -nEi p f", "w f"},
		{"sed --in-pl p f", "w f"},
		{"sed -n -l 5 -e p f", "r f"},
		{"sed -es/a/b/ f", "r f"},
		{"sed -ne p f", "r f"},
		{"jq . f", "r f"},
		{"sha256sum f", "r f"},
		{"md5sum f", "r f"},
		{"git diff -- a", "r a"},
		{"git show HEAD:secret", "r secret"},
		{"git config -f a --list", "r a"}, // F6: a file named by an option
		{"git ls-files --exclude-from=a -o", "r a"},
		{"git diff -Oa HEAD", "r a, r HEAD"},
		{"git -C x status", "cd x"},
		{"git rm a", "x a"},
		{"tee a", "w a"},
		{"dd if=a of=b", "r a, w b"},
		{"test -f a", "r a"},
		{"make > out", "w out"},
		{"make >> out 2> err < in", "w out, w err, r in"},
		{"make > /dev/null 2>&1", ""},
		{"make &> out", "w out"},
		{"make >& out", "w out"},
		{"cat <<E > f\nx\nE", "w f"},
		{"{ ls; pwd; } > f", "w f"},
		{"(cd a; ls) > f", "w f, cd a"},
		{"cd a && cat f", "cd a, r f in a"},
		{"cd a && cd b && cat f", "cd a, cd b in a, r f in a/b"},
		{"cd /a && cat f", "cd /a, r f in /a"},
		{"cd a; cat f", "cd a, r f in a, r f"},
		{"cd a || cat f", "cd a, r f"},
		{"(cd a && ls) && cat f", "cd a, r f"},
		{"cd a | cat f", "cd a, r f"},
		{"cd a && cat /f", "cd a, r /f"},
		{"cd - && cat f", "cd - ?, r f ?"},
		{"cd && cat f", "r f in /home/u"},
		{"cd ~ && rm f", "cd /home/u, x f in /home/u"},
		{"popd && rm f", "x f ?"},
		{"rm $x", "x  ?"},
		{"rm \"$x/a\"", "x /a ?"},
		{"ls > $x", "w  ?"},
		{"for f in a; do rm b; done", "x b"},
		// F6: reads that were missed.
		{"awk 1 ./a=b", "r ./a=b"},
		{"awk 1 ./x=y/../../secret", "r ./x=y/../../secret"},
		{"awk 1 a=b c", "r c"},
		{"od -c -w 5", "r 5"},
		{"od -w5 f", "r f"},
		{"echo /home/u/.ssh/*", "r /home/u/.ssh/ (/home/u/.ssh/*)"},
		{"printf '%s\\n' sub/*", "r sub/ (sub/*)"},
		{"basename -a /x/*.go", "r /x/ (/x/*.go)"},
		{"dirname /x/*", "r /x/ (/x/*)"},
		{"test a -nt b", "r a, r b"},
		{"[ a -ot /x ]", "r a, r /x"},
		{"[ /x -ef b ]", "r /x, r b"},
		{"tee /dev/null", ""},
		{"make > /dev/stderr", ""},
		{"tee /dev/stdout < f", "r f"},
		// A descriptor opened for reading is reopened for writing.
		{"make 1< f > /dev/stdout", "r f, w /dev/stdout"},
		{"make < f > /dev/stdin", "r f, w /dev/stdin"},
		{"make 3< f > /dev/fd/3", "r f, w /dev/fd/3"},
		{"make < f 1>&0 > /dev/stdout", "r f, w /dev/stdout"},
		{"make < f 1<&0 > /dev/stdout", "r f, w /dev/stdout"},
		{"exec 2< f; tee /dev/stderr", "r f, w /dev/stderr"},
		{"tar -tf a.tar x", "r a.tar"},
		{"tar tzf a.tgz", "r a.tgz"},
		{"tar --file=a.tar --list", "r a.tar"},
		{"unzip -l a.zip x", "r a.zip"},
		{"jq --arg a b --slurpfile x f . g", "r f, r g"},
		{"jq -e . f", "r f"},
		// Loops, conditions and substitutions.
		{"for f in src/*.go; do wc -l $f; done", "r src/ (src/*.go), r  ?, r  ?"},
		{"for f in a b; do cat x; done", "r x"},
		{"while read -r l; do echo $l; done < f", "r f"},
		{"if [ -f a ]; then cat b; else cat c; fi", "r a, r b, r c"},
		{"[[ -f a && b -nt c ]] && cat d", "r a, r b, r c, r d"},
		{"[[ -n a ]] || cat d", "r d"},
		{"case $x in a) cat b;; *) cat c;; esac", "r b, r c"},
		{"x=$(cat a); echo $x", "r a"},
		{"diff <(sort a) <(sort b)", "r a, r b"},
		{"cat $x b", "r  ?, r b, r  ?"},
		{"head -n$x f", "r f, r  ?"},
		{"head -n \"$x\" f", "r f, r  ?"},
		{"grep \"a$x\" f", "r f"},
		{"sed \"s/a/$x/\" f", "r f, r  ?"},
		{"cd a && for f in x; do cat b; done", "cd a, r b in a"},
		{"cd a; if true; then cd b; fi; cat f", "cd a, cd b in a, cd b, r f in a/b, r f in b, r f in a, r f"},
		{"for d in a b; do (cd $d && cat f); done; cat g", "cd  ?, r f ?, r g"},
		{"for d in a b; do cd $d; cat f; done; cat g", "cd  ?, r f ?, r g ?"},
		{"cd a || exit 1; x=1; cat f", "cd a, r f in a"},
		{"f() { cat a; }; f", "r a"},
		{"f() { cd a; }; f; cat b", "cd a ?, r b ?"},
		{"eval x; cat b", "r b ?"},
		{"CDPATH=/x; cd a && cat b", "cd a ?, r b ?"},
		{"echo $(cd a && cat b); cat c", "cd a, r b in a, r c"},
		{"find a -exec cat {} +", "r a, r  ?"},
		{"find a -name x | xargs grep y f", "r a, r f, r  ?"},
		{"cat $(< a)", "r  ?, r  ?, r a"},
		{"timeout 5 rm a", "x a"},
		{"sudo rm a", ""},
	}
	for _, tt := range tests {
		got := describe(Parse(tt.line, Vars{Home: "/home/u"}).Paths())
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestChangesDirAndUsesGit(t *testing.T) {
	for line, want := range map[string]string{
		"ls": "false false", "cd a && ls": "true false", "cd a && git status": "true true", "pushd a": "true false", "popd": "true false",
		"if x; then /usr/bin/git log; fi": "false true",
		"timeout 5 git log":               "false true", "nice -n 5 git log": "false true", "ls | xargs -n1 git log": "false true", "env LANG=C git log": "false true",
		"command git log": "false true", "time git log": "false true", "find . -exec git log {} +": "false true", "echo git": "false false",
	} {
		s := Parse(line, Vars{})
		if got := fmt.Sprint(s.ChangesDir(), s.UsesGit()); got != want {
			t.Errorf("%q: %s", line, got)
		}
	}
}

// Proves PERM-37, SHC-02.
func TestDangerousRemovals(t *testing.T) {
	tests := []struct {
		line string
		want bool
	}{
		{"rm -rf /", true}, {"rm -rf /*", true}, {"rm -rf //", true}, {"rm -rf /.", true}, {"rm -rf /a/..", true},
		{"rm -rf ~", true}, {"rm -rf ~/", true}, {"rm -rf ~/*", true}, {"rm -rf $HOME", true}, {"rm -rf \"$HOME\"/*", true}, {"rm -rf /home/u", true}, {"rm -rf /home", true},
		{"rm -rf /etc", true}, {"rm -rf /usr/", true}, {"rm -rf /usr/*", true}, {"rm -rf /tmp", true}, {"rm -rf C:/", true}, {"rm -rf C:\\\\", true}, {"rm -rf c:", true},
		{"rm -rf .", true}, {"rm -rf ./", true}, {"rm -rf *", true}, {"rm -rf ./*", true}, {"rm -rf ..", true}, {"rm -rf ../..", true}, {"rm -rf /work/project", true}, {"rm -rf /work", true},
		{"rm -rf ../*", true}, {"rm -rf /other/dir", true}, {"cd .. && rm -rf project", true}, {"cd / && rm -rf usr", true}, {"cd $x && rm -rf a", true}, {"cd - && rm -rf a", true},
		{"rm -rf $x", true}, {"rm -rf \"$x/a\"", true}, {"rm -rf $(pwd)", true}, {"rm -rf `pwd`", true}, {"rm -rf <(ls)", true}, {"rmdir /", true},
		{"sudo rm -rf /", true}, {"timeout 5 rm -rf /", true}, {"env A=1 rm -rf ~", true}, {"ls && rm -rf /", true}, {"find / -delete", true}, {"find . -delete", true}, {"mv / x", true}, {"mv ~ x", true},
		{"for f in *; do rm $f; done", true}, {"echo $(rm -rf /)", true}, {"rm -rf '", true},
		{"rm -rf \"$x\"/*", true}, {"rm -rf $x/", true}, {"rm -f $x/*", true}, {"rm $x*", true}, {"rm -rf /$x", true}, {"rm -rf ~/$x", true}, {"rm -rf ./$x", true},
		{"if true; then rm -rf /; fi", true}, {"for d in a b; do rm -rf /etc; done", true}, {"while read f; do rm -rf \"$f\"; done", true}, {"for d in */; do rm -rf \"$d\"; done", true},
		{"for d in a ~; do rm -rf \"$d\"; done", true}, {"for d in / a; do rm -rf $d; done", true}, {"x=/; rm -rf $x", true}, {"x=$HOME; rm -rf \"$x\"", true}, {"rm -rf $x/*; x=a", true},
		{"if c; then x=a; fi; rm -rf $x/*", true}, {"x=a; read x; rm -rf $x", true}, {"x=a; x+=/; rm -rf $x", true}, {"f() { rm -rf \"$1\"; }; f /", true}, {"d=$(mktemp -d); rm -rf \"$d\"/*", true},
		{"d=$(mktemp -d); rm -rf \"$d/..\"", true}, {"cd $d && rm *", true}, {"cd \"$d\" && rm -rf *", true}, {"find / -name core -delete", true}, {"find ~ -name '*.tmp' -delete", true}, {"find . -name '*' -delete", true},
		{"find . ! -name x -delete", true}, {"find . -name a -o -delete", true}, {"find . -type f -delete", true}, {"find . -exec rm {} +", true}, {"find .. -name x -exec rm -rf {} +", true}, {"rm -rf {a,/}", true},
		{"rm -rf {.,b}", true}, {"rm -r{f,v} /", true}, {"{ rm -rf /; } 2>/dev/null", true}, {"(rm -rf ~) & wait", true}, {"! rm -rf ..", true}, {"a=1 b=2; rm -rf -- $c", true}, {"mv $x/* y", true},

		// Harmless, although the lines are not simple.
		{"rm -f out.txt; make; echo $?", false}, {"touch t && rm t; echo $?", false}, {"for f in a b; do rm -f $f; done", false}, {"if [ -f a ]; then rm a; fi", false},
		{"tmp=$(mktemp); rm -f $tmp", false}, {"find . -name '*.tmp' -delete; echo $?", false}, {"find . -name '*.tmp' -delete", false}, {"for d in build dist; do rm -rf \"$d\"; done", false},
		{"tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; make", false}, {"d=$(mktemp -d) && cp a $d && rm -rf \"$d\"", false}, {"d=\"$(mktemp -d)\"; rm -rf \"$d\"", false}, {"rm -f \"$f\"", false}, {"rm $f", false},
		{"while read f; do rm -f \"$f\"; done < list", false}, {"for f in *.o; do rm -f $f; done", false}, {"rm -rf build/$x", false}, {"rm -rf ./out/$x/*", false}, {"x=build; rm -rf $x/*", false},
		{"x=build && rm -rf \"$x\"", false}, {"out=a/b; for i in 1 2; do rm -rf \"$out/$i\"; done", false}, {"rm -rf {build,dist}", false}, {"rm -f a{1,2}.txt", false}, {"for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done", false},
		{"mv \"$a\" \"$b\"", false}, {"cd sub && rm -rf build; echo $?", false}, {"cd \"$d\" && rm -f *.o", false}, {"cd $d && mv a b", false}, {"find . -name node_modules -exec rm -rf {} +", false},
		{"find . -name '*.pyc' -exec rm {} \\;", false}, {"find . -path './build/*' -delete", false}, {"find . -type d -empty -delete", false}, {"find build -type f -delete; ls", false}, {"rm -rf \"$PWD/build\"; echo $?", false},
		{"case $x in a) rm a;; esac", false}, {"until false; do rm -rf build; break; done", false}, {"f() { rm -f a; }; f", false}, {"rm -f a & wait", false}, {"x=$(rm -f a)", false}, {"[[ -f a ]] && rm a", false},
		{"rm -rf build", false}, {"rm a.txt", false}, {"rm -rf ./build/*", false}, {"rm *.o", false}, {"rm -rf /tmp/x", false}, {"rm -rf /work/project/build", false}, {"rm -rf ~/x/y", false},
		{"cd sub && rm -rf a", false}, {"echo rm -rf /", false}, {"ls /", false}, {"mv a b", false}, {"find build -delete", false}, {"git rm -r x", false}, {"grep -r rm /", false},
	}
	for _, tt := range tests {
		s := Parse(tt.line, Vars{Home: "/home/u", Dir: "/work/project"})
		if got := s.DangerousRemovals("/home/u", []string{"/work/project", "/other/dir"}, nil); (len(got) > 0) != tt.want {
			t.Errorf("%q: %q", tt.line, got)
		}
	}
}
