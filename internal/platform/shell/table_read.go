package shell

// Reading files and text.
var readTable = []command{
	{name: "cat", class: ClassRead, options: `-A -b -e -E -n -s -t -T -u -v --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs --show-nonprinting`},
	{name: "head", class: ClassRead, options: `-# -n:# -c:# -q -v -z --lines:# --bytes:# --quiet --silent --verbose --zero-terminated`},
	{name: "tail", class: ClassRead, options: `-# -n:# -c:# -q -v -z -r --lines:# --bytes:# --quiet --silent --verbose --zero-terminated`},
	{name: "wc", class: ClassRead, options: `-l -w -c -m -L --lines --words --bytes --chars --max-line-length`, more: `--total:=`},
	{name: "stat", class: ClassRead, options: `-f -L -t -x -s -c:N --dereference --file-system --terse --format:N --printf:N`, more: `--cached:=`},
	{name: "file", class: ClassRead, options: `-b -i -I -h -k -r -0 -N --brief --mime --mime-type --mime-encoding --no-dereference --keep-going --raw --extension`, more: `-L -p --dereference --separator:N -F:N`},
	{name: "jq", class: ClassRead, operands: script, check: checkJq, options: `
		-r -c -n -e -s -S -M -C -a -j -R --raw-output --compact-output --null-input --exit-status --slurp --sort-keys
		--monochrome-output --color-output --ascii-output --join-output --raw-input --tab --indent:# --seq --stream`, more: `
		--arg:2 --argjson:2 --slurpfile:Q --rawfile:Q -f:P --from-file:P --args --jsonargs --unbuffered --raw-output0 -V`},
	{name: "awk gawk mawk", runs: true, class: ClassRead, operands: anything, check: checkAwk},
	{name: "sed", runs: true, class: ClassRead, operands: script, check: checkSed, options: `
		-n -E -r -s -u -z -e:N --quiet --silent --regexp-extended --expression:N --posix --sandbox --debug --null-data`, more: `
		-l:# --line-length:# --separate --unbuffered --zero-terminated`},
	{name: "sort", runs: true, class: ClassRead, options: `
		-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k:K -t:1 --key:K --field-separator:1 --reverse --unique
		--numeric-sort --general-numeric-sort --human-numeric-sort --month-sort --version-sort --random-sort
		--ignore-case --ignore-leading-blanks --dictionary-order --ignore-nonprinting --stable --check --merge
		--zero-terminated --debug`, more: `-S:N --buffer-size:N --parallel:# --sort:= --check:= --batch-size:#`},
	{name: "uniq", class: ClassRead, operands: onePath, options: `
		-c -d -D -i -u -z -f:# -s:# -w:# --count --repeated --all-repeated --ignore-case --unique --zero-terminated
		--skip-fields:# --skip-chars:# --check-chars:#`, more: `--group --group:= --all-repeated:=`},
	{name: "cut", class: ClassRead, options: `
		-s -n -z -b:L -c:L -f:L -d:1 --complement --only-delimited --zero-terminated --bytes:L --characters:L --fields:L
		--delimiter:1 --output-delimiter:N`},
	{name: "tr", class: ClassRead, operands: texts, options: `-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1`},
	{name: "nl", class: ClassRead, options: `-p -b:N -d:N -f:N -h:N -i:# -l:# -n:N -s:N -v:# -w:# -ba`},
	{name: "od", class: ClassRead, options: `-b -c -d -o -s -v -x -A:N -t:N -N:# -j:# -w -w:+ -An -tx1 --address-radix:N --format:N --read-bytes:# --skip-bytes:# --output-duplicates`, more: `-a -f -h -i -l -S:# --strings:= --width --width:= --endian:=`},
	{name: "xxd", class: ClassRead, operands: onePath, options: `-a -b -e -E -p -ps -plain -u -l:# -s:# -c:# -g:# -o:#`, more: `-r -i -d -C -n:N -len:# -seek:# -cols:#`},
	{name: "hexdump hd", class: ClassRead, options: `-C -b -c -d -o -v -x -n:# -s:#`, more: `-e:N --canonical --length:# --skip:#`},
	{name: "base64", class: ClassRead, operands: onePath, options: `-d -D -w:# --decode --wrap:#`},
	{name: "strings", class: ClassRead, check: checkResponse, options: `-a -f -o -w -# -n:# -t:N -e:N --all --print-file-name --bytes:# --radix:N --encoding:N`},
	{name: "diff", class: ClassRead, check: checkDiff, options: `
		-u -c -q -r -N -w -b -B -i -y -s -a -d -p -t -T -E -Z -U:# -C:# -W:# -x:N -L:N --brief --unified --unified:= --context --context:=
		--color --color:= --recursive --new-file --side-by-side --width:# --report-identical-files --ignore-all-space
		--ignore-space-change --ignore-blank-lines --ignore-case --ignore-trailing-space --text --minimal
		--show-c-function --suppress-common-lines --no-dereference --exclude:N --label:N --strip-trailing-cr --normal`, more: `
		-# -e -n -F:N -I:N -X:P -S:N --ed --rcs --ignore-matching-lines:N --show-function-line:N --exclude-from:P --starting-file:N
		--left-column --expand-tabs --tabsize:# --speed-large-files --horizon-lines:# --ignore-tab-expansion --ignore-file-name-case
		--unidirectional-new-file --old-line-format:N --new-line-format:N --unchanged-line-format:N --line-format:N
		--old-group-format:N --new-group-format:N --changed-group-format:N --unchanged-group-format:N --suppress-blank-empty --palette:=`},
	{name: "cmp", class: ClassRead, options: `-s -l -b -n:# -i:N --silent --quiet --verbose --print-bytes --bytes:#`, more: `--ignore-initial:N`},
	{name: "comm", class: ClassRead, options: `-1 -2 -3 -z --nocheck-order --check-order --total --output-delimiter:N`, more: `--zero-terminated`},
	{name: "paste", class: ClassRead, options: `-s -z -d:N --serial --delimiters:N`},
	{name: "column", class: ClassRead, options: `-t -x -s:G -c:# -o:N --table --separator:N --output-separator:N`, more: `
		-e -L -N:N -R:N -H:N -T:N -O:N -W:N -n:N -l:# -J -d --json --table-name:N --table-columns:N --table-right:N --table-hide:N --table-noheadings
		--table-truncate:N --table-wrap:N --table-order:N --table-columns-limit:# --output-width:# --fillrows --keep-empty-lines`},
	{name: "fold", class: ClassRead, options: `-b -s -# -w:# --bytes --spaces --width:#`},
	{name: "rev", class: ClassRead},
	{name: "tac", class: ClassRead, operands: onePath, options: `-b -r -s:N`, more: `--before --regex --separator:N`},
	{name: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum", class: ClassRead, options: `-b -t -z --binary --text --tag --zero`, more: `
		-c -w --check --warn --quiet --status --strict --ignore-missing`},
	{name: "cksum", class: ClassRead, more: `-a:N --algorithm:N --untagged --base64 --raw -c --check --tag -z`},
	{name: "basename", class: ClassRead, operands: texts, options: `-a -z -s:N --multiple --zero --suffix:N`},
	{name: "dirname", class: ClassRead, operands: texts, options: `-z --zero`},
	{name: "realpath", class: ClassRead, options: `-e -m -s -q -z -L -P --relative-to:P --relative-base:P --canonicalize-existing --canonicalize-missing --no-symlinks --strip --quiet --zero`},
	{name: "readlink", class: ClassRead, options: `-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero`},
}

// System information and small calculations.
var systemTable = []command{
	{name: "seq", class: ClassRead, operands: texts, options: `-w -# -s:N -f:N --equal-width --separator:N --format:N`},
	{name: "expr", class: ClassRead, operands: anything},
	{name: "test [", class: ClassRead, needs: builtin, operands: anything, check: checkTest},
	{name: "date", class: ClassRead, operands: texts, check: checkDate, options: `-u -R -I -d:N --utc --universal --rfc-email --iso-8601 --iso-8601:= --rfc-3339:= --date:N`, more: `-r:P --reference:P -Idate -Ihours -Iminutes -Iseconds -Ins --resolution -j -v:N`},
	{name: "whoami", class: ClassRead, operands: none},
	{name: "id", class: ClassRead, operands: texts, options: `-u -g -G -n -r -z -un -gn --user --group --groups --name --real`, more: `-Z --context --zero`},
	{name: "uname", class: ClassRead, operands: none, options: `-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --machine --operating-system`, more: `--kernel-version --processor --hardware-platform`},
	{name: "hostname", class: ClassRead, operands: none, needs: network, options: `-s -f -i -I -d --short --fqdn --ip-address`, more: `-A -y --all-ip-addresses --all-fqdns --domain --long`},
	{name: "pwd", class: ClassRead, needs: builtin, operands: none, options: `-L -P`},
	{name: "type", class: ClassRead, needs: builtin, operands: texts, options: `-a -t -p -P -f`},
	{name: "command", class: ClassRead, needs: builtin, operands: texts, check: checkCommand, options: `-v -V`, more: `-p`},
	{name: "nproc", class: ClassRead, needs: processes, operands: none, options: `--all --ignore:#`},
	{name: "free", class: ClassRead, needs: processes, operands: none, options: `-b -k -m -g -h -t -w -l --bytes --kibi --mebi --gibi --human --si --total --wide`, more: `-L -v --line --lohi --mega --giga --kilo --committed`},
	{name: "df", class: ClassRead, needs: processes, options: `-a -h -H -i -k -l -m -P -T -t:N -x:N --all --human-readable --si --inodes --local --portability --print-type --total --type:N --output --output:=`, more: `-B:N --block-size:N --exclude-type:N --no-sync`},
	{name: "ps", class: ClassRead, needs: processes, operands: texts, check: checkPs, options: `
		-e -A -a -d -f -F -j -l -w -x -H -L -T -ww -aux -o:N -p:N -u:N -C:N -g:N -t:N --forest --headers --no-headers --pid:N --ppid:N
		--sort:N --format:N --user:N`, more: `
		-N -M -c -y -Z -P -s:N -k:N -q:N -G:N -U:N -O:N --cols:# --columns:# --width:# --rows:# --lines:# --context --deselect --group:N --Group:N
		--User:N --tty:N --quick-pid:N --sid:N --cumulative`},
	{name: "uptime", class: ClassRead, needs: processes, operands: none, options: `-p -s --pretty --since`},
}

// Versions of tools that load no project files to print them, and go's own information. The
// short options are the ones for the version: a shell or an interpreter with -v would run its
// input.
var toolTable = []command{
	{name: "cmake zsh", operands: none, check: checkVersion, options: `--version`},
	{name: "bash sh dash", runs: true, operands: program, check: checkSyntaxOnly, options: `--version`, more: `-n`},
	{name: "gcc g++ cc c++ clang clang++", operands: none, check: checkVersion, options: `--version`, more: `-v -dumpversion -dumpmachine`},
	{name: "curl wget openssl", operands: none, check: checkVersion, options: `--version`, more: `-V`},
	{name: "ruby make docker sqlite3", operands: none, check: checkVersion, options: `--version`, more: `-v -version`},
	{name: "php", runs: true, operands: program, check: checkSyntaxOnly, options: `--version`, more: `-v -l`},
	{name: "node", runs: true, operands: program, check: checkSyntaxOnly, options: `--version -v`, more: `-c --check`},
	{name: "perl", operands: none, check: checkVersion, options: `--version -v`},
	{name: "python python2 python3", operands: none, check: checkVersion, options: `--version -V`},
	{name: "java javac", operands: none, check: checkVersion, options: `--version -version`},
	{name: "go_version", operands: none},
	{name: "go_env", operands: texts, check: checkGoEnv, options: `-json -changed`},
}
