package main

// Words for people. What a command answers is plain text in the style of Unix
// tools: no colours, no boxes, one fact a line; times carry their zone.

const (
	textStillRuns = "The bot that runs in %s goes on as it is until: ollim-bot restart"
	textNoneRuns  = "no bot runs in %s: ollim-bot starts one"
	textSure      = ". Say it again with --sure to set it."

	textDescription = "A personal assistant that reaches out, run from a terminal dashboard."
	textSeeHelp     = "Run `%s` for help."
	textNoClaude    = "%v; until then scripted replies answer, at no cost"
	textNoWebhooks  = "no webhooks: a file in webhooks/ makes one (ollim-bot help webhook-files)"
	textNoDiscord   = "(Discord: ollim-bot init)"
	textDumb        = "TERM=dumb: this terminal cannot show the dashboard; with --plain it speaks in lines"
	textFresh       = `
nothing is set up yet; there are three ways to begin
write your first routine, here: new routine 0 9 * * mon-fri Ping me with a good morning
install starter routines, in a shell: ollim-bot routine starters --install
connect Claude, an API key or Discord, in a shell: ollim-bot auth login, ollim-bot help connect-a-model, ollim-bot init`
	textNoTerminal      = "this is not a terminal: use --plain for lines, --headless for no dashboard at all, or ollim-bot snapshot for one frame"
	textNoHome          = "there is no home directory to keep the bot's key in: set HOME"
	textNotAttached     = "attach to %s: %w"
	textInstalled       = "  (installed)"
	textInstallStarters = "to install them: ollim-bot routine starters --install"
	textStartersThere   = "the starter routines are already installed"
	textOffline         = "no model connected: scripted replies answer, at no cost"
	textHowToConnect    = "No model is connected, so my replies are scripted. To connect one, run `npm install -g @anthropic-ai/claude-code` and " +
		"`ollim-bot auth login`, or put ANTHROPIC_API_KEY into the file .env of the data directory. Then start ollim-bot again, without --engine script."
	textDemo         = "demo: all is real but the model"
	textBadDelay     = "%q is not a time within the next year: give minutes, or a time such as 90m, 2d, 18:30, \"tomorrow 9:00\" or \"in 20 minutes\""
	textBadModel     = "there is no model %q: --model takes opus, sonnet, haiku, or a model with its provider such as local/qwen3:8b"
	textMayWait      = "--may-wait needs --background and no --allowed-tools"
	textWaiting      = "for your word (ollim-bot allow):"
	textNothingAhead = "no background task fires in the hours ahead"
	textNoSessions   = "no sessions yet"
	textNoSession    = "no session %q: ollim-bot history list shows them"
	textMoreSessions = "  and %d older: -n shows more"
	textMoreHits     = "  and %d older: more words or --days narrow it down"
	textMoreEvents   = "  %d older are not shown"
	textNoHits       = "nowhere"
	textNoEvents     = "nothing fired in the last %s"
	textCopied       = "  %d entries copied from %s are not shown: --full shows them"
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
	textNotServed    = "ollim-bot %s is for the user, not for the agent: `ollim-bot help` lists the commands for you"
	textServedFlags  = "--data-dir and --timezone are the bot's own here: leave them out"
	textServedFiles  = "check looks at all files of the data directory here: name none"
	textTemporary    = "this program lies in a temporary folder (%s), where the system tidies up: install it first, then the service"
	textShellOnly    = "careful: %s is set in this shell only, which the service does not see: put it into %s\n"
	textTooLong      = "the answer is longer than %d MB: ask for less"
	textServedHelp   = "Commands that this session may run (--help behind one says more):"
	textServedAsk    = "These need the user's permission:"
	textServedNone   = "These are not for this session:"

	textUnknownCommand = "there is no command %q"
	textDidYouMean     = ", did you mean %q?"
	textExtra          = "%s does not take %q"
	textNeedsCommand   = "%s needs a command: %s"
	textNeeds          = "%s needs %s"
	textNeedsValue     = "give a value"
	textNeedsValueNot  = "give a value; if it is %[2]s, write --%[1]s=%[2]s"
	textNoNumber       = "%s is not a number"

	textTopics      = "Pages of the documentation:"
	textReadTopic   = "Read one with: ollim-bot help NAME. Where a command has the same name: ollim-bot help NAME.md"
	textTopicsToo   = "ollim-bot help topics lists the pages of the documentation."
	textTopicsOffer = "The pages of the documentation."
	textPageToo     = "There is a page about it, too: ollim-bot help %s.md"
	textNoDemoDir   = "the demo cannot make its directory: %w: make the temporary directory writable, or set TMPDIR to another"
	textNoTopic     = "there is no command or page %q%s"

	textExamples = `
Examples:
  ollim-bot demo                              see the bot live, without an account
  ollim-bot run --engine script               your own directory, the offline engine
  ollim-bot cron "*/30 9-18 * * mon-fri"      what an expression means
  ollim-bot check                             is every file in order?
  ollim-bot preview 9a8b7c6d --at 20:00       the prompt that would be sent
  ollim-bot budget set --capacity 6           one more ping
  ollim-bot reminder add -m "Tea is ready" --delay 4
  ollim-bot forks tail 1a2b3c4d -f            watch a run
`
)
