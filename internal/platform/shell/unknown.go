package shell

// An Unknown says where the names of files come from that are known only when the command runs.
type Unknown uint8

// Sources of unknown names. In the first two cases the path of the [PathUse] is what is known of
// it, in FromTree the directory above the files.
const (
	FromExpansion Unknown = iota + 1
	FromDir               // the directory of a relative path is not known
	FromTree
	FromArchive
	FromPatch
	FromServer
	FromURL
	FromFormat
	FromInput
	FromScript
	FromOperands
	FromLinks
)

// Files describes the files of a use whose path is not known, as an object: "the files in the
// archive". It returns the path as given if it is known.
func (u PathUse) Files() string {
	switch u.Unknown {
	case FromExpansion:
		if u.Path != "" {
			return "a file whose name begins with " + u.Path
		}
		return "files with computed names"
	case FromDir:
		return u.Path + " in a directory that is computed"
	case FromTree:
		return "too many files below " + u.Path
	case FromArchive:
		return "the files in the archive"
	case FromPatch:
		return "the files named in the patch"
	case FromServer:
		return "files named by the server"
	case FromURL:
		return "a file named after its URL"
	case FromFormat:
		return "files named by a format"
	case FromInput:
		return "files named on its input"
	case FromScript:
		return "files named by its script"
	case FromOperands:
		return "files next to its operands"
	case FromLinks:
		return "files behind the links that it copies"
	}
	if u.Glob != "" {
		return u.Glob
	}
	return u.Path
}
