# The key of adze in fish: adze shell-init fish | source
function __adze_status --on-event fish_postexec
	set -l code $status
	set -g __adze_failed
	if test $code -ne 0 -a $code -ne 130 -a -n "$argv[1]"
		set -g __adze_failed "The command failed with exit status $code: $argv[1]"
	end
end
function __adze_line
	set -l text (commandline | string collect)
	test -n "$text"; or set text $__adze_failed
	if test -n "$text"
		commandline -r -- "adze -- "(string escape -- "$text")
	else
		commandline -r adze
	end
	commandline -f execute
end
if status is-interactive
	bind KEY __adze_line
end
