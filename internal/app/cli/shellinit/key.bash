# The key of adze in bash: eval "$(adze shell-init bash)"
__adze_status() {
	local status=$?
	__adze_failed=
	if ((status != 0 && status != 130)); then
		__adze_failed="$(fc -ln -1 | sed '1s/^[[:space:]]*//')"
		[[ -n $__adze_failed ]] && __adze_failed="The command failed with exit status $status: $__adze_failed"
	fi
	return $status
}
__adze_line() {
	local text=${READLINE_LINE:-$__adze_failed}
	READLINE_LINE=adze
	[[ -n $text ]] && READLINE_LINE+=" -- '$(printf %s "$text" | sed "s/'/'\\\\''/g")'"
	READLINE_POINT=${#READLINE_LINE}
}
if [[ $- == *i* && ${PROMPT_COMMAND[0]} != *__adze_status* ]]; then
	PROMPT_COMMAND[0]="__adze_status${PROMPT_COMMAND[0]:+; ${PROMPT_COMMAND[0]}}"
	bind -x '"\C-x\C-a": __adze_line'
	bind '"KEY": "\C-x\C-a\C-m"'
fi
