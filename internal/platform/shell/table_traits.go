package shell

// A wrapper is a program that runs the command after its own words.
type wrapper struct {
	valued  string // options whose value is the next word
	skip    int    // number of operands before the command
	assigns bool   // NAME=value may precede the command
	more    bool   // adds its own words to the command
}

// Programs that run others.
var wrapperTable = []program{
	{name: "nohup setsid command builtin busybox toybox fakeroot unbuffer dbus-run-session torsocks coproc entr catchsegv rlwrap", wraps: &wrapper{valued: "-l -s -b"}},
	{name: "exec", wraps: &wrapper{valued: "-a"}},
	{name: "env", wraps: &wrapper{valued: "-u --unset -C --chdir -S --split-string -a --argv0", assigns: true}},
	{name: "nice", wraps: &wrapper{valued: "-n --adjustment"}},
	{name: "ionice", wraps: &wrapper{valued: "-c --class -n --classdata -p --pid -P -u"}},
	{name: "time", wraps: &wrapper{valued: "-f --format -o --output"}},
	{name: "timeout", wraps: &wrapper{valued: "-k --kill-after -s --signal", skip: 1}},
	{name: "stdbuf", wraps: &wrapper{valued: "-i --input -o --output -e --error"}},
	{name: "sudo", wraps: &wrapper{valued: "-u --user -g --group -h --host -p --prompt -C -r --role -t --type -T -U -D --chdir -R --chroot", assigns: true}},
	{name: "doas", wraps: &wrapper{valued: "-u -C"}},
	{name: "taskset chrt", wraps: &wrapper{valued: "-T -P -D", skip: 1}},
	{name: "flock", wraps: &wrapper{valued: "-w --timeout -E --conflict-exit-code -c --command", skip: 1}},
	{name: "chroot", wraps: &wrapper{valued: "--userspec --groups", skip: 1}},
	{name: "watch", wraps: &wrapper{valued: "-n --interval"}},
	{name: "strace ltrace", wraps: &wrapper{valued: "-a -b -e -E -I -o -O -p -P -s -S -u -X -l -n -x"}},
	{name: "unshare nsenter prlimit setpriv numactl systemd-run firejail bwrap xvfb-run cgexec capsh proot chpst softlimit", wraps: &wrapper{}},
	{name: "xargs", wraps: &wrapper{valued: "-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars --process-slot-var", more: true}},
	{name: "parallel", wraps: &wrapper{valued: "-j --jobs -a --arg-file -N -n -d --delimiter --colsep -C -I -S --sshlogin --joblog --timeout --tmpdir --results", more: true}},
	{name: "ssh", wraps: &wrapper{valued: "-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", skip: 1}},
	{name: "time command builtin nohup nice ionice timeout env stdbuf xargs exec find", traits: wrapperProved},
	{name: `
		sh bash zsh dash ksh ash fish busybox eval trap env sudo doas su xargs parallel watch timeout nice nohup setsid ionice taskset flock
		chroot script strace command builtin exec time stdbuf ssh docker kubectl find fd coproc unbuffer systemd-run npx`, traits: RunsWords},
	{name: `npm_exec npm_x npm_init npm_create npm_explore pnpm_exec pnpm_dlx pnpm_create pnpm_node yarn_dlx yarn_exec yarn_create
	yarn_node bun_x bun_create docker_run docker_exec docker_compose docker_create docker_container podman_run podman_exec podman_compose podman_create
	podman_container kubectl_exec kubectl_run kubectl_debug kubectl_plugin go_run go_tool go_generate cargo_run uv_run uv_tool poetry_run poetry_shell
	bundle_exec bundle_console dotnet_run dotnet_fsi dotnet_exec dotnet_script deno_run deno_eval deno_repl swift_run swift_repl mix_run
	brew_ruby brew_irb brew_sh terraform_console systemctl_edit git_config git_bisect git_submodule git_filter-branch git_difftool git_mergetool
	gh_api gh_alias gh_extension gh_codespace rustup_run helm_plugin mvn_exec:java mvn_exec:exec gradle_run`, traits: RunsWords},
	{name: "git", inner: `bisect submodule rebase filter-branch difftool mergetool for-each-repo instaweb -c --exec --upload-pack --receive-pack --config-env`},
	{name: "docker podman", inner: `run exec compose create container`},
	{name: "npm pnpm yarn", inner: `exec x dlx explore -c`},
	{name: "go", inner: `generate tool -exec -toolexec -vettool`},
	{name: "gh", inner: `alias extension codespace`},
}

// Programs that execute code in their words or their input.
var codeTable = []program{
	{name: "sh bash zsh dash ksh ash fish mksh lksh yash posh rbash rzsh csh tcsh ksh93 bash5 osh", traits: Shell,
		inline: "-c -lc -ec -ic -xc -euc -exc -euxc", alone: "-e -u -x -l -eu -ex -eux --norc --noprofile --posix --login"},
	{name: "python pypy", inline: "-c -m", alone: "-I -E -s -S -u -B -O -OO -b -q -v -d -P"},
	{name: "node nodejs", inline: "-e --eval -p --print -pe",
		alone: "--no-warnings --no-deprecation --trace-warnings --input-type=module --input-type=commonjs"},
	{name: "perl", inline: "-e -E -ne -pe -lne -lpe -ane -nle", alone: "-w -W -n -p -l -a"},
	{name: "ruby", inline: "-e -ne -pe", alone: "-w -W -n -p -l -a"},
	{name: "php", inline: "-r -f", alone: "-n -q"},
	{name: "lua luajit Rscript julia osascript", inline: "-e", alone: "--vanilla"},
	{name: "awk gawk mawk nawk original-awk", traits: isAwk},
	{name: "ipython irb xargs parallel eval source .", traits: readsCode},
	{name: `
		python perl ruby node nodejs php lua deno bun tclsh awk gawk mawk nawk sed gsed jq osascript Rscript gnuplot vim vi nvim ed ex emacs
		sqlite psql mysql bc m`, traits: TakesScript},
	{name: "python pypy perl ruby php node nodejs deno bun", traits: AnyCode},
	{name: "busybox ssh xargs parallel source . eval", traits: runsText},
	{name: "su runuser script flock", code: "-c --command --session-command"},
	{name: "env", code: "-S --split-string"},
	{name: "sort", code: "--compress-program --compress-prog --compress-pro --compress-pr --compress-p --compress --comp --co"},
	{name: "rg", code: "--pre --hostname-bin"},
	{name: "ag ack man", code: "--pager -P"},
	{name: "split", code: "--filter"},
	{name: "tar bsdtar gtar", code: `
		--checkpoint-action=exec --to-command --use-compress-program -I --info-script --new-volume-script -F --rsh-command --rmt-command`},
	{name: "rsync", code: "-e --rsh --rsync-path"},
	{name: "scp sftp", code: "-S"},
}

// Properties of programs.
var traitTable = []program{
	{name: `
	grep egrep fgrep rg ag ack locate which whereis
	cat head tail wc stat file jq sort uniq cut tr nl od xxd hexdump base64 strings diff cmp comm paste column fold
	rev tac sed gsed basename dirname realpath readlink md5sum sha1sum sha256sum sha512sum cksum seq expr test [ date
	whoami id uname hostname pwd type nproc free df ps uptime ls tree du echo printf true false : printenv
	cp mv rm rmdir mkdir touch ln chmod chown chgrp tee truncate dd shred kill pkill killall sleep cd pushd popd
	export declare typeset local readonly unset read set shopt alias unalias umask exit return break continue shift
	wait jobs curl mkfs mktemp gofmt man`, traits: Quiet},
	{name: `
	git gh glab pbcopy xclip xsel wl-copy tar bsdtar gtar gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd gpg openssl sponge pandoc
	black ruff gofmt goimports rustfmt clang-format prettier yq less more bat wget tac zcat`, traits: TakesData},
	{name: "echo printf true false :", traits: Prints},
	{name: `ssh cp mv ln install rsync scp rm rmdir unlink shred mkdir touch tee truncate chmod chown chgrp dd find cd pushd test [`, traits: operandsKnown},
	{name: "psql mysql mariadb sqlite3 duckdb sqlcmd clickhouse-client cqlsh", traits: database},
	{name: `kubectl oc k9s helm terraform tofu terragrunt pulumi cdk sam serverless sls aws gcloud gsutil bq az doctl heroku fly flyctl vercel netlify wrangler railway supabase firebase eksctl s3cmd mc rclone linode-cli hcloud scw gh glab docker docker-compose podman nerdctl ansible vault consul etcdctl velero argocd flux`, traits: Deletes},
	{name: "tar zip 7z scp rsync cpio pax cp", traits: Packs},
	{name: `curl wget http https docker podman kubectl helm aws gh gcloud az terraform ansible-playbook scp rsync`, traits: FileWords},
	{name: `
		strings objdump nm readelf ar ld size objcopy strip addr2line gcc g++ cc c++ clang clang++ javac java rustc`, traits: Response},
	{name: "rg ag ack", traits: Searches},
	{name: "grep egrep fgrep", traits: SearchesDeep},
	{name: "git ls find tree du stat file test [ realpath readlink basename dirname fd pwd cd df", traits: Lists},

	{name: "diff", traits: FollowsLinks},

	{name: "cpio pax", names: "*"},
	{name: "tar bsdtar", names: "--files-f -T"},
	{name: "rsync", names: "--files-f"},
	{name: "sort wc du", names: "--files0"},

	// Words that determine the action.
	{name: "git go cargo docker podman kubectl helm terraform brew apt apt-get dnf pip pip3 gem bundle composer dotnet mvn gradle rustup uv poetry make just systemctl swift mix deno", verbs: 1},
	{name: "npm pnpm yarn bun gh", verbs: 2},

	// Effects other than reading.
	{name: `rm rmdir unlink mv cp ln install mkdir touch chmod chown chgrp tee truncate dd shred patch split sed tar zip unzip gzip gunzip bzip2 xz zstd
		mktemp mkfifo rename`, effect: changes},
	{name: "kill pkill killall", effect: signals},
	{name: `python python3 python2 pypy node nodejs deno bun ruby perl php lua Rscript julia bash sh zsh dash fish ksh eval source . awk gawk xargs parallel env
		sudo doas psql mysql sqlite3 irb ipython osascript`, effect: runsAny},
	{name: `curl wget wget2 ssh scp sftp rsync ftp nc ncat telnet ping dig nslookup host gh glab hub aws gcloud az kubectl helm heroku vercel netlify
		fly docker podman terraform tofu http https httpie aria2c yt-dlp nmap traceroute whois`, effect: connects},
	{name: `make gmake cmake ninja meson just task rake pytest tox nox jest vitest mocha eslint prettier tsc webpack vite rollup gradle gradlew
		mvn mvnw bazel dotnet swift mix rspec rubocop phpunit ctest npx bunx uvx black ruff mypy pylint flake8 golangci-lint`, effect: runsCode},
	{name: `pip pip3 gem bundle composer brew apt apt-get dnf yum pacman apk snap rustup uv poetry pipenv pdm conda`, effect: installs},
}
