package shell

// Programs that write files named by their options or operands, in addition to transferTable.
var outputTable = []program{
	// Files.
	{name: "mkdir", files: "W", options: `-m:N -p -v --mode:N --parents --verbose`},
	{name: "touch", files: "W", options: `
		-a -A:N -c -d:N -f -h -m -r:R -t:N --date:N --no-create --no-dereference --reference:R --time:N`},
	{name: "tee", files: "W", options: `-a -i -p --append --ignore-interrupts --output-error:n`},
	{name: "truncate", files: "W", options: `-c -o -s:N -r:R --no-create --io-blocks --size:N --reference:R`},
	{name: "rm rmdir unlink", options: `
		-d -f -i -I -p -r -R -v -x --dir --force --ignore-fail-on-non-empty --interactive:n --no-preserve-root --one-file-system
		--parents --preserve-root:n --recursive --verbose`},
	{name: "shred", options: `-n:N -s:N --iterations:N --size:N --random-source:R`},
	{name: "mktemp", files: "W", options: `-d -p:D -q -t -u -V --tmpdir:d --suffix:N`},
	{name: "mkfifo mknod", files: "W", options: `-m:N -Z:n --mode:N`},
	{name: "split", files: "RW", options: `
		-a:N -b:N -C:N -l:N -n:N -t:N -p:N --filter:X --additional-suffix:N --suffix-length:N --bytes:N --line-bytes:N --lines:N --number:N
		--separator:N --numeric-suffixes:n --hex-suffixes:n`},
	{name: "csplit", effects: csplitOutputs, options: `-b:N -f:W -n:N --suffix-format:N --prefix:W --digits:N`},
	{name: "setfacl", files: "W", options: `-m:N -x:N -M:R -X:R --modify:N --remove:N --modify-file:R --remove-file:R --restore:X`},
	{name: "chattr", files: "NW", options: `-p:N -v:N`},

	// Text.
	{name: "sort", options: `
		-o:W -T:D -S:N -k:N -t:N --output:W --temporary-directory:D --buffer-size:N --key:N --field-separator:N --check:n
		--files0-from:R --compress-program:X --batch-size:N --parallel:N --random-source:R`},
	{name: "uniq", stops: true, files: "RW", options: `-f:N -s:N -w:N --skip-fields:N --skip-chars:N --check-chars:N --group:n --all-repeated:n`},
	{name: "shuf", options: `-o:W -i:N -n:N --output:W --input-range:N --head-count:N --random-source:R`},
	{name: "iconv", options: `-o:W -f:N -t:N --output:W --from-code:N --to-code:N --unicode-subst:N --byte-subst:N --widechar-subst:N`},
	{name: "sed gsed", effects: sedOutputs, options: `
		-e:N -f:X -i:n -I:N -l:N --expression:N --file:X --in-place:n --line-length:N --follow-symlinks --binary -b`},
	{name: "awk gawk mawk nawk", stops: true, effects: awkOutputs, options: `
		-d:w -E:X -e:N -F:N -f:X -i:X -l:X -o:w -p:w -v:N -W:X --dump-variables:w --exec:X --field-separator:N --file:X --include:X --load:X
		--pretty-print:w --profile:w --source:N --assign:N --debug:x`},
	{name: "xxd", stops: true, style: compiler, files: "RW", options: `-c:N -g:N -l:N -n:N -o:N -R:N -s:N`},
	{name: "base64", options: `-i:R -o:W -b:N -w:N --input:R --output:W --wrap:N --break:N`},
	{name: "tree", options: `-o:W -H:N -I:N -L:N -P:N -T:N --filelimit:N --charset:N --fromfile --infofile:R --gitfile:R --timefmt:N`},
	{name: "less more most", effects: plusCommands, options: `-o:W -O:W -k:X -b:N -D:N -h:N -j:N -p:N -P:N -t:N -T:R -x:N -y:N -z:N --log-file:W --LOG-FILE:W --lesskey-file:X`},
	{name: "man", options: `-P:X -H:x -C:X --pager:X --html:x --config-file:X -L:N -m:N -M:N -s:N -S:N -e:N`},
	{name: "rg", options: `--pre:X --hostname-bin:X -e:N -f:R -g:N -t:N -T:N -A:N -B:N -C:N -m:N -d:N -M:N -j:N -r:N -E:N`},
	{name: "ag ack", options: `--pager:X -A:N -B:N -C:N -m:N -G:N`},
	{name: "fd fdfind", options: `-x:X -X:X --exec:X --exec-batch:X -d:N -t:N -e:N -E:N -S:N -c:N -j:N`},
	{name: "sdiff", options: `-o:W -w:N -I:N --output:W --width:N --ignore-matching-lines:N --diff-program:X`},
	{name: "patch", effects: unfolds, options: `
		-B:N -d:E -D:N -F:N -g:N -i:R -o:W -p:N -r:W -V:N -Y:N -z:N --prefix:N --directory:E --ifdef:N --fuzz:N --get:N --input:R
		--output:W --strip:N --reject-file:W --version-control:N --basename-prefix:N --suffix:N --dry-run --check`},
	{name: "jq", options: `-L:N --indent:N`},
	{name: "yq", options: `-o:N -p:N -s:W -I:N --output-format:N --split-exp:W`},
	{name: "xmllint xsltproc", options: `-o:W --output:W`, style: oneDash},

	// Archives.
	{name: "tar gtar bsdtar", effects: tarOutputs, options: `
		-b:N -C:E -f:N -F:X -g:W -H:N -I:X -K:N -L:N -N:N -T:X -V:N -X:R -A -c -d -r -t -u -x --create --extract --get --list --append
		--update --concatenate --catenate --delete --diff --compare --blocking-factor:N --directory:E --file:N
		--info-script:X --new-volume-script:X --listed-incremental:W --format:N --use-compress-program:X --starting-file:N
		--tape-length:N --newer:N --after-date:N --newer-mtime:N --files-from:X --label:N --exclude-from:R --exclude:N --to-command:X
		--checkpoint:n --checkpoint-action:X --rsh-command:X --rmt-command:X --index-file:W --volno-file:W --transform:N --xform:N
		--strip-components:N --suffix:N --backup:n --one-top-level:n --owner:N --group:N --mode:N --mtime:N --sort:N --warning:N
		--to-stdout -O --remove-files`},
	{name: "cpio pax", effects: cpioOutputs, options: `
		-C:N -D:E -E:R -F:N -f:N -H:N -I:R -M:N -O:W -R:N -s:N -o -i -p -r -w --directory:E --file:N --extract --create --list -t --rsh-command:X
		--rmt-command:X --to-stdout`},
	{name: "unzip", effects: unzipOutputs, options: `-d:D -x:N -P:N -I:N -O:N`},
	{name: "zip", files: "WR", effects: zipOutputs, options: `-m --move -b:D -n:N -O:W -P:N -s:N -t:N -x:N -i:N --out:W --temp-path:D --unzip-command:X`},
	{name: "7z 7za 7zz 7zr", effects: sevenOutputs, options: `-o:D -w:D -p:N -t:N -m:N -x:N -i:N`, style: compiler},
	{name: "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd compress uncompress lz4", effects: packOutputs, options: `
		-b:N -S:N -o:W -T:N -F:N -M:N -c -l -t -d -N -k --suffix:N --stdout --to-stdout --list --test --output-dir-flat:D --output-dir-mirror:D
		--name --decompress`},
	{name: "ar", files: "NW", options: ``},

	// The network.
	{name: "curl", effects: curlOutputs, options: `
		-A:N -b:R -c:W -C:N -d:A -D:W -e:N -E:R -F:A -h:n -H:A -K:X -m:N -n:x -o:W -P:N -Q:N -r:N -t:N -T:R -u:N -U:N -w:A -x:N -X:N -y:N -Y:N -z:R
		-O -J --netrc:x --netrc-optional:x --variable:A --expand-data:A --proxy-header:A --unix-socket:R --abstract-unix-socket:R --output:W --output-dir:D --dump-header:W --cookie-jar:W --trace:W --trace-ascii:W --stderr:W --config:X --libcurl:W
		--etag-save:W --hsts:W --alt-svc:W --engine:X --remote-name --remote-name-all --remote-header-name --write-out:A --data:A
		--data-raw:N --data-binary:A --data-urlencode:A --data-ascii:A --json:A --form:A --form-string:N --header:A --request:N
		--user:N --user-agent:N --url:R --url-query:A --upload-file:R --cookie:R --cert:R --key:R --cacert:R --capath:R --referer:N
		--proxy:N --proxy-user:N --max-time:N --connect-timeout:N --retry:N --retry-delay:N --retry-max-time:N --range:N
		--resolve:N --interface:N --limit-rate:N --netrc-file:R --ciphers:N --time-cond:R --quote:N --max-redirs:N
		--noproxy:N --dns-servers:N --etag-compare:R`},
	{name: "wget wget2", effects: wgetOutputs, options: `
		-a:W -A:N -B:N -D:N -e:X -i:R -I:N -l:N -o:W -O:W -P:D -Q:N -R:N -t:N -T:N -U:N -w:N -X:N -r -m -x -p -N -c -q -n:N
		--append-output:W --output-file:W --output-document:W --directory-prefix:D --execute:X --config:X --input-file:R
		--save-cookies:W --warc-file:W --warc-tempdir:D --rejected-log:W --use-askpass:X --hsts-file:W --load-cookies:R
		--post-file:R --body-file:R --post-data:N --body-data:N --method:N --header:N --user:N --password:N --user-agent:N
		--referer:N --tries:N --timeout:N --wait:N --level:N --accept:N --reject:N --domains:N --base:N --quota:N
		--limit-rate:N --default-page:N --certificate:R --ca-certificate:R --private-key:R --recursive --mirror
		--page-requisites --force-directories --content-disposition --trust-server-names --spider --cut-dirs:N --convert-links`},
	{name: "ssh", stops: true, effects: sshPrograms, options: `
		-b:N -B:N -c:N -D:N -e:N -E:W -F:X -i:R -I:X -J:N -l:N -L:N -m:N -o:N -O:N -p:N -Q:N -R:N -S:R -w:N -W:N`},
	{name: "sftp", effects: sshPrograms, options: `-b:X -B:N -c:N -D:X -F:X -i:R -J:N -l:N -o:N -P:N -R:N -s:N -S:X -X:N`},
	{name: "ssh-keygen", options: `
		-f:W -b:N -C:N -D:X -E:N -F:N -I:N -m:N -M:N -n:N -N:N -O:N -P:N -r:N -R:N -s:R -t:N -T:W -V:N -w:X -W:N -Y:N -z:N -Z:N`},
	{name: "openssl", style: oneDash, options: `
		-out:W -keyout:W -writerand:W -CAserial:W -sigopt:N -engine:X -provider-path:X -config:X -in:R -inkey:R -key:R -passin:R -passout:R
		-subj:N -days:N -pass:R -k:N -K:N -iv:N -S:N -connect:N -servername:N -kfile:R -rand:R -CAfile:R -CApath:R -extfile:R -signkey:R -CA:R -CAkey:R -sess_out:W -msgfile:W -keylogfile:W -outdir:D -signature:R -noout`},

	// Building.
	{name: "gcc g++ cc c++ clang clang++ ld rustc", style: compiler, effects: compilerPrograms, options: `
		-o:W -MF:W -MT:N -MQ:N -MJ:W -include:R -imacros:R -isystem:R -idirafter:R -iquote:R -x:N -I:R -L:R -l:N -D:N -U:N -T:R -B:X -Xlinker:N
		-Xclang:N -Xassembler:N -Xpreprocessor:N -specs:X -wrapper:X -fplugin:X -aux-info:W -dumpdir:D -dumpbase:N -fprofile-dir:D -u:N
		-ftime-trace:w -save-temps:n -Map:W -z:N -m:N -e:N -load:X --out-dir:D --emit:N -C:N --edition:N --crate-name:N --crate-type:N --sysroot:N`},
	{name: "go", style: oneDash, effects: goPrograms, options: `
		-o:W -coverprofile:W -cpuprofile:W -memprofile:W -blockprofile:W -mutexprofile:W -trace:W -outputdir:D -toolexec:X -exec:X
		-vettool:X -modfile:X -pkgdir:D -overlay:X -C:E -w:x -goversion:N -run:N -bench:N -count:N -timeout:N -tags:N -ldflags:N -gcflags:N
		-asmflags:N -gccgoflags:N -p:N -cpu:N -parallel:N -benchtime:N -covermode:N -coverpkg:N -mod:N -fuzz:N -fuzztime:N
		-skip:N -list:N -f:N -debug-trace:W -debug-actiongraph:W -pgo:R -test.coverprofile:W -test.outputdir:D -test.cpuprofile:W
		-test.memprofile:W -test.trace:W -test.testlogfile:W -test.gocoverdir:D -json`},
	{name: "make gmake", effects: makePrograms, options: `
		-C:E -f:F -I:R -j:n -l:n -o:N -O:n -W:N -E:X -b -B -d -e:x -h -i -k -L -m -n -p -q -r -R -s -S -t -v -w --directory:E --file:F --makefile:F --eval:X --include-dir:R
		--environment-overrides:x --jobs:n --load-average:n --max-load:n --old-file:N --assume-old:N --what-if:N --new-file:N --assume-new:N --output-sync:n
		--debug:n --shuffle:n --always-make --ignore-errors --keep-going --dry-run --just-print --recon --print-data-base --question --no-builtin-rules
		--no-builtin-variables --silent --quiet --stop --touch --trace --version --print-directory --no-print-directory --warn-undefined-variables --help`},
	{name: "ffmpeg", files: "W", style: oneDash, options: `-i:R -f:N -c:N -ss:N -t:N -to:N -vf:N -af:N -r:N -s:N -b:N -map:N -filter_complex:N -passlogfile:W`},

	// Programs that run others.
	{name: "script", files: "W", options: `-c:X -E:N -B:W -I:W -O:W -T:W -t:w -o:N -m:N --command:X --log-io:W --log-in:W --log-out:W --log-timing:W`},
	{name: "ps top htop lsof ss pgrep"},
	{name: "grep egrep fgrep", options: `-e:N -f:R -m:N -A:N -B:N -C:N -d:N -D:N`},
	{name: "ls", options: `-I:N -T:N -w:N`},
	{name: "mount umount", options: `-o:N -t:N`},
	{name: "git", options: gitOutputs},
	{name: "git_archive", options: `-o:W -v -l --output:W --remote:N --exec:X --format:N --prefix:N --add-file:R --add-virtual-file:N`},
	{name: "git_format-patch", options: gitOutputs + ` -o:D -v:N -n -s -k -M:n -U:N`},
	{name: "git_grep", options: `-O:x --open-files-in-pager:x -e:N -f:R -A:N -B:N -C:N -m:N --max-depth:N --threads:N`},
	{name: "git_difftool git_mergetool", options: `-x:X -t:X --extcmd:X --tool:X ` + gitOutputs},
	{name: "git_rebase", options: `-x:X --exec:X -s:N -X:N -C:N --onto:N --strategy:N --strategy-option:N`},
	{name: "git_clone", files: "NW", effects: cloneOutputs, options: `
		-u:X -c:X -o:N -b:N -j:N --upload-pack:X --config:X --template:X --origin:N --branch:N --jobs:N --depth:N --reference:N
		--reference-if-able:N --separate-git-dir:W --shallow-since:N --shallow-exclude:N --filter:N --bundle-uri:N --server-option:N`},
	{name: "git_init", files: "W", options: `-b:N --template:X --separate-git-dir:W --initial-branch:N --shared:n --object-format:N --ref-format:N`},
	{name: "git_bundle", files: "NW", options: `--version:N`},
	{name: "git_worktree", files: "NW", options: `-b:N -B:N --reason:N`},
	{name: "git_apply", effects: unfolds, options: `
		-p:N -C:N --directory:E --exclude:N --include:N --whitespace:N --build-fake-ancestor:W --check --stat --numstat --summary --apply`},
	{name: "git_am", effects: unfolds, options: `-p:N -C:N -S:n --directory:E --exclude:N --include:N --patch-format:N --show-current-patch:n --abort --skip --quit`},
	{name: "git_fetch git_pull git_push git_ls-remote git_remote git_fetch-pack git_send-pack", options: `
		--upload-pack:X --receive-pack:X --exec:X -o:N -j:N --server-option:N --push-option:N --depth:N --shallow-since:N --filter:N
		--refmap:N --recurse-submodules:n --negotiation-tip:N --repo:N --sort:N --upload-archive:X`},
	{name: "git_submodule", effects: submoduleOutputs, options: `-b:N -j:N --name:N --reference:N --depth:N --upload-pack:X --filter:N`},
	{name: "git_checkout", effects: checkoutOutputs, options: `-b:N -B:N --orphan:N --conflict:N --pathspec-from-file:R`},
	{name: "git_restore", files: "W", options: `-s:N --source:N --conflict:N --pathspec-from-file:R`},
	{name: "git_merge-file", files: "WR", options: `-L:N`},
	{name: "git_bugreport git_diagnose git_mailsplit", options: `-o:D -s:N -b -f:N -d:N --output-directory:D --suffix:N --mode:N`},
	{name: "git_mailinfo", files: "W", options: `--encoding:N`},
	{name: "git_checkout-index", options: `--prefix:D --stage:N --temp`},
	{name: "git_commit git_tag git_notes git_merge", options: `-m:N -F:R -C:N -c:N -u:n -S:n -t:R --file:R --message:N --template:R --author:N --date:N -s:n -X:N --strategy:N --trailer:N --fixup:N --squash:N --cleanup:N --pathspec-from-file:R --reuse-message:N --reedit-message:N`},
	{name: "git_blame git_annotate", options: `-L:N -S:R --contents:R --ignore-rev:N --ignore-revs-file:R --date:N`},
	{name: "git_ls-files", options: `-o -x:N -X:R --exclude:N --exclude-from:R --others`},
	{name: "git_fast-export git_fast-import", options: `--export-marks:W --import-marks:R --import-marks-if-exists:R --export-pack-edges:W --cat-blob-fd:N --rewrite-submodules-from:N`},
	{name: "git_config", options: `-f:R --file:R --blob:N --default:N -e:x --edit:x`},
	{name: "git_add git_rm git_reset git_stash", options: `-m:N --message:N --chmod:N --pathspec-from-file:R`},
	{name: "git_send-email", options: `--smtp-server:X --sendmail-cmd:X --to-cmd:X --cc-cmd:X --header-cmd:X`},
}

// gitOutputs are the options of commands that show commits and differences.
const gitOutputs = `
	--output:W --output-directory:D --ext-diff:x --textconv:n --exec:X --upload-pack:X --receive-pack:X --extcmd:X --template:X
	--export-marks:W --output-indicator-new:N --output-indicator-old:N --output-indicator-context:N -O:R -S:N -G:N -L:N -n:N -U:N -l:N
	--open-files-in-pager:x --format:N --pretty:n --since:N --until:N --author:N --grep:N --no-ext-diff --no-textconv`
