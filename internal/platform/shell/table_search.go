package shell

// Search programs. None of them follows symbolic links out of the given tree.
var searchTable = []command{
	{name: "find", runs: true, class: ClassSearch, operands: anything, check: checkFind},
	{name: "grep egrep fgrep", class: ClassSearch, operands: pattern, helpers: "grep", options: `
		-E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -n -b -H -h -Z -z -r -a -I -U -T -# -e:N -f:P -m:# -A:# -B:# -C:# -d:N -D:N
		--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
		--word-regexp --line-regexp --count --files-with-matches --files-without-match --quiet --silent --no-messages
		--only-matching --line-number --byte-offset --with-filename --no-filename --null --null-data --recursive --text
		--initial-tab --line-buffered --color --colour --color:= --colour:= --binary-files:N --regexp:N --file:P
		--max-count:# --after-context:# --before-context:# --context:# --include:N --exclude:N --exclude-dir:N
		--exclude-from:P --label:N`, more: `
		-R -u -V --dereference-recursive --directories:N --devices:N --group-separator:N --no-group-separator --binary --unix-byte-offsets`},
	{name: "rg", runs: true, class: ClassSearch, operands: pattern, options: `
		-i -S -s -v -w -x -F -P -U -n -N -l -c -o -q -H -I -a -u -. -0 -p -e:N -f:P -g:N -t:N -T:N -A:# -B:# -C:# -m:# -d:# -M:# -j:# -r:N
		--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --fixed-strings --pcre2
		--multiline --multiline-dotall --line-number --no-line-number --files-with-matches --files-without-match --count
		--count-matches --only-matching --quiet --with-filename --no-filename --text --hidden --no-hidden --no-ignore
		--no-ignore-vcs --no-ignore-parent --unrestricted --files --heading --no-heading --json --stats --column --trim
		--vimgrep --type-list --no-messages --no-config --null --passthru --pretty --crlf --one-file-system
		--regexp:N --file:P --glob:N --iglob:N --type:N --type-not:N --after-context:# --before-context:# --context:#
		--max-count:# --max-depth:# --max-columns:# --max-filesize:N --threads:# --sort:N --sortr:N --color:N --colors:N
		--replace:N --context-separator:N --engine:N --encoding:N`, more: `
		-L -b -V -E:N --follow --byte-offset --max-columns-preview --no-max-columns-preview --no-follow --null-data --no-unicode --unicode --no-pcre2
		--include-zero --sort-files --debug --trace --line-buffered --block-buffered --mmap --no-mmap --no-column --no-byte-offset
		--no-ignore-dot --no-ignore-global --no-ignore-files --no-ignore-exclude --no-require-git --ignore-file:P --ignore-file-case-insensitive
		--glob-case-insensitive --type-add:N --type-clear:N --path-separator:N --field-match-separator:N --field-context-separator:N
		--dfa-size-limit:N --regex-size-limit:N --binary --no-binary --auto-hybrid-regex --hyperlink-format:N --stop-on-nonmatch --generate:= --maxdepth:#`},
	{name: "ag", runs: true, class: ClassSearch, operands: pattern, options: `
		-i -s -S -v -w -l -L -c -o -Q -F -a -u -z -0 -g:N -G:N -A:# -B:# -C:# -m:# --hidden --nocolor --nogroup --nobreak
		--noheading --numbers --ignore:N --depth:#`, more: `
		-f -n -p:P -r -R -t -U -D --follow --color --group --break --heading --column --count --files-with-matches --files-without-matches --filename
		--nofilename --nonumbers --literal --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --max-count:# --after:# --before:#
		--context:# --file-search-regex:N --ignore-dir:N --path-to-ignore:P --search-binary --search-files --stats --unrestricted --vimgrep --all-types
		--all-text --silent --only-matching --print-long-lines --skip-vcs-ignores --ackmate --cpp --go --python --js --html --css --java --json --ruby --rust --md`},
	{name: "ack", runs: true, class: ClassSearch, operands: pattern, options: `
		-i -v -w -l -L -c -o -Q -h -H -n -A:# -B:# -C:# -m:# --nocolor --nogroup --noheading --ignore-dir:= --type:=`, more: `
		-f -g -k -r -R -s -x --color --group --heading --follow --count --files-with-matches --files-without-matches --ignore-case --smart-case --literal
		--word-regexp --invert-match --match:N --max-count:# --context:# --after-context:# --before-context:# --ignore-file:= --go --python --js
		--html --css --java --json --ruby --rust --cpp --cc --perl --php --shell --sql --xml --yaml --noignore-dir:=`},
	{name: "locate", class: ClassSearch, operands: texts, options: `-i -c -b -e -w -l:# -n:# -r:N`},
	{name: "which", class: ClassSearch, operands: texts, options: `-a --all`, more: `-s --skip-alias --skip-functions --tty-only`},
	{name: "whereis", class: ClassSearch, operands: texts, needs: processes, options: `-b -m -s`, more: `-u -g -l -a`},
}

var listTable = []command{
	{name: "ls dir vdir", class: ClassList, options: `
		-a -A -l -h -r -t -S -1 -d -F -R -i -s -n -g -o -G -p -q -Q -U -X -u -c -C -x -m -b -B -k -v -Z -H -N -T:# -w:# -I:N
		--all --almost-all --human-readable --recursive --reverse --directory --inode --size --si --classify --full-time
		--group-directories-first --color --color:= --sort:= --time:= --time-style:= --format:= --ignore:N --hide:=
		--numeric-uid-gid --no-group --file-type --quoting-style:= --width:# --zero`, more: `
		-L -D -f -e -O -@ -W --dereference --dereference-command-line --author --escape --block-size:N --classify:= --hyperlink --hyperlink:= --indicator-style:=
		--show-control-chars --hide-control-chars --quote-name --literal --context --kibibytes --dereference-command-line-symlink-to-dir --tabsize:#`},
	{name: "tree", class: ClassList, options: `
		-a -d -f -h -s -D -p -u -g -i -C -n -r -t -c -F -J -Q -L:# -I:N -P:N --dirsfirst --filesfirst --du --prune --noreport
		--gitignore --ignore-case --matchdirs --si --inodes --filelimit:# --charset:N`, more: `
		-l -x -v -U -A -S -X -H:N -T:N --level:# --sort:N --sort:= --timefmt:N --device --nolinks --hintro:P --houtro:P --gitfile:P --infofile:P --info --metafirst
		--fromfile --fflinks --caching --opt-toggle --hyperlink --acl --selinux --color --compress:#`},
	{name: "du", class: ClassList, options: `
		-s -h -a -c -k -m -b -x -S -d:# --summarize --human-readable --all --total --apparent-size --bytes --one-file-system
		--separate-dirs --max-depth:# --exclude:N --time --si --threshold:N -t:N`, more: `
		-L -D -H -P -l -0 -A -B:N -X:P --dereference --dereference-args --no-dereference --count-links --inodes --null --block-size:N --time:= --time-style:N
		--exclude-from:P --files0-from:P`},
}

// Commands that neither read nor write files.
var neutralTable = []command{
	{name: "echo printf true false :", class: ClassNeutral, needs: builtin, operands: anything},
}
