package shell

// Commands proven only in a jail: programs that are read-only as given here, or are kept so by
// the jail, and builtins that affect only the shell.

// Text and files.
var textTable = []program{
	{name: "b2sum", plain: true, needsJail: "-c --check", class: ClassRead, reads: `-b -t -z -c -w -l:N --binary --text --tag --zero --check --warn --quiet --status --strict --ignore-missing --length:N`},
	{name: "sum", plain: true, class: ClassRead, reads: `-r -s --sysv`},
	{name: "shasum", class: ClassRead, reads: `-a:N -b -t -c -s -w -0 -U -p --algorithm:N --binary --text --check --status --warn --portable --tag`},
	{name: "md5", class: ClassRead, reads: `-q -r -n -s:N`},
	{name: "numfmt", plain: true, class: ClassRead, operands: texts, reads: `
		--to:N --from:N --suffix:N --padding:N --field:N --format:N --delimiter:N -d:N -z --header:n --round:N --to-unit:N --from-unit:N --grouping --invalid:N`},
	{name: "tsort", plain: true, class: ClassRead},
	{name: "join", plain: true, class: ClassRead, reads: `-a:N -v:N -1:N -2:N -e:N -i -j:N -o:N -t:N -z --check-order --nocheck-order --header --ignore-case --zero-terminated`},
	{name: "pr", plain: true, class: ClassRead, reads: `-# -a -c -d -f -F -J -m -r -t -T -v -h:N -l:N -N:N -o:N -w:N -W:N -s:n -e -i -n --columns:N --length:N --width:N --omit-header --merge --across`},
	{name: "fmt", plain: true, class: ClassRead, reads: `-# -c -s -t -u -w:N -g:N -p:N --width:N --goal:N --prefix:N --split-only --uniform-spacing --crown-margin --tagged-paragraph`},
	{name: "expand unexpand", plain: true, class: ClassRead, reads: `-# -a -i -t:N --all --initial --first-only --tabs:N`},
	{name: "shuf", plain: true, class: ClassRead, reads: `-e -z -r -n:N -i:N --echo --zero-terminated --repeat --head-count:N --input-range:N --random-source:R`},
	{name: "factor", plain: true, class: ClassRead, operands: texts, reads: `-h --exponents`},
	{name: "cal ncal", class: ClassRead, operands: texts, reads: `-# -1 -3 -y -m -j -s -h -w -b -C -M -N -A:N -B:N -n:N --one --three --sunday --monday --year --julian --week --months:N`},
	{name: "bc", class: ClassRead, reads: `-l -q -s -w -i --mathlib --quiet --standard --warn`},
	{name: "base32", plain: true, class: ClassRead, operands: onePath, reads: `-d -i -w:N --decode --ignore-garbage --wrap:N`},
	{name: "basenc", plain: true, class: ClassRead, operands: onePath, reads: `-d -i -w:N --decode --ignore-garbage --wrap:N --base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --z85`},
	{name: "iconv", class: ClassRead, reads: `-f:N -t:N -c -s -l --from-code:N --to-code:N --list --silent`},
	{name: "col colrm colcrt", class: ClassRead, operands: texts, reads: `-b -f -p -x -h -l:N`},
	{name: "look", class: ClassRead, operands: pattern, reads: `-a -d -f -t:N --alternative --alphanum --ignore-case`},
	// Without a terminal they only print.
	{name: "less more most", runs: true, class: ClassRead, check: checkPager, reads: `-e -E -F -i -I -M -m -n -N -r -R -s -S -X -f -FRX -RFX -FX -SR --no-init --quit-if-one-screen --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS`},
	{name: "yes", class: ClassRead, operands: texts},
	{name: "sdiff", class: ClassRead, helpers: "diff", reads: `-s -l -a -b -B -d -E -H -i -t -W -w:N --suppress-common-lines --left-column --width:N --ignore-all-space --ignore-space-change --ignore-case --ignore-blank-lines`},
	{name: "diff3", class: ClassRead, helpers: "diff", reads: `-e -E -3 -A -x -X -m -i -a -T -L:N --merge --text --label:N --show-all --strip-trailing-cr`},
	{name: "diffstat", class: ClassRead, reads: `-b -c -C -f:N -h -k -K -l -m -n:N -N:N -p:N -q -r:N -R -s -S:R -t -T -u -v -w:N`},
	{name: "colordiff", class: ClassRead, helpers: "diff", reads: `-u -c -r -N -q -w -b -B -i -y -s -a -p -U:N -C:N -W:N --side-by-side --unified --brief --recursive`},
	{name: "namei", class: ClassRead, reads: `-l -m -n -o -v -x -Z --long --modes --owners --vertical --mountpoints --nosymlinks`},
	{name: "getfacl", class: ClassRead, reads: `-a -c -d -e -E -n -p -P -R -s -t --access --default --omit-header --recursive --numeric --absolute-names --tabular --skip-base --physical`},
	{name: "lsattr", class: ClassRead, reads: `-R -a -d -l -p -v`},
	{name: "getfattr", class: ClassRead, reads: `-d -h -R -P -n:N -m:N -e:N --dump --name:N --match:N --recursive --absolute-names --only-values --no-dereference`},
	{name: "mountpoint", class: ClassRead, needs: processes, reads: `-q -d -x --quiet --fs-devno --devno --nofollow`},
	{name: "pathchk", class: ClassRead, operands: texts, reads: `-p -P --portability`},
	{name: "dd", class: ClassRead, operands: anything, check: checkDd},
	{name: "tee", class: ClassRead, check: checkTee, reads: `-a -i -p --append --ignore-interrupts --output-error:n`},
	{name: "xmllint", class: ClassRead, reads: `--noout --format --nonet --html --recover --huge --c14n --noblanks --noent --valid --quiet --stream --nowarning --xpath:N --encode:N --pretty:N --schema:R --dtdvalid:R --relaxng:R`},
	{name: "yq", class: ClassRead, operands: script, helpers: "jq", check: checkJq, reads: `
		-r -c -n -e -S -M -C -j -y -Y -t -P -N -p:N -o:N -I:N --raw-output --compact-output --null-input --exit-status --slurp --sort-keys --yaml-output --tojson --prettyPrint
		--input-format:N --output-format:N --no-colors --colors --no-doc --unwrapScalar:n --indent:N --arg:2 --argjson:2 --yml-output --width:N`},
	{name: "shellcheck", class: ClassRead, reads: `-s:N -f:N -e:N -i:N -o:N -S:N -C -x -a --shell:N --format:N --exclude:N --severity:N --color:n --external-sources --norc --enable:N`},
	{name: "gofmt", class: ClassRead, reads: `-l -d -e -s -r:N`},
	{name: "clang-format", class: ClassRead, reads: `-n --dry-run --style:R -style:N --Werror --lines:N --assume-filename:N --dump-config`},
	{name: "cloc", runs: true, class: ClassRead, reads: `
		--by-file --by-file-by-lang --quiet --hide-rate --json --csv --md --xml --yaml --vcs:N --exclude-dir:N --include-lang:N --exclude-lang:N --exclude-ext:N --include-ext:N
		--match-f:N --not-match-f:N --match-d:N --not-match-d:N --sum-one --show-lang --show-ext --skip-uniqueness --fullpath`},
	{name: "tokei", class: ClassRead, reads: `-f -C -s:N -e:N -t:N -c:N -o:N -n:N --files --compact --sort:N --exclude:N --types:N --hidden --no-ignore --languages --columns:N`},
	{name: "scc", class: ClassRead, reads: `-a -c -d -p -v -w -f:N -i:N -x:N -M:N -s:N --by-file --wide --no-cocomo --no-complexity --no-duplicates --exclude-dir:N --include-ext:N --exclude-ext:N --format:N --sort:N --no-gen --no-min`},
	{name: "pdfinfo", class: ClassRead, reads: `-f:N -l:N -box -meta -js -struct -url -isodates -rawdates -dests -enc:N`},
	{name: "mediainfo soxi", class: ClassRead},
	{name: "exiftool", runs: true, class: ClassRead},
	{name: "ffprobe", class: ClassRead, reads: `
		-hide_banner -show_format -show_streams -show_chapters -show_frames -show_packets -show_error -version -pretty -v:N -loglevel:N -of:N -print_format:N -show_entries:N -select_streams:N -i:R`},
	{name: "openssl_version", operands: none, reads: `-a -v -b -o -f -p -d -e`},
	{name: "openssl_dgst openssl_md5 openssl_sha1 openssl_sha256 openssl_sha512", runs: true, reads: `-sha1 -sha224 -sha256 -sha384 -sha512 -md5 -r -c -hex -binary`},
	{name: "openssl_x509", runs: true, operands: none, reads: `
		-noout -text -in:R -inform:N -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha256 -sha1 -pubkey -email -hash -purpose -modulus -checkend:N -nameopt:N -ext:N`},
	{name: "openssl_rand", runs: true, operands: texts, reads: `-hex -base64`},
	{name: "openssl_list", operands: none, reads: `-commands -digest-commands -cipher-commands -digest-algorithms -cipher-algorithms -providers -disabled`},
	{name: "ssh-keygen", operands: none, must: "-l", reads: `-l -v -f:W -E:N`},
	{name: "fd fdfind", runs: true, class: ClassSearch, operands: pattern, reads: `
		-H -I -u -uu -s -i -g -F -a -l -L -p -0 -1 -q -d:N -t:N -e:N -E:N -S:N -c:N -j:N --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex
		--fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth:N --min-depth:N --exact-depth:N --type:N --extension:N --exclude:N --size:N
		--changed-within:N --changed-before:N --newer:N --older:N --owner:N --color:N --threads:N --max-results:N --quiet --prune --strip-cwd-prefix --base-directory:R --search-path:R
		--one-file-system --no-follow --show-errors --relative-path --and:N`},
	{name: "bat batcat", runs: true, class: ClassRead, reads: `
		-p -pp -n -A -P -u -f -l:N -r:N -H:N -m:N -S --plain --number --show-all --paging:N --no-pager --color:N --decorations:N --style:N --theme:N --language:N --line-range:N
		--highlight-line:N --wrap:N --terminal-width:N --tabs:N --file-name:N --diff --list-languages --list-themes --unbuffered --no-config`},
	{name: "eza exa", class: ClassList, reads: `
		-1 -l -G -x -R -T -F -a -d -L:N -r -s:N -D -f -I:N -b -B -g -h -H -i -m -n -O -o -S -t:N -u -U -Z -@ --oneline --long --grid --across --recurse --tree --classify --all --list-dirs
		--level:N --reverse --sort:N --group-directories-first --group-directories-last --git --git-ignore --no-git --only-dirs --only-files --ignore-glob:N --binary --bytes --group --header --inode --links
		--modified --blocksize --time:N --accessed --created --changed --time-style:N --no-permissions --no-filesize --no-user --no-time --octal-permissions --icons:n --no-icons
		--color:N --colour:N --color-scale:n --total-size --absolute:n --hyperlink --extended --dereference --width:N --smart-group --numeric`},
	{name: "lsd", class: ClassList, reads: `
		-a -A -l -1 -R -h -d -i -F -t -S -X -v -r -I:N --all --almost-all --long --oneline --recursive --tree --depth:N --group-dirs:N --color:N --icon:N --size:N --date:N --sort:N --reverse --header --blocks:N
		--ignore-glob:N --total-size --permission:N --inode --classic --git --no-symlink --dereference --gitsort --extensionsort --sizesort --timesort --human-readable --directory-only`},
}

// Archives.
var archiveTable = []program{
	{name: "tar bsdtar gtar", runs: true, class: ClassList, operands: anything, check: checkTar, helpers: "gzip bzip2 xz zstd lzma lzip pigz"},
	{name: "unzip", class: ClassList, operands: archive, must: "-l -v -p -c -t -Z -Z1 -ql -lq -lv", reads: `-l -v -p -c -t -Z -1 -q -qq -a -C -x:N -Z1 -ql -lq -lv`},
	{name: "zipinfo", class: ClassList, operands: archive, reads: `-1 -2 -s -m -l -v -h -t -T -z -C`},
	{name: "zcat gzcat", class: ClassRead, helpers: "gzip", reads: `-f -q -v -l --force --quiet --verbose --list`},
	{name: "bzcat", class: ClassRead, helpers: "bzip2", reads: `-s --small`},
	{name: "xzcat lzcat", class: ClassRead, helpers: "xz", reads: `-q -T:N -M:N --quiet --threads:N`},
	{name: "zstdcat lz4cat", class: ClassRead, helpers: "zstd lz4", reads: `-q`},
	{name: "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli", class: ClassRead, must: "-c -l -t -dc -cd --stdout --to-stdout --list --test", helpers: "gzip bzip2 xz zstd", reads: `
		-c -d -k -l -t -v -q -f -dc -cd --stdout --to-stdout --decompress --uncompress --keep --list --test --verbose --quiet --robot`},
	{name: "zgrep zegrep zfgrep bzgrep xzgrep zstdgrep", class: ClassSearch, operands: pattern, helpers: "grep gzip bzip2 xz zstd sed expr cat zgrep", reads: `
		-E -F -G -P -i -v -w -x -c -l -L -q -s -o -n -b -H -h -a -# -e:N -f:R -m:N -A:N -B:N -C:N --color:n --ignore-case --invert-match --count --line-number --only-matching --extended-regexp --fixed-strings`},
	{name: "zdiff zcmp xzdiff bzdiff", class: ClassRead, helpers: "diff cmp gzip bzip2 xz", reads: `-u -q -w -b -i`},
	{name: "7z 7za 7zr", class: ClassList, operands: anything, check: checkSeven},
	{name: "cpio", class: ClassList, operands: texts, must: "-t --list", reads: `-t -v -i --list --verbose --quiet`},
	{name: "jar", class: ClassList, operands: anything, check: checkJar},
}

// Binaries.
var binaryTable = []program{
	{name: "readelf eu-readelf", class: ClassRead, check: checkResponse, reads: `
		-a -h -l -S -g -t -s -e -n -r -u -d -V -A -c -D -L -I -W -C -w -x:N -p:N -R:N --all --file-header --program-headers --segments --section-headers --sections --headers --syms --symbols --dyn-syms
		--notes --relocs --dynamic --version-info --arch-specific --use-dynamic --wide --demangle --hex-dump:N --string-dump:N --histogram --debug-dump:n --section-groups --section-details`},
	{name: "nm llvm-nm", class: ClassRead, check: checkResponse, reads: `
		-a -A -B -C -D -f:N -g -l -n -o -p -P -r -S -s -t:N -u -U -v -W -X:N -j --debug-syms --print-file-name --demangle:n --dynamic --format:N --extern-only --line-numbers --numeric-sort
		--no-sort --portability --reverse-sort --print-size --size-sort --undefined-only --defined-only --no-demangle --print-armap --special-syms --with-symbol-versions --just-symbols`},
	{name: "objdump llvm-objdump", class: ClassRead, check: checkResponse, reads: `
		-a -f -p -h -x -d -D -S -s -g -e -G -W -t -T -r -R -i -C -l -w -z -F -M:N -j:N -m:N -b:N --archive-headers --file-headers --private-headers --headers --section-headers --all-headers
		--disassemble:n --disassemble-all --source --full-contents --syms --dynamic-syms --reloc --dynamic-reloc --demangle:n --line-numbers --wide --section:N --architecture:N --disassembler-reads:N
		--start-address:N --stop-address:N --no-show-raw-insn --show-raw-insn --no-addresses --visualize-jumps --dwarf:n`},
	{name: "size llvm-size", class: ClassRead, check: checkResponse, reads: `-A -B -G -d -o -x -t --format:N --totals --radix:N --common`},
	{name: "addr2line", class: ClassRead, operands: texts, check: checkResponse, reads: `-a -b:N -C -e:R -f -i -j:N -p -s --exe:R --functions --demangle --inlines --pretty-print --basenames --addresses`},
	{name: "c++filt", class: ClassRead, operands: texts, check: checkResponse, reads: `-n -p -t -i -_ --no-params --types`},
	{name: "ar llvm-ar", class: ClassRead, operands: anything, check: checkAr},
	{name: "otool", class: ClassRead, reads: `-L -l -h -f -t -d -v -V -a -D -I -o -s`},
	{name: "lipo", class: ClassRead, reads: `-info -archs -detailed_info`},
	{name: "javap", runs: true, class: ClassRead, reads: `-c -p -v -l -s -public -private -protected -package -constants -verbose`},
	{name: "dwarfdump", class: ClassRead, reads: `-i -l -a -h`},
}

// The machine, its processes and its connections.
var machineTable = []program{
	{name: "sleep", plain: true, operands: texts, check: checkSleep},
	{name: "getconf", class: ClassRead, operands: texts, reads: `-a -v:N`},
	{name: "getent", class: ClassRead, operands: texts, check: checkGetent},
	{name: "groups logname tty arch users hostid", class: ClassRead, operands: texts, reads: `-s`},
	{name: "who", class: ClassRead, needs: processes, operands: texts, reads: `-a -b -d -H -l -m -q -r -s -t -T -u -w --all --boot --heading --count --users`},
	{name: "w", class: ClassRead, needs: processes, operands: texts, reads: `-h -s -f -i -o -u --no-header --short`},
	{name: "stty", class: ClassRead, operands: texts, check: checkStty, reads: `-a -g --all --save`},
	{name: "tput", class: ClassRead, operands: texts, reads: `-T:N`},
	{name: "clear", operands: none},
	{name: "locale", class: ClassRead, operands: texts, reads: `-a -m -k -c -v --all-locales --charmaps --category-name --keyword-name`},
	{name: "lsb_release", class: ClassRead, operands: none, helpers: "grep sed getopt head cut cat tr", reads: `-a -i -d -r -c -s -v --all --id --description --release --codename --short`},
	{name: "sw_vers", class: ClassRead, operands: none, reads: `-productVersion -productName -buildVersion --productVersion --productName --buildVersion`},
	{name: "xcode-select", class: ClassRead, operands: none, reads: `-p -v --print-path --version`},
	{name: "lscpu lsmem lsns lsipc lsirq", class: ClassRead, needs: processes, operands: none, reads: `
		-a -b -c -J -B -C -x -y -n -r -s -o:N -e:n -p:n --all --online --offline --json --bytes --extended:n --parse:n --caches --output-all --hex --output:N --raw --noheadings --summary:n`},
	{name: "lsblk", class: ClassRead, needs: processes, reads: `
		-a -b -d -D -e:N -f -i -I:N -J -l -m -M -n -o:N -O -p -P -r -s -S -t -T -x:N -z --all --bytes --nodeps --discard --fs --json --list --perms --noheadings --output:N --output-all --paths --pairs --raw --topology --tree --sort:N`},
	{name: "findmnt", class: ClassRead, needs: processes, operands: texts, reads: `
		-A -a -b -C -c -D -e -f -i -J -k -l -m -M:N -n -N:N -o:N -O:N -P -r -R -s -S:N -t:N -T:R -U -u -v -y --all --ascii --df --json --kernel --list --mountpoint:N --noheadings --output:N --pairs --raw --submounts --source:N --target:R --types:N --real --pseudo --evaluate --fstab`},
	{name: "mount", class: ClassRead, needs: processes, operands: none, reads: `-l -t:N -v --show-labels --types:N`},
	{name: "swapon", class: ClassRead, needs: processes, operands: none, must: "-s --show --summary", reads: `-s --show:n --summary --bytes --noheadings --raw`},
	{name: "lsmod", class: ClassRead, needs: processes, operands: none},
	{name: "lspci lsusb", class: ClassRead, needs: processes, operands: none, reads: `-v -vv -vvv -k -n -nn -m -mm -t -tv -s:N -d:N -D`},
	{name: "vmstat", class: ClassRead, needs: processes, operands: texts, check: checkCount, reads: `-a -d -D -f -m -n -s -t -w -S:N -p:N --active --disk --stats --timestamp --unit:N --wide`},
	{name: "iostat mpstat", class: ClassRead, needs: processes, operands: texts, check: checkCount, reads: `-c -d -h -k -m -N -t -V -x -y -z -A -P:N -p:N -o:N -u --human --pretty --dec:n`},
	{name: "vm_stat", class: ClassRead, operands: none},
	{name: "top", class: ClassRead, needs: processes, operands: none, check: checkTop, reads: `-b -H -i -c -S -E:N -e:N -n:N -o:N -O -p:N -u:N -U:N -w:n -1 -l:N -s:N`},
	{name: "pgrep", class: ClassRead, needs: processes, operands: texts, reads: `
		-a -c -f -i -l -n -o -v -w -x -A -q -d:N -g:N -G:N -P:N -s:N -t:N -u:N -U:N -r:N -O:N --list-full --count --full --ignore-case --list-name --newest --oldest --inverse --exact --delimiter:N --parent:N --euid:N --uid:N --group:N --session:N --terminal:N`},
	{name: "pidof", class: ClassRead, needs: processes, operands: texts, reads: `-s -c -q -w -x -z -o:N -S:N -d:N --single-shot`},
	{name: "pstree", class: ClassRead, needs: processes, operands: texts, reads: `-a -A -c -g -G -h -H:N -l -n -N:N -p -s -S -t -T -u -U -Z --arguments --ascii --show-pids --show-parents --long --numeric-sort --thread-names --hide-threads --uid-changes`},
	{name: "pmap pwdx", class: ClassRead, needs: processes, operands: texts, reads: `-x -X -XX -d -q -p --extended --device --quiet --show-path`},
	{name: "slabtop", class: ClassRead, needs: processes, operands: none, must: "-o --once", reads: `-o --once -s:N --sort:N`},
	{name: "lsof", class: ClassRead, needs: processes | network, reads: `
		-a -b -l -n -N -O -P -R -t -U -V -w -c:N -d:N -F:n -g -i:n -p:N -s:n -S -u:N -T -o -L -E -K`},
	{name: "fuser", class: ClassRead, needs: processes | network, reads: `-a -c -I -m -n:N -s -u -v -4 -6 --all --mount --namespace:N --silent --user --verbose --ipv4 --ipv6`},
	{name: "nvidia-smi", class: ClassRead, needs: processes, operands: none, reads: `-L -q -d:N -i:N -a -x --list-gpus --query --query-gpu:n --query-compute-apps:n --format:n --display:N --id:N -B`},
	{name: "numactl", class: ClassRead, needs: processes, operands: none, must: "-H -s --hardware --show", reads: `-H -s --hardware --show`},
	{name: "sensors acpi", class: ClassRead, needs: processes, operands: texts, reads: `-f -u -A -j -b -a -t -V`},
	{name: "ipcs", class: ClassRead, needs: processes, operands: none, reads: `-a -m -q -s -t -p -c -l -u -b --all --shmems --queues --semaphores --limits --summary --human`},
	{name: "sysctl", class: ClassRead, needs: processes, operands: texts, check: checkSysctl, reads: `-a -n -N -e -q --all --values --names`},
	{name: "ss", class: ClassRead, needs: processes | network, operands: texts, reads: `
		-n -r -a -l -o -e -m -p -T -i -s -4 -6 -0 -t -u -d -w -x -S -M -f:N -A:N -H -O -Z -z -b --numeric --all --listening --options --extended --memory --processes --threads --info --summary
		--ipv4 --ipv6 --tcp --udp --unix --raw --no-header --oneline --family:N --query:N --packet --vsock --resolve`},
	{name: "netstat", class: ClassRead, needs: processes | network, operands: none, reads: `
		-r -i -g -s -M -v -W -n -N -e -o -c:N -l -a -t -u -w -x -p -4 -6 -C -F --route --interfaces --groups --statistics --numeric --extend --timers --listening --all --tcp --udp --unix --programs --raw --wide --numeric-hosts --numeric-ports -f:N`},
	{name: "ip", class: ClassRead, needs: network, operands: anything, check: checkIP},
	{name: "printenv", plain: true, class: ClassRead, operands: texts, check: checkPrintenv, reads: `-0 --null`},
}

// Installed packages.
var packageTable = []program{
	{name: "dpkg", class: ClassRead, operands: texts, helpers: "dpkg-query dpkg-deb tar", reads: `
		-l -L -S -s -p -c -I --list --listfiles --search --status --print-avail --print-architecture --print-foreign-architectures --get-selections --contents --info --compare-versions`, must: `
		-l -L -S -s -p -c -I --list --listfiles --search --status --print-avail --print-architecture --print-foreign-architectures --get-selections --contents --info --compare-versions`},
	{name: "dpkg-query", class: ClassRead, operands: texts, reads: `-l -L -S -s -W -p -c -f:N --list --listfiles --search --status --show --showformat:N --control-list --control-path`},
	{name: "dpkg-deb", class: ClassRead, must: "-c -I -f -W --contents --info --field --show", helpers: "tar xz gzip zstd", reads: `-c -I -f -W --contents --info --field --show`},
	{name: "rpm", class: ClassRead, must: "-q --query -qa -qi -ql -qf", reads: `
		-q -a -i -l -f -c -d -R -s -p -v --query --all --info --list --file --configfiles --docfiles --requires --provides --changelog --scripts --qf:N --queryformat:N --last --whatprovides:N --whatrequires:N --package -qa -qi -ql -qf`},
	{name: "pacman", class: ClassRead, operands: texts, must: "-Q -Qi -Ql -Qo -Qs -Qe -Qq -Qm -Qd -Qdt -Qk -Qeq -Si -Ss -V", reads: `-Q -Qi -Ql -Qo -Qs -Qe -Qq -Qm -Qd -Qdt -Qk -Qeq -Si -Ss -V`},
	{name: "apk", class: ClassRead, operands: texts, check: checkApk, reads: `-v -vv -e -L -R -a -d -s -W -I --installed --verbose --contents --who-owns`},
}

// Versions of further tools, which load no project files to print them.
var versionTable = []program{
	{name: `pipx gh glab ninja meson protoc mysql mysqld mariadb redis-cli redis-server mongosh postgres vim nvim emacs nano
		fish ld as lld ldd ranlib strip autoconf automake libtool pkg-config m4 bison flex gdb lldb valgrind perf strace ltrace rsync zip
		docker-compose podman buildah skopeo minikube kind k9s pandoc pdflatex xelatex latex gs convert magick gpg gpg2 htop screen parallel entr ctags
		black mypy flake8 pylint isort pipenv virtualenv tox aws ansible ansible-playbook vagrant packer consul vault nomad fzf delta difft
		hyperfine just task zoxide starship direnv lazygit tig hub git-lfs pre-commit systemctl journalctl nft socat nc ncat nmap tcpdump
		cabal ocaml opam luarocks nim crystal dart swiftc racket sbcl guile fpc gfortran gem rake rspec cpanm prove shfmt hadolint yamllint
		esbuild gcov lcov ccache sccache distcc qmake xmake conan golangci-lint staticcheck gopls dlv buf goreleaser sqlc`,
		operands: none, check: checkVersion, reads: `--version`},
	{name: "npm npx deno bun", operands: none, check: checkVersion, reads: `--version -v`},
	{name: "pip pip3 ruff uv poetry pytest", operands: none, check: checkVersion, reads: `--version -V`},
	{name: "ssh scp sftp tmux", operands: none, check: checkVersion, reads: `-V`},
	{name: "ffmpeg ffplay identify", operands: none, check: checkVersion, reads: `-version`},
	{name: "nginx httpd apache2", operands: none, check: checkVersion, reads: `-v -V`},
	{name: "lua luajit", operands: none, check: checkVersion, reads: `-v --version`},
	{name: "terraform", operands: none, check: checkVersion, reads: `-version --version`},
	{name: "zig_version hugo_version helm_version terraform_version gh_version", operands: none, reads: `--short`},
	{name: "kubectl_version", operands: none, must: "--client", reads: ` --client:n --short --output:N -o:N`},
}

// Builtins that change only the shell itself.
var builtinTable = []program{
	{name: "cd pushd", class: ClassNeutral, needs: builtin, reads: `-L -P -e -n`},
	{name: "popd dirs", class: ClassNeutral, needs: builtin, operands: texts, reads: `-n -c -l -p -v -#`},
	{name: "exit return break continue shift", class: ClassNeutral, needs: builtin, operands: texts, reads: `-#`},
	{name: "jobs times wait caller", class: ClassNeutral, needs: builtin, operands: none, reads: `-l -p -n -r -s`},
	{name: "help", class: ClassNeutral, needs: builtin, operands: texts, reads: `-d -m -s`},
	{name: "ulimit", class: ClassNeutral, needs: builtin, operands: none, reads: `-a -b -c -d -e -f -H -i -k -l -m -n -p -P -q -r -R -s -S -t -T -u -v -x`},
	{name: "umask", class: ClassNeutral, needs: builtin, operands: none, reads: `-S -p`},
	{name: "alias", class: ClassNeutral, needs: builtin, operands: none, reads: `-p`},
	{name: "hash", class: ClassNeutral, needs: builtin, operands: texts, check: checkHash, reads: `-t -l -r`},
	{name: "set", class: ClassNeutral, needs: builtin, operands: anything, check: checkSet},
	{name: "shopt", class: ClassNeutral, needs: builtin, operands: texts, check: checkShopt, reads: `-s -u -q -p`},
	{name: "read", class: ClassNeutral, needs: builtin, operands: texts, check: checkNames, reads: `-r -s -e -a:N -d:N -n:N -N:N -p:N -t:N -u:N`},
	{name: "mapfile readarray", class: ClassNeutral, needs: builtin, operands: texts, check: checkNames, reads: `-t -d:N -n:N -O:N -s:N -u:N`},
	{name: "unset", class: ClassNeutral, needs: builtin, operands: texts, check: checkNames, reads: `-v -f`},
	{name: "kill", class: ClassNeutral, needs: builtin, operands: texts, must: "-l -L", reads: `-l -L`},
	{name: "history", class: ClassNeutral, needs: builtin, operands: texts},
	{name: "compgen", class: ClassNeutral, needs: builtin, operands: texts, reads: `-a -b -c -d -f -k -u -A:N`},
	{name: "getopts", class: ClassNeutral, needs: builtin, operands: texts, check: checkGetopts},
}
