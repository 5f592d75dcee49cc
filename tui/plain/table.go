package plain

import (
	"slices"
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/policy"
)

// verb is one word that plain mode obeys, with what help says of it.
type verb struct {
	words   []string // its name first, then what else it answers to
	group   group
	usage   string // what may follow the word
	about   string // what it does, as the end of a sentence
	example string
	more    string // what help WORD adds: whole sentences, one a line
	writes  bool   // --read-only refuses it
	run     func(m *machine, rest string)
}

func (c verb) name() string { return c.words[0] }

// group is what commands have in common.
type group string

const (
	groupLook    group = "overview"
	groupTasks   group = "tasks"
	groupRuns    group = "runs"
	groupUpdates group = "updates"
	groupTalk    group = "conversation"
	groupCalls   group = "tool calls"
	groupPings   group = "pings"
	groupSelf    group = "this program"
)

// groups are all of them in the order in which help tells them.
var groups = []group{groupLook, groupTasks, groupRuns, groupUpdates, groupTalk, groupCalls, groupPings, groupSelf}

// find is the command of a word.
func find(word string) (verb, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c verb) bool { return slices.Contains(c.words, word) })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

// commands is everything that plain mode obeys: all that the panes can do.
func commands() []verb {
	return slices.Concat(lookCommands(), taskCommands(), runCommands(), updateCommands(), talkCommands(), callCommands(), pingCommands(), selfCommands())
}

func lookCommands() []verb {
	return []verb{
		{words: []string{"status"}, group: groupLook, about: "one look at everything", example: "status", run: (*machine).status},
		{
			words: []string{"notices"}, group: groupLook, usage: "[HOW MANY]", about: "what the program has said, newest first",
			example: "notices 5", run: (*machine).notices,
		},
		{
			words: []string{"problems"}, group: groupLook, about: "files with mistakes, and where in them",
			example: "problems", run: (*machine).problems,
		},
		{
			words: []string{"engine"}, group: groupLook, about: "the model, its processes, and what today has cost",
			example: "engine", run: (*machine).engine,
		},
		{
			words: []string{"costs"}, group: groupLook, usage: "[DAYS]", about: "what the runs of each task have cost, a week unless told",
			example: "costs 30", run: (*machine).costs,
		},
		{
			words: []string{"log"}, group: groupLook, usage: "[LINES] [warnings, errors] [find WORDS]", about: "the newest lines of the log",
			example: "log 20 errors", more: textHelpLog, run: (*machine).log,
		},
		{
			words: []string{"webhooks"}, group: groupLook, about: "what came in over webhooks, newest first",
			example: "webhooks", run: (*machine).webhooks,
		},
	}
}

func taskCommands() []verb {
	return []verb{
		{words: []string{"schedule"}, group: groupTasks, about: "what fires next, with numbers", example: "schedule", run: (*machine).schedule},
		{words: []string{"day"}, group: groupTasks, about: "all that fires in the next 24 hours, with numbers", example: "day", run: (*machine).day},
		{words: []string{"tasks"}, group: groupTasks, about: "every routine and reminder, with numbers", example: "tasks", run: (*machine).tasks},
		{
			words: []string{"details"}, group: groupTasks, usage: "TASK", about: "everything about a task",
			example: "details email", more: textHelpTask, run: (*machine).details,
		},
		{
			words: []string{"preview"}, group: groupTasks, usage: "TASK", about: "the exact prompt that a task would send",
			example: "preview 2", more: textHelpTask, run: (*machine).preview,
		},
		{
			words: []string{"file"}, group: groupTasks, usage: "TASK", about: "where a task's file is, and what it says",
			example: "file email", more: textHelpFile, run: (*machine).file,
		},
		{
			words: []string{"fire"}, group: groupTasks, usage: "TASK", about: "run a task now, beside its schedule",
			example: "fire email", more: textHelpTask, writes: true, run: (*machine).fire,
		},
		{
			words: []string{"snooze"}, group: groupTasks, usage: "TASK WHEN", about: "keep a task from firing until a time",
			example: "snooze email until 18:30", more: textHelpSnooze, writes: true, run: (*machine).snooze,
		},
		{
			words: []string{"pause"}, group: groupTasks, usage: "TASK", about: "keep a task from firing until you resume it",
			example: "pause email", more: textHelpTask, writes: true, run: (*machine).pause,
		},
		{
			words: []string{"resume"}, group: groupTasks, usage: "TASK", about: "end a pause or a snooze",
			example: "resume email", more: textHelpResume, writes: true, run: (*machine).resume,
		},
		{
			words: []string{"grant"}, group: groupTasks, usage: "TASK", about: "allow all that a task asks for, which the agent wrote",
			example: "grant email", more: textHelpGrant, writes: true, run: (*machine).grant,
		},
		{
			words: []string{"new"}, group: groupTasks, usage: "routine CRON MESSAGE, or reminder WHEN MESSAGE", about: "write a new task",
			example: "new reminder tomorrow 9:00 put out the bins", more: textHelpNew, writes: true, run: (*machine).create,
		},
	}
}

func runCommands() []verb {
	return []verb{
		{words: []string{"runs", "forks"}, group: groupRuns, about: "background runs, with numbers", example: "runs", run: (*machine).runs},
		{
			words: []string{"output", "tail"}, group: groupRuns, usage: "RUN [last HOW MANY] [find WORDS]", about: "the last lines of a run",
			example: "output email last 40", more: textHelpOutput, run: (*machine).output,
		},
		{
			words: []string{"follow"}, group: groupRuns, usage: "RUN, log or off", about: "hear the lines of a run or of the log as they come",
			example: "follow email", more: textHelpRun, run: (*machine).follow,
		},
		{
			words: []string{"stop"}, group: groupRuns, usage: "RUN", about: "end a run, after a question",
			example: "stop 2", more: textHelpRun, writes: true, run: (*machine).stop,
		},
		{
			words: []string{"again"}, group: groupRuns, usage: "RUN", about: "run the task of a run once more",
			example: "again 2", more: textHelpRun, writes: true, run: (*machine).again,
		},
		{
			words: []string{"continue"}, group: groupRuns, usage: "RUN", about: "go on in a run that has ended, in the conversation",
			example: "continue email", more: textHelpContinue, writes: true, run: (*machine).goOn,
		},
	}
}

func updateCommands() []verb {
	return []verb{
		{
			words: []string{"updates"}, group: groupUpdates, about: "what waits for the main conversation, newest first, with numbers",
			example: "updates", run: (*machine).updates,
		},
		{
			words: []string{"update"}, group: groupUpdates, usage: "UPDATE", about: "read one update in full",
			example: "update 1", more: textHelpUpdate, run: (*machine).update,
		},
		{
			words: []string{"discard"}, group: groupUpdates, usage: "UPDATE", about: "throw an update away; undo brings it back",
			example: "discard 2", more: textHelpUpdate, writes: true, run: (*machine).discard,
		},
		{
			words: []string{"deliver"}, group: groupUpdates, about: "hand all updates over now; the answer comes at once",
			example: "deliver", writes: true, run: func(m *machine, _ string) { m.do(command.DeliverNow{}) },
		},
	}
}

func talkCommands() []verb {
	return []verb{
		{
			words: []string{"say"}, group: groupTalk, usage: "WORDS", about: "speak to the agent",
			example: "say what is left today?", more: textHelpSay, writes: true, run: (*machine).speak,
		},
		{
			words: []string{"reply"}, group: groupTalk, usage: "[NUMBER] WORDS", about: "answer the newest message, or one that chat has read",
			example: "reply 3 thank you", more: textHelpReply, writes: true, run: (*machine).reply,
		},
		{words: []string{"read"}, group: groupTalk, about: "the newest message in full, line by line", example: "read", run: (*machine).read},
		{
			words: []string{"chat"}, group: groupTalk, usage: "[HOW MANY] [find WORDS]", about: "the newest messages, with numbers",
			example: "chat 20 find dentist", run: (*machine).chat,
		},
		{
			words: []string{"buttons"}, group: groupTalk, about: "the buttons of the newest cards, with numbers",
			example: "buttons", run: (*machine).buttons,
		},
		{
			words: []string{"press"}, group: groupTalk, usage: "BUTTON", about: "press a button by its number or its words",
			example: "press 1", more: textHelpPress, writes: true, run: (*machine).press,
		},
		{
			words: []string{"interrupt"}, group: groupTalk, about: "end the answer that is being given",
			example: "interrupt", writes: true, run: (*machine).interrupt,
		},
		{
			words: []string{"exit"}, group: groupTalk, usage: "[save or report]", about: "leave the fork that the conversation stands in",
			example: "exit report", more: textHelpExit, writes: true, run: (*machine).exit,
		},
	}
}

func callCommands() []verb {
	return []verb{
		{
			words: []string{"waits", "approvals"}, group: groupCalls, usage: "[NUMBER]", about: "tool calls that wait for you; with a number, one of them whole",
			example: "waits 1", more: textHelpWaits, run: (*machine).waits,
		},
		{
			words: []string{"allow"}, group: groupCalls, usage: "[NUMBER]", about: "allow a tool call",
			example: "allow 1", more: textHelpCall, writes: true, run: func(m *machine, rest string) { m.settle(rest, policy.Allow) },
		},
		{
			words: []string{"always"}, group: groupCalls, usage: "[NUMBER]", about: "allow the tool of a call from now on",
			example: "always 1", more: textHelpCall, writes: true, run: func(m *machine, rest string) { m.settle(rest, policy.Always) },
		},
		{
			words: []string{"deny"}, group: groupCalls, usage: "[NUMBER]", about: "deny a tool call",
			example: "deny 1", more: textHelpCall, writes: true, run: func(m *machine, rest string) { m.settle(rest, policy.Deny) },
		},
	}
}

func pingCommands() []verb {
	return []verb{
		{
			words: []string{"budget"}, group: groupPings, usage: "[CAPACITY, or refill MINUTES]", about: "the ping budget; with a number, change it",
			example: "budget +1", more: textHelpBudget, run: (*machine).budget,
		},
		{
			words: []string{"mute"}, group: groupPings, usage: "WHEN, or off", about: "refuse pings until a time",
			example: "mute 2h", more: textHelpWhen, writes: true, run: (*machine).mute,
		},
	}
}

func selfCommands() []verb {
	return []verb{
		{
			words: []string{"undo"}, group: groupSelf, about: "take the last change back",
			example: "undo", writes: true, run: func(m *machine, _ string) { m.undoLast() },
		},
		{
			words: []string{"yes", "y"}, group: groupSelf, about: "answer a question: do it",
			example: "yes", run: func(m *machine, _ string) { m.answer(kindError, textNoQuestion) },
		},
		{
			words: []string{"no", "n"}, group: groupSelf, about: "answer a question: leave it; any other command does too",
			example: "no", run: func(m *machine, _ string) { m.answer(kindError, textNoQuestion) },
		},
		{
			words: []string{"login"}, group: groupSelf, usage: "[CODE]", about: "log in to Claude: first for the address, then with the code of its page",
			example: "login", writes: true, run: func(m *machine, rest string) { m.do(command.Login{Code: rest}) },
		},
		{
			words: []string{"help", "?"}, group: groupSelf, usage: "[COMMAND or GROUP]", about: "the commands, or one of them",
			example: "help snooze", run: (*machine).help,
		},
		{
			words: []string{"quit"}, group: groupSelf, about: "end; the end of the input does too",
			example: "quit", run: func(m *machine, _ string) { m.quit() },
		},
	}
}

// help tells all commands in groups, those of one group, or one of them.
func (m *machine) help(rest string) {
	rest = strings.ToLower(rest)
	if rest == "" {
		m.answer(kindHelp, helpText())
		return
	}
	if slices.Contains(groups, group(rest)) { // with the command that is called so
		m.answer(kindHelp, groupText(group(rest)))
		return
	}
	c, ok := find(rest)
	if !ok {
		m.answer(kindError, unknownHelp(rest))
		return
	}
	m.answer(kindHelp, commandText(c))
}
