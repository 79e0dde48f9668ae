package shell

// Read-only git commands. Package gitrepo decides whether the repository may make git run or
// show anything else. No row has an option that writes a file or runs a program: --output,
// --ext-diff, --textconv, --remerge-diff, --show-signature, --open-files-in-pager, --filters,
// --alternate-refs.

const (
	gitDiff = `
		-p -u -s -w -b -a -R -z -U:n -M:n -C:n -D -B:n -l:N -S:N -G:N -I:N --patch --no-patch --unified:n --raw --patch-with-raw
		--patch-with-stat --stat:n --stat-width:N --stat-count:N --stat-name-width:N --stat-graph-width:N --numstat
		--shortstat --dirstat:n --dirstat-by-file --cumulative --summary --compact-summary --name-only --name-status --color:n --no-color
		--color-words:n --color-moved:n --no-color-moved --color-moved-ws:n --word-diff:n --word-diff-regex:N
		--minimal --patience --histogram --anchored:N --diff-algorithm:N --no-renames --rename-empty --no-rename-empty
		--find-renames:n --find-copies:n --find-copies-harder --break-rewrites:n --irreversible-delete
		--diff-filter:N --relative:n --no-relative --text --binary --find-object:N --skip-to:N --rotate-to:N
		--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-matching-lines:N
		--function-context --no-function-context -W --exit-code --quiet --full-index --abbrev:n --no-prefix --default-prefix --src-prefix:N --dst-prefix:N
		--line-prefix:N --ws-error-highlight:N --no-ext-diff --no-textconv --pickaxe-all --pickaxe-regex --check --inter-hunk-context:N --submodule:n
		--ignore-submodules:n --cc -c -m -t --dd --diff-merges:N --no-diff-merges --combined-all-paths --indent-heuristic --no-indent-heuristic
		--ita-invisible-in-index --ita-visible-in-index`
	gitLog = gitDiff + `
		-# -n:N -i -E -F -P -g -r -L:N --oneline --graph --no-graph --all --branches:n --tags:n --remotes:n --glob:N --exclude:N --not
		--bisect --decorate:n --no-decorate --decorate-refs:N --decorate-refs-exclude:N --clear-decorations --source --follow --full-diff
		--max-count:N --skip:N --since:N --until:N --after:N --before:N --since-as-filter:N --author:N
		--committer:N --grep:N --grep-reflog:N --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp
		--merges --no-merges --min-parents:n --max-parents:n --no-min-parents --no-max-parents --merge
		--first-parent --exclude-first-parent-only --reverse --topo-order --date-order --author-date-order --format:n --pretty:n
		--abbrev-commit --no-abbrev-commit --date:N --relative-date --parents --children --left-right --left-only --right-only --cherry-pick
		--cherry-mark --cherry --simplify-by-decoration --simplify-merges --dense --sparse --show-pulls --full-history --no-walk:n --do-walk
		--walk-reflogs --reflog --boundary --show-linear-break --remove-empty --ignore-missing --single-worktree --root
		--no-notes --notes:n --show-notes --log-size --ancestry-path:n --stdin --mailmap --use-mailmap --no-mailmap --no-use-mailmap
		--encoding:n --expand-tabs:n --no-expand-tabs -v`
	gitRefs = `
		--merged:n --no-merged:n --contains:N --no-contains:N --points-at:N --sort:N --format:N --color:n --no-color
		--ignore-case --omit-empty`
)

var gitTable = []program{
	{name: "git_status", plain: true, operands: revisions, reads: `
		-s -b -v -vv -u -z -uno -unormal -uall -M --short --branch --show-stash --no-show-stash --porcelain:n --long --verbose
		--untracked-files:n --ignored:n --ignore-submodules:n --ahead-behind --no-ahead-behind
		--renames --no-renames --find-renames:n --column:n --no-column`},
	{name: "git_diff", plain: true, operands: revisions, check: checkGitFormat, reads: gitDiff + ` --cached --staged --merge-base --no-index -1 -2 -3 --base --ours --theirs -O:R`},
	{name: "git_log git_show git_whatchanged", plain: true, operands: revisions, check: checkGitFormat, reads: gitLog + ` -O:R`},
	{name: "git_shortlog", plain: true, operands: revisions, check: checkGitFormat, reads: `
		-s -n -e -c -w --summary --numbered --email --committer --all --no-merges --merges --since:N --until:N --after:N --before:N
		--author:N --group:N --format:n --date:N --branches --tags --remotes --first-parent -i --regexp-ignore-case --grep:N`},
	{name: "git_reflog", plain: true, operands: revisions, check: checkReflog, reads: gitLog},
	{name: "git_blame git_annotate", plain: true, operands: revisions, reads: `
		-b -l -t -s -e -w -c -f -n -p -M:n -C:n -L:N --root --show-stats --show-name --show-number --show-email --porcelain --incremental --reverse
		--line-porcelain --date:N --since:N --abbrev:n --color-lines --color-by-age --ignore-rev:N --first-parent --minimal
		--encoding:n --no-progress --ignore-revs-file:R --contents:R`},
	{name: "git_branch", plain: true, operands: revisions, check: checkBranch, reads: gitRefs + `
		-a -r -v -vv -l -q -i --all --remotes --verbose --list --show-current --column:n --no-column --abbrev:n --no-abbrev`},
	{name: "git_tag", plain: true, operands: revisions, check: checkTag, reads: gitRefs + ` -l -n:n -i --list --column:n --no-column`},
	{name: "git_remote", plain: true, operands: none, reads: `-v --verbose`},
	{name: "git_remote_get-url", plain: true, operands: texts, reads: `--all --push`},
	{name: "git_rev-parse", plain: true, operands: revisions, reads: `
		-q --quiet --verify --abbrev-ref:n --short:n --all --branches:n --tags:n --remotes:n --glob:n --exclude:n
		--symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir --git-path:N
		--git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --path-format:n --shared-index-path
		--is-shallow-repository --show-object-format:n --show-ref-format --revs-only --no-revs --flags --no-flags --sq --not --default:N
		--since:n --after:n --until:n --before:n --disambiguate:n --local-env-vars`},
	{name: "git_merge-base", plain: true, operands: revisions, reads: `-a --all --is-ancestor --octopus --independent --fork-point`},
	{name: "git_ls-files", plain: true, operands: revisions, reads: `
		-c -d -m -o -i -s -u -k -t -v -f -z -x:N --cached --deleted --modified --others --ignored --stage --unmerged --killed
		--exclude-standard --exclude:N --full-name --error-unmatch --directory --no-empty-directory --eol --abbrev:n --deduplicate
		--recurse-submodules --sparse --format:n --with-tree:n --resolve-undo --debug -X:R --exclude-from:R`},
	{name: "git_ls-tree", plain: true, operands: revisions, reads: `-d -r -t -l -z --name-only --name-status --object-only --full-name --full-tree --long --abbrev:n --format:n`},
	{name: "git_cat-file", plain: true, operands: revisions, reads: `
		-t -s -p -e -z -Z --batch:n --batch-check:n --batch-all-objects --buffer --unordered --follow-symlinks --allow-unknown-type
		--mailmap --use-mailmap --no-mailmap --no-use-mailmap`},
	{name: "git_describe", plain: true, operands: revisions, reads: `
		--all --tags --contains --always --long --dirty:n --broken:n --exact-match --first-parent --abbrev:n --match:N --exclude:N --candidates:N --debug`},
	{name: "git_stash_list", plain: true, operands: none, check: checkGitFormat, reads: gitLog},
	{name: "git_stash_show", plain: true, operands: revisions, check: checkGitFormat, reads: gitDiff + ` --include-untracked --only-untracked --no-include-untracked`},
	{name: "git_worktree_list", plain: true, operands: none, reads: `--porcelain -v -z --verbose`},
	{name: "git_config", plain: true, runs: true, operands: texts, check: checkConfig, reads: `
		--get --get-all --get-regexp --get-urlmatch --list -l --name-only --local --global --system --worktree --blob:N --show-origin --show-scope --show-names
		-z --null --bool --int --bool-or-int --path --expiry-date --type:n --no-type --includes --no-includes --default:N --all --regexp --url:N --value:N --fixed-value -f:R --file:R`},
	{name: "git_--version git_-v git_version", plain: true, operands: none, reads: `--build-options`},

	{name: "git_grep", plain: true, runs: true, operands: pattern, reads: `
		-i -v -w -E -G -F -P -n -l -L -c -h -H -o -r -q -z -a -I -W -p -e:N -A:N -B:N -C:N -m:N -# --cached --no-index --untracked
		--exclude-standard --no-exclude-standard --recurse-submodules --text --and --or --not --all-match --max-depth:N --max-count:N --recursive --no-recursive
		--name-only --files-with-matches --files-without-match --null --count --color:n --no-color --break --heading --show-function
		--function-context --threads:N --column --line-number --no-line-number --full-name --only-matching --quiet --word-regexp --invert-match --ignore-case
		--extended-regexp --basic-regexp --fixed-strings --perl-regexp --context:N --after-context:N --before-context:N --regexp:N --no-textconv -f:R --file:R`},
	{name: "git_rev-list", plain: true, operands: revisions, check: checkGitFormat, reads: gitLog + `
		--count --objects --objects-edge --max-age:N --min-age:N --header --timestamp --bisect-vars --bisect-all --use-bitmap-index
		--disk-usage:n --filter:n --no-filter --object-names --no-object-names --unpacked --in-commit-order --missing:n --commit-header --no-commit-header`},
	{name: "git_for-each-ref", plain: true, operands: revisions, check: checkRefs, reads: gitRefs + `
		--count:N --shell -s --perl -p --python --tcl --stdin --exclude:N --include-root-refs`},
	{name: "git_show-ref", plain: true, operands: revisions, reads: `
		--head --heads --branches --tags -d --dereference -s --hash:n --verify --abbrev:n -q --quiet --exists`},
	{name: "git_show-branch", plain: true, operands: revisions, reads: `
		-a -r -g --all --remotes --current --topo-order --date-order --sparse --more:n --list --merge-base --independent --no-name --sha1-name --topics --reflog:n --color:n --no-color`},
	{name: "git_symbolic-ref", plain: true, operands: texts, check: checkSymbolicRef, reads: `-q --quiet --short --recurse --no-recurse`},
	{name: "git_check-ignore", plain: true, operands: revisions, reads: `-q -v -n -z --quiet --verbose --non-matching --stdin --no-index`},
	{name: "git_check-attr", plain: true, operands: texts, reads: `-a --all --cached -z --stdin --source:N`},
	{name: "git_check-mailmap", plain: true, operands: texts, reads: `--stdin`},
	{name: "git_check-ref-format", plain: true, operands: texts, reads: `--branch --normalize --print --allow-onelevel --no-allow-onelevel --refspec-pattern`},
	{name: "git_name-rev", plain: true, operands: revisions, reads: `
		--name-only --tags --refs:N --exclude:N --no-refs --all --always --undefined --no-undefined --annotate-stdin --stdin`},
	{name: "git_count-objects", plain: true, operands: none, reads: `-v -H --verbose --human-readable`},
	{name: "git_diff-tree", plain: true, operands: revisions, check: checkGitFormat, reads: gitLog + ` --no-commit-id --merge-base`},
	{name: "git_diff-index", plain: true, operands: revisions, check: checkGitFormat, reads: gitDiff + ` -r --cached --merge-base`},
	{name: "git_diff-files", plain: true, operands: revisions, check: checkGitFormat, reads: gitDiff + ` -r -0 -1 -2 -3 -q --base --ours --theirs`},
	{name: "git_range-diff", plain: true, operands: revisions, check: checkGitFormat, reads: gitDiff + `
		--creation-factor:N --no-dual-color --dual-color --left-only --right-only --no-notes --notes:n`},
	{name: "git_cherry", plain: true, operands: revisions, reads: `-v --abbrev:n`},
	{name: "git_patch-id", plain: true, operands: none, reads: `--stable --unstable --verbatim`},
	{name: "git_notes_show git_notes_list", plain: true, operands: revisions},
	{name: "git_sparse-checkout_list", plain: true, operands: none},
	{name: "git_var", plain: true, operands: texts, check: checkVar},
	{name: "git_help", plain: true, operands: none, reads: `-a -g -c --all --guides --config --no-verbose --verbose --no-external-commands --no-aliases`},
}
