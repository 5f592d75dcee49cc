package process

// How to get the command, for the ends of messages.
const (
	cureInstall = "install it with npm install -g @anthropic-ai/claude-code, or set OLLIM_CLAUDE"
	cureAgain   = "npm install -g @anthropic-ai/claude-code"
	curePath    = "set OLLIM_CLAUDE to the claude command"
)

// Why the command cannot be found or started.
const (
	msgNotFound      = "claude was not found: " + cureInstall
	msgNotThere      = "there is no %s: " + cureInstall
	msgFolderNotFile = "%s is a folder: " + curePath
	msgNoFile        = "%s is no file: " + curePath
	msgUnreadable    = "%s cannot be looked at (%v): change its permissions, or " + curePath
	msgNotExecutable = "%s is not executable: run chmod +x %s, or " + curePath
	msgNoInterpreter = "%s cannot start because what it runs with (%s) is missing: install that, or " + curePath
	msgNoLoader      = "%s cannot start because a library of the system is missing: it was built for another system, so install it again with " + cureAgain
	msgFormat        = "%s is no program that this machine can run: " + curePath
	msgDenied        = "the system does not let %s start: change its permissions and those of its folders, or " + curePath
	msgBusy          = "%s is being written right now, as by an update: try again in a minute"
	msgTooLong       = "%s cannot start because its arguments or its environment are too long: shorten them"
	msgNoRoom        = "%s cannot start because the machine has no room for another process (%v): end some, then try again"
	msgStart         = "%s cannot start (%v): check it by running it in a terminal with --version"
	msgPipes         = "make the pipes for claude: %w: close some programs or raise the limit of open files"
	msgSandbox       = "claude is not started without its sandbox: %w"
	msgNoFolder      = "the folder %s is missing: create it"
	msgFolder        = "the folder %s cannot be used (%v): change its permissions"
	msgNotFolder     = "%s is not a folder: move it away and create the folder"
)

// How a process ended, or did not.
const (
	msgExit     = "claude ended with exit code %d"
	msgKilled   = "claude was ended by %s"
	msgLost     = "wait for claude: %w"
	msgImmortal = "process %d does not end, not even by SIGKILL: end it by hand, or restart the machine"
	msgLeft     = "processes that claude left behind do not end (%s): end them by hand with kill -9"
)

// What is wrong with a version.
const (
	msgVersionSlow   = "%s --version did not answer within %s: try it in a terminal, or install it again with " + cureAgain
	msgVersionFailed = "%s --version failed (%w): try it in a terminal, or install it again with " + cureAgain
	msgVersionOther  = "%s is not Claude Code, it answered %q to --version: " + curePath
	msgVersionSilent = "%s is not Claude Code, it answered nothing to --version: " + curePath
	msgVersionWord   = "%q is no version of Claude Code: install it with " + cureAgain
	msgVersionOld    = "claude %s %w, %s or newer is needed: " + cureAgain + "@%s"
)

// hidden stands where a secret stood.
const hidden = "[hidden]"
