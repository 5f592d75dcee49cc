package main

// Texts for users. The output of a command is plain text in the style of Unix tools: no colours, no boxes, one fact a
// line; times carry their zone.

const (
	textNoneMatches = "nothing matches %s"

	textBudgetSets = "%s is a number of the ping budget: set it with ollim-bot budget set --capacity N --refill MIN"
	textNoInstall  = "--force and --from were removed: update no longer installs anything, but says how this installation gets a newer program"
	textNoneRuns   = "no bot is running in %s; run `ollim-bot` to start one"
	textSure       = ". To set it anyway, add --sure."

	textDescription = "A personal assistant that reaches out, run from a terminal dashboard."
	textSeeHelp     = "Run `%s` for help."
	textNoClaude    = "%v; until then you get scripted replies, at no cost"
	textNoWebhooks  = "no webhooks; to add one, save a file in webhooks/ (ollim-bot help webhooks)"
	textNoDiscord   = "(Discord: ollim-bot init)"
	textDumb        = "TERM=dumb: this terminal cannot show the dashboard; use --plain for lines"
	textFresh       = `
this bot is new; there are three ways to start
write your first routine, here: add routine 0 9 * * mon-fri Ping me with a good morning
install starter routines, in a shell: ollim-bot routine starters --install
`
	textConnectModel    = "connect Claude, an API key or Discord, in a shell: ollim-bot auth login, ollim-bot help connect-a-model, ollim-bot init"
	textConnectDiscord  = "connect Discord, in a shell: ollim-bot init"
	textCommandAsDir    = "--data-dir needs a directory, and %q is a command: give the directory before it, or write ./%s if it is one"
	textNoTerminal      = "this is not a terminal: use --plain for lines%s, or ollim-bot snapshot for one frame"
	textOrHeadless      = ", --headless for no dashboard at all"
	textNotAttached     = "attach to %s: %w"
	textElsewhere       = "from elsewhere, attach with `ssh -t SERVER ollim-bot attach` (ollim-bot help attach.md)"
	textInstalled       = "  (installed)"
	textInstallStarters = "to install them: ollim-bot routine starters --install"
	textStartersThere   = "the starter routines are already installed"
	textOffline         = "no model connected: you get scripted replies, at no cost"
	textHowToConnect    = "No model is connected, so my replies are scripted. To connect one, run `npm install -g @anthropic-ai/claude-code` and " +
		"`ollim-bot auth login`, or put ANTHROPIC_API_KEY into the file .env of the data directory. Then restart ollim-bot."
	textWithoutFlag  = " If you started it with --engine script, leave that out."
	textDemo         = "demo: everything is real except the model"
	textFarDelay     = "%q is more than a year away; say an earlier time"
	textBadModel     = "unknown model %q; --model takes opus, sonnet, haiku, or provider/model such as local/qwen3:8b"
	textWindowOver   = "the window %s is over on that day; choose another day with --delay"
	textHeld         = "held:"
	textWaiting      = "for your approval (ollim-bot allow):"
	textNothingAhead = "no background task fires in the next hours"
	textNoSessions   = "no sessions yet"
	textNoSession    = "no session %q; run `ollim-bot history list` to see them"
	textMoreSessions = "  and %d older: -n shows more"
	textMoreHits     = "  and %d older; narrow it down with more words or --days"
	textMoreEvents   = "  %d older are not shown"
	textNoHits       = "no matches"
	textNoEvents     = "nothing fired in the last %s"
	textCopied       = "  %d entries copied from %s are not shown; add --full to see them"
	textEarlier      = "  %d earlier entries are not shown"
	textWroteAfter   = "user wrote after %s"
	textNotYet       = "user has not written since"
	textAnswered     = "answered after %s (%s)"
	textNotAnswered  = "not answered"
	textTheUser      = "The user"
	textARun         = "A background run"
	textAnswers      = "How they were answered:"
	textBadDays      = "--days %d is not a number of days between 1 and %d"
	textBadCount     = "-n %d is not between 1 and 10000"
	textNotServed    = "ollim-bot %s is for the user, not for the agent; `ollim-bot help` lists your commands"
	textServedFlags  = "--data-dir and --timezone are fixed here; leave them out"
	textServedFiles  = "check covers all files of the data directory here; do not name files"
	textTemporary    = "this program is in a temporary folder (%s), which the system cleans; install the program first, then the service"
	textShellOnly    = "warning: %s is set only in this shell, which the service does not see; put it into %s\n"
	textTooLong      = "the output is longer than %d MB; ask for less"
	textServedHelp   = "Commands that this session may run (add --help for details):"
	textServedAsk    = "These need the user's permission:"
	textServedNone   = "Not available in this session:"

	textUnknownCommand = "unknown command %q"
	textDidYouMean     = ", did you mean %q?"
	textExtra          = "%s does not take %q"
	textNeedsCommand   = "%s needs a command: %s"
	textNeeds          = "%s needs %s"
	textNeedsValue     = "missing value"
	textNeedsValueNot  = "missing value; if it is %[2]s, write --%[1]s=%[2]s"
	textNoNumber       = "%s is not a number"

	textTopics      = "Pages of the documentation:"
	textReadTopic   = "Read one with: ollim-bot help NAME. If a command has the same name: ollim-bot help NAME.md"
	textContributor = "that page is for contributors: docs/%s.md in the source of the program"
	textTopicsToo   = "ollim-bot help topics lists the pages of the documentation."
	textTopicsOffer = "The pages of the documentation."
	textPageToo     = "There is also a page about it: ollim-bot help %s.md"
	textNoDemoDir   = "the demo cannot create its directory: %w; make the temporary directory writable, or set TMPDIR to another one"
	textNoTopic     = "no command or page %q%s"

	textExamples = `
Examples:
  ollim-bot demo                              watch the bot at work, without an account
  ollim-bot run --engine script               your own directory, the offline engine
  ollim-bot cron "*/30 9-18 * * mon-fri"      what an expression means
  ollim-bot check                             is every file in order?
  ollim-bot preview 9a8b7c6d --at 20:00       the prompt that would be sent
  ollim-bot budget set --capacity 6           one more ping
  ollim-bot reminder add -m "Tea is ready" --delay 4
  ollim-bot runs tail 1a2b3c4d -f            watch a run
`
)
