package plain

import (
	"fmt"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/dialog"
	"ollimbot/tui/undo"
)

// handlers carry out the commands that are more than one value for the bot, by name.
var handlers = map[string]func(*console, request){
	"status":   func(c *console, r request) { c.read(r.Name, statusText(c.snap), "") },
	"engine":   func(c *console, r request) { c.read(r.Name, rowsText(dialog.EngineRows(c.snap)), "") },
	"webhooks": func(c *console, r request) { c.read(r.Name, rowsText(dialog.DeliveryRows(c.snap)), "") },
	"problems": func(c *console, r request) {
		c.read(r.Name, each(c.snap.Schedule.Problems, problemText), textNoProblems)
	},
	"notices": printNotices, "costs": printCosts, "budget": printOrSetBudget,

	"tasks":    func(c *console, r request) { c.list(r.Name, allTasks, each(c.snap.Schedule.Tasks, c.taskThing)) },
	"schedule": printSchedule, "day": printDay, "preview": printPreview, "details": printDetails, "file": printFile, "grant": grant,
	"refuse": refuse, "new": create,

	"runs":   func(c *console, r request) { c.list(r.Name, allRuns, each(c.snap.Forks, c.runThing)) },
	"output": printOutput, "log": printLog, "follow": follow, "stop": stopRun, "again": repeatRun, "continue": continueRun,

	"updates": func(c *console, r request) { c.list(r.Name, allUpdates, each(c.newestUpdates(), c.updateThing)) },
	"update":  printUpdate,

	"say":   func(c *console, r request) { send(c, r, command.Say{Text: r.rest}) },
	"reply": reply, "read": readNewest, "chat": readMessages, "press": press, "interrupt": interrupt, "exit": exitFork,
	"buttons": func(c *console, r request) { c.list(r.Name, allButtons, buttons(c)) },

	"waits": printCalls, "allow": answerCall, "always": answerCall, "deny": answerCall,

	"undo": func(c *console, _ request) { c.walk(undo.Back) },
	"redo": func(c *console, _ request) { c.walk(undo.Forward) },
	"yes":  noQuestion, "no": noQuestion, "quit": quit,
	"help": func(c *console, r request) { c.answer(help(r.rest)) },
}

func noQuestion(c *console, _ request) { c.fail(textNoQuestion) }

// obey carries out a command.
func obey(c *console, line string) {
	word, rest := command.CutWord(line)
	word = strings.ToLower(word)
	if c.confirmed(word) {
		return
	}
	if word == "/interrupt" { // its answer says less
		word = "interrupt"
	}
	if strings.HasPrefix(word, "/") {
		c.do(request{}, command.Slash{Line: line})
		return
	}
	named, ok := command.Find(command.InPlain, word)
	r := request{named, rest}
	switch {
	case !ok:
		c.fail(fmt.Sprintf(textUnknown, word))
	case named.Writes && c.readOnly != "":
		c.fail(named.Name + " is refused, " + c.readOnly)
	case named.Make == nil:
		handlers[named.Name](c, r)
	default:
		if to, ok := subject(c, r); ok {
			c.do(r, named.Make(to))
		}
	}
}

// subject reads what a command takes. False means that it has printed what is wrong.
func subject(c *console, r request) (to command.Subject, ok bool) {
	switch r.Takes {
	case command.TaskMoment: // the moment is at the end of the line
		before, off := strings.CutSuffix(r.rest, " off")
		if r.rest = before; !off {
			if r.rest, to.At, ok = command.LastMoment(r.rest, c.now()); !ok {
				c.usage(r.Command)
				return to, false
			}
		}
		fallthrough
	case command.Task:
		r.rest = strings.TrimSpace(r.rest)
		t, ok := findTask(c, r)
		to.ID = t.ID
		return to, ok
	case command.Update:
		u, ok := findUpdate(c, r)
		return command.Subject{ID: u.Key}, ok
	case command.Moment:
		if to.At, ok = command.ReadMoment(r.rest, c.now()); !ok && r.rest != "off" {
			c.usage(r.Command)
			return to, false
		}
	}
	to.Words = r.rest
	return to, true
}

// quit ends plain mode, after a question if there are runs.
func quit(c *console, _ request) {
	end := func() {
		c.answer(kindQuit, textBye)
		c.done = true
	}
	running, waiting := fork.Count(c.snap.Forks)
	if running+waiting == 0 {
		end()
		return
	}
	c.asked = &question{again: "quit", do: end}
	c.answer(kindQuestion, fmt.Sprintf(textQuit, words.Some(running+waiting, "run", "")))
}
