package process

// Cures, appended to messages.
const (
	cureInstall = "install " + cureAgain + " on the bot's machine, or set OLLIM_CLAUDE"
	cureAgain   = "@anthropic-ai/claude-code from npm"
	curePath    = "set OLLIM_CLAUDE to the claude command"
)

// Why the command cannot be found or started.
const (
	msgNotFound      = "claude was not found: " + cureInstall
	msgNotThere      = "there is no %s: " + cureInstall
	msgFolderNotFile = "%s is a folder: " + curePath
	msgNoFile        = "%s is not a file: " + curePath
	msgUnreadable    = "%s cannot be read (%v): change its permissions, or " + curePath
	msgNotExecutable = "%s is not executable: make it executable, or " + curePath
	msgNoInterpreter = "%s cannot start because its interpreter (%s) is missing: install it, or " + curePath
	msgNoLoader      = "%s cannot start because a system library is missing: it was built for another system, so install " + cureAgain + " again"
	msgFormat        = "%s is not a program that this machine can run: " + curePath
	msgDenied        = "the system does not let %s start: change its permissions and those of its folders, or " + curePath
	msgBusy          = "%s is being written, probably by an update: try again in a minute"
	msgTooLong       = "%s cannot start because its arguments or its environment are too long: shorten them"
	msgNoRoom        = "%s cannot start because the machine cannot run another process (%v): end some, then try again"
	msgStart         = "%s cannot start (%v): check it by running it in a terminal with --version"
	msgPipes         = "create the pipes for claude: %w: close some programs or raise the limit of open files"
	msgSandbox       = "claude was not started because its sandbox failed: %w"
	msgNoFolder      = "the folder %s is missing: create it"
	msgFolder        = "the folder %s cannot be used (%v): change its permissions"
	msgNotFolder     = "%s is not a folder: move it away and create the folder"
)

// How a process ended.
const (
	msgExit     = "claude ended with exit code %d"
	msgKilled   = "claude was ended by %s"
	msgLost     = "wait for claude: %w"
	msgImmortal = "process %d does not end, even with SIGKILL: end it manually, or restart the machine"
)

// Problems with a version.
const (
	msgVersionSlow   = "%s --version did not answer within %s: try it in a terminal, or install " + cureAgain + " again"
	msgVersionFailed = "%s --version failed (%w): try it in a terminal, or install " + cureAgain + " again"
	msgVersionOther  = "%s is not Claude Code, it answered %q to --version: " + curePath
	msgVersionSilent = "%s is not Claude Code, it answered nothing to --version: " + curePath
	msgVersionWord   = "%q is not a version of Claude Code: install " + cureAgain
	msgVersionOld    = "claude %s %w, %s or newer is needed: install @anthropic-ai/claude-code@%s from npm"
)

// hidden replaces a secret.
const hidden = "[hidden]"
