package permission

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outputWorld returns a project with a payload to copy to various places, and symlinks that a
// clone could contain.
func outputWorld(t testing.TB) world {
	t.Helper()
	w := newWorld(t)
	w.write(t, "project/a", "project/b", "project/dummy", "project/settings.local.json", "project/dir/old", "project/sub/deep/f",
		"project/pay/pre-commit", "project/pay/rc", "project/pay/.mcp.json", "project/pay/.env", "project/pay/.vscode/tasks.json",
		"project/pay/authorized_keys", "project/pay/inner/.husky/pre-push", "project/clean/x/y", "project/clean/z", "project/odd/-t.git",
		"project/plain/one", "project/bare/hooks/post-update", "project/conf/keep", "project/.adze/x", "project/lib/a.go",
		"project/archive.tar", "project/fix.patch", "project/pre-commit.gz", "project/.vscode/s", ".bashrc", ".ssh/config")
	w.link(t, filepath.Join(w.home, ".bashrc"), "conf/rc")
	w.link(t, ".git", "innocent")
	w.link(t, filepath.Join(w.home, ".ssh"), "keys")
	w.link(t, "../../.bashrc", "lib/up")
	w.link(t, "../a", "lib/in")
	w.write(t, "project/sub/q/x")
	w.link(t, "sub/deep", "deep")
	if err := os.MkdirAll(filepath.Join(w.project, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// rows returns the lines of a table without comments, with HOME and OUT replaced by
// directories.
func (w world) rows(table string) []string {
	var rows []string
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rows = append(rows, strings.NewReplacer("HOME", w.home, "OUT", w.outside).Replace(line))
	}
	return rows
}

// Commands that acceptEdits must not allow: each row writes to a protected place, outside the
// project, or to an unknown path. Finding F4.
const acceptEditsAsks = `
	# every way to name a directory
	cp -t.git/hooks pay/pre-commit dummy
	cp -t .git/hooks pay/pre-commit
	cp -rt .git/hooks pay/pre-commit
	cp -rt.git/hooks pay/pre-commit
	cp -vrt .git/hooks pay/pre-commit
	cp -fvt.git/hooks pay/pre-commit
	cp --target-directory .git/hooks pay/pre-commit
	cp --target-directory=.git/hooks pay/pre-commit
	cp --target-dir=.git/hooks pay/pre-commit
	cp --target-dir .git/hooks pay/pre-commit
	cp --target=.git/hooks pay/pre-commit
	cp --t=.git/hooks pay/pre-commit
	cp --t .git/hooks pay/pre-commit
	cp pay/pre-commit -t .git/hooks
	cp pay/pre-commit dummy -t.git/hooks
	cp -t .git/hooks -- pay/pre-commit
	cp -ft.git/hooks -- pay/pre-commit
	cp -t ./.git/hooks pay/pre-commit
	cp -t .GIT/hooks pay/pre-commit
	cp -t sub/../.git/hooks pay/pre-commit
	cp -t innocent/hooks pay/pre-commit
	cp pay/pre-commit innocent/hooks
	cp -t innocent pay/pre-commit
	mv -t.git/hooks pay/pre-commit dummy
	mv -t .git/hooks pay/pre-commit
	mv -ft .git/hooks pay/pre-commit
	mv --target-directory .git/hooks pay/pre-commit
	mv --target-dir=.git/hooks pay/pre-commit
	mv --t=.git/hooks pay/pre-commit
	mv pay/pre-commit -t.git/hooks
	mv -t innocent/hooks pay/pre-commit
	# outside
	cp -tHOME/.ssh pay/authorized_keys dummy
	cp -t HOME/.ssh pay/authorized_keys
	cp --target-dir=HOME/.ssh pay/authorized_keys
	cp -rtHOME pay/rc dummy
	cp -tOUT a
	cp --t=OUT a
	cp -t ../.. a
	cp -t.. a
	mv -tHOME pay/rc dummy
	mv -t HOME pay/rc
	mv --target-d HOME pay/rc
	mv -t.. a
	cp -t keys pay/authorized_keys
	cp pay/authorized_keys keys/
	cp a OUT
	cp a ../x
	mv a ../x
	mkdir OUT/x
	touch OUT/x
	# a directory hides the name
	cp pay/.mcp.json .
	cp pay/.mcp.json ./
	cp pay/.mcp.json ./.
	cp pay/.mcp.json sub
	cp pay/.mcp.json sub/
	cp pay/.mcp.json a sub
	cp a pay/.mcp.json sub/deep
	cp pay/.env .
	cp pay/.env dir
	cp -p pay/.env dir
	cp -n pay/.env dir
	cp pay/.env pay/rc dir
	cp -t . pay/.mcp.json
	cp -t. pay/.mcp.json
	cp --target-directory=dir pay/.env
	mv pay/.mcp.json .
	mv pay/.env dir/
	mv -t dir pay/.env
	mv pay/.vscode .
	mv pay/.vscode dir
	cp -r pay/.vscode .
	cp -R pay/.vscode sub
	cp -a pay/.vscode dir/
	cp -r pay/.vscode/ .
	cp -r pay/. .
	cp -r pay/. dir
	cp -r pay/./ .
	cp -r pay/inner/.. dir
	cp -rT pay .
	cp -rT pay dir
	cp -r -T pay dir
	cp -r --no-target-directory pay dir
	cp -r --no-target pay .
	cp -r pay dir
	cp -r pay dir/
	cp -r pay fresh
	cp -r pay/ fresh
	cp -a pay fresh
	cp --recursive pay fresh
	cp --rec pay fresh
	cp --archive pay fresh
	cp -dR pay fresh
	cp -r sub pay fresh
	cp -r pay/inner fresh
	cp -rL pay fresh
	mv pay fresh
	mv pay dir
	mv pay/inner dir
	mv pay/inner fresh
	cp --parents pay/.env dir
	cp --parents pay/.vscode/tasks.json dir
	cp --parents .git/config dir
	cp --par pay/.mcp.json dir
	cp -r --parents pay dir
	cp --parents ../../outside/data.txt dir
	cp pay/.mcp.json dir && ls
	mkdir d2 && cp pay/.mcp.json d2
	mkdir -p d2/x && cp pay/.env d2/x
	mkdir d2; mv pay/.env d2
	mkdir -p g/hooks && mv g x.git
	# what an earlier part prepares
	mv b c && mkdir b && cp pay/.env b
	mkdir -p x/y && cp -P lib/in x/y/l && mv x/y/l l && cp a l
	cp -P lib/in dir/l && mv dir/* . && cp a l
	mkdir q; cp -a lib q; mv q/lib/in .
	cp pay/.env deep/../q
	cp a keys/..
	cp pay/.env dir/.
	cp pay/.env ./dir//
	cp pay/.env "dir"/../dir
	cp a 'dir/.git'
	cp a dir/.GIT/x
	cp pay/.env/ dir
	mv dir/../pay/.env dir
	cp -r pay/.vscode/.. dir
	cp -r pay/inner/../.vscode dir
	cp -r . dir
	cp -r ./. dir
	touch ~+/.mcp.json
	touch {.mcp.json,x}
	touch $'.mcp.json'
	cp -- pay/.env dir
	cp a b -t .git/hooks --
	# wildcards
	cp pay/.m* .
	cp pay/.* .
	cp pay/.[a-z]* dir
	cp -r pay/.v* .
	cp pay/?mcp.json pay/.e* dir
	mv pay/.mcp* .
	mv pay/.*.json dir
	cp -r p* dir
	cp -r pay* fresh
	cp -r ./pa[x-z] fresh
	cp odd/* .git/hooks
	cp a .gi*
	cp a [.]git
	cp a di*
	# names that are links
	cp pay/rc conf
	cp pay/rc conf/
	cp pay/rc conf/rc
	cp -t conf pay/rc
	cp -tconf pay/rc
	mv pay/rc conf
	cp -r pay/rc conf
	cp -rT plain conf/rc
	touch conf/rc
	touch keys/x
	mkdir innocent/x
	mkdir keys/x
	cp a innocent/config
	# links that are taken along
	mv conf/rc mine
	mv conf mine
	cp -P conf/rc mine
	cp -d conf/rc mine
	cp -a conf/rc mine
	cp -a conf mine
	cp -r conf mine
	cp -R conf dir
	cp -r keys fresh
	cp -a lib/up up
	mv lib/up dir
	cp --no-dereference conf/rc mine
	cp -s HOME/.bashrc mine
	cp -l HOME/.bashrc mine
	cp -l .git/config mine
	cp --link .git/config mine
	cp -s .git/config mine
	cp --sym .git/config mine
	cp -rl .git mine
	cp -rl -t sub/deep pay/
	cp -rl conf pay -t conf
	ln -s HOME/.bashrc mine
	ln HOME/.bashrc mine
	ln -s .git mine
	ln .git/config mine
	# taking protected things away, and keeping what was there
	mv .git old
	mv .git/config old
	mv .vscode old
	mv .git .
	mv .env dir
	cp -S it -b a .g
	cp --suffix=it --backup a .g
	mv --backup=simple -S.json a .mcp
	# others
	mkdir .git/hooks/x
	mkdir -p .git/hooks
	mkdir -pv sub/.husky
	mkdir -m 755 .vscode
	mkdir --mode=755 .vscode
	mkdir -m755 -p .claude/agents
	mkdir -- .vscode
	mkdir -p x/../.git/y
	touch .git/config
	touch -r a .git/config
	touch -d now .mcp.json
	touch -t 202001010000 .mcp.json
	touch -- .env
	touch a .env
	touch sub/.envrc b
	# options that are not known
	cp -Z a b
	cp --context=x a b
	cp --foo a b
	cp --no a b
	mv --exchange a b
	mv -Z a b
	touch -Z a
	mkdir -Z x
	cp -q a b
	cp --s=x a b
	# never simple file commands
	rsync -a pay/ dir
	rsync a b
	install a b
	install -D a x/y
	install -D -t .git/hooks pay/pre-commit
	install -t.git/hooks pay/pre-commit
	install -d .git/hooks
	tee .mcp.json
	tee -a a
	dd if=a of=.git/config
	dd if=a of=b
	truncate -s 0 .mcp.json
	truncate -s0 a
	chmod +x .git/hooks/pre-commit
	chmod +x a
	ln -s a c
	rm a
	cd sub && cp ../a b
	cp a ~/x
	cp a "$x"
	cp $x b
	FOO=1 cp a b
	env FOO=1 cp a b
`

// Commands that acceptEdits allows.
const acceptEditsAllows = `
	cp a b
	cp a new
	cp -p a new
	cp -av a new
	cp -a sub new
	cp -f a b
	cp -n a b
	cp -i a b
	cp -u a b
	cp -v a b
	cp --verbose a b
	cp --force a b
	cp --preserve=mode a b
	cp --pres=mode a b
	cp --update a b
	cp -r sub dst
	cp -R sub dst
	cp -rp sub dst
	cp -r sub dir
	cp -r sub/ dst
	cp -r sub/. dst
	cp -r sub/. dir
	cp -rT sub dir
	cp --recursive clean dst
	cp -r clean/x clean/z dir
	cp a b dir
	cp a b dir/
	cp a dir/a
	cp a sub/deep/new
	cp a ./b
	cp -- a b
	cp -t dir a b
	cp -tdir a
	cp --target-directory=dir a b
	cp --target-dir dir a
	cp -T a b
	cp --parents sub/deep/f dir
	cp -b a b
	cp --backup=numbered a b
	cp -S .bak a b
	cp sub/deep/* dir
	cp sub/*/f dir
	cp -r s* dir
	cp main.go main.go.bak
	cp src/a.go src/b.go
	cp -L a b
	cp -a lib/in dir
	cp -a deep dir
	mv deep shallow
	mv a c
	mv a dir/
	mv a dir
	mv a b dir
	mv a b dir/
	mv -f a c
	mv -n a c
	mv -v a c
	mv -i a c
	mv -t dir a b
	mv -tdir a
	mv -T a c
	mv sub renamed
	mv sub dir
	mv clean/x clean/w
	mv src/a.go src/c.go
	mv sub/deep/* dir
	mkdir x
	mkdir -p x/y
	mkdir -pv x/y z
	mkdir -m 755 x
	mkdir --parents x/y
	mkdir x && touch x/y
	mkdir -p x && cp a x
	mkdir -p x && cp a b x/
	mkdir x && mv a x
	touch a b
	touch new
	touch -c a
	touch -d yesterday a
	touch -r a b
	touch -t 202001010000 a
	touch a && cp a b
	cp a b && cat b
	mkdir x && cp sub/deep/* x
	cp sub/deep/* dir && cp clean/* x
	cp a c && mv c d
	ls; cp a b; ls
	cp a b > log.txt
	cp CLAUDE.md AGENTS.md
`

// Proves PERM-20.
func TestAcceptEditsAndFileCommands(t *testing.T) {
	w := outputWorld(t)
	asks, allows := w.rows(acceptEditsAsks), w.rows(acceptEditsAllows)
	if len(asks) < 150 || len(allows) < 60 {
		t.Errorf("the tables have only %d and %d rows", len(asks), len(allows))
	}
	c := w.config(AcceptEdits)
	for _, line := range asks {
		if d := decide(t, c, "Bash", runs(line)); d.Behavior != Ask {
			t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason.String())
		}
	}
	for _, line := range allows {
		if d := decide(t, c, "Bash", runs(line)); d.Behavior != Allow {
			t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason.String())
		}
	}
}

// Commands that a wildcard rule covers except for their outputs or subprocesses: a protected
// place, a path outside the project, or a program. The rule precedes the arrow. Finding F12.
const rulesAsk = `
	git log:* => git log --format=tformat:EVIL --output=HOME/.bashrc
	git log:* => git log --format=tformat:EVIL --output=.git/hooks/pre-commit
	git log:* => git log --output .git/hooks/pre-commit
	git log:* => git log --outp=.git/hooks/pre-commit
	git log:* => git log --outp .git/hooks/pre-commit
	git log:* => git log -p --output=innocent/hooks/pre-commit
	git log:* => git log --output=sub/.mcp.json
	git log:* => git log --output=OUT/x
	git log:* => git log --ext-diff -p
	git diff:* => git diff --output=.git/hooks/pre-commit
	git diff:* => git diff --no-index --output=.mcp.json a b
	git diff:* => git diff --output ../x
	git diff:* => git diff --ext-diff
	git show:* => git show --output=.git/hooks/pre-commit
	git show:* => git show HEAD --outpu=.env
	git diff-tree:* => git diff-tree -p HEAD --output=.git/config
	git stash:* => git stash show -p --output=.git/config
	git reflog:* => git reflog --output=.git/config
	git:* => git log --output=.git/config
	git:* => git --no-pager log --output=.git/config
	git:* => git -C sub log --output=../.git/config
	git archive:* => git archive -o .git/hooks/pre-commit HEAD
	git archive:* => git archive -o.git/hooks/x.tar HEAD
	git archive:* => git archive -vo .git/hooks/x.tar HEAD
	git archive:* => git archive --output=.git/hooks/pre-commit HEAD
	git archive:* => git archive --outp .git/hooks/pre-commit HEAD
	git archive:* => git archive --remote=x --exec=evil HEAD
	git format-patch:* => git format-patch -o .git/hooks HEAD~1
	git format-patch:* => git format-patch -o.git/hooks HEAD~1
	git format-patch:* => git format-patch -no .git/hooks HEAD~1
	git format-patch:* => git format-patch --output-directory=.git/hooks -1
	git format-patch:* => git format-patch --output-dir .git/hooks -1
	git format-patch:* => git format-patch --output=.git/hooks/x -1
	git bundle:* => git bundle create .git/hooks/x HEAD
	git clone:* => git clone https://example.org/x.git .vscode
	git clone:* => git clone https://example.org/.vscode.git
	git clone:* => git clone -c core.hooksPath=x https://example.org/x
	git clone:* => git clone --template=evil https://example.org/x
	git clone:* => git clone -u evil https://example.org/x
	git clone:* => git clone ext::sh https://example.org/x
	git init:* => git init --template=evil
	git init:* => git init OUT/x
	git worktree:* => git worktree add .vscode
	git grep:* => git grep -O x
	git grep:* => git grep -Oevil x
	git grep:* => git grep --open-files-in-pager=evil x
	git grep:* => git grep --open=evil x
	git fetch:* => git fetch --upload-pack=evil .
	git fetch:* => git fetch --upload-pack evil .
	git fetch:* => git fetch --upl=evil .
	git fetch:* => git fetch ext::evil
	git pull:* => git pull --upload-pack=evil . main
	git push:* => git push --receive-pack=evil . main
	git push:* => git push --exec=evil . main
	git ls-remote:* => git ls-remote --upload-pack=evil .
	git ls-remote:* => git ls-remote --exec=evil .
	git difftool:* => git difftool -x evil
	git difftool:* => git difftool -yx evil
	git difftool:* => git difftool --extcmd=evil
	git rebase:* => git rebase -x evil HEAD~1
	git rebase:* => git rebase --exec evil HEAD~1
	git bisect:* => git bisect run evil
	git submodule:* => git submodule foreach evil
	git filter-branch:* => git filter-branch --tree-filter evil
	git:* => git -c core.pager=evil log
	git:* => git -c alias.x=!evil x
	git:* => git --config-env=core.pager=X log
	git:* => git --exec-path=/tmp log
	git:* => git config core.hooksPath evil
	git apply:* => git apply fix.patch
	git am:* => git am fix.patch
	git checkout-index:* => git checkout-index -a --prefix=.git/hooks/
	git fast-export:* => git fast-export --export-marks=.git/config HEAD
	sort:* => sort -o .git/config a
	sort:* => sort -o.git/config a
	sort:* => sort -ro .git/config a
	sort:* => sort -ro.git/config a
	sort:* => sort a -o .git/config
	sort:* => sort --output=.git/config a
	sort:* => sort --output .git/config a
	sort:* => sort --outp=.git/config a
	sort:* => sort --o=.git/config a
	sort:* => sort -k 2 -uo HOME/.bashrc a
	sort:* => sort --compress-program=evil a
	sort:* => sort --comp evil a
	sort:* => sort -T .git/hooks a
	cp:* => cp -t.git/hooks pay/pre-commit dummy
	cp:* => cp --t=.git/hooks pay/pre-commit
	cp:* => cp pay/.mcp.json .
	cp:* => cp -r pay/. .
	cp:* => cp -r pay fresh
	cp:* => cp pay/rc conf
	cp:* => cp -tHOME/.ssh pay/authorized_keys dummy
	mv:* => mv -t.git/hooks pay/pre-commit
	mv:* => mv pay/.env dir
	mv:* => mv -tHOME pay/rc dummy
	ln:* => ln -s ../.git sub/x
	ln:* => ln -s HOME/.bashrc x
	ln:* => ln -s .git/config
	ln:* => ln -sf -t sub ../.git
	ln:* => ln .git/config x
	ln:* => ln -s a .git/hooks/pre-commit
	install:* => install -D -t .git/hooks pay/pre-commit
	install:* => install -Dt.git/hooks pay/pre-commit
	install:* => install -m 755 pay/pre-commit .git/hooks
	install:* => install -d .git/hooks/x
	install:* => install --strip-program=evil -s a b
	install:* => install pay/.mcp.json .
	rsync:* => rsync -a pay/ .
	rsync:* => rsync pay/pre-commit .git/hooks/
	rsync:* => rsync -e evil a b:
	rsync:* => rsync -ae evil a b:
	rsync:* => rsync --rsh=evil a b:
	rsync:* => rsync --rsync-path=evil a b:
	rsync:* => rsync --log-file=.git/config a b
	rsync:* => rsync --backup-dir=.git/hooks -b a b
	scp:* => scp host:x .git/hooks/pre-commit
	scp:* => scp host:.mcp.json .
	scp:* => scp -S evil a host:
	curl:* => curl -o .git/config https://example.org
	curl:* => curl -o.git/config https://example.org
	curl:* => curl -so.git/config https://example.org
	curl:* => curl -so .git/config https://example.org
	curl:* => curl -fsSLo .git/config https://example.org
	curl:* => curl https://example.org --output .git/config
	curl:* => curl --outpu .git/config https://example.org
	curl:* => curl -O https://example.org/.mcp.json
	curl:* => curl -sO https://example.org/.env?x=1
	curl:* => curl --remote-name https://example.org/.mcp.json
	curl:* => curl --output-dir .git/hooks -O https://example.org/x
	curl:* => curl --output-dir .git -o config https://example.org/x
	curl:* => curl -OJ https://example.org/x
	curl:* => curl -D .git/config https://example.org
	curl:* => curl -sD.git/config https://example.org
	curl:* => curl --dump-header .git/config https://example.org
	curl:* => curl -c .git/config https://example.org
	curl:* => curl --cookie-jar .git/config https://example.org
	curl:* => curl --trace .git/config https://example.org
	curl:* => curl --trace-ascii .git/config https://example.org
	curl:* => curl --stderr .git/config https://example.org
	curl:* => curl --libcurl .git/config https://example.org
	curl:* => curl --etag-save .git/config https://example.org
	curl:* => curl -K evil
	curl:* => curl --config evil
	curl:* => curl -sK evil
	curl:* => curl -w '%output{.git/config}x' https://example.org
	curl:* => curl -o '.g#1/config' 'https://{it}.example.org'
	curl:* => curl -o OUT/x https://example.org
	wget:* => wget -O .git/config https://example.org
	wget:* => wget -O.git/config https://example.org
	wget:* => wget -qO .git/config https://example.org
	wget:* => wget --output-document=.git/config https://example.org
	wget:* => wget --output-d .git/config https://example.org
	wget:* => wget -P .git/hooks https://example.org/x
	wget:* => wget -qP.git/hooks https://example.org/x
	wget:* => wget -o .git/config https://example.org/x
	wget:* => wget -a .git/config https://example.org/x
	wget:* => wget https://example.org/.mcp.json
	wget:* => wget -r -nH https://example.org
	wget:* => wget -i list
	wget:* => wget -e output_document=.git/config https://example.org
	wget:* => wget --use-askpass=evil https://example.org
	sed:* => sed 'w .git/config' a
	sed:* => sed -n '1w .git/config' a
	sed:* => sed -n '/x/w HOME/.bashrc' a
	sed:* => sed 's/a/b/w .git/config' a
	sed:* => sed 's/a/b/gw .git/config' a
	sed:* => sed -e p -e 'w .git/config' a
	sed:* => sed --expression='w .git/config' a
	sed:* => sed --expr 'W .git/config' a
	sed:* => sed -e '{p;w .git/config' -e '}' a
	sed:* => sed -e '1!{s/x/y/;W .git/config' -e '}' a
	sed:* => sed -i s/a/b/ .git/config
	sed:* => sed -ni p .git/config
	sed:* => sed --in-place s/a/b/ .git/config
	sed:* => sed --in-p=.bak s/a/b/ .git/config
	sed:* => sed '-i.git/hooks/*' s/a/b/ a
	sed:* => sed -i.json s/a/b/ .mcp
	sed:* => sed '1e evil' a
	sed:* => sed e a
	sed:* => sed 's/x/evil/e' a
	sed:* => sed 's|x|evil|ge' a
	sed:* => sed -f script a
	sed:* => sed --file=script a
	sed -n:* => sed -n '1e evil' a
	sed -n:* => sed -n '$!N;e' a
	awk:* => awk -i inplace 1 .git/config
	awk:* => awk '{print > ".git/config"}' a
	awk:* => awk '{print >> ".git/config"}' a
	awk:* => awk '{printf "%s", $1 > ".git/config"}' a
	awk:* => awk '{x=1} /"/ {print > ".git/config"}' a
	awk:* => awk '{print /"/ > ".git/config"}' a
	awk:* => awk '{print > $1}' a
	awk:* => awk '{print > ".git" "/config"}' a
	awk:* => awk 'BEGIN{system("evil")}'
	awk:* => awk '{print | "evil"}' a
	awk:* => awk 'BEGIN{"evil"|getline}'
	awk:* => awk -f script a
	awk:* => gawk -o.git/config 1 a
	gawk:* => gawk -o.git/config 1 a
	gawk:* => gawk --pretty-print=.git/config 1 a
	tree:* => tree -o .git/config
	tree:* => tree -ao .git/config
	xxd:* => xxd a .git/config
	xxd:* => xxd -r a .git/config
	uniq:* => uniq a .git/config
	uniq:* => uniq -c a .git/config
	shuf:* => shuf -o .git/config a
	shuf:* => shuf -eo.git/config a
	shuf:* => shuf --outp=.git/config a
	iconv:* => iconv -f utf8 -o .git/config a
	iconv:* => iconv --output=.git/config a
	gcc:* => gcc -o .git/hooks/pre-commit a.c
	gcc:* => gcc a.c -o.git/hooks/pre-commit
	gcc:* => gcc -MF .git/config -c a.c
	gcc:* => gcc -wrapper evil a.c
	gcc:* => gcc -fplugin=evil a.c
	clang:* => clang -o HOME/.bashrc a.c
	gcc:* => gcc @options
	rustc:* => rustc -C linker=evil a.rs
	rustc:* => rustc --out-dir .git/hooks a.rs
	go build:* => go build -o .git/hooks/pre-commit .
	go build:* => go build -o=.git/hooks/pre-commit .
	go build:* => go build --o .git/hooks/pre-commit .
	go build:* => go build -toolexec evil .
	go build:* => go build -ldflags '-extld=evil' .
	go test:* => go test -c -o .git/hooks/pre-commit
	go test:* => go test -coverprofile=.git/config ./...
	go test:* => go test -coverprofile .git/config ./...
	go test:* => go test -cpuprofile .git/config
	go test:* => go test -exec evil
	go vet:* => go vet -vettool=evil
	tar:* => tar -cf .git/config a
	tar:* => tar cf .git/config a
	tar:* => tar czf .git/config a
	tar:* => tar -czf.git/config a
	tar:* => tar --create --file=.git/config a
	tar:* => tar --cr --fil .git/config a
	tar:* => tar -xf archive.tar
	tar:* => tar xf archive.tar -C .git
	tar:* => tar --extract --file archive.tar
	tar:* => tar -I evil -cf x.tar a
	tar:* => tar --use-compress-program=evil -cf x.tar a
	tar:* => tar --use evil -cf x.tar a
	tar:* => tar -cf x.tar --to-command=evil a
	tar:* => tar -cf x.tar --checkpoint=1 --checkpoint-action=exec=evil a
	tar:* => tar -cf x.tar --checkpoint-a exec=evil a
	tar:* => tar -tf x.tar --rsh-command=evil
	tar:* => tar -cf x.tar -T list
	tar:* => tar -cf x.tar -F evil a
	tar:* => tar -cf x.tar -g .git/config a
	unzip:* => unzip x.zip
	unzip:* => unzip x.zip -d .git
	zip:* => zip .git/config a
	zip:* => zip -r .git/hooks/x sub
	zip:* => zip x.zip a -T -TT evil
	zip:* => zip x.zip a --out .git/config
	gzip:* => gzip .git/config
	gunzip:* => gunzip .git/hooks/pre-commit.gz
	gunzip:* => gunzip .mcp.json.gz
	gzip:* => gzip -d .mcp.json.gz
	xz:* => xz -d .mcp.json.xz
	zstd:* => zstd -d x.zst -o .mcp.json
	openssl:* => openssl enc -aes256 -in a -out .git/config
	openssl:* => openssl req -new -keyout .git/config
	tee:* => tee .git/config
	tee:* => tee -a a .git/config
	tee:* => tee -ai .git/config
	dd:* => dd if=a of=.git/config
	truncate:* => truncate -s 0 .git/config
	truncate:* => truncate --size=0 .git/config
	chmod:* => chmod +x .git/hooks/pre-commit
	chmod:* => chmod -x .git/hooks/pre-commit
	chmod:* => chmod --reference=a .git/hooks/pre-commit
	chown:* => chown -R x .git
	patch:* => patch -p1 -i fix.patch
	patch:* => patch -o .git/config a fix.patch
	patch:* => patch -d .git -p1
	base64:* => base64 -o .git/config a
	base64:* => base64 -d -i a -o .git/config
	split:* => split -l 1 a .git/hooks/x
	split:* => split a .env
	split:* => split --filter=evil a
	csplit:* => csplit -f .git/hooks/x a 1
	csplit:* => csplit -f .mcp -b '.json%.0d' a 1
	mktemp:* => mktemp .git/hooks/XXXX
	mktemp:* => mktemp -p .git/hooks
	mktemp:* => mktemp --tmpdir=.git/hooks
	script:* => script -c evil x
	script:* => script .git/config
	find:* => find . -fprint .git/config
	find:* => find . -exec evil {} +
	find:* => find . -delete
	ssh-keygen:* => ssh-keygen -f .git/config
	ssh-keygen:* => ssh-keygen -t rsa -fHOME/.ssh/id
	ssh:* => ssh -o ProxyCommand=evil host
	ssh:* => ssh -oProxyCommand=evil host
	ssh:* => ssh -E .git/config host
	ssh:* => ssh -F evil host
	rg:* => rg --pre evil x
	rg:* => rg --pre=evil x
	rg:* => rg --hostname-bin=evil x
	fd:* => fd -x evil
	fd:* => fd . --exec evil
	less:* => less -o .git/config a
	man:* => man -P evil ls
	xargs:* => xargs evil
	xargs:* => xargs -n 1 rm
	xargs git:* => xargs git -c core.pager=evil log
	make:* => make --eval=evil
	mkfifo:* => mkfifo .git/hooks/x
	git:* => git -C .git log --output=hooks/pre-commit
	git:* => git -C .git -C hooks log --output=pre-commit
	git:* => git --work-tree=.git diff --output=hooks/pre-commit
	git:* => git hook run pre-commit
	git checkout:* => git checkout HEAD -- .mcp.json
	git restore:* => git restore .vscode/s
	git submodule:* => git submodule add https://example.org/x .vscode
	git bugreport:* => git bugreport -o .git/hooks
	git merge-file:* => git merge-file .mcp.json a b
	go:* => go -C .git build -o hooks/pre-commit
	rsync:* => rsync -a --delete clean/ .
	rsync:* => rsync --del -r clean/ dir
	rsync:* => rsync --remove-source-files -r sub/ dir
	zip:* => zip -m x.zip .mcp.json
	tar:* => tar -cf x.tar --remove-files .git
	timeout:* => timeout 5 sed '1e evil' a
	nice:* => nice git -c core.pager=evil log
	env:* => env LANG=C tar -I evil -cf x a
	env:* => env -C .git sort -o hooks/x a
	sudo:* => sudo cp -t.git/hooks pay/pre-commit
	sed:* => sed ':a;w .git/config' a
	sed:* => sed --posix -n -- 'w .git/config' a
	sed:* => sed '1~2w .git/config' a
	sed:* => sed '/a/I,/b/Mw .git/config' a
	sed:* => sed -s -i -- s/a/b/ .git/config
	awk:* => awk '{print>".git/config"}' a
	awk:* => awk '{printf("x") > ".git/config"}' a
	awk:* => awk -v f=.git/config '{print > f}' a
	awk:* => awk '{print $1 |& "evil"}' a
	tar:* => tar cvfz .git/config a
	tar:* => tar cf - a | tar xf - -C .git
	sed:* => sed 's/[/]/y/;w .git/config' a
	sed:* => sed 's/[]/]/y/;w .git/config' a
	sed:* => sed '/[/]/e evil' a
	xargs rm:* => xargs rm -f
	xargs cp:* => xargs cp -t dir
	xargs touch:* => xargs touch
	sdiff:* => sdiff -o .git/config a b
	sdiff:* => sdiff --diff-program=evil a b
	python3:* => python3 -c 'open(".git/hooks/x", "w")'
	node:* => node -e 'fs.writeFileSync("innocent/hooks/x")'
	sqlite3:* => sqlite3 db '.output .git/config'
	# programs without a row
	frob:* => frob -o .git/config
	frob:* => frob -o.git/config
	frob:* => frob --output=.git/config
	frob:* => frob --outfile .git/config
	frob:* => frob --dest .git/hooks
	frob:* => frob --log-file=.git/config
	frob:* => frob --report HOME/.bashrc
	frob:* => frob --anything=.git/config
	frob:* => frob --anything .git/config
	frob:* => frob -x.git/config
	frob:* => frob -abx.git/config
	frob:* => frob in .git/config
	frob:* => frob in:.git/config
	frob:* => frob x=.mcp.json
	frob:* => frob @.mcp.json
	frob:* => frob innocent/config
	frob:* => frob --x=innocent/config
	frob:* => frob ~/.bashrc
	frob:* => frob --output=OUT/x
	frob:* => timeout 5 frob .git/config
	timeout:* => timeout 5 sort -o .git/config a
	npm pack:* => npm pack --pack-destination .git/hooks
	pandoc:* => pandoc a -o .git/config
	cargo build:* => cargo build --target-dir .git/hooks
	eslint:* => eslint -o .git/config a.js
	pytest:* => pytest --junitxml=.git/config
	protoc:* => protoc --go_out=.git/hooks a.proto
`

// Commands that a wildcard rule covers.
const rulesAllow = `
	git log:* => git log --output=log.txt
	git log:* => git log --oneline -n 3
	git log:* => git log -p -- .gitattributes
	git log:* => git log -- --output=.git/config
	git diff:* => git diff --stat --output=sub/x
	git archive:* => git archive -o x.tar HEAD
	git format-patch:* => git format-patch -o out -1
	git grep:* => git grep -n x
	git fetch:* => git fetch origin
	git push:* => git push -o ci.skip origin main
	git clone:* => git clone https://example.org/x.git
	git add:* => git add .gitattributes .env
	git add:* => git add -A
	git commit:* => git commit -m x
	git commit:* => git commit -am 'fix .git/config'
	git config:* => git config user.name x
	git rebase:* => git rebase main
	git apply:* => git apply --check fix.patch
	git stash:* => git stash push -m x
	sort:* => sort -o sorted a
	sort:* => sort -ro sorted a
	sort:* => sort -k 2,2nr -t, a
	curl:* => curl -s https://example.org
	curl:* => curl -o x https://example.org
	curl:* => curl -fsSLO https://example.org/x.tar.gz
	curl:* => curl -H 'A: b' -d @a -X POST https://example.org
	wget:* => wget -q https://example.org/x.tar.gz
	wget:* => wget -O - https://example.org
	sed:* => sed -n '/a/,/b/p' a
	sed:* => sed -i s/a/b/ a
	sed:* => sed -i.bak -e 's/a/b/' -e '/x/d' a b
	sed:* => sed 's/w x/e y/g' a
	sed:* => sed 'w out' a
	sed:* => sed '/x/{s/a/b/;n;d}' a
	awk:* => awk '{print $1 > "out"}' a
	awk:* => awk '$1 > 5 {print $2}' a
	awk:* => awk -F, '{print ($1 > 5)}' a
	tar:* => tar -tf archive.tar
	tar:* => tar -czf x.tgz sub
	tar:* => tar czf x.tgz sub
	zip:* => zip -r x.zip sub
	gzip:* => gzip -k a
	unzip:* => unzip -l x.zip
	gcc:* => gcc -O2 -o prog a.c
	gcc:* => gcc -Wall -c a.c
	go build:* => go build -o bin/x ./...
	go build:* => go build -ldflags '-X main.v=1' .
	go test:* => go test -run TestX -coverprofile=c.out ./...
	make:* => make -j4 all
	make:* => make -C sub test
	make:* => make -f build.mk all
	xargs wc:* => xargs wc -l
	gh pr create:* => gh pr create --title 'Read .env before .mcp.json'
	openssl:* => openssl rand -hex 16
	ssh:* => ssh -p 22 host ls
	rsync:* => rsync -av sub/ dst
	tee:* => tee log
	chmod:* => chmod +x a
	chmod:* => chmod -R u+w sub
	ln:* => ln -s a c
	ln:* => ln -sf ../a sub/c
	install:* => install -m 755 a dir
	xargs grep:* => xargs grep -n x
	find:* => find . -name x -newer a
	rg:* => rg -n x
	npm test:* => npm test -- --grep x
	npm run:* => npm run build
	docker:* => docker build -t x .
	kubectl get:* => kubectl get pods -o yaml
	frob:* => frob --output=x in
	frob:* => frob -v sub/a
	cargo build:* => cargo build --release
	python3:* => python3 x.py
	ps:* => ps -o pid,args
`

// TestRulesCoverNoOutputs checks that for every program, a wildcard rule covers neither a
// protected place nor a program named in an option, and that a rule quoting the command covers
// the programs it runs.
//
// Proves PERM-36.
func TestRulesCoverNoOutputs(t *testing.T) {
	w := outputWorld(t)
	asks, allows := w.rows(rulesAsk), w.rows(rulesAllow)
	if len(asks) < 250 || len(allows) < 60 {
		t.Errorf("the tables have only %d and %d rows", len(asks), len(allows))
	}
	for _, row := range asks {
		content, line, _ := strings.Cut(row, " => ")
		d := decide(t, w.config(Default, "allow "+RuleValue{"Bash", content}.String()), "Bash", runs(line))
		if d.Behavior != Ask {
			t.Errorf("%s: %s (%s)", row, d.Behavior, d.Reason.String())
		}
	}
	for _, row := range allows {
		content, line, _ := strings.Cut(row, " => ")
		d := decide(t, w.config(Default, "allow "+RuleValue{"Bash", content}.String()), "Bash", runs(line))
		if d.Behavior != Allow {
			t.Errorf("%s: %s (%s)", row, d.Behavior, d.Reason.String())
		}
	}
}

// TestRemovalsThatAreNotDangerous checks that only dangerous removals are refused in every
// mode, not multi-line ones.
//
// Proves PERM-37.
func TestRemovalsThatAreNotDangerous(t *testing.T) {
	w := outputWorld(t)
	lines := []string{
		"rm -f out.txt; make; echo $?", "touch t && rm t; echo $?", "for f in a b; do rm -f $f; done", "if [ -f a ]; then rm a; fi",
		"tmp=$(mktemp); rm -f $tmp", "find . -name '*.tmp' -delete; echo $?", "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; make",
		"find . -name '*.pyc' -exec rm {} \\;", "find . -name '*.pyc' | xargs rm -f", "rm -rf {build,dist}", "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
		"rm -rf \"$PWD/build\"", "while read f; do rm -f \"$f\"; done < list", "cp -r pay /tmp/copy && rm -rf /tmp/copy", "cp -r . /tmp/copy-of-it",
	}
	for _, line := range lines {
		for _, c := range []Config{w.config(Bypass), w.config(Default, "allow Bash")} {
			if d := decide(t, c, "Bash", runs(line)); d.Behavior != Allow {
				t.Errorf("%s in %s: %s (%s)", line, c.Mode, d.Behavior, d.Reason.String())
			}
		}
	}
	for _, line := range []string{
		"if true; then rm -rf ~; fi", "for d in a /; do rm -rf $d; done", "rm -rf \"$X\"/*; echo $?", "trap 'rm -rf /' EXIT", "x=/; eval 'rm -rf $x'",
		"bash -c 'rm -rf $x/*'", "x=build; bash -c 'rm -rf $x/*'", "find / -name x -exec rm -rf {} +", "find . -exec rm -rf {} +",
		"if true; then rm -rf .git; fi",
	} {
		if d := decide(t, w.config(Bypass, "allow Bash"), "Bash", runs(line)); d.Behavior != Ask || !d.Firm {
			t.Errorf("%s: %s firm %v (%s)", line, d.Behavior, d.Firm, d.Reason.String())
		}
	}
}

// TestOddNamesUnderWildcards checks that an odd name matched by a wildcard does not cause a
// prompt for an otherwise allowed command.
func TestOddNamesUnderWildcards(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/odd/plain", "project/odd/blank ", "project/odd/bytes\xff\xfe.txt", "project/odd/dots...", "project/odd/sub\xff/x", "project/fine/a")
	w.link(t, "loop2", "odd/loop1")
	w.link(t, "loop1", "odd/loop2")
	w.link(t, "nowhere", "odd/dangling")
	w.link(t, "plain", "odd/link ")
	tests := []struct {
		mode Mode
		line string
		want Behavior
	}{
		{Default, "cat odd/*", Allow},
		{Bypass, "cat odd/*", Allow},
		{Plan, "head -n 1 odd/*", Allow},
		{Default, "wc -l odd/*", Allow},
		{Default, "ls odd/*", Allow},
		{Default, "cat odd/sub*/x", Allow},
		{Bypass, "touch odd/*", Allow},
		{Bypass, "rm odd/b*", Allow},
		{AcceptEdits, "touch odd/*", Ask},
		{AcceptEdits, "cp odd/b* fine", Ask},
		{AcceptEdits, "touch fine/*", Allow},
		{Default, "cat 'odd/blank '", Ask},
	}
	for _, tt := range tests {
		call := jailed(tt.line)
		call.Jail = strings.Contains(tt.line, "*")
		if d := decide(t, w.config(tt.mode), "Bash", call); d.Behavior != tt.want {
			t.Errorf("%s in %s: %s (%s)", tt.line, tt.mode, d.Behavior, d.Reason.String())
		}
	}
	w.link(t, filepath.Join(w.outside, "data.txt"), "odd/out ")
	for _, line := range []string{"cat odd/*", "cat odd/o*"} {
		if d := decide(t, w.config(Default), "Bash", jailed(line)); d.Behavior != Ask {
			t.Errorf("%s with a link out of the project: %s", line, d.Behavior)
		}
	}
	w.write(t, "project/odd/secret ")
	if d := decide(t, w.config(Bypass, "deny Read(odd/**)"), "Bash", runs("cat odd/s*")); d.Behavior != Deny {
		t.Errorf("a denied file: %s", d.Behavior)
	}
}

// TestLargeTreesAsk checks that only a limited part of a large tree is inspected.
func TestLargeTreesAsk(t *testing.T) {
	w := newWorld(t)
	for i := range maxTransferred + 1 {
		w.write(t, fmt.Sprintf("project/large/d%d/f%d", i/100, i))
	}
	for line, want := range map[string]Behavior{"cp -r large copy": Ask, "mv large copy": Ask, "cp -r large/d0 copy": Allow, "cp large/d0/f1 copy": Allow} {
		if d := decide(t, w.config(AcceptEdits), "Bash", runs(line)); d.Behavior != want {
			t.Errorf("%s: %s (%s)", line, d.Behavior, d.Reason.String())
		}
	}
	if d := decide(t, w.config(Bypass), "Bash", runs("cp -r large copy")); d.Behavior != Allow {
		t.Errorf("in bypass: %s (%s)", d.Behavior, d.Reason.String())
	}
}
