# The key of adze in zsh: eval "$(adze shell-init zsh)"
__adze_status() {
	local code=$?
	__adze_failed=
	if (( code && code != 130 )); then
		__adze_failed="$(fc -ln -1)"
		[[ -n $__adze_failed ]] && __adze_failed="The command failed with exit status $code: $__adze_failed"
	fi
}
__adze_line() {
	local text=${BUFFER:-$__adze_failed}
	BUFFER=adze
	[[ -n $text ]] && BUFFER+=" -- ${(qq)text}"
	zle accept-line
}
if [[ -o interactive ]]; then
	autoload -Uz add-zsh-hook
	add-zsh-hook precmd __adze_status
	zle -N __adze_line
	bindkey 'KEY' __adze_line
fi
