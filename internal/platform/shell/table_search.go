package shell

// Search programs. None of them follows symbolic links out of the given tree.
var searchTable = []program{
	{name: "find", plain: true, needsJail: "-L -follow", runs: true, class: ClassSearch, operands: anything, check: checkFind},
	{name: "grep egrep fgrep", plain: true, needsJail: "-R --dereference-recursive", class: ClassSearch, operands: pattern, helpers: "grep", reads: `
		-E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -n -b -H -h -Z -z -r -a -I -U -T -# -e:N -f:R -m:N -A:N -B:N -C:N -d:N -D:N
		--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
		--word-regexp --line-regexp --count --files-with-matches --files-without-match --quiet --silent --no-messages
		--only-matching --line-number --byte-offset --with-filename --no-filename --null --null-data --recursive --text
		--initial-tab --line-buffered --color:n --colour:n --binary-files:N --regexp:N --file:R
		--max-count:N --after-context:N --before-context:N --context:N --include:N --exclude:N --exclude-dir:N
		--exclude-from:R --label:N
		-R -u -V --dereference-recursive --directories:N --devices:N --group-separator:N --no-group-separator --binary --unix-byte-offsets`},
	{name: "rg", plain: true, needsJail: "-L --follow", runs: true, class: ClassSearch, operands: pattern, reads: `
		-i -S -s -v -w -x -F -P -U -n -N -l -c -o -q -H -I -a -u -. -0 -p -e:N -f:R -g:N -t:N -T:N -A:N -B:N -C:N -m:N -d:N -M:N -j:N -r:N
		--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --fixed-strings --pcre2
		--multiline --multiline-dotall --line-number --no-line-number --files-with-matches --files-without-match --count
		--count-matches --only-matching --quiet --with-filename --no-filename --text --hidden --no-hidden --no-ignore
		--no-ignore-vcs --no-ignore-parent --unrestricted --files --heading --no-heading --json --stats --column --trim
		--vimgrep --type-list --no-messages --no-config --null --passthru --pretty --crlf --one-file-system
		--regexp:N --file:R --glob:N --iglob:N --type:N --type-not:N --after-context:N --before-context:N --context:N
		--max-count:N --max-depth:N --max-columns:N --max-filesize:N --threads:N --sort:N --sortr:N --color:N --colors:N
		--replace:N --context-separator:N --engine:N --encoding:N
		-L -b -V -E:N --follow --byte-offset --max-columns-preview --no-max-columns-preview --no-follow --null-data --no-unicode --unicode --no-pcre2
		--include-zero --sort-files --debug --trace --line-buffered --block-buffered --mmap --no-mmap --no-column --no-byte-offset
		--no-ignore-dot --no-ignore-global --no-ignore-files --no-ignore-exclude --no-require-git --ignore-file:R --ignore-file-case-insensitive
		--glob-case-insensitive --type-add:N --type-clear:N --path-separator:N --field-match-separator:N --field-context-separator:N
		--dfa-size-limit:N --regex-size-limit:N --binary --no-binary --auto-hybrid-regex --hyperlink-format:N --stop-on-nonmatch --generate:n --maxdepth:N`},
	{name: "ag", runs: true, class: ClassSearch, operands: pattern, reads: `
		-i -s -S -v -w -l -L -c -o -Q -F -a -u -z -0 -g:N -G:N -A:N -B:N -C:N -m:N --hidden --nocolor --nogroup --nobreak
		--noheading --numbers --ignore:N --depth:N
		-f -n -p:R -r -R -t -U -D --follow --color --group --break --heading --column --count --files-with-matches --files-without-matches --filename
		--nofilename --nonumbers --literal --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --max-count:N --after:N --before:N
		--context:N --file-search-regex:N --ignore-dir:N --path-to-ignore:R --search-binary --search-files --stats --unrestricted --vimgrep --all-types
		--all-text --silent --only-matching --print-long-lines --skip-vcs-ignores --ackmate --cpp --go --python --js --html --css --java --json --ruby --rust --md`},
	{name: "ack", runs: true, class: ClassSearch, operands: pattern, reads: `
		-i -v -w -l -L -c -o -Q -h -H -n -A:N -B:N -C:N -m:N --nocolor --nogroup --noheading --ignore-dir:n --type:n
		-f -g -k -r -R -s -x --color --group --heading --follow --count --files-with-matches --files-without-matches --ignore-case --smart-case --literal
		--word-regexp --invert-match --match:N --max-count:N --context:N --after-context:N --before-context:N --ignore-file:n --go --python --js
		--html --css --java --json --ruby --rust --cpp --cc --perl --php --shell --sql --xml --yaml --noignore-dir:n`},
	{name: "locate", class: ClassSearch, operands: texts, reads: `-i -c -b -e -w -l:N -n:N -r:N`},
	{name: "which", plain: true, class: ClassSearch, operands: texts, reads: `-a --all -s --skip-alias --skip-functions --tty-only`},
	{name: "whereis", class: ClassSearch, operands: texts, needs: processes, reads: `-b -m -s -u -g -l -a`},
}

var listTable = []program{
	{name: "ls dir vdir", plain: true, needsJail: "-L --dereference -T -w", class: ClassList, reads: `
		-a -A -l -h -r -t -S -1 -d -F -R -i -s -n -g -o -G -p -q -Q -U -X -u -c -C -x -m -b -B -k -v -Z -H -N -T:N -w:N -I:N
		--all --almost-all --human-readable --recursive --reverse --directory --inode --size --si --full-time
		--group-directories-first --color:n --sort:n --time:n --time-style:n --format:n --ignore:N --hide:n
		--numeric-uid-gid --no-group --file-type --quoting-style:n --width:N --zero
		-L -D -f -e -O -@ -W --dereference --dereference-command-line --author --escape --block-size:N --classify:n --hyperlink:n --indicator-style:n
		--show-control-chars --hide-control-chars --quote-name --literal --context --kibibytes --dereference-command-line-symlink-to-dir --tabsize:N`},
	{name: "tree", plain: true, needsJail: "-l", class: ClassList, check: checkTree, reads: `
		-a -d -f -h -s -D -p -u -g -i -C -n -r -t -c -F -J -Q -L:N -I:N -P:N --dirsfirst --filesfirst --du --prune --noreport
		--gitignore --ignore-case --matchdirs --si --inodes --filelimit:N --charset:N
		-l -x -v -U -A -S -X -H:N -T:N --level:N --sort:n --timefmt:N --device --nolinks --hintro:R --houtro:R --gitfile:R --infofile:R --info --metafirst
		--fromfile --fflinks --caching --opt-toggle --hyperlink --acl --selinux --color --compress:N`},
	{name: "du", plain: true, needsJail: "-L --dereference -X --exclude-from --files0-from", class: ClassList, reads: `
		-s -h -a -c -k -m -b -x -S -d:N --summarize --human-readable --all --total --apparent-size --bytes --one-file-system
		--separate-dirs --max-depth:N --exclude:N --si --threshold:N -t:N
		-L -D -H -P -l -0 -A -B:N -X:R --dereference --dereference-args --no-dereference --count-links --inodes --null --block-size:N --time:n --time-style:N
		--exclude-from:R --files0-from:R`},
}

// Commands that neither read nor write files.
var neutralTable = []program{
	{name: "echo printf true false :", plain: true, class: ClassNeutral, needs: builtin, operands: anything},
}
