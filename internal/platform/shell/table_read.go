package shell

// Reading files and text.
var readTable = []program{
	{name: "cat", plain: true, class: ClassRead, reads: `-A -b -e -E -n -s -t -T -u -v --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs --show-nonprinting`},
	{name: "head", plain: true, class: ClassRead, reads: `-# -n:N -c:N -q -v -z --lines:N --bytes:N --quiet --silent --verbose --zero-terminated`},
	{name: "tail", plain: true, class: ClassRead, reads: `-# -n:N -c:N -q -v -z -r --lines:N --bytes:N --quiet --silent --verbose --zero-terminated`},
	{name: "wc", plain: true, class: ClassRead, reads: `-l -w -c -m -L --lines --words --bytes --chars --max-line-length --total:n`},
	{name: "stat", plain: true, class: ClassRead, reads: `-f -L -t -x -s -c:N --dereference --file-system --terse --format:N --printf:N --cached:n`},
	{name: "file", plain: true, class: ClassRead, reads: `-b -i -I -h -k -r -0 -N --brief --mime --mime-type --mime-encoding --no-dereference --keep-going --raw --extension -L -p --dereference --separator:N -F:N`},
	{name: "jq", plain: true, needsJail: "-f --from-file", class: ClassRead, operands: script, check: checkJq, reads: `
		-r -c -n -e -s -S -M -C -a -j -R --raw-output --compact-output --null-input --exit-status --slurp --sort-keys
		--monochrome-output --color-output --ascii-output --join-output --raw-input --tab --indent:N --seq --stream
		--arg:2 --argjson:2 --slurpfile:Q --rawfile:Q -f:R --from-file:R --args --jsonargs --unbuffered --raw-output0 -V`},
	{name: "awk gawk mawk", plain: true, runs: true, class: ClassRead, operands: anything, check: checkAwk, checkJailed: checkAwkJailed},
	{name: "sed", plain: true, needsJail: "-l --line-length", runs: true, class: ClassRead, operands: script, check: checkSed, checkJailed: checkSedJailed, reads: `
		-n -E -r -s -u -z -e:N --quiet --silent --regexp-extended --expression:N --posix --sandbox --debug --null-data
		-l:N --line-length:N --separate --unbuffered --zero-terminated`},
	{name: "sort", plain: true, runs: true, class: ClassRead, reads: `
		-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k:N -t:N --key:N --field-separator:N --reverse --unique
		--numeric-sort --general-numeric-sort --human-numeric-sort --month-sort --version-sort --random-sort
		--ignore-case --ignore-leading-blanks --dictionary-order --ignore-nonprinting --stable --merge
		--zero-terminated --debug -S:N --buffer-size:N --parallel:N --sort:n --check:n --batch-size:N`},
	{name: "uniq", plain: true, class: ClassRead, operands: onePath, reads: `
		-c -d -D -i -u -z -f:N -s:N -w:N --count --repeated --ignore-case --unique --zero-terminated
		--skip-fields:N --skip-chars:N --check-chars:N --group:n --all-repeated:n`},
	{name: "cut", plain: true, class: ClassRead, reads: `
		-s -n -z -b:N -c:N -f:N -d:N --complement --only-delimited --zero-terminated --bytes:N --characters:N --fields:N
		--delimiter:N --output-delimiter:N`},
	{name: "tr", plain: true, class: ClassRead, operands: texts, reads: `-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1`},
	{name: "nl", plain: true, class: ClassRead, reads: `-p -b:N -d:N -f:N -h:N -i:N -l:N -n:N -s:N -v:N -w:N -ba`},
	{name: "od", plain: true, class: ClassRead, reads: `-b -c -d -o -s -v -x -A:N -t:N -N:N -j:N -w:n -An -tx1 --address-radix:N --format:N --read-bytes:N --skip-bytes:N --output-duplicates -a -f -h -i -l -S:N --strings:n --width:n --endian:n`},
	{name: "xxd", plain: true, class: ClassRead, operands: onePath, reads: `-a -b -e -E -p -ps -plain -u -l:N -s:N -c:N -g:N -o:N -r -i -d -C -n:N -len:N -seek:N -cols:N`},
	{name: "hexdump hd", plain: true, class: ClassRead, reads: `-C -b -c -d -o -v -x -n:N -s:N -e:N --canonical --length:N --skip:N`},
	{name: "base64", plain: true, class: ClassRead, operands: onePath, reads: `-d -D -w:N --decode --wrap:N`},
	{name: "strings", plain: true, class: ClassRead, check: checkResponse, reads: `-a -f -o -w -# -n:N -t:N -e:N --all --print-file-name --bytes:N --radix:N --encoding:N`},
	{name: "diff", plain: true, needsJail: "-r --recursive -N --new-file --unidirectional-new-file", class: ClassRead, reads: `
		-u -c -q -r -N -w -b -B -i -y -s -a -d -p -t -T -E -Z -U:N -C:N -W:N -x:N -L:N --brief --unified:n --context:n
		--color:n --recursive --new-file --side-by-side --width:N --report-identical-files --ignore-all-space
		--ignore-space-change --ignore-blank-lines --ignore-case --ignore-trailing-space --text --minimal
		--show-c-function --suppress-common-lines --no-dereference --exclude:N --label:N --strip-trailing-cr --normal
		-# -e -n -F:N -I:N -X:R -S:N --ed --rcs --ignore-matching-lines:N --show-function-line:N --exclude-from:R --starting-file:N
		--left-column --expand-tabs --tabsize:N --speed-large-files --horizon-lines:N --ignore-tab-expansion --ignore-file-name-case
		--unidirectional-new-file --old-line-format:N --new-line-format:N --unchanged-line-format:N --line-format:N
		--old-group-format:N --new-group-format:N --changed-group-format:N --unchanged-group-format:N --suppress-blank-empty --palette:n`},
	{name: "cmp", plain: true, class: ClassRead, reads: `-s -l -b -n:N -i:N --silent --quiet --verbose --print-bytes --bytes:N --ignore-initial:N`},
	{name: "comm", plain: true, class: ClassRead, reads: `-1 -2 -3 -z --nocheck-order --check-order --total --output-delimiter:N --zero-terminated`},
	{name: "paste", plain: true, class: ClassRead, reads: `-s -z -d:N --serial --delimiters:N`},
	{name: "column", plain: true, class: ClassRead, reads: `-t -x -s:N -c:N -o:N --table --separator:N --output-separator:N
		-e -L -N:N -R:N -H:N -T:N -O:N -W:N -n:N -l:N -J -d --json --table-name:N --table-columns:N --table-right:N --table-hide:N --table-noheadings
		--table-truncate:N --table-wrap:N --table-order:N --table-columns-limit:N --output-width:N --fillrows --keep-empty-lines`},
	{name: "fold", plain: true, class: ClassRead, reads: `-b -s -# -w:N --bytes --spaces --width:N`},
	{name: "rev", plain: true, class: ClassRead},
	{name: "tac", plain: true, class: ClassRead, operands: onePath, reads: `-b -r -s:N --before --regex --separator:N`},
	{name: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum", plain: true, needsJail: "-c --check", class: ClassRead, reads: `-b -t -z --binary --text --tag --zero
		-c -w --check --warn --quiet --status --strict --ignore-missing`},
	{name: "cksum", plain: true, needsJail: "-c --check", class: ClassRead, reads: `-a:N --algorithm:N --untagged --base64 --raw -c --check --tag -z`},
	{name: "basename", plain: true, class: ClassRead, operands: texts, reads: `-a -z -s:N --multiple --zero --suffix:N`},
	{name: "dirname", plain: true, class: ClassRead, operands: texts, reads: `-z --zero`},
	{name: "realpath", plain: true, class: ClassRead, reads: `-e -m -s -q -z -L -P --relative-to:R --relative-base:R --canonicalize-existing --canonicalize-missing --no-symlinks --strip --quiet --zero`},
	{name: "readlink", plain: true, class: ClassRead, reads: `-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero`},
}

// System information and small calculations.
var systemTable = []program{
	{name: "seq", plain: true, class: ClassRead, operands: texts, reads: `-w -# -s:N -f:N --equal-width --separator:N --format:N`},
	{name: "expr", plain: true, class: ClassRead, operands: anything},
	{name: "test [", plain: true, class: ClassRead, needs: builtin, operands: anything, check: checkTest},
	{name: "date", plain: true, class: ClassRead, operands: texts, check: checkDate, reads: `-u -R -I -d:N --utc --universal --rfc-email --iso-8601:n --rfc-3339:n --date:N -r:R --reference:R -Idate -Ihours -Iminutes -Iseconds -Ins --resolution -j -v:N`},
	{name: "whoami", plain: true, class: ClassRead, operands: none},
	{name: "id", plain: true, class: ClassRead, operands: texts, reads: `-u -g -G -n -r -z -un -gn --user --group --groups --name --real -Z --context --zero`},
	{name: "uname", plain: true, class: ClassRead, operands: none, reads: `-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --machine --operating-system --kernel-version --processor --hardware-platform`},
	{name: "hostname", plain: true, needsJail: "-f -i -d -A -y --fqdn --ip-address --all-fqdns --domain --long", class: ClassRead, operands: none, needs: network, reads: `-s -f -i -I -d --short --fqdn --ip-address -A -y --all-ip-addresses --all-fqdns --domain --long`},
	{name: "pwd", plain: true, class: ClassRead, needs: builtin, operands: none, reads: `-L -P`},
	{name: "type", plain: true, class: ClassRead, needs: builtin, operands: texts, reads: `-a -t -p -P -f`},
	{name: "command", plain: true, class: ClassRead, needs: builtin, operands: texts, check: checkCommand, reads: `-v -V -p`},
	{name: "nproc", plain: true, class: ClassRead, needs: processes, operands: none, reads: `--all --ignore:N`},
	{name: "free", plain: true, class: ClassRead, needs: processes, operands: none, reads: `-b -k -m -g -h -t -w -l --bytes --kibi --mebi --gibi --human --si --total --wide -L -v --line --lohi --mega --giga --kilo --committed`},
	{name: "df", plain: true, class: ClassRead, needs: processes, reads: `-a -h -H -i -k -l -m -P -T -t:N -x:N --all --human-readable --si --inodes --local --portability --print-type --total --type:N --output:n -B:N --block-size:N --exclude-type:N --no-sync`},
	{name: "ps", plain: true, class: ClassRead, needs: processes, operands: texts, check: checkPs, reads: `
		-e -A -a -d -f -F -j -l -w -x -H -L -T -ww -aux -o:N -p:N -u:N -C:N -g:N -t:N --forest --headers --no-headers --pid:N --ppid:N
		--sort:N --format:N --user:N
		-N -M -c -y -Z -P -s:N -k:N -q:N -G:N -U:N -O:N --cols:N --columns:N --width:N --rows:N --lines:N --context --deselect --group:N --Group:N
		--User:N --tty:N --quick-pid:N --sid:N --cumulative`},
	{name: "uptime", plain: true, class: ClassRead, needs: processes, operands: none, reads: `-p -s --pretty --since`},
}

// Versions of tools that load no project files to print them, and go's own information. The
// short options are the ones for the version: a shell or an interpreter with -v would run its
// input.
var toolTable = []program{
	{name: "cmake zsh", operands: none, check: checkVersion, reads: `--version`},
	{name: "bash sh dash", runs: true, operands: scripts, check: checkSyntaxOnly, reads: `--version -n`},
	{name: "gcc g++ cc c++ clang clang++", operands: none, check: checkVersion, reads: `--version -v -dumpversion -dumpmachine`},
	{name: "curl wget openssl", operands: none, check: checkVersion, reads: `--version -V`},
	{name: "ruby make sqlite3", operands: none, check: checkVersion, reads: `--version -v -version`},
	{name: "docker", operands: none, check: checkVersion, reads: `--version`},
	{name: "php", runs: true, operands: scripts, check: checkSyntaxOnly, reads: `--version -v -l`},
	{name: "node", runs: true, operands: scripts, check: checkSyntaxOnly, reads: `--version -v -c --check`},
	{name: "perl", operands: none, check: checkVersion, reads: `--version -v`},
	{name: "python python2 python3", operands: none, check: checkVersion, reads: `--version -V`},
	{name: "java javac", operands: none, check: checkVersion, reads: `--version -version`},
	{name: "go_version", plain: true, operands: none},
	{name: "go_env", operands: texts, check: checkGoEnv, reads: `-json -changed`},
}
