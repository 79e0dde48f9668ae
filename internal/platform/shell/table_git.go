package shell

// Read-only git commands. Package gitrepo decides whether the repository may make git run or
// show anything else. No row has an option that writes a file or runs a program: --output,
// --ext-diff, --textconv, --remerge-diff, --show-signature, --open-files-in-pager, --filters,
// --alternate-refs.

const (
	gitDiff = `
		-p -u -s -w -b -a -R -z -U:# -M -M:+ -C -C:+ -D -B -B:+ -l:# -S:G -G:G -I:G --patch --no-patch --unified:# --raw --patch-with-raw
		--patch-with-stat --stat --stat:= --stat-width:# --stat-count:# --stat-name-width:# --stat-graph-width:# --numstat
		--shortstat --dirstat --dirstat:= --dirstat-by-file --cumulative --summary --compact-summary --name-only --name-status --color --color:= --no-color
		--color-words --color-words:= --color-moved --color-moved:= --no-color-moved --color-moved-ws:= --word-diff --word-diff:= --word-diff-regex:N
		--minimal --patience --histogram --anchored:N --diff-algorithm:N --no-renames --rename-empty --no-rename-empty
		--find-renames --find-renames:= --find-copies --find-copies:= --find-copies-harder --break-rewrites --break-rewrites:= --irreversible-delete
		--diff-filter:N --relative --relative:= --no-relative --text --binary --find-object:N --skip-to:N --rotate-to:N
		--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-matching-lines:N
		--function-context --no-function-context -W --exit-code --quiet --full-index --abbrev --abbrev:= --no-prefix --default-prefix --src-prefix:N --dst-prefix:N
		--line-prefix:N --ws-error-highlight:N --no-ext-diff --no-textconv --pickaxe-all --pickaxe-regex --check --inter-hunk-context:# --submodule --submodule:=
		--ignore-submodules --ignore-submodules:= --cc -c -m -t --dd --diff-merges:N --no-diff-merges --combined-all-paths --indent-heuristic --no-indent-heuristic
		--ita-invisible-in-index --ita-visible-in-index`
	gitLog = gitDiff + `
		-# -n:# -i -E -F -P -g -r -L:G --oneline --graph --no-graph --all --branches --branches:= --tags --tags:= --remotes --remotes:= --glob:N --exclude:N --not
		--bisect --decorate --decorate:= --no-decorate --decorate-refs:N --decorate-refs-exclude:N --clear-decorations --source --follow --full-diff
		--max-count:# --skip:# --since:N --until:N --after:N --before:N --since-as-filter:N --author:N
		--committer:N --grep:N --grep-reflog:N --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp
		--merges --no-merges --min-parents:# --max-parents:# --no-min-parents --no-max-parents --merge
		--first-parent --exclude-first-parent-only --reverse --topo-order --date-order --author-date-order --format:= --pretty --pretty:=
		--abbrev-commit --no-abbrev-commit --date:N --relative-date --parents --children --left-right --left-only --right-only --cherry-pick
		--cherry-mark --cherry --simplify-by-decoration --simplify-merges --dense --sparse --show-pulls --full-history --no-walk --no-walk:= --do-walk
		--walk-reflogs --reflog --boundary --show-linear-break --remove-empty --ignore-missing --single-worktree --root
		--no-notes --notes --notes:= --show-notes --log-size --ancestry-path --ancestry-path:= --stdin --mailmap --use-mailmap --no-mailmap --no-use-mailmap
		--encoding:= --expand-tabs --expand-tabs:= --no-expand-tabs -v`
	gitRefs = `
		--merged --merged:= --no-merged --no-merged:= --contains:N --no-contains:N --points-at:N --sort:N --format:N --color --color:= --no-color
		--ignore-case --omit-empty`
)

var gitTable = []command{
	{name: "git_status", operands: revisions, options: `
		-s -b -v -vv -u -z -uno -unormal -uall -M --short --branch --show-stash --no-show-stash --porcelain --porcelain:= --long --verbose --untracked-files
		--untracked-files:= --ignored --ignored:= --ignore-submodules --ignore-submodules:= --ahead-behind --no-ahead-behind
		--renames --no-renames --find-renames --find-renames:= --column --column:= --no-column`},
	{name: "git_diff", operands: revisions, more: `-O:P`, check: checkGitFormat, options: gitDiff + ` --cached --staged --merge-base --no-index -1 -2 -3 --base --ours --theirs`},
	{name: "git_log git_show git_whatchanged", operands: revisions, more: `-O:P`, check: checkGitFormat, options: gitLog},
	{name: "git_shortlog", operands: revisions, check: checkGitFormat, options: `
		-s -n -e -c -w --summary --numbered --email --committer --all --no-merges --merges --since:N --until:N --after:N --before:N
		--author:N --group:N --format:= --date:N --branches --tags --remotes --first-parent -i --regexp-ignore-case --grep:N`},
	{name: "git_reflog", operands: revisions, check: checkReflog, options: gitLog},
	{name: "git_blame git_annotate", operands: revisions, more: `--ignore-revs-file:P --contents:P`, options: `
		-b -l -t -s -e -w -c -f -n -p -M -M:+ -C -C:+ -L:G --root --show-stats --show-name --show-number --show-email --porcelain --incremental --reverse
		--line-porcelain --date:N --since:N --abbrev:= --color-lines --color-by-age --ignore-rev:N --first-parent --minimal
		--encoding:= --no-progress`},
	{name: "git_branch", operands: revisions, check: checkBranch, options: gitRefs + `
		-a -r -v -vv -l -q -i --all --remotes --verbose --list --show-current --column --column:= --no-column --abbrev:= --no-abbrev`},
	{name: "git_tag", operands: revisions, check: checkTag, options: gitRefs + ` -l -n -n:+ -i --list --column --column:= --no-column`},
	{name: "git_remote", operands: none, options: `-v --verbose`},
	{name: "git_remote_get-url", operands: texts, options: `--all --push`},
	{name: "git_rev-parse", operands: revisions, options: `
		-q --quiet --verify --abbrev-ref --abbrev-ref:= --short --short:= --all --branches --branches:= --tags --tags:= --remotes --remotes:= --glob:= --exclude:=
		--symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir --git-path:N
		--git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --path-format:= --shared-index-path
		--is-shallow-repository --show-object-format --show-object-format:= --show-ref-format --revs-only --no-revs --flags --no-flags --sq --not --default:N
		--since:= --after:= --until:= --before:= --disambiguate:= --local-env-vars`},
	{name: "git_merge-base", operands: revisions, options: `-a --all --is-ancestor --octopus --independent --fork-point`},
	{name: "git_ls-files", operands: revisions, more: `-X:P --exclude-from:P`, options: `
		-c -d -m -o -i -s -u -k -t -v -f -z -x:N --cached --deleted --modified --others --ignored --stage --unmerged --killed
		--exclude-standard --exclude:N --full-name --error-unmatch --directory --no-empty-directory --eol --abbrev --abbrev:= --deduplicate
		--recurse-submodules --sparse --format:= --with-tree:= --resolve-undo --debug`},
	{name: "git_ls-tree", operands: revisions, options: `-d -r -t -l -z --name-only --name-status --object-only --full-name --full-tree --long --abbrev --abbrev:= --format:=`},
	{name: "git_cat-file", operands: revisions, options: `
		-t -s -p -e -z -Z --batch --batch:= --batch-check --batch-check:= --batch-all-objects --buffer --unordered --follow-symlinks --allow-unknown-type
		--mailmap --use-mailmap --no-mailmap --no-use-mailmap`},
	{name: "git_describe", operands: revisions, options: `
		--all --tags --contains --always --long --dirty --dirty:= --broken --broken:= --exact-match --first-parent --abbrev:= --match:N --exclude:N --candidates:N --debug`},
	{name: "git_stash_list", operands: none, check: checkGitFormat, options: gitLog},
	{name: "git_stash_show", operands: revisions, check: checkGitFormat, options: gitDiff + ` --include-untracked --only-untracked --no-include-untracked`},
	{name: "git_worktree_list", operands: none, options: `--porcelain -v -z --verbose`},
	{name: "git_config", runs: true, operands: texts, check: checkConfig, more: `-f:P --file:P`, options: `
		--get --get-all --get-regexp --get-urlmatch --list -l --name-only --local --global --system --worktree --blob:N --show-origin --show-scope --show-names
		-z --null --bool --int --bool-or-int --path --expiry-date --type:= --no-type --includes --no-includes --default:N --all --regexp --url:N --value:N --fixed-value`},
	{name: "git_--version git_-v git_version", operands: none, options: `--build-options`},

	{name: "git_grep", runs: true, operands: pattern, more: `-f:P --file:P`, options: `
		-i -v -w -E -G -F -P -n -l -L -c -h -H -o -r -q -z -a -I -W -p -e:N -A:# -B:# -C:# -m:# -# --cached --no-index --untracked
		--exclude-standard --no-exclude-standard --recurse-submodules --text --and --or --not --all-match --max-depth:# --max-count:# --recursive --no-recursive
		--name-only --files-with-matches --files-without-match --null --count --color --color:= --no-color --break --heading --show-function
		--function-context --threads:# --column --line-number --no-line-number --full-name --only-matching --quiet --word-regexp --invert-match --ignore-case
		--extended-regexp --basic-regexp --fixed-strings --perl-regexp --context:# --after-context:# --before-context:# --regexp:N --no-textconv`},
	{name: "git_rev-list", operands: revisions, check: checkGitFormat, options: gitLog + `
		--count --objects --objects-edge --max-age:# --min-age:# --header --timestamp --bisect-vars --bisect-all --use-bitmap-index
		--disk-usage --disk-usage:= --filter:N --no-filter --object-names --no-object-names --unpacked --in-commit-order --missing:= --commit-header --no-commit-header`},
	{name: "git_for-each-ref", operands: revisions, check: checkRefs, options: gitRefs + `
		--count:# --shell -s --perl -p --python --tcl --stdin --exclude:N --include-root-refs`},
	{name: "git_show-ref", operands: revisions, options: `
		--head --heads --branches --tags -d --dereference -s --hash --hash:= --verify --abbrev --abbrev:= -q --quiet --exists`},
	{name: "git_show-branch", operands: revisions, options: `
		-a -r -g --all --remotes --current --topo-order --date-order --sparse --more:= --list --merge-base --independent --no-name --sha1-name --topics --reflog --reflog:= --color --color:= --no-color`},
	{name: "git_symbolic-ref", operands: texts, check: checkSymbolicRef, options: `-q --quiet --short --recurse --no-recurse`},
	{name: "git_check-ignore", operands: revisions, options: `-q -v -n -z --quiet --verbose --non-matching --stdin --no-index`},
	{name: "git_check-attr", operands: texts, options: `-a --all --cached -z --stdin --source:N`},
	{name: "git_check-mailmap", operands: texts, options: `--stdin`},
	{name: "git_check-ref-format", operands: texts, options: `--branch --normalize --print --allow-onelevel --no-allow-onelevel --refspec-pattern`},
	{name: "git_name-rev", operands: revisions, options: `
		--name-only --tags --refs:N --exclude:N --no-refs --all --always --undefined --no-undefined --annotate-stdin --stdin`},
	{name: "git_count-objects", operands: none, options: `-v -H --verbose --human-readable`},
	{name: "git_diff-tree", operands: revisions, check: checkGitFormat, options: gitLog + ` --no-commit-id --merge-base`},
	{name: "git_diff-index", operands: revisions, check: checkGitFormat, options: gitDiff + ` -r --cached --merge-base`},
	{name: "git_diff-files", operands: revisions, check: checkGitFormat, options: gitDiff + ` -r -0 -1 -2 -3 -q --base --ours --theirs`},
	{name: "git_range-diff", operands: revisions, check: checkGitFormat, options: gitDiff + `
		--creation-factor:N --no-dual-color --dual-color --left-only --right-only --no-notes --notes --notes:=`},
	{name: "git_cherry", operands: revisions, options: `-v --abbrev --abbrev:=`},
	{name: "git_patch-id", operands: none, options: `--stable --unstable --verbatim`},
	{name: "git_notes_show git_notes_list", operands: revisions},
	{name: "git_sparse-checkout_list", operands: none},
	{name: "git_var", operands: texts, check: checkVar},
	{name: "git_help", operands: none, options: `-a -g -c --all --guides --config --no-verbose --verbose --no-external-commands --no-aliases`},
}
