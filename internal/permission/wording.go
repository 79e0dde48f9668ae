package permission

// A Kind identifies the check that decided.
type Kind uint8

// The kinds of reasons. The table wordings has the text of each.
const (
	Message Kind = iota // Text is the whole reason

	RuleAllows
	RuleDenies
	RuleDeniesPath
	RuleDeniesWithin
	RuleAsks
	RuleAsksPath
	RuleProtects
	RuleProtectsWithin

	HookAllows
	HookAsks
	HookDecides
	UserDecides
	JudgeDecides
	UserOnly
	Repeated

	ModeBypasses
	ModeDeniesPrompt
	ModeAllowsEdits
	ModeAllowsFileCommand
	ModeAsksEdit
	PlanForbids
	PlanDoubts

	NoRule
	CallReads
	CallNeedsNothing
	CallPlans
	HostUnknown
	HostPreapproved

	InWorkingDir
	MayWrite
	ModelFile
	SystemFile
	ScratchFile
	OutsideDirs
	OutsideWildcard
	LeftCopy
	Protected
	ProtectedSoft
	RemotePath
	OddPath
	BadPath
	UnknownPath

	Removal
	UncertainRemoval
	StdinArguments
	RuntimeProgram
	RuntimeMatch
	RuntimeFiles
	GitRuntimeFiles
	GitProtected
	GitStored
	ListedFiles
	OptionsFile
	OptionName
	CdGit
	CdWrite

	EmptyCommand
	TooComplex
	Unapproved
	PartReads
	PartsRead
	PartsAllowed
	PartEdits
	PartWritesScratch

	Sandboxed
	Unsandboxed
	SandboxMissing
	SandboxLacking
	SandboxHost
)

// wordings holds the type and the text of each kind. [Reason.String] replaces the words in
// braces.
var wordings = [...]struct {
	by   ReasonType
	text string
}{
	Message: {ByOther, "{text}"},

	RuleAllows:         {ByRule, "rule {rule} allows it"},
	RuleDenies:         {ByRule, "rule {rule} {denial} {what}"},
	RuleDeniesPath:     {ByRule, "rule {rule} {denial} {access} {what}"},
	RuleDeniesWithin:   {ByRule, "rule {rule} denies access to some files in {what}"},
	RuleAsks:           {ByRule, "rule {rule} {denial} {what}"},
	RuleAsksPath:       {ByRule, "rule {rule} {denial} {access} {what}"},
	RuleProtects:       {ByRule, "rule {rule} protects {what}, which the command names"},
	RuleProtectsWithin: {ByRule, "rule {rule} protects {what} or files in it"},

	HookAllows:   {ByHook, "hook {what} allows it"},
	HookAsks:     {ByHook, "{text}"},
	HookDecides:  {ByHook, "{what} decided: {text}"},
	UserDecides:  {ByUser, "{text}"},
	JudgeDecides: {ByJudge, "{text}"},
	UserOnly:     {ByOther, "only the user can answer this"},
	Repeated:     {ByOther, "the identical call was just denied{text}"},

	ModeBypasses:          {ByMode, "{mode} mode allows everything that doesn't need confirmation"},
	ModeDeniesPrompt:      {ByMode, "{mode} mode denies anything that would need a prompt"},
	ModeAllowsEdits:       {ByMode, "{mode} mode allows edits in the working directories"},
	ModeAllowsFileCommand: {ByMode, "{mode} mode allows simple file commands in the working directories"},
	ModeAsksEdit:          {ByMode, "adze asks before every file change in {mode} mode"},
	PlanForbids:           {ByMode, "plan mode is on, and this {what} call may change something"},
	PlanDoubts:            {ByMode, "plan mode is on, and adze can't verify the server's claim that {what} is read-only"},

	NoRule:           {ByOther, "no rule allows {what}"},
	CallReads:        {ByReadOnly, "the call is read-only"},
	CallNeedsNothing: {ByOther, "the call needs no permission"},
	CallPlans:        {ByOther, "the call only changes adze's own lists"},
	HostUnknown:      {ByOther, "the host it connects to is unknown"},
	HostPreapproved:  {ByOther, "{what} has documentation that can be fetched without asking"},

	InWorkingDir:    {ByWorkingDir, "it is in a working directory"},
	MayWrite:        {ByWorkingDir, "files that may be written may also be read"},
	ModelFile:       {ByOther, "adze keeps it for the model"},
	SystemFile:      {ByOther, "it is a system file without secrets"},
	ScratchFile:     {ByOther, "it is in this session's temporary directory"},
	OutsideDirs:     {ByWorkingDir, "{what} is outside the working directories"},
	OutsideWildcard: {BySafety, "{what} is outside the working directories, and rule {rule} doesn't name it"},
	LeftCopy:        {BySafety, "{what} is in the copy of the repository that the session left; it works in the worktree {text}, where the same file may be"},
	Protected:       {BySafety, "writing {what} always needs confirmation: {text}"},
	ProtectedSoft:   {BySafety, "writing {what} needs confirmation: {text}"},
	RemotePath:      {BySafety, "{what} may be a share on another machine, and opening it can disclose credentials"},
	OddPath:         {BySafety, "{what} is ambiguous{doubt}"},
	BadPath:         {BySafety, "{doubt}"},
	UnknownPath:     {ByOther, "it {does} {what}, which adze can't check in advance"},

	Removal:          {BySafety, "{text}"},
	UncertainRemoval: {BySafety, "it may remove any file"},
	StdinArguments:   {BySafety, "its arguments come from stdin, so deny rules can't be checked in advance"},
	RuntimeProgram:   {BySafety, "the program can't be determined in advance, so a deny rule might apply{doubt}"},
	RuntimeMatch:     {BySafety, "rule {rule} may match; that can't be decided before the command runs: {what}"},
	RuntimeFiles:     {BySafety, "the files are computed at run time, so deny rules for {access} can't be checked in advance"},
	GitRuntimeFiles:  {BySafety, "git selects the files at run time, so deny rules for {access} can't be checked in advance"},
	GitProtected:     {BySafety, "git may be {access} files in {what} that rule {rule} protects"},
	GitStored:        {BySafety, "it reads git's copies of files in {what}, and rule {rule} protects some of them"},
	ListedFiles:      {BySafety, "{what} takes file names from its input or another file, so deny rules can't be checked in advance"},
	OptionsFile:      {BySafety, "{what} takes options from {text}, so deny rules can't be checked in advance"},
	OptionName:       {BySafety, "the file name {what} may be parsed as an option: put ./ before the pattern {text}"},
	CdGit:            {BySafety, "it changes the directory and runs git, which may run code from there"},
	CdWrite:          {BySafety, "it changes the directory and writes {what}"},

	EmptyCommand:      {ByOther, "the command is empty"},
	TooComplex:        {ByOther, "the command is too complex for an allow rule: {what}{doubt}"},
	Unapproved:        {ByOther, "no rule allows {command}{doubt}"},
	PartReads:         {ByReadOnly, "it is read-only"},
	PartsRead:         {ByReadOnly, "every part of it is read-only"},
	PartsAllowed:      {ByParts, "every part of it is allowed"},
	PartEdits:         {ByOther, "it only edits the files it names"},
	PartWritesScratch: {ByOther, "it writes to this session's temporary directory"},

	Sandboxed:      {BySandbox, "the sandbox confines it"},
	Unsandboxed:    {BySandbox, "the command asks to run outside the sandbox"},
	SandboxMissing: {BySandbox, "the sandbox that the settings require is not available here"},
	SandboxLacking: {BySandbox, "the sandbox doesn't confine this command"},
	SandboxHost:    {BySandbox, "a command in the sandbox wants to connect to {what}, which no rule allows"},
}
