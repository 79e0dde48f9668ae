package shell

// Programs that rules commonly allow with a star, with the options that make them run or read
// something else.
var runTable = []program{
	// JavaScript.
	{name: "npm pnpm yarn bun", options: `
		-C:F -c:X -w:N -s -D -S -E -g --script-shell:X --shell:X --prefix:F --dir:F --cwd:F --userconfig:X --globalconfig:X --config:X --node-options:X --node-arg:X --git:X
		--editor:X --viewer:X --init-module:X --python:X --cache:D --cafile:R --logs-dir:D --global-dir:X --store-dir:D --modules-folder:D --use-yarnrc:X
		--config-dir:X --pnpmfile:X --global-pnpmfile:X --call:X --preload:X --require:X --import:X -r:X -e:X --eval:X -p:X --print:X --env-file:R --workspace:N --tag:N
		--otp:N --registry:N --loglevel:N --omit:N --include:N --access:N --filter:N --depth:N --silent --save-dev --save --save-exact --save-optional --if-present
		--workspaces --production --force --dry-run --json --long --all --watch --preset:N --pack-destination:D --script-prepend-node-path --scripts-prepend-node-path`},
	{name: "node nodejs", stops: true, options: `
		--test --watch --no-warnings --no-deprecation --trace-warnings --enable-source-maps --check -c
		-r:X -e:X -p:X -C:N --require:X --import:X --loader:X --experimental-loader:X --eval:X --print:X --env-file:R --env-file-if-exists:R --experimental-config-file:X
		--experimental-default-config-file:x --test-reporter:X --test-global-setup:X --openssl-config:X --snapshot-blob:X --build-snapshot:x --build-sea:X --run:X
		--experimental-sea-config:X --icu-data-dir:R --diagnostic-dir:D --redirect-warnings:W --cpu-prof-dir:D --heap-prof-dir:D --test-reporter-destination:W
		--trace-event-file-pattern:W --report-dir:D --report-directory:D --conditions:N --test-name-pattern:N --test-concurrency:N --test-timeout:N --max-old-space-size:N
		--stack-trace-limit:N --title:N --input-type:N --inspect:x --inspect-brk:x`},
	{name: "eslint", options: `
		-c:F -f:X -o:W --config:F --plugin:X --rulesdir:X --resolve-plugins-relative-to:X --parser:X --format:X --output-file:W --cache-location:W --cache-file:W --env:N
		--ignore-path:R --ignore-pattern:N --ext:N --rule:N --global:N --max-warnings:N --stdin-filename:N --fix-type:N`},
	{name: "prettier", options: `
		-c -w -l -u --check --write --config:F --plugin:X --plugin-search-dir:X --config-precedence:N --find-config-path:N --file-info:N --ignore-path:R --stdin-filepath:N --parser:N --cache-location:W
		--log-level:N --print-width:N --tab-width:N`},
	{name: "jest", options: `
		-c:F -t:N -w:N --config:F --rootDir:F --roots:F --globalSetup:X --globalTeardown:X --setupFiles:X --setupFilesAfterEnv:X --transform:X --runner:X --testRunner:X
		--reporters:F --env:F --testEnvironment:F --resolver:X --globals:X --preset:F --snapshotSerializers:X --moduleNameMapper:X --watchPlugins:X --filter:X --projects:F
		--testSequencer:X --testResultsProcessor:X --haste:X --modulePaths:X --prettierPath:X --dependencyExtractor:X --coverageDirectory:D --cacheDirectory:D --outputFile:W
		--testNamePattern:N --testPathPattern:N --testPathPatterns:N --maxWorkers:N --testTimeout:N --coverageReporters:N`},
	{name: "vitest vite webpack rollup esbuild tsup playwright cypress", options: `
		-c:F -r:F -t:N -p:F --config:F --root:F --dir:E --globalSetup:X --setupFiles:X --reporter:F --environment:F --runner:X --plugin:X --configPlugin:X --require:X --import:X
		--execArgv:X --pool:F --workspace:F --configLoader:N --outputFile:W --outDir:D --outfile:W --outdir:D --project:N --global-setup:X --tsconfig:R --inject:X
		--testNamePattern:N --config-file:F --resolveLoader:X --servedir:R`},
	{name: "mocha", options: `
		-r:X -c:F -R:F -u:X -O:N -g:N -f:N -t:N --require:X --file:F --config:F --package:F --reporter:F --ui:X --import:X --loader:X --node-option:X --grep:N --fgrep:N --timeout:N --spec:N`},
	{name: "tsc tsx ts-node swc babel", options: `
		-p:F -r:X -e:X -P:F -C:X -I:X -O:X --project:F --require:X --import:X --loader:X --eval:X --print:X --compiler:X --transpiler:X --cwd:F --tsconfig:F --plugins:X --presets:X --config-file:X
		--outDir:D --outFile:W --declarationDir:D --tsBuildInfoFile:W --generateTrace:D --generateCpuProfile:W --rootDir:N --target:N --module:N --lib:N --jsx:N --build -b`},

	// Python.
	{name: "python pypy", stops: true, options: `-m:X -c:X -X:N -W:N -Q:N --check-hash-based-pycs:N`},
	{name: "pytest py.test", effects: responseFiles, options: `
		-o:X -k:N -m:N -p:X -c:F -W:N -n:N -r:N --config-file:F --rootdir:F --confcutdir:F --override-ini:X --pdbcls:X --cov-config:F --pastebin:X --import-mode:N
		--junitxml:W --junit-xml:W --basetemp:D --log-file:W --resultlog:W --cov-report:N --cov:n --maxfail:N --tb:N --durations:N --ignore:N --ignore-glob:N --deselect:N
		--timeout:N --lf --ff --sw --collect-only --co --pyargs:x --html:W --json-report-file:W --doctest-glob:N --log-level:N --log-cli-level:N --color:N --capture:N --show-capture:N
		--cache-show:n --debug:w --trace-config --fixtures --markers --numprocesses:N --dist:N --rsyncdir:X --tx:X --looponfail --reruns:N`},
	{name: "pip", options: `
		-r:R -c:R -e:R -t:D -i:N -f:R -d:D -b:D --requirement:R --constraint:R --editable:R --target:D --prefix:D --root:D --src:D --dest:D --python:X --global-option:X
		--install-option:X --build-option:X --config-settings:X --cache-dir:D --log:W --cert:R --client-cert:R --keyring-provider:N --report:W --index-url:N --extra-index-url:N
		--find-links:R --proxy:N --timeout:N --retries:N --format:N --no-binary:N --only-binary:N --platform:N --python-version:N`},
	{name: "uv poetry pdm pipenv hatch", options: `
		-C:F -P:F -p:F --project:F --directory:F --config-file:X --python:F --env-file:R --allow-python-downloads --cache-dir:D --index-url:N --extra-index-url:N --find-links:R
		--constraint:R --override:R --requirement:R -r:R --target:D --prefix:D --out-dir:D -o:W --output-file:W --with:N --group:N --extra:N --all-extras --config-setting:X --venv:X`},
	{name: "mypy pyright pylint flake8 isort bandit pyflakes", effects: responseFiles, options: `
		-p:F -c:F -m:N --config-file:F --config:F --append-config:X --plugin:X --load-plugins:X --rcfile:F --init-hook:X --python-executable:F --pythonpath:X --venvpath:X --project:F
		--custom-typeshed-dir:X --custom-typing-module:X --settings-path:F --settings-file:F --sp:F --cache-dir:D --junit-xml:W --output-file:W --output:W -o:W --format:N -f:N
		--html-report:D --txt-report:D --any-exprs-report:D --linecount-report:D --exclude:N --disable:N --enable:N --select:N --ignore:N --max-line-length:N`},
	{name: "black ruff", options: `
		-c:N -l:N -t:N --code:N --config:R --include:N --exclude:N --extend-exclude:N --force-exclude:N --stdin-filename:N --line-length:N --target-version:N --required-version:N --workers:N
		--cache-dir:D --output-file:W -o:W --select:N --ignore:N --extend-select:N --fixable:N --output-format:N`},
	{name: "tox nox", options: `-c:F -f:F -e:N --conf:F --noxfile:F --workdir:D --root:F -r:n -x:X --override:X -s:N --posargs:N --python:F --installpkg:X --result-json:W`},

	// Compiled languages.
	{name: "cargo", effects: cargoPrograms, options: `
		-C:F -Z:X -p:N -j:N -F:N --config:X --manifest-path:F --lockfile-path:R --target-dir:D --artifact-dir:D --out-dir:D --root:D --path:R --package:N --exclude:N --features:N
		--bin:N --example:N --test:N --bench:N --jobs:N --profile:N --target:F --message-format:N --color:N --release --git:N --branch:N --tag:N --rev:N --index:N --registry:N --timings:n`},
	{name: "rustup", options: `--toolchain:F`},
	{name: "cmake", effects: cmakePrograms, options: `
		-P:F -C:F -E:X -D:N -U:N -G:N -T:X -A:N -B:D -S:E -j:n --toolchain:F --build:E --install:E --open:F --install-prefix:D --prefix:D --preset:N --target:N --config:N --parallel:n
		--graphviz:W --profiling-output:W --debugger-dap-log:W --project-file:X --trace-redirect:W --find-package:x`},
	{name: "ctest ninja meson", options: `
		-C:E -f:X -S:X -SP:X -R:N -E:N -L:N -LE:N -j:n -t:X -d:N -k:N -O:W -Q -V --script:X --script-new-process:X --build-and-test:X --build-makeprogram:X --test-command:X --native-file:X --cross-file:X
		--vsenv --wrapper:X --wrap:X --gdb-path:X --gdb:x --setup:N --output-log:W --output-junit:W --test-dir:E --preset:N --suite:N --test-args:N --num-processes:N`},
	{name: "bazel bazelisk buck2", options: `
		--run_under:X --bazelrc:X --workspace_status_command:X --override_repository:X --override_module:X --extra_toolchains:X --host_jvm_args:X --server_javabase:X --embed_label:N
		--action_env:X --test_env:X --repo_env:X --define:N --sandbox_add_mount_pair:X --sandbox_writable_path:X --output_base:X --output_user_root:X --package_path:X --config:N
		--test_filter:N --test_output:N --experimental_repository_resolved_file:W --build_event_json_file:W --profile:W --credential_helper:X --remote_executor:X --shell_executable:X`},
	{name: "just task", effects: makePrograms, options: `
		-f:F -d:F -c:X -t:X -g:x --justfile:F --working-directory:F --shell:X --shell-arg:X --shell-command:x --set:X --command:X --dotenv-path:R --dotenv-filename:R --chooser:X --choose:x --edit:x --init:x
		--taskfile:F --dir:F --global-justfile:x --global:x -E:R --tempdir:D --cygpath:X --list --dry-run -n --color:N -l`},
	{name: "rake", effects: makePrograms, options: `-f:F -r:X -R:X -e:X -E:X -p:X -I:X -C:F --rakefile:F --require:X --rakelib:X --execute:X --execute-continue:X --execute-print:X --libdir:X --directory:F --system:x -g:x`},
	{name: "mvn mvnw", effects: propertyPrograms, style: compiler, options: `
		-f:F -s:X -gs:X -t:X -gt:X -D:N -P:N -pl:N -T:N -rf:N -l:W -b:X --file:F --settings:X --global-settings:X --toolchains:X --global-toolchains:X --log-file:W --builder:X --define:X --projects:N
		--activate-profiles:N --threads:N --resume-from:N`},
	{name: "gradle gradlew", effects: propertyPrograms, options: `
		-I:X -b:F -c:F -p:F -g:X -D:N -P:N -x:N -m --init-script:X --build-file:F --settings-file:F --project-dir:F --gradle-user-home:X --include-build:F --project-cache-dir:D --system-prop:X
		--tests:N --exclude-task:N --warning-mode:N --console:N --max-workers:N --project-prop:N --write-locks --java-home:X`},
	{name: "dotnet msbuild", effects: msbuildPrograms, options: `
		-o:D -c:N -f:N -r:N -v:N -a:X -s:X --output:D --configuration:N --framework:N --runtime:N --verbosity:N --filter:N --logger:F --settings:F --test-adapter-path:X --collect:F --property:X
		--project:F --interactive --configfile:X --tool-path:X --packages:D --diag:W --results-directory:D --artifacts-path:D --source:N`},
	{name: "swift xcodebuild", style: compiler, effects: makePrograms, options: `
		-c:N --package-path:F --toolchain:F --sdk:F --swift-sdk:F -Xswiftc:X -Xcc:X -Xcxx:X -Xlinker:X -Xbuild-tools-swiftc:X --build-path:D --scratch-path:D --cache-path:D --config-path:X --security-path:X
		--destination:F --filter:N --configuration:N --allow-writing-to-package-directory:x --allow-writing-to-directory:X --disable-sandbox:x --manifest-cache:N --netrc-file:R -load-plugin-executable:X`},
	{name: "mix", options: `-e:X -r:X -S:X --eval:X --require:X --rpc-eval:X --sname:N --name:N --erl:X --cookie:N -pa:X -pr:X`},
	{name: "deno", options: `
		-A:x -c:F -R:x -W:x -N:x -E:x -S:x -r:n --allow-all:x --allow-run:x --allow-read:x --allow-write:x --allow-net:x --allow-env:x --allow-ffi:x --allow-sys:x --allow-import:x --allow-scripts:x
		--config:F --import-map:F --preload:X --import:X --require:X --cert:R --env-file:x --env:x --location:N --lock:n --unstable:n --v8-flags:X --permission-set:x -P:x --ext:N --filter:N --reload:n --junit-path:W
		--coverage:d --output:W -o:W --inspect:x --inspect-brk:x --cwd:X`},

	// Ruby, PHP, Perl.
	{name: "ruby", stops: true, options: `-r:X -I:X -e:X -C:E -E:N -F:N -S:x -x:x -W:n -T:n`},
	{name: "perl", stops: true, options: `-e:X -E:X -M:X -m:X -I:X -d:x -D:n -x:x -S:x -F:N -i:n -C:n -0:n -l:n`},
	{name: "php", stops: true, options: `-r:X -d:X -c:X -f:X -z:X -B:X -R:X -E:X -F:X -S:X -t:X --run:X --define:X --php-ini:X --process-code:X --process-begin:X --process-end:X --process-file:X --server:X`},
	{name: "bundle gem rspec rubocop", options: `
		-r:X -I:X -O:X -f:F -c:F -o:W -i:D -n:N -e:N -t:N --gemfile:F --config-file:X --require:X --options:X --format:F --out:W --config:F --path:D --install-dir:D --bindir:D --default-path:X --plugin:X
		--server:n --formatter:F --build-root:D --user-install --document:N --example:N --tag:N --only:N --except:N --cache-root:D`},
	{name: "composer phpunit phpstan psalm", options: `
		-d:F -c:F -a:X --working-dir:F --configuration:F --bootstrap:F --include-path:X --extension:X --autoload-file:X --printer:X --loader:X --test-suffix:N --filter:N --group:N
		--log-junit:W --coverage-html:D --coverage-clover:W --cache-directory:D --generate-baseline:w --prepend:X --plugin:X --level:N -l:N`},

	// Containers and machines.
	{name: "docker podman nerdctl docker-compose podman-compose", options: `
		-v:X -f:F -H:X -c:X -o:W -p:N -e:N -t:N -w:N -u:N -l:N -m:N --volume:X --mount:X --volumes-from:X --privileged:x --pid:X --ipc:X --uts:X --userns:X --network:N --net:N --device:X --cap-add:X
		--security-opt:X --cgroupns:X --cgroup-parent:X --gpus:N --entrypoint:X --env-file:R --label-file:R --cidfile:W --iidfile:W --metadata-file:W --host:X --config:X --context:F --tlscacert:R --tlscert:R
		--tlskey:R --file:F --project-directory:F --build-context:X --secret:X --ssh:X --output:W --cache-from:F --cache-to:F --allow:X --add-host:N --env:N --name:N --tag:N --build-arg:N
		--target:N --platform:N --label:N --filter:N --format:N --tail:N --since:N --until:N --workdir:N --user:N --publish:N --project-name:N --profile:N --scale:N --timeout:N --runtime:X --storage-opt:X
		--use-api-socket:x --tmpfs:N --rootfs:x --preserve-fds:X --root:X --runroot:X --hooks-dir:X --conmon:X --module:X --log-driver:N --log-opt:N --isolation:X --sysctl:X --link:N`},
	{name: "kubectl oc", options: `
		-f:R -k:R -s:X -n:N -l:N -o:R -c:N -L:N --filename:R --kustomize:R --server:X --kubeconfig:X --cluster:N --context:N --user:N --token:N --as:N --as-group:N --username:N --password:N
		--certificate-authority:R --client-certificate:R --client-key:R --cache-dir:D --kuberc:X --namespace:N --selector:N --field-selector:N --output:R --template:R --raw:N --sort-by:N --since:N --tail:N
		--from-file:R --from-env-file:R --patch-file:R --overrides:N --image:N --editor:X --profile-output:W --subresource:N --timeout:N --enable-helm:x --helm-command:X --load-restrictor:X --plugin:X
		--insecure-skip-tls-verify:x --proxy-url:N --tls-server-name:N`},
	{name: "helm helmfile", options: `
		-f:R -n:N --values:R --set:N --set-string:N --set-file:A --set-json:N --post-renderer:X --post-renderer-args:X --kubeconfig:X --kube-apiserver:X --kube-ca-file:R --kube-context:N --kube-token:N --repository-config:X --registry-config:X
		--repository-cache:D --ca-file:R --cert-file:R --key-file:R --keyring:R --output-dir:D --namespace:N --version:N --timeout:N --helm-binary:X --file:X --plugins:X`},
	{name: "terraform tofu terragrunt", style: oneDash, options: `
		-chdir:F -var-file:R -var:N -state:W -state-out:W -backup:W -out:W -plugin-dir:X -backend-config:R -from-module:X -target:N -parallelism:N -lock-timeout:N -replace:N -fs-mirror:X -net-mirror:X
		-terragrunt-config:F -terragrunt-tfpath:X -terragrunt-working-dir:X -config:F -tf-path:X -working-dir:X -generate-config-out:W -test-directory:F -filter:N`},
	{name: "ansible ansible-playbook", options: `
		-i:X -e:A -M:X -c:X -a:X -m:X -l:N -t:N -u:N -f:N --inventory:X --extra-vars:A --module-path:X --connection:X --args:X --module-name:X --vault-password-file:X --vault-id:X --private-key:R
		--key-file:R --become-password-file:X --connection-password-file:X --ssh-common-args:X --ssh-extra-args:X --sftp-extra-args:X --scp-extra-args:X --become-method:X --playbook-dir:X --tags:N --limit:N --tree:D`},
	{name: "systemctl journalctl", options: `-H:X -M:X -D:R -p:N -t:N -n:n -o:N -u:N -S:N -U:N --host:X --machine:X --root:X --image:X --directory:R --file:R --unit:N --since:N --until:N --output:N --lines:n --property:N --type:N --state:N --vacuum-size:N --vacuum-time:N`},
	{name: "apt apt-get dnf yum brew", options: `
		-o:X -c:X -t:N --option:X --config-file:X --config:X --setopt:X --installroot:X --root:X --repofrompath:X --downloaddir:D --destdir:D --nogpgcheck:x --allow-unauthenticated:x --cc:X --env:X --target-release:N
		--build-from-source --repo:N --enablerepo:N --disablerepo:N`},

	// Editors, pagers, and programs that inspect others.
	{name: "vim vi nvim view ex vimdiff gvim nvi", effects: plusCommands, options: `
		-c:X -S:X -s:X -u:X -U:X -i:X -w:W -W:W -T:N -t:N -q:R -l:X -es:x --cmd:X --startuptime:W --listen:X --server:X --servername:X --remote-expr:X --remote-send:X --headless --clean --noplugin --luamod-dev`},
	{name: "emacs emacsclient", options: `-f:X -l:X -e:X -q -Q -u:X -L:X -t:N --eval:X --execute:X --funcall:X --load:X --script:X -script:X --directory:X --init-directory:X --user:X --batch -batch --insert:R --file:R --find-file:R --visit:R --display:N -d:N --alternate-editor:X -a:X --socket-name:X -s:X`, style: compiler},
	{name: "nano", options: `-f:X -C:D -o:R -s:X --rcfile:X --backupdir:D --speller:X --operatingdir:R -T:N -r:N -Y:N`},
	{name: "gdb lldb", options: `-x:X -ex:X -iex:X -ix:X -eval-command:X -command:X -init-command:X -s:X -o:X -O:X -S:X -k:X -K:X -d:R -e:R -p:X --source:X --one-line:X --python:X -P:x --args -cd:E -D:R`, style: compiler},
	{name: "valgrind perf", options: `-o:W --log-file:W --output:W --xml-file:W --suppressions:R --extra-debuginfo-path:R --debuginfod:n --vgdb:N --tool:N --addr2line:X --objdump:X --symfs:R`},

	// Hosting services and data.
	{name: "gh glab hub", effects: passedOn, options: `
		-F:A -T:R -b:N -t:N -R:N -B:N -H:N -a:N -l:N -L:N -r:N -m:N -p:N -f:N -q:N -D:D -O:W -d -w --body-file:R --template:R --notes-file:R --input:R --field:A --raw-field:N --recover:R --env-file:R
		--body:N --title:N --repo:N --base:N --head:N --assignee:N --label:N --limit:N --jq:N --json:N --search:N --state:N --notes:N --target:N --milestone:N --reviewer:N --project:N --dir:D --output:W
		--hostname:N --editor:x -e:x --web --header:N --method:N -X:N --preview:N --branch:N --upstream-remote-name:N --source:R --gitignore:N`},
	{name: "aws gcloud az", options: `
		--cli-input-json:R --cli-input-yaml:R --ca-bundle:R --endpoint-url:N --profile:N --region:N --output:N --query:N --template-file:R --parameters:A --body:R --zip-file:R --policy-document:R --user-data:R
		--flags-file:R --impersonate-service-account:N --configuration:N --key-file:R --source:R --generate-cli-skeleton:n --cli-auto-prompt:x`},
	{name: "psql", options: `-c:X -f:X -o:W -L:W -d:N -h:N -p:N -U:N -v:N -P:N -F:N -R:N -T:N --command:X --file:X --output:W --log-file:W --dbname:N --host:N --port:N --username:N --set:N --variable:N --pset:N`},
	{name: "mysql mariadb", options: `
		-e:X -h:N -P:N -u:N -p:n -D:N -S:R --execute:X --defaults-file:X --defaults-extra-file:X --defaults-group-suffix:N --pager:x --tee:W --init-command:X --plugin-dir:X --default-auth:X --local-infile:x --login-path:N
		--host:N --port:N --user:N --password:n --database:N --ssl-ca:R --ssl-cert:R --ssl-key:R`},
	{name: "sqlite3", style: oneDash, options: `-cmd:X -init:X -separator:N -nullvalue:N -newline:N -vfs:N -A:x -append:x -zip:x -unsafe-testing:x -mmap:N -lookaside:2`},
	{name: "gpg gpg2", options: `-o:W -r:N -u:N -a -d -e -s --output:W --homedir:X --options:X --keyring:R --secret-keyring:R --trustdb-name:R --agent-program:X --dirmngr-program:X --pinentry-mode:N --passphrase-file:R --photo-viewer:X --exec-path:X --status-file:W --logger-file:W --attribute-file:W --load-extension:X --recipient:N --local-user:N`},
	{name: "ctags universal-ctags", options: `-f:W -o:W -L:R -e --options:X --optlib-dir:X --_xformat:N --data-dir:X --exclude:A --langmap:N`},
	{name: "pandoc", options: `-o:W -f:N -t:N -F:X -L:X -M:N -V:N -d:X -H:R -B:R -A:R -c:N --output:W --filter:X --lua-filter:X --defaults:X --template:R --data-dir:X --pdf-engine:X --pdf-engine-opt:X --metadata-file:R --include-in-header:R --include-before-body:R --include-after-body:R --reference-doc:R --bibliography:R --csl:R --extract-media:D --log:W --syntax-definition:R --resource-path:R --citation-abbreviations:R --to:X --from:X`},
	{name: "clang-tidy clang-format", options: `-p:R --config:F --config-file:F --load:X -load:X --vfsoverlay:R --export-fixes:W --store-check-profile:D --style:R --extra-arg:X --extra-arg-before:X --checks:N --header-filter:N --assume-filename:N`},
	{name: "rustfmt gofmt goimports golangci-lint staticcheck", options: `-c:F -d -e -l -r:N -s -w -E:N -D:N --config:F --config-path:F --path-mode:N --out-format:N --new-from-rev:N --timeout:N --enable:N --disable:N --cpu-profile-path:W --mem-profile-path:W --trace-path:W`},
	{name: "protoc buf", options: `-I:R -o:W --proto_path:R --plugin:X --descriptor_set_in:R --descriptor_set_out:W --dependency_out:W --template:X --config:X --output:D --path:R`, effects: responseFiles},
}
