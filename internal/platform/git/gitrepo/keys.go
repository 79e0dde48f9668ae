package gitrepo

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/shell"
)

// harmless lists the settings that a repository may have. With a read-only command, none of
// them names a program, a location elsewhere or another configuration file. "*" matches any one
// part of a key; a section name alone covers the whole section. Settings that are not listed
// are distrusted.
var harmless = `
	core.repositoryformatversion core.filemode core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks
	core.autocrlf core.eol core.safecrlf core.quotepath core.whitespace core.abbrev core.checkstat core.trustctime
	core.untrackedcache core.splitindex core.sparsecheckout core.sparsecheckoutcone core.commitgraph core.multipackindex
	core.preloadindex core.protecthfs core.protectntfs core.compression core.loosecompression core.bigfilethreshold
	core.sharedrepository core.fscache core.longpaths core.hidedotfiles core.unsetenvvars core.commentchar core.commentstring
	core.fsync core.fsyncmethod core.fsyncobjectfiles core.hookspath core.deltabasecachelimit core.packedgitlimit
	core.packedgitwindowsize core.maxtreedepth core.warnambiguousrefs core.prefersymlinkrefs core.notesref
	extensions.worktreeconfig extensions.objectformat extensions.refstorage extensions.relativeworktrees extensions.noop
	extensions.preciousobjects
	remote.*.url remote.*.pushurl remote.*.fetch remote.*.push remote.*.tagopt remote.*.prune remote.*.prunetags remote.*.mirror
	remote.*.skipdefaultupdate remote.*.skipfetchall remote.*.followremotehead remote.*.gh-resolved remote.*.glab-resolved
	remote.pushdefault branch
	user.name user.email user.signingkey user.useconfigonly author.name author.email committer.name committer.email
	submodule.*.url submodule.*.active submodule.*.path submodule.*.branch submodule.*.ignore submodule.*.update
	submodule.*.fetchrecursesubmodules submodule.*.shallow submodule.active submodule.recurse submodule.fetchjobs
	submodule.propagatebranches submodule.alternatelocation submodule.alternateerrorstrategy
	init.defaultbranch pull push fetch.prune fetch.prunetags fetch.parallel fetch.recursesubmodules fetch.writecommitgraph
	fetch.fsckobjects fetch.showforcedupdates fetch.output fetch.unpacklimit
	rebase.autosquash rebase.autostash rebase.updaterefs rebase.stat rebase.backend rebase.missingcommitscheck rebase.abbreviatecommands
	merge.conflictstyle merge.ff merge.renames merge.renamelimit merge.log merge.stat merge.autostash merge.verbosity
	merge.directoryrenames merge.defaulttoupstream merge.renormalize merge.branchdesc merge.*.name
	commit.gpgsign commit.verbose commit.cleanup commit.status tag.sort tag.gpgsign tag.forcesignannotated
	rerere stash.showpatch stash.showstat stash.showincludeuntracked checkout worktree clone.defaultremotename
	color column advice gui.encoding i18n.commitencoding i18n.logoutputencoding gc.auto gc.autodetach gc.autopacklimit
	gc.pruneexpire gc.reflogexpire gc.reflogexpireunreachable gc.worktreepruneexpire gc.aggressivewindow gc.writecommitgraph
	gc.cruftpacks pack.threads pack.window pack.depth pack.windowmemory pack.packsizelimit pack.compression pack.usebitmaps
	pack.writebitmaps pack.usesparse pack.writereverseindex pack.indexversion pack.deltacachesize pack.allowpackreuse
	index.version index.threads index.sparse index.skiphash index.recordendofindexentries index.recordoffsettable
	feature.manyfiles feature.experimental maintenance.auto maintenance.strategy
	status.short status.branch status.aheadbehind status.relativepaths status.showuntrackedfiles status.showstash
	status.renames status.renamelimit status.displaycommentprefix
	log.date log.decorate log.follow log.abbrevcommit log.showroot log.mailmap log.diffmerges log.excludedecoration
	log.initialdecorationset log.graphcolors log.showsignature
	diff.renames diff.renamelimit diff.algorithm diff.context diff.interhunkcontext diff.mnemonicprefix diff.noprefix
	diff.srcprefix diff.dstprefix diff.relative diff.colormoved diff.colormovedws diff.wserrorhighlight diff.indentheuristic
	diff.statgraphwidth diff.statnamewidth diff.dirstat diff.suppressblankempty diff.ignoresubmodules diff.submodule
	diff.autorefreshindex diff.*.binary diff.*.algorithm
	blame.showroot blame.coloring blame.date blame.blankboundary blame.showemail blame.ignorerevsfile blame.markunblamablelines
	blame.markignoredlines mailmap.file mailmap.blob
	format.pretty format.signoff format.numbered format.subjectprefix format.coverletter pretty.*
	grep.linenumber grep.column grep.patterntype grep.extendedregexp grep.fullname grep.threads grep.fallbacktonoindex
	notes.displayref notes.rewriteref notes.rewritemode notes.mergestrategy versionsort.suffix versionsort.prereleasesuffix
	receive.denycurrentbranch receive.denynonfastforwards receive.denydeletes receive.fsckobjects receive.advertisepushoptions
	transfer.fsckobjects transfer.hiderefs transfer.unpacklimit
	uploadpack.allowfilter uploadpack.allowanysha1inwant uploadpack.allowtipsha1inwant uploadpack.allowreachablesha1inwant
	http.postbuffer http.version http.lowspeedlimit http.lowspeedtime http.sslverify http.*.extraheader http.extraheader
	http.*.sslverify credential.username credential.*.username credential.usehttppath credential.*.usehttppath
	gpg.format url.*.insteadof url.*.pushinsteadof gitflow github hub magit forge
	lfs.repositoryformatversion lfs.url lfs.pushurl lfs.locksverify lfs.*.locksverify lfs.*.access lfs.fetchinclude lfs.fetchexclude
	lfs.concurrenttransfers lfs.allowincompletepush
	core.bare core.fsmonitor`

// isHarmless reports whether a key is listed.
func isHarmless(key string) bool {
	section, name, sub := split(key)
	form := section + "." + name
	if sub != "" {
		form = section + ".*." + name
	}
	for entry := range strings.FieldsSeq(harmless) {
		if entry == form || entry == section || entry == section+".*" && sub == "" {
			return true
		}
	}
	return false
}

// doubtful returns the reason why a repository setting is not known to be harmless, or nil. Top
// is the work tree.
func doubtful(s setting, top string) error {
	section, name, _ := split(s.key)
	bad := !isHarmless(s.key)
	switch {
	case bad:
	case s.key == "core.bare":
		bad = !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(s.value))
	case s.key == "core.fsmonitor":
		bad = !slices.Contains([]string{"false", "true", "no", "yes", "off", "on", "0", "1", ""}, strings.ToLower(s.value))
	case section == "remote" && strings.HasSuffix(name, "url"):
		bad = usesRemoteHelper(s.value)
	case section == "submodule" && name == "update":
		bad = strings.HasPrefix(strings.TrimSpace(s.value), "!")
	case s.key == "diff.submodule":
		bad = s.value != "short" && s.value != "log"
	case section == "format", section == "pretty":
		bad = shell.SignsFormat(s.value)
	}
	if file, ok := fileOf(s); ok && !bad && file != "" {
		real, err := filepath.EvalSymlinks(resolve(top, file))
		bad = err == nil && !within(real, top) || strings.HasPrefix(file, "~")
	}
	if bad {
		return fmt.Errorf("the repository sets %s, which is not known to be harmless", s.key)
	}
	return nil
}

// fileOf returns the file that a repository setting names, relative to the work tree.
func fileOf(s setting) (string, bool) {
	return s.value, s.key == "blame.ignorerevsfile" || s.key == "mailmap.file"
}

// usesRemoteHelper reports whether git uses a remote helper program named in the URL.
func usesRemoteHelper(url string) bool {
	transport, _, ok := strings.Cut(url, "::")
	return ok && !strings.ContainsAny(transport, "/:[@")
}
