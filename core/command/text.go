package command

import "ollimbot/core/work/money"

// TextRemindOf is the prompt of a reminder created from a few words.
const TextRemindOf = "Remind the user of this:\n\n%s"

// TextNoTask reports an unknown task ID.
const TextNoTask = "no routine or reminder has the ID %q: the schedule shows the IDs"

// Why a line is no command line.
const (
	textNoCommand     = "%q begins with no command"
	textOpenQuote     = "a quote is not closed"
	textTakesNothing  = "%s does not take %q"
	textNothingBefore = "say what it is for before the time"
	textFailed        = "the command failed and says nothing"
)

// Where a command is that was typed where it is not.
const (
	textInShell = "%s is a command of the shell: ollim-bot %[2]s"
	textInPlain = "%s is a command of plain mode, and of the dashboard after a colon: ollim-bot attach --plain, then %[2]s"
	textInSlash = "%s is a command of the conversation: write /%[2]s to the bot"
)

// What a text names that should name one thing.
const (
	textNoThing       = "no %s is called %q"
	textSeveralThings = "%q names %s: %s"
)

// What replaces two words of the earlier upgrade command.
const (
	TextNoCheck    = "check was removed: update itself only compares and changes nothing"
	TextNoRollback = "rollback was removed: install the earlier version the way you installed this one, then restart the bot"
)

// How a running bot and the program on disk differ, and where a newer program comes from.
const (
	textNoProgram    = "find the file of this program: %w"
	textSameProgram  = "%s runs, installed as %s."
	textOtherProgram = "%s runs, but %s is now: %s.\nTo switch to it, restart the bot."
	textNewBroken    = "%s was replaced and does not run here (%w): install it again before you restart the bot"
	textLeftOver     = "%s is left from an earlier upgrade and no longer used: delete it."
	textNewPackage   = "To get a newer one, install the newer deb or rpm package on the bot's machine."
	textNewArchive   = "To get a newer one, unpack the newer archive over this one on the bot's machine."
	textNewBuild     = "To get a newer one, pull your clone of the repository on the bot's machine and build it again."
)

const (
	textNoRuns       = "no run has ended in the last %s"
	textWhichWeek    = "%q is no week: write last, or how many weeks ago it was"
	textTaskCost     = "%s (%s): %s, %s tokens, %s, %s a run, %.0f %% of the runs%s\n"
	textCosts        = "last %s: %s, %s tokens, %s"
	textAdviceShare  = "%s: %.0f %% of the costs"
	textAdviceFewer  = "%s instead of %s would have saved up to %s"
	textAdviceCheck  = "a check would have saved up to %s, because %d of %s had no ping and no report"
	textNoAdvice     = "no routine has cost %d %% of what was spent in %d runs or more: there is nothing to explain yet"
	textSayAgain     = ". To set it anyway, repeat it with sure at the end."
	textBlocks       = "%s tokens of prompts%s, %s of answers"
	textCached       = " (%.0f %% from the cache)"
	textCostsSince   = "; the first known run was on %s"
	textSettings     = "Settings"
	textAnyGroup     = "A group of settings…"
	textAnySetting   = "Change a setting…"
	textAnyValue     = "Set it to…"
	textTypeValue    = "Another value"
	textAllSettings  = "All settings"
	textSetAnyway    = "Set it anyway"
	textAnyModel     = "Switch to…"
	textTypeModel    = "Another model"
	textModelNow     = "Model: %s"
	textModelUntil   = "A switch lasts until the program ends; the setting *Main model* lasts."
	textCommands     = "Commands"
	textRemindUsage  = "say what and when, such as /remind buy milk, tomorrow 9:00"
	textNothingRuns  = "there is nothing to interrupt"
	textNoSetup      = "the setup skill is missing; the bot creates it when it starts"
	textNoUpdate     = "/update takes nothing, not %q"
	textNoClear      = "/clear takes nothing, not %q: nothing was cleared"
	textAlwaysThinks = " The model %s still thinks: with this version of claude that cannot be turned off."
	textOwnMeasure   = " The model %s decides how much it thinks and ignores the number."
	textZone         = "timezone: %s, now %s."
	textZoneFixed    = "the time zone is set by %s of the running program; change it there"
	textZoneRestarts = "; the bot restarts for that"
	textZoneLater    = "; it takes effect with the next start"
	textUnchanged    = "%s is already %s"
	textChanged      = "%s: %s → %s"
)

const (
	textTodayIs      = "today:      "
	textMonthIs      = "this month: "
	textOfCap        = " of %s"
	textSetAside     = ", %s set aside for runs under way"
	textCapsLifted   = ", the caps are lifted for today"
	textPart         = "%s: %s, %s"
	textPartUnknown  = ", the cost of %d of them is unknown"
	textWithoutModel = ", no model"
	textMissing      = ", without %s of unknown cost"
	textNoPrice      = "no price for %s: a line in the price list gives one, and until then it is in no sum and no cap"
	textEstimated    = "%s broke off and are estimated"
)

var textParts = map[money.Purpose]string{
	money.Conversation: "the conversation", money.Fork: "forks", money.OfRun: "runs", money.Subagent: "subagents",
	money.Compaction: "compactions", money.Screening: "screening of webhooks", money.Transcribing: "transcription of voice messages",
}
