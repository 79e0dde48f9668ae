package shell

// What git is asked about a repository. Whether the repository may make it run or show anything else is for
// package gitrepo to say.

const (
	gitDiff = `
		-p -u -s -w -b -a -R -z -U:# -M -C -D -B -l:# -S:G -G:G -O:P --patch --no-patch --unified:# --raw --patch-with-raw --stat --stat:= --numstat
		--shortstat --dirstat --dirstat:= --summary --compact-summary --name-only --name-status --color --color:= --no-color
		--color-words --word-diff --word-diff:= --word-diff-regex:= --minimal --patience --histogram --diff-algorithm:=
		--no-renames --find-renames --find-renames:= --find-copies --find-copies:= --diff-filter:N --relative --text
		--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol
		--function-context -W --exit-code --quiet --full-index --abbrev --abbrev:= --no-prefix --src-prefix:N --dst-prefix:N
		--no-ext-diff --no-textconv --pickaxe-all --pickaxe-regex --check --inter-hunk-context:# --submodule --submodule:=
		--ignore-submodules --ignore-submodules:= --cc -c -m --indent-heuristic`
	gitLog = gitDiff + `
		-# -n:# -i -E -F -P -g -L:N --oneline --graph --all --branches --branches:= --tags --tags:= --remotes --remotes:= --decorate --decorate:=
		--no-decorate --source --follow --max-count:# --skip:# --since:N --until:N --after:N --before:N --author:N
		--committer:N --grep:N --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --merges
		--no-merges --first-parent --reverse --topo-order --date-order --author-date-order --format:= --pretty --pretty:=
		--abbrev-commit --no-abbrev-commit --date:= --relative-date --parents --children --left-right --cherry-pick
		--cherry-mark --cherry --simplify-by-decoration --full-history --no-walk --walk-reflogs --reflog --boundary
		--no-notes --notes --log-size --ancestry-path --stdin`
)

var gitTable = []command{
	{name: "git_status", operands: revisions, options: `
		-s -b -v -u -z -uno -unormal -uall --short --branch --show-stash --porcelain --porcelain:= --long --verbose --untracked-files
		--untracked-files:= --ignored --ignored:= --ignore-submodules --ignore-submodules:= --ahead-behind --no-ahead-behind
		--renames --no-renames --column --no-column`},
	{name: "git_diff", operands: revisions, options: gitDiff + ` --cached --staged --merge-base --no-index -1 -2 -3 --base --ours --theirs`},
	{name: "git_log", operands: revisions, check: checkGitFormat, options: gitLog},
	{name: "git_show", operands: revisions, check: checkGitFormat, options: gitLog},
	{name: "git_shortlog", operands: revisions, check: checkGitFormat, options: `
		-s -n -e -c -w --summary --numbered --email --committer --all --no-merges --merges --since:N --until:N --after:N --before:N
		--author:N --group:= --format:=`},
	{name: "git_reflog", operands: revisions, check: checkReflog, options: gitLog},
	{name: "git_blame", operands: revisions, options: `
		-b -l -t -s -e -w -c -f -n -p -M -C -L:N --root --show-stats --show-name --show-number --show-email --porcelain
		--line-porcelain --date:= --since:N --abbrev:= --color-lines --color-by-age --ignore-rev:N`},
	{name: "git_branch", operands: revisions, check: checkBranch, options: `
		-a -r -v -vv -l -q -i --all --remotes --verbose --list --show-current --merged --merged:= --no-merged --no-merged:= --contains:N
		--no-contains:N --points-at:N --sort:N --format:N --color --color:= --no-color --column --no-column --ignore-case --abbrev:= --no-abbrev`},
	{name: "git_tag", operands: revisions, check: checkTag, options: `
		-l -n -i -# --list --merged --merged:= --no-merged --no-merged:= --contains:N --no-contains:N --points-at:N --sort:N --format:N
		--color --color:= --column --no-column --ignore-case`},
	{name: "git_remote", operands: none, options: `-v --verbose`},
	{name: "git_rev-parse", operands: revisions, options: `
		-q --quiet --verify --abbrev-ref --abbrev-ref:= --short --short:= --all --branches --tags --remotes --symbolic
		--symbolic-full-name --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir
		--git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository
		--is-shallow-repository --show-object-format --revs-only --no-revs --sq --not`},
	{name: "git_merge-base", operands: revisions, options: `-a --all --is-ancestor --octopus --independent --fork-point`},
	{name: "git_ls-files", operands: revisions, options: `
		-c -d -m -o -i -s -u -k -t -v -f -z -x:N --cached --deleted --modified --others --ignored --stage --unmerged --killed
		--exclude-standard --exclude:N --full-name --error-unmatch --directory --no-empty-directory --eol --abbrev --deduplicate`},
	{name: "git_ls-tree", operands: revisions, options: `-d -r -t -l -z --name-only --name-status --object-only --full-name --full-tree --long --abbrev --abbrev:= --format:=`},
	{name: "git_cat-file", operands: revisions, options: `-t -s -p -e`},
	{name: "git_describe", operands: revisions, options: `
		--all --tags --contains --always --long --dirty --dirty:= --broken --exact-match --first-parent --abbrev:= --match:N --exclude:N --candidates:=`},
	{name: "git_stash_list", operands: none, check: checkGitFormat, options: gitLog},
	{name: "git_worktree_list", operands: none, options: `--porcelain -v -z --verbose`},
	{name: "git_config", operands: texts, check: checkConfig, options: `--get --get-all --local --global --system --worktree --show-origin --show-scope -z --null --bool --int --path --type:=`},
	{name: "git_--version git_version", operands: none},
}
