# Functions shared by the scripts of this directory; sourced, not run.

# missing_packages <command:packages>... prints the Debian packages whose
# commands are not installed, one per line.
missing_packages() {
	local pair names
	for pair in "$@"; do
		if ! command -v "${pair%%:*}" >/dev/null; then
			read -ra names <<<"${pair#*:}"
			printf '%s\n' "${names[@]}"
		fi
	done
}

# install_packages <command:packages>... installs what missing_packages prints.
install_packages() {
	local missing as_root=(env)
	mapfile -t missing < <(missing_packages "$@")
	((${#missing[@]})) || return 0
	if ! command -v apt-get >/dev/null; then
		echo "please install: ${missing[*]}" >&2
		return 1
	fi
	((EUID == 0)) || as_root=(sudo env)
	as_root+=(DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
	"${as_root[@]}" update && "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"
}
