package mcp

// Errors in .mcp.json.
const (
	textNotAnObject    = `the file is %s and has to be an object: {"mcpServers": {…}}`
	textServersObject  = "mcpServers is %s and has to be an object with a server for each name"
	textUnknownTop     = "is not a known key: list servers under mcpServers"
	textServerObject   = "is %s and has to be an object with command or url"
	textTooManyServers = "is one too many: at most %d servers are used"
	textReserved       = "the name %s is that of the bot's own tools: choose another"
	textSameName       = "has the same name in tools as %s: rename one of them"
	textUnknownKey     = "is not known: remove it (known are command, args, env, type, url, headers, network, trusted, disabled)"
	textSSE            = `"sse" was replaced by "http" and is not supported: use the server's http address`
	textKind           = `%q is no type: use "stdio" or "http"`
	textNoURL          = "is missing: an http server needs its address"
	textNoCommand      = "is missing: a server needs a command, or a url"
	textBoth           = "a server has either command or url: remove one of them, or correct type"
	textBadURL         = "is no address such as https://example.org/mcp"
	textNotText        = "is %s and has to be a text in quotes"
	textNotTruth       = "is %s and has to be true or false"
	textNotList        = "is %s and has to be a list of texts"
	textNotTable       = "is %s and has to be an object with a text for each name"
	textBadVariable    = "%q is no name of a variable"
	textUnset          = "the bot's environment has no %s: set it there, or write ${%s:-default}"
)

// Texts about a server.
const (
	textNoStart      = "the program could not be started: %s"
	textRelative     = "command %q is a relative path: write the whole path, or a name on PATH"
	textNoProgram    = "there is no program %s: correct command, or install it"
	textNotOnPath    = "no program %q is on PATH: install it, or write its whole path"
	textNoAnswer     = "it did not answer within %s"
	textNoConnection = "no connection: %s"
	textNoList       = "its tools could not be listed: %s"
	textEndlessList  = "its list of tools has more than %d entries and was not read"
	textLongFrame    = "it sent a message of more than %d MiB, which ends the connection"
	textStray        = "it prints text that is no MCP message, which is ignored: %s"
	textEnded        = "the program has ended (%v)"
	textLastLine     = "; it said: %s"
	textUnseen       = " (in the sandbox it sees its own package and the paths in args, not the rest of your home: " +
		"add a folder that it needs to sandbox_visible, read-only)"
	textClosed        = "it has closed the connection"
	textRefused       = "it asked for %s, which the bot refuses"
	textRedirect      = "it redirects to another address (%s), which is not followed"
	textNoTools       = "it offers no tools"
	textNoName        = "it lists a tool without a name, which is left out"
	textToolLeftOut   = "its tool %s is left out: %v"
	textToolTwice     = "its tool %s has the same name as %s and is left out"
	textManyTools     = "it offers %d tools with very long descriptions, of which the first %d are used"
	textBadSchema     = "its arguments are described by something that is no object"
	textLongSchema    = "its arguments are described in %d bytes, more than %d"
	textRetry         = "%s; it is tried again in %s"
	textRemoved       = "it was removed"
	textDisabled      = "it is switched off"
	textStopping      = "the bot does not run"
	textWaits         = "%s; not used until you allow it: decide on its card or in the schedule"
	textRefusedTools  = "%s; you have refused that"
	textOtherTools    = "the tools of %s have changed since you saw them: look again before you decide"
	textDiscovered    = "MCP server %s: its tools are known and come with your first message after /clear"
	textNotDiscovered = "MCP server %s: %v"
	textNoServer      = "there is no MCP server %s"
)

// Texts for the model.
const (
	textUnavailable    = "the MCP server %s is not available: %v"
	textMalformed      = "its answer is not a result as the protocol has it"
	textCallFailed     = "the MCP server %s did not carry this out: %s"
	textToolWaits      = "the tool %s of the MCP server %s has changed since the user allowed it, and waits for the user"
	textAsksBack       = "the server asked for something in between, which the bot refuses; nothing came back"
	textResultCut      = "(cut after %d characters)"
	textEmptyResult    = "(no content)"
	textBinary         = "[%s, %s, %s: not shown]"
	textLink           = "[link %s: %s]"
	textUnknownContent = "[content of a kind that is not known: not shown]"
)

// A server's claims about a tool.
const (
	hintReadOnly    = "says that it only reads"
	hintDestructive = "says that it may destroy"
)
