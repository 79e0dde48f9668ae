package shell

// Searching. Nothing here follows symbolic links out of the tree it is given.
var searchTable = []command{
	{name: "find", class: ClassSearch, operands: anything, check: checkFind},
	{name: "grep egrep fgrep", class: ClassSearch, operands: pattern, options: `
		-E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -n -b -H -h -Z -z -r -a -I -U -T -# -e:N -f:P -m:# -A:# -B:# -C:# -d:N -D:N
		--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
		--word-regexp --line-regexp --count --files-with-matches --files-without-match --quiet --silent --no-messages
		--only-matching --line-number --byte-offset --with-filename --no-filename --null --null-data --recursive --text
		--initial-tab --line-buffered --color --colour --color:= --colour:= --binary-files:N --regexp:N --file:P
		--max-count:# --after-context:# --before-context:# --context:# --include:N --exclude:N --exclude-dir:N
		--exclude-from:P --label:N`},
	{name: "rg", class: ClassSearch, operands: pattern, options: `
		-i -S -s -v -w -x -F -P -U -n -N -l -c -o -q -H -I -a -u -. -0 -p -e:N -f:P -g:N -t:N -T:N -A:# -B:# -C:# -m:# -d:# -M:# -j:# -r:N
		--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --fixed-strings --pcre2
		--multiline --multiline-dotall --line-number --no-line-number --files-with-matches --files-without-match --count
		--count-matches --only-matching --quiet --with-filename --no-filename --text --hidden --no-hidden --no-ignore
		--no-ignore-vcs --no-ignore-parent --unrestricted --files --heading --no-heading --json --stats --column --trim
		--vimgrep --type-list --no-messages --no-config --null --passthru --pretty --crlf --one-file-system
		--regexp:N --file:P --glob:N --iglob:N --type:N --type-not:N --after-context:# --before-context:# --context:#
		--max-count:# --max-depth:# --max-columns:# --max-filesize:N --threads:# --sort:N --sortr:N --color:N --colors:N
		--replace:N --context-separator:N --engine:N --encoding:N`},
	{name: "ag", class: ClassSearch, operands: pattern, options: `
		-i -s -S -v -w -l -L -c -o -Q -F -a -u -z -0 -g:N -G:N -A:# -B:# -C:# -m:# --hidden --nocolor --nogroup --nobreak
		--noheading --numbers --ignore:N --depth:#`},
	{name: "ack", class: ClassSearch, operands: pattern, options: `
		-i -v -w -l -L -c -o -Q -h -H -n -A:# -B:# -C:# -m:# --nocolor --nogroup --noheading --ignore-dir:= --type:=`},
	{name: "locate", class: ClassSearch, operands: texts, options: `-i -c -b -e -w -l:# -n:# -r:N`},
	{name: "which", class: ClassSearch, operands: texts, options: `-a --all`},
	{name: "whereis", class: ClassSearch, operands: texts, options: `-b -m -s`},
}

var listTable = []command{
	{name: "ls", class: ClassList, options: `
		-a -A -l -h -r -t -S -1 -d -F -R -i -s -n -g -o -G -p -q -Q -U -X -u -c -C -x -m -b -B -k -v -Z -H -N -T:# -w:# -I:N
		--all --almost-all --human-readable --recursive --reverse --directory --inode --size --si --classify --full-time
		--group-directories-first --color --color:= --sort:= --time:= --time-style:= --format:= --ignore:N --hide:=
		--numeric-uid-gid --no-group --file-type --quoting-style:= --width:# --zero`},
	{name: "tree", class: ClassList, options: `
		-a -d -f -h -s -D -p -u -g -i -C -n -r -t -c -F -J -Q -L:# -I:N -P:N --dirsfirst --filesfirst --du --prune --noreport
		--gitignore --ignore-case --matchdirs --si --inodes --filelimit:# --charset:N`},
	{name: "du", class: ClassList, options: `
		-s -h -a -c -k -m -b -x -S -d:# --summarize --human-readable --all --total --apparent-size --bytes --one-file-system
		--separate-dirs --max-depth:# --exclude:N --time --si --threshold:N -t:N`},
}

// Commands that neither read nor write files.
var neutralTable = []command{
	{name: "echo printf true false :", class: ClassNeutral, operands: anything},
}
