package shell

// Commands proven only in a jail: programs that are read-only as given here, or are kept so by
// the jail, and builtins that affect only the shell.

// Text and files.
var textTable = []command{
	{name: "b2sum", jail: true, class: ClassRead, options: `-b -t -z -c -w -l:# --binary --text --tag --zero --check --warn --quiet --status --strict --ignore-missing --length:#`},
	{name: "sum", jail: true, class: ClassRead, options: `-r -s --sysv`},
	{name: "shasum", jail: true, class: ClassRead, options: `-a:# -b -t -c -s -w -0 -U -p --algorithm:# --binary --text --check --status --warn --portable --tag`},
	{name: "md5", jail: true, class: ClassRead, options: `-q -r -n -s:N`},
	{name: "numfmt", jail: true, class: ClassRead, operands: texts, options: `
		--to:N --from:N --suffix:N --padding:N --field:N --format:N --delimiter:N -d:N -z --header --header:= --round:N --to-unit:N --from-unit:N --grouping --invalid:N`},
	{name: "tsort", jail: true, class: ClassRead},
	{name: "join", jail: true, class: ClassRead, options: `-a:# -v:# -1:# -2:# -e:N -i -j:# -o:N -t:N -z --check-order --nocheck-order --header --ignore-case --zero-terminated`},
	{name: "pr", jail: true, class: ClassRead, options: `-# -a -c -d -f -F -J -m -r -t -T -v -h:N -l:# -N:# -o:# -w:# -W:# -s -s:+ -e -i -n --columns:# --length:# --width:# --omit-header --merge --across`},
	{name: "fmt", jail: true, class: ClassRead, options: `-# -c -s -t -u -w:# -g:# -p:N --width:# --goal:# --prefix:N --split-only --uniform-spacing --crown-margin --tagged-paragraph`},
	{name: "expand unexpand", jail: true, class: ClassRead, options: `-# -a -i -t:N --all --initial --first-only --tabs:N`},
	{name: "shuf", jail: true, class: ClassRead, options: `-e -z -r -n:# -i:N --echo --zero-terminated --repeat --head-count:# --input-range:N --random-source:P`},
	{name: "factor", jail: true, class: ClassRead, operands: texts, options: `-h --exponents`},
	{name: "cal ncal", jail: true, class: ClassRead, operands: texts, options: `-# -1 -3 -y -m -j -s -h -w -b -C -M -N -A:# -B:# -n:# --one --three --sunday --monday --year --julian --week --months:#`},
	{name: "bc", jail: true, class: ClassRead, options: `-l -q -s -w -i --mathlib --quiet --standard --warn`},
	{name: "base32", jail: true, class: ClassRead, operands: onePath, options: `-d -i -w:# --decode --ignore-garbage --wrap:#`},
	{name: "basenc", jail: true, class: ClassRead, operands: onePath, options: `-d -i -w:# --decode --ignore-garbage --wrap:# --base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --z85`},
	{name: "iconv", jail: true, class: ClassRead, options: `-f:N -t:N -c -s -l --from-code:N --to-code:N --list --silent`},
	{name: "col colrm colcrt", jail: true, class: ClassRead, operands: texts, options: `-b -f -p -x -h -l:#`},
	{name: "look", jail: true, class: ClassRead, operands: pattern, options: `-a -d -f -t:N --alternative --alphanum --ignore-case`},
	// Without a terminal they only print.
	{name: "less more most", runs: true, jail: true, class: ClassRead, check: checkPager, options: `-e -E -F -i -I -M -m -n -N -r -R -s -S -X -f -FRX -RFX -FX -SR --no-init --quit-if-one-screen --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS`},
	{name: "yes", jail: true, class: ClassRead, operands: texts},
	{name: "sdiff", jail: true, class: ClassRead, helpers: "diff", options: `-s -l -a -b -B -d -E -H -i -t -w -W -w:# -W:# --suppress-common-lines --left-column --width:# --ignore-all-space --ignore-space-change --ignore-case --ignore-blank-lines`},
	{name: "diff3", jail: true, class: ClassRead, helpers: "diff", options: `-e -E -3 -A -x -X -m -i -a -T -L:N --merge --text --label:N --show-all --strip-trailing-cr`},
	{name: "diffstat", jail: true, class: ClassRead, options: `-b -c -C -f:# -h -k -K -l -m -n:# -N:# -p:# -q -r:# -R -s -S:P -t -T -u -v -w:#`},
	{name: "colordiff", jail: true, class: ClassRead, helpers: "diff", options: `-u -c -r -N -q -w -b -B -i -y -s -a -p -U:# -C:# -W:# --side-by-side --unified --brief --recursive`},
	{name: "namei", jail: true, class: ClassRead, options: `-l -m -n -o -v -x -Z --long --modes --owners --vertical --mountpoints --nosymlinks`},
	{name: "getfacl", jail: true, class: ClassRead, options: `-a -c -d -e -E -n -p -P -R -s -t --access --default --omit-header --recursive --numeric --absolute-names --tabular --skip-base --physical`},
	{name: "lsattr", jail: true, class: ClassRead, options: `-R -a -d -l -p -v`},
	{name: "getfattr", jail: true, class: ClassRead, options: `-d -h -R -P -n:N -m:N -e:N --dump --name:N --match:N --recursive --absolute-names --only-values --no-dereference`},
	{name: "mountpoint", jail: true, class: ClassRead, needs: processes, options: `-q -d -x --quiet --fs-devno --devno --nofollow`},
	{name: "pathchk", jail: true, class: ClassRead, operands: texts, options: `-p -P --portability`},
	{name: "dd", jail: true, class: ClassRead, operands: anything, check: checkDd},
	{name: "tee", jail: true, class: ClassRead, check: checkTee, options: `-a -i -p --append --ignore-interrupts --output-error --output-error:=`},
	{name: "xmllint", jail: true, class: ClassRead, options: `--noout --format --nonet --html --recover --huge --c14n --noblanks --noent --valid --quiet --stream --nowarning --xpath:N --encode:N --pretty:# --schema:P --dtdvalid:P --relaxng:P`},
	{name: "yq", jail: true, class: ClassRead, operands: script, helpers: "jq", check: checkJq, options: `
		-r -c -n -e -s -S -M -C -j -y -Y -t -P -N -p:N -o:N -I:# --raw-output --compact-output --null-input --exit-status --slurp --sort-keys --yaml-output --tojson --prettyPrint
		--input-format:N --output-format:N --no-colors --colors --no-doc --unwrapScalar --unwrapScalar:= --indent:# --arg:2 --argjson:2 --yml-output --width:#`},
	{name: "shellcheck", jail: true, class: ClassRead, options: `-s:N -f:N -e:N -i:N -o:N -S:N -C -x -a --shell:N --format:N --exclude:N --severity:N --color --color:= --external-sources --norc --enable:N`},
	{name: "gofmt", jail: true, class: ClassRead, options: `-l -d -e -s -r:N`},
	{name: "clang-format", jail: true, class: ClassRead, options: `-n --dry-run --style:N -style:N --Werror --lines:N --assume-filename:N --dump-config`},
	{name: "cloc", runs: true, jail: true, class: ClassRead, options: `
		--by-file --by-file-by-lang --quiet --hide-rate --json --csv --md --xml --yaml --vcs:N --exclude-dir:N --include-lang:N --exclude-lang:N --exclude-ext:N --include-ext:N
		--match-f:N --not-match-f:N --match-d:N --not-match-d:N --sum-one --show-lang --show-ext --skip-uniqueness --fullpath`},
	{name: "tokei", jail: true, class: ClassRead, options: `-f -C -s:N -e:N -t:N -c:# -o:N -n:N --files --compact --sort:N --exclude:N --types:N --hidden --no-ignore --languages --columns:#`},
	{name: "scc", jail: true, class: ClassRead, options: `-a -c -d -p -v -w -f:N -i:N -x:N -M:N -s:N --by-file --wide --no-cocomo --no-complexity --no-duplicates --exclude-dir:N --include-ext:N --exclude-ext:N --format:N --sort:N --no-gen --no-min`},
	{name: "pdfinfo", jail: true, class: ClassRead, options: `-f:# -l:# -box -meta -js -struct -url -isodates -rawdates -dests -enc:N`},
	{name: "mediainfo soxi", jail: true, class: ClassRead},
	{name: "exiftool", runs: true, jail: true, class: ClassRead},
	{name: "ffprobe", jail: true, class: ClassRead, options: `
		-hide_banner -show_format -show_streams -show_chapters -show_frames -show_packets -show_error -version -pretty -v:N -loglevel:N -of:N -print_format:N -show_entries:N -select_streams:N -i:P`},
	{name: "openssl_version", jail: true, operands: none, options: `-a -v -b -o -f -p -d -e`},
	{name: "openssl_dgst openssl_md5 openssl_sha1 openssl_sha256 openssl_sha512", runs: true, jail: true, options: `-sha1 -sha224 -sha256 -sha384 -sha512 -md5 -r -c -hex -binary`},
	{name: "openssl_x509", runs: true, jail: true, operands: none, options: `
		-noout -text -in:P -inform:N -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha256 -sha1 -pubkey -email -hash -purpose -modulus -checkend:# -nameopt:N -ext:N`},
	{name: "openssl_rand", runs: true, jail: true, operands: texts, options: `-hex -base64`},
	{name: "openssl_list", jail: true, operands: none, options: `-commands -digest-commands -cipher-commands -digest-algorithms -cipher-algorithms -providers -disabled`},
	{name: "ssh-keygen", jail: true, operands: none, must: "-l", options: `-l -v -f:P -E:N`},
	{name: "fd fdfind", runs: true, jail: true, class: ClassSearch, operands: pattern, options: `
		-H -I -u -uu -s -i -g -F -a -l -L -p -0 -1 -q -d:# -t:N -e:N -E:N -S:N -c:N -j:# --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex
		--fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth:# --min-depth:# --exact-depth:# --type:N --extension:N --exclude:N --size:N
		--changed-within:N --changed-before:N --newer:N --older:N --owner:N --color:N --threads:# --max-results:# --quiet --prune --strip-cwd-prefix --base-directory:P --search-path:P
		--one-file-system --no-follow --show-errors --relative-path --and:N`},
	{name: "bat batcat", runs: true, jail: true, class: ClassRead, options: `
		-p -pp -n -A -P -u -f -l:N -r:N -H:N -m:N -S --plain --number --show-all --paging:N --no-pager --color:N --decorations:N --style:N --theme:N --language:N --line-range:N
		--highlight-line:N --wrap:N --terminal-width:N --tabs:# --file-name:N --diff --list-languages --list-themes --unbuffered --no-config`},
	{name: "eza exa", jail: true, class: ClassList, options: `
		-1 -l -G -x -R -T -F -a -d -L:# -r -s:N -D -f -I:N -b -B -g -h -H -i -m -n -O -o -S -t:N -u -U -Z -@ --oneline --long --grid --across --recurse --tree --classify --all --list-dirs
		--level:# --reverse --sort:N --group-directories-first --group-directories-last --git --git-ignore --no-git --only-dirs --only-files --ignore-glob:N --binary --bytes --group --header --inode --links
		--modified --blocksize --time:N --accessed --created --changed --time-style:N --no-permissions --no-filesize --no-user --no-time --octal-permissions --icons --icons:= --no-icons
		--color:N --colour:N --color-scale --color-scale:= --total-size --absolute --absolute:= --hyperlink --extended --dereference --width:# --smart-group --numeric`},
	{name: "lsd", jail: true, class: ClassList, options: `
		-a -A -l -1 -R -h -d -i -F -t -S -X -v -r -I:N --all --almost-all --long --oneline --recursive --tree --depth:# --group-dirs:N --color:N --icon:N --size:N --date:N --sort:N --reverse --header --blocks:N
		--ignore-glob:N --total-size --permission:N --inode --classic --git --no-symlink --dereference --gitsort --extensionsort --sizesort --timesort --human-readable --directory-only`},
}

// Archives.
var archiveTable = []command{
	{name: "tar bsdtar gtar", runs: true, jail: true, class: ClassList, operands: anything, check: checkTar, helpers: "gzip bzip2 xz zstd lzma lzip pigz"},
	{name: "unzip", jail: true, class: ClassList, operands: archive, must: "-l -v -p -c -t -Z -Z1 -ql -lq -lv", options: `-l -v -p -c -t -Z -1 -q -qq -a -C -x:N -Z1 -ql -lq -lv`},
	{name: "zipinfo", jail: true, class: ClassList, operands: archive, options: `-1 -2 -s -m -l -v -h -t -T -z -C`},
	{name: "zcat gzcat", jail: true, class: ClassRead, helpers: "gzip", options: `-f -q -v -l --force --quiet --verbose --list`},
	{name: "bzcat", jail: true, class: ClassRead, helpers: "bzip2", options: `-s --small`},
	{name: "xzcat lzcat", jail: true, class: ClassRead, helpers: "xz", options: `-q -T:# -M:N --quiet --threads:#`},
	{name: "zstdcat lz4cat", jail: true, class: ClassRead, helpers: "zstd lz4", options: `-q`},
	{name: "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli", jail: true, class: ClassRead, must: "-c -l -t -dc -cd --stdout --to-stdout --list --test", helpers: "gzip bzip2 xz zstd", options: `
		-c -d -k -l -t -v -q -f -dc -cd --stdout --to-stdout --decompress --uncompress --keep --list --test --verbose --quiet --robot`},
	{name: "zgrep zegrep zfgrep bzgrep xzgrep zstdgrep", jail: true, class: ClassSearch, operands: pattern, helpers: "grep gzip bzip2 xz zstd sed expr cat zgrep", options: `
		-E -F -G -P -i -v -w -x -c -l -L -q -s -o -n -b -H -h -a -# -e:N -f:P -m:# -A:# -B:# -C:# --color --color:= --ignore-case --invert-match --count --line-number --only-matching --extended-regexp --fixed-strings`},
	{name: "zdiff zcmp xzdiff bzdiff", jail: true, class: ClassRead, helpers: "diff cmp gzip bzip2 xz", options: `-u -q -w -b -i`},
	{name: "7z 7za 7zr", jail: true, class: ClassList, operands: anything, check: checkSeven},
	{name: "cpio", jail: true, class: ClassList, operands: texts, must: "-t --list", options: `-t -v -i --list --verbose --quiet`},
	{name: "jar", jail: true, class: ClassList, operands: anything, check: checkJar},
}

// Binaries.
var binaryTable = []command{
	{name: "readelf eu-readelf", jail: true, class: ClassRead, check: checkResponse, options: `
		-a -h -l -S -g -t -s -e -n -r -u -d -V -A -c -D -L -I -W -C -w -x:N -p:N -R:N --all --file-header --program-headers --segments --section-headers --sections --headers --syms --symbols --dyn-syms
		--notes --relocs --dynamic --version-info --arch-specific --use-dynamic --wide --demangle --hex-dump:N --string-dump:N --histogram --debug-dump:= --section-groups --section-details`},
	{name: "nm llvm-nm", jail: true, class: ClassRead, check: checkResponse, options: `
		-a -A -B -C -D -f:N -g -l -n -o -p -P -r -S -s -t:N -u -U -v -W -X:N -j --debug-syms --print-file-name --demangle --demangle:= --dynamic --format:N --extern-only --line-numbers --numeric-sort
		--no-sort --portability --reverse-sort --print-size --size-sort --undefined-only --defined-only --no-demangle --print-armap --special-syms --with-symbol-versions --just-symbols`},
	{name: "objdump llvm-objdump", jail: true, class: ClassRead, check: checkResponse, options: `
		-a -f -p -h -x -d -D -S -s -g -e -G -W -t -T -r -R -i -C -l -w -z -F -M:N -j:N -m:N -b:N --archive-headers --file-headers --private-headers --headers --section-headers --all-headers --disassemble
		--disassemble:= --disassemble-all --source --full-contents --syms --dynamic-syms --reloc --dynamic-reloc --demangle --demangle:= --line-numbers --wide --section:N --architecture:N --disassembler-options:N
		--start-address:N --stop-address:N --no-show-raw-insn --show-raw-insn --no-addresses --visualize-jumps --dwarf:=`},
	{name: "size llvm-size", jail: true, class: ClassRead, check: checkResponse, options: `-A -B -G -d -o -x -t --format:N --totals --radix:N --common`},
	{name: "addr2line", jail: true, class: ClassRead, operands: texts, check: checkResponse, options: `-a -b:N -C -e:P -f -i -j:N -p -s --exe:P --functions --demangle --inlines --pretty-print --basenames --addresses`},
	{name: "c++filt", jail: true, class: ClassRead, operands: texts, check: checkResponse, options: `-n -p -t -i -_ --no-params --types`},
	{name: "ar llvm-ar", jail: true, class: ClassRead, operands: anything, check: checkAr},
	{name: "otool", jail: true, class: ClassRead, options: `-L -l -h -f -t -d -v -V -a -D -I -o -s`},
	{name: "lipo", jail: true, class: ClassRead, options: `-info -archs -detailed_info`},
	{name: "javap", runs: true, jail: true, class: ClassRead, options: `-c -p -v -l -s -public -private -protected -package -constants -verbose`},
	{name: "dwarfdump", jail: true, class: ClassRead, options: `-i -l -a -h`},
}

// The machine, its processes and its connections.
var machineTable = []command{
	{name: "sleep", jail: true, operands: texts, check: checkSleep},
	{name: "getconf", jail: true, class: ClassRead, operands: texts, options: `-a -v:N`},
	{name: "getent", jail: true, class: ClassRead, operands: texts, check: checkGetent},
	{name: "groups logname tty arch users hostid", jail: true, class: ClassRead, operands: texts, options: `-s`},
	{name: "who", jail: true, class: ClassRead, needs: processes, operands: texts, options: `-a -b -d -H -l -m -q -r -s -t -T -u -w --all --boot --heading --count --users`},
	{name: "w", jail: true, class: ClassRead, needs: processes, operands: texts, options: `-h -s -f -i -o -u --no-header --short`},
	{name: "stty", jail: true, class: ClassRead, operands: texts, check: checkStty, options: `-a -g --all --save`},
	{name: "tput", jail: true, class: ClassRead, operands: texts, options: `-T:N`},
	{name: "clear", jail: true, operands: none},
	{name: "locale", jail: true, class: ClassRead, operands: texts, options: `-a -m -k -c -v --all-locales --charmaps --category-name --keyword-name`},
	{name: "lsb_release", jail: true, class: ClassRead, operands: none, helpers: "grep sed getopt head cut cat tr", options: `-a -i -d -r -c -s -v --all --id --description --release --codename --short`},
	{name: "sw_vers", jail: true, class: ClassRead, operands: none, options: `-productVersion -productName -buildVersion --productVersion --productName --buildVersion`},
	{name: "xcode-select", jail: true, class: ClassRead, operands: none, options: `-p -v --print-path --version`},
	{name: "lscpu lsmem lsns lsipc lsirq", jail: true, class: ClassRead, needs: processes, operands: none, options: `
		-a -b -c -e -p -J -B -C -x -y -n -r -s -o:N -e:= -p:= --all --online --offline --json --bytes --extended --extended:= --parse --parse:= --caches --output-all --hex --output:N --raw --noheadings --summary --summary:=`},
	{name: "lsblk", jail: true, class: ClassRead, needs: processes, options: `
		-a -b -d -D -e:N -f -i -I:N -J -l -m -M -n -o:N -O -p -P -r -s -S -t -T -x:N -z --all --bytes --nodeps --discard --fs --json --list --perms --noheadings --output:N --output-all --paths --pairs --raw --topology --tree --sort:N`},
	{name: "findmnt", jail: true, class: ClassRead, needs: processes, operands: texts, options: `
		-A -a -b -C -c -D -e -f -i -J -k -l -m -M:N -n -N:# -o:N -O:N -P -r -R -s -S:N -t:N -T:P -U -u -v -y --all --ascii --df --json --kernel --list --mountpoint:N --noheadings --output:N --pairs --raw --submounts --source:N --target:P --types:N --real --pseudo --evaluate --fstab`},
	{name: "mount", jail: true, class: ClassRead, needs: processes, operands: none, options: `-l -t:N -v --show-labels --types:N`},
	{name: "swapon", jail: true, class: ClassRead, needs: processes, operands: none, must: "-s --show --summary", options: `-s --show --show:= --summary --bytes --noheadings --raw`},
	{name: "lsmod", jail: true, class: ClassRead, needs: processes, operands: none},
	{name: "lspci lsusb", jail: true, class: ClassRead, needs: processes, operands: none, options: `-v -vv -vvv -k -n -nn -m -mm -t -tv -s:N -d:N -D`},
	{name: "vmstat", jail: true, class: ClassRead, needs: processes, operands: texts, check: checkCount, options: `-a -d -D -f -m -n -s -t -w -S:N -p:N --active --disk --stats --timestamp --unit:N --wide`},
	{name: "iostat mpstat", jail: true, class: ClassRead, needs: processes, operands: texts, check: checkCount, options: `-c -d -h -k -m -N -t -V -x -y -z -A -P:N -p:N -o:N -u --human --pretty --dec:=`},
	{name: "vm_stat", jail: true, class: ClassRead, operands: none},
	{name: "top", jail: true, class: ClassRead, needs: processes, operands: none, check: checkTop, options: `-b -H -i -c -S -E:N -e:N -n:# -o:N -O -p:N -u:N -U:N -w -w:# -1 -l:# -s:#`},
	{name: "pgrep", jail: true, class: ClassRead, needs: processes, operands: texts, options: `
		-a -c -f -i -l -n -o -v -w -x -A -q -d:N -g:N -G:N -P:N -s:N -t:N -u:N -U:N -r:N -O:# --list-full --count --full --ignore-case --list-name --newest --oldest --inverse --exact --delimiter:N --parent:N --euid:N --uid:N --group:N --session:N --terminal:N`},
	{name: "pidof", jail: true, class: ClassRead, needs: processes, operands: texts, options: `-s -c -q -w -x -z -o:N -S:N -d:N --single-shot`},
	{name: "pstree", jail: true, class: ClassRead, needs: processes, operands: texts, options: `-a -A -c -g -G -h -H:# -l -n -N:N -p -s -S -t -T -u -U -Z --arguments --ascii --show-pids --show-parents --long --numeric-sort --thread-names --hide-threads --uid-changes`},
	{name: "pmap pwdx", jail: true, class: ClassRead, needs: processes, operands: texts, options: `-x -X -XX -d -q -p --extended --device --quiet --show-path`},
	{name: "slabtop", jail: true, class: ClassRead, needs: processes, operands: none, must: "-o --once", options: `-o --once -s:N --sort:N`},
	{name: "lsof", jail: true, class: ClassRead, needs: processes | network, options: `
		-a -b -l -n -N -O -P -R -t -U -V -w -c:N -d:N -F -F:N -g -i -i:N -p:N -s -s:N -S -u:N -T -o -L -E -K`},
	{name: "fuser", jail: true, class: ClassRead, needs: processes | network, options: `-a -c -I -m -n:N -s -u -v -4 -6 --all --mount --namespace:N --silent --user --verbose --ipv4 --ipv6`},
	{name: "nvidia-smi", jail: true, class: ClassRead, needs: processes, operands: none, options: `-L -q -d:N -i:N -a -x --list-gpus --query --query-gpu:= --query-compute-apps:= --format:= --display:N --id:N -B`},
	{name: "numactl", jail: true, class: ClassRead, needs: processes, operands: none, must: "-H -s --hardware --show", options: `-H -s --hardware --show`},
	{name: "sensors acpi", jail: true, class: ClassRead, needs: processes, operands: texts, options: `-f -u -A -j -b -a -t -V`},
	{name: "ipcs", jail: true, class: ClassRead, needs: processes, operands: none, options: `-a -m -q -s -t -p -c -l -u -b --all --shmems --queues --semaphores --limits --summary --human`},
	{name: "sysctl", jail: true, class: ClassRead, needs: processes, operands: texts, check: checkSysctl, options: `-a -n -N -e -q --all --values --names`},
	{name: "ss", jail: true, class: ClassRead, needs: processes | network, operands: texts, options: `
		-n -r -a -l -o -e -m -p -T -i -s -4 -6 -0 -t -u -d -w -x -S -M -f:N -A:N -H -O -Z -z -b --numeric --all --listening --options --extended --memory --processes --threads --info --summary
		--ipv4 --ipv6 --tcp --udp --unix --raw --no-header --oneline --family:N --query:N --packet --vsock --resolve`},
	{name: "netstat", jail: true, class: ClassRead, needs: processes | network, operands: none, options: `
		-r -i -g -s -M -v -W -n -N -e -o -c:# -l -a -t -u -w -x -p -4 -6 -C -F --route --interfaces --groups --statistics --numeric --extend --timers --listening --all --tcp --udp --unix --programs --raw --wide --numeric-hosts --numeric-ports -f:N`},
	{name: "ip", jail: true, class: ClassRead, needs: network, operands: anything, check: checkIP},
	{name: "printenv", jail: true, class: ClassRead, operands: texts, check: checkPrintenv, options: `-0 --null`},
}

// Installed packages.
var packageTable = []command{
	{name: "dpkg", jail: true, class: ClassRead, operands: texts, helpers: "dpkg-query dpkg-deb tar", options: `
		-l -L -S -s -p -c -I --list --listfiles --search --status --print-avail --print-architecture --print-foreign-architectures --get-selections --contents --info --compare-versions`, must: `
		-l -L -S -s -p -c -I --list --listfiles --search --status --print-avail --print-architecture --print-foreign-architectures --get-selections --contents --info --compare-versions`},
	{name: "dpkg-query", jail: true, class: ClassRead, operands: texts, options: `-l -L -S -s -W -p -c -f:N --list --listfiles --search --status --show --showformat:N --control-list --control-path`},
	{name: "dpkg-deb", jail: true, class: ClassRead, must: "-c -I -f -W --contents --info --field --show", helpers: "tar xz gzip zstd", options: `-c -I -f -W --contents --info --field --show`},
	{name: "rpm", jail: true, class: ClassRead, must: "-q --query -qa -qi -ql -qf", options: `
		-q -a -i -l -f -c -d -R -s -p -v --query --all --info --list --file --configfiles --docfiles --requires --provides --changelog --scripts --qf:N --queryformat:N --last --whatprovides:N --whatrequires:N --package -qa -qi -ql -qf`},
	{name: "pacman", jail: true, class: ClassRead, operands: texts, must: "-Q -Qi -Ql -Qo -Qs -Qe -Qq -Qm -Qd -Qdt -Qk -Qeq -Si -Ss -V", options: `-Q -Qi -Ql -Qo -Qs -Qe -Qq -Qm -Qd -Qdt -Qk -Qeq -Si -Ss -V`},
	{name: "apk", jail: true, class: ClassRead, operands: texts, check: checkApk, options: `-v -vv -e -L -R -a -d -s -W -I --installed --verbose --contents --who-owns`},
}

// Versions of further tools, which load no project files to print them.
var versionTable = []command{
	{name: `pipx gh glab ninja meson protoc mysql mysqld mariadb redis-cli redis-server mongosh postgres vim nvim emacs nano
		fish ld as lld ldd ranlib strip autoconf automake libtool pkg-config m4 bison flex gdb lldb valgrind perf strace ltrace rsync zip
		docker-compose podman buildah skopeo minikube kind k9s pandoc pdflatex xelatex latex gs convert magick gpg gpg2 htop screen parallel entr ctags
		black mypy flake8 pylint isort pipenv virtualenv tox aws ansible ansible-playbook vagrant packer consul vault nomad fzf delta difft
		hyperfine just task zoxide starship direnv lazygit tig hub git-lfs pre-commit systemctl journalctl nft socat nc ncat nmap tcpdump
		cabal ocaml opam luarocks nim crystal dart swiftc racket sbcl guile fpc gfortran gem rake rspec cpanm prove shfmt hadolint yamllint
		esbuild gcov lcov ccache sccache distcc qmake xmake conan golangci-lint staticcheck gopls dlv buf goreleaser sqlc`,
		jail: true, operands: none, check: checkVersion, options: `--version`},
	{name: "npm npx deno bun", jail: true, operands: none, check: checkVersion, options: `--version -v`},
	{name: "pip pip3 ruff uv poetry pytest", jail: true, operands: none, check: checkVersion, options: `--version -V`},
	{name: "ssh scp sftp tmux", jail: true, operands: none, check: checkVersion, options: `-V`},
	{name: "ffmpeg ffplay identify", jail: true, operands: none, check: checkVersion, options: `-version`},
	{name: "nginx httpd apache2", jail: true, operands: none, check: checkVersion, options: `-v -V`},
	{name: "lua luajit", jail: true, operands: none, check: checkVersion, options: `-v --version`},
	{name: "terraform", jail: true, operands: none, check: checkVersion, options: `-version --version`},
	{name: "zig_version hugo_version helm_version terraform_version gh_version", jail: true, operands: none, options: `--short`},
	{name: "kubectl_version", jail: true, operands: none, must: "--client", options: `--client --client:= --short --output:N -o:N`},
}

// Builtins that change only the shell itself.
var builtinTable = []command{
	{name: "cd pushd", jail: true, class: ClassNeutral, needs: builtin, options: `-L -P -e -n`},
	{name: "popd dirs", jail: true, class: ClassNeutral, needs: builtin, operands: texts, options: `-n -c -l -p -v -#`},
	{name: "exit return break continue shift", jail: true, class: ClassNeutral, needs: builtin, operands: texts, options: `-#`},
	{name: "jobs times wait caller", jail: true, class: ClassNeutral, needs: builtin, operands: none, options: `-l -p -n -r -s`},
	{name: "help", jail: true, class: ClassNeutral, needs: builtin, operands: texts, options: `-d -m -s`},
	{name: "ulimit", jail: true, class: ClassNeutral, needs: builtin, operands: none, options: `-a -b -c -d -e -f -H -i -k -l -m -n -p -P -q -r -R -s -S -t -T -u -v -x`},
	{name: "umask", jail: true, class: ClassNeutral, needs: builtin, operands: none, options: `-S -p`},
	{name: "alias", jail: true, class: ClassNeutral, needs: builtin, operands: none, options: `-p`},
	{name: "hash", jail: true, class: ClassNeutral, needs: builtin, operands: texts, check: checkHash, options: `-t -l -r`},
	{name: "set", jail: true, class: ClassNeutral, needs: builtin, operands: anything, check: checkSet},
	{name: "shopt", jail: true, class: ClassNeutral, needs: builtin, operands: texts, check: checkShopt, options: `-s -u -q -p`},
	{name: "read", jail: true, class: ClassNeutral, needs: builtin, operands: texts, check: checkNames, options: `-r -s -e -a:N -d:N -n:# -N:# -p:N -t:N -u:#`},
	{name: "mapfile readarray", jail: true, class: ClassNeutral, needs: builtin, operands: texts, check: checkNames, options: `-t -d:N -n:# -O:# -s:# -u:#`},
	{name: "unset", jail: true, class: ClassNeutral, needs: builtin, operands: texts, check: checkNames, options: `-v -f`},
	{name: "kill", jail: true, class: ClassNeutral, needs: builtin, operands: texts, must: "-l -L", options: `-l -L`},
	{name: "history", jail: true, class: ClassNeutral, needs: builtin, operands: texts},
	{name: "compgen", jail: true, class: ClassNeutral, needs: builtin, operands: texts, options: `-a -b -c -d -f -k -u -A:N`},
	{name: "getopts", jail: true, class: ClassNeutral, needs: builtin, operands: texts, check: checkGetopts},
}
