package command

// Further lines of `help COMMAND`.
const (
	helpTask    = "TASK is words of its title, its number in the last list (schedule, day, list), or its ID."
	helpAccount = "DAY is the first day; by default the last seven days are listed. Without a filter, those that did not run are.\n"
	helpAudit   = "With a number, it shows one decision in full.\n"
	helpUpdates = "With a number, it shows one in full.\n"

	helpFile = "Open it in your editor; a saved file takes effect immediately.\n" + helpTask
	helpRun  = "RUN is words of its title, its number in the last list of runs, or its ID."
	helpWhen = "WHEN is a duration (30m, 2 hours), a time (18:30, until 18:30), " +
		"a day with or without a time (tonight, friday 9:00, 24 dec), or 2026-12-24 09:00."

	helpGrant    = "list, schedule and problems show what needs approval, and why. Skills and webhooks are named by their file.\n" + helpTask
	helpContinue = "The conversation is then in a fork; exit leaves it.\n" + helpRun
	helpNew      = "A routine takes words or a cron expression: add routine weekdays at 9 greet me.\n" +
		"A reminder takes a time: add reminder 18:30 call mum.\n" +
		"Before the message you can write silent (it never pings), foreground (it runs in the main conversation), and called with a title and a colon: " +
		"add routine weekdays at 9 silent called Morning: collect the news.\n" + helpWhen
	helpOutput = "The default is the last 15 lines. find shows only lines that a filter keeps: tail email find is:error.\n" + helpRun
	helpLog    = "The default is the last 15 lines. follow log prints new ones as they arrive."
	helpUpdate = "An update is its number in the last list of updates, or words of it."
	helpAnswer = "QUESTION is its number in the last list of questions; the only one need not be named. ANSWER is the label of an answer, yes for the first, " +
		"no for the last, or a time where the question takes one.\n" + helpWhen
	helpLines    = "A backslash at the end continues the line on the next one, so that a message can have several lines; two backslashes at the end mean one."
	helpSay      = helpLines + "\n" + "This works in all commands, such as reply and add."
	helpWaits    = "approvals 1 prints everything that call number 1 would do, line by line, and asks; yes or y allows it, no or n denies it."
	helpReply    = "NUMBER is that of the last list of chat. To reply to the newest message with words that begin with a number, give its number first."
	helpPress    = "BUTTON is its number in the message or in the list of buttons, or its label; of several with the same label, the newest."
	helpExit     = "exit keeps nothing and asks first. exit save makes the fork the main conversation. exit report takes a report along."
	helpCall     = "In plain mode, it answers tool calls too. Without a number it answers the only pending call. A call without an answer is denied after a while.\n" + helpGrant
	helpCapacity = "capacity +1 and capacity -1 change it by one, capacity 6 sets it, capacity 0 refuses all but critical pings."
	helpRefill   = "refill 60 refills one ping every 60 minutes, refill -5 makes that 5 minutes faster."
	helpFilter   = "FILTER is words, a phrase in quotes, a weekday or a date (tuesday, yesterday, 21 nov), or a state such as is:failed, " +
		"is:pinged, is:refused, is:silent, is:held; an exclamation mark before a part means the opposite."
	helpDay      = "DAY is yesterday, tuesday, 21 nov or 2026-11-21, with states such as is:failed; day tomorrow lists what fires then, as far as 24 hours ahead."
	helpSettings = "settings lists the groups, settings money those of a group, settings daily limit shows one, settings daily limit 5 changes it. " +
		"Undo takes a change back."
	helpEdit = "TASK is words of its title, its number in the last list, or its ID; FIELD is one that edit and the task alone lists. " +
		"The value is checked as in the form of the dashboard, and undo takes it back."
)
