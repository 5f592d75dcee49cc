package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
	"ollimbot/tui"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/undo"
	"ollimbot/tui/widget/query"
)

// handlers execute commands that are more than a single value for the bot, by name.
var handlers = map[string]func(*console, request){
	"engine":   bare(func(c *console) { c.read("", rowsText(dialog.EngineRows(c.snap)), "") }),
	"problems": bare(func(c *console) { c.read("problems", each(c.snap.Schedule.Problems, problemText), textNoProblems) }),
	"away":     printAway, "notices": printNotices,
	"capacity": setBudget, "refill": setBudget,

	"day": printDay, "list": printTasks,
	"tasks": func(c *console, r request) {
		if query.Parse(r.rest).Sentence() {
			c.misread(textTasksAre)
			return
		}
		c.answer(textTasksAre)
	},
	"task": printTask,
	"file": printFile, "add": create, "edit": edit,

	"runs": printRuns, "tail": printOutput, "seen": bare(markSeen),
	"log": printLog, "follow": follow,
	"stop":     onRun(action.ForksStop, func(c *console, r request, f fork.View) { c.ask(r, forks.StopQuestion(f, c.snap.At)) }),
	"again":    onRun(action.ForksAgain, func(c *console, r request, f fork.View) { c.do(r, command.FireNow{ID: f.TaskID, Stays: true}) }),
	"continue": onRun(action.ForksResume, func(c *console, r request, f fork.View) { c.do(r, command.ResumeFork{Run: f.ID}) }),

	"questions": printQuestions, "answer": answerQuestion,

	"say":   func(c *console, r request) { send(c, r, command.Say{Text: r.rest}) },
	"reply": reply, "read": bare(readNewest), "chat": readMessages, "press": press, "interrupt": bare(interrupt), "exit": exitFork,
	"buttons": bare(func(c *console) { c.list(allButtons, buttons(c)) }),

	"approvals": printCalls, "allow": answerCall, "always": answerCall, "deny": answerCall,

	"settings": settings, "more": goOn, "prefix": setPrefix,
	"undo": bare(func(c *console) { c.walk(undo.Back) }),
	"redo": bare(func(c *console) { c.walk(undo.Forward) }),
	"yes":  noQuestion, "no": noQuestion, "quit": bare(quit),
	"help": printHelp,
}

// bare adapts a command without arguments.
func bare(do func(*console)) func(*console, request) {
	return func(c *console, r request) {
		if r.rest != "" {
			c.misread(fmt.Sprintf(textNothing, r.Name))
			return
		}
		do(c)
	}
}

func noQuestion(c *console, _ request) { c.misread(textNoQuestion) }

// goOn prints the remaining lines of an answer: some, or "all".
func goOn(c *console, r request) {
	switch strings.ToLower(r.rest) {
	case "", "all":
		c.more(r.rest != "")
	default:
		c.usage(r.Command)
	}
}

// obey executes a command, or sends a message to the agent.
func obey(c *console, line string) {
	word, _ := command.CutWord(line)
	word = strings.ToLower(word)
	if word != "more" {
		c.begin()
	}
	c.missed = ""
	defer c.end()
	if c.confirmed(word) {
		c.offer("", true)
		return
	}
	if word == "/interrupt" { // its answer says less
		word, line = "interrupt", "interrupt"
	}
	args, _ := command.Split(line)
	named, after, ok := command.Lead(command.InPlain, args)
	r := request{named, command.SkipWords(line, len(args)-len(after))}
	slash := strings.HasPrefix(word, "/")
	_, number := strconv.Atoi(r.rest)
	alone := slash && word == strings.ToLower(line) || ok && (r.rest == "" || number == nil) // no sentence
	defer func() { c.offer(line, alone) }()
	own, inShell := handlers[named.Name], named.In&command.InShell != 0 && !named.Plain
	flags := slices.ContainsFunc(after, func(a string) bool { return strings.HasPrefix(a, "--") })
	switch {
	case slash:
		c.do(request{}, command.Slash{Line: line})
	case !ok:
		say(c, word, line)
	case named.Writes && c.readOnly != "":
		c.fail(named.Name + " is refused, " + c.readOnly)
	case inShell && (flags || own == nil && named.Make == nil):
		if alone && named.Was != "" && !slices.Contains(c.told, named.Name) {
			c.told = append(c.told, named.Name)
			c.answer(fmt.Sprintf(textWas, named.Name, named.Was))
		}
		shell(c, r)
	case own != nil:
		own(c, r)
	default:
		carryOut(c, r)
	}
}

// errSaid means that the reason has been printed.
var errSaid = errors.New("the reason has been printed")

// carryOut executes a command whose row makes its value.
func carryOut(c *console, r request) {
	to, note, err := r.Read(r.rest, command.Reading{Times: c.snap.Times(), Find: func(k command.Kind, text string) (string, error) {
		return c.idOf(k, request{r.Command, text})
	}})
	var wrong *command.ArgumentError
	switch {
	case errors.As(err, &wrong) && len(r.Args) == 0:
		c.misread(fmt.Sprintf(textNothing, r.Name))
	case errors.As(err, &wrong) && when.Meant(err):
		c.misread(err.Error())
	case errors.As(err, &wrong):
		c.usage(r.Command)
	case err == nil:
		if note != "" {
			note = "; " + note
		}
		c.doAndAdd(r, r.Make(to), note)
	}
}

// idOf returns the ID of what a request names. The error is errSaid, or an *command.ArgumentError if it names nothing.
func (c *console) idOf(k command.Kind, r request) (id string, err error) {
	var ok bool
	switch k {
	case command.Run:
		var f fork.View
		f, ok = findRun(c, r, func(fork.View) string { return "" })
		id = f.ID
	case command.Update:
		var u updates.Update
		u, ok = findUpdate(c, r)
		id = u.Key
	default:
		if r.rest == "" {
			return "", &command.ArgumentError{Err: errSaid}
		}
		var t schedule.TaskView
		t, ok = findTask(c, r)
		id = t.ID
	}
	if !ok {
		err = errSaid
	}
	return id, err
}

// shell executes a line of the command line.
func shell(c *console, r request) {
	if first, rest := command.CutWord(r.rest); r.Takes(command.Task) {
		if n, err := strconv.Atoi(first); err == nil {
			t, ok := c.byNumber(allTasks, each(c.snap.Schedule.Tasks, c.taskThing), n)
			if !ok {
				return
			}
			r.rest = t.id + " " + rest
		}
	}
	c.do(r, command.Line{Text: r.Name + " " + r.rest})
	c.look()
}

// say sends a line that is not a command to the agent. If a person may have mistyped a command, it asks first.
func say(c *console, word, line string) {
	var names []string
	for _, known := range command.List(command.InPlain) {
		names = append(append(names, known.Name), known.Aliases...)
	}
	near, alone := words.Nearest(word, names), word == strings.ToLower(line)
	wrong := fmt.Sprintf(textUnknown, word)
	switch there := command.Elsewhere(word); {
	case there != "" && alone:
		wrong = there
	case near != "" && (alone || near[:2] == word[:2]): // the first letters are rarely mistyped
		wrong += fmt.Sprintf(textNearest, near)
	case !alone:
		toAgent(c, line)
		return
	}
	c.misread(wrong)
}

// toAgent sends a line to the agent.
func toAgent(c *console, line string) {
	r, _ := command.Find(command.InPlain, "say")
	c.do(request{r, line}, command.Say{Text: line})
}

// offer passes a line that is no command as a whole to the agent, for a person after a question. The name of a command
// alone, or with a number, is no sentence.
func (c *console) offer(line string, alone bool) {
	why := c.missed
	c.missed = ""
	line = strings.TrimPrefix(line, "/")
	switch {
	case why == "":
	case alone || c.readOnly != "":
		if c.piped {
			c.fail(why)
		}
	case c.piped:
		toAgent(c, line)
	default:
		c.asked = &question{do: func() { toAgent(c, line) }, not: func() { c.answer(textUnchanged) }}
		c.whole(textToAgent) // not behind "more"
	}
}

// quit ends plain mode, after a question if that ends runs.
func quit(c *console) {
	end := func() {
		c.answer("goodbye")
		c.done = true
	}
	running, waiting := fork.Count(c.snap.Forks)
	if running+waiting == 0 || c.remains {
		end()
		return
	}
	c.asked = &question{again: "quit", do: end}
	c.answer(fmt.Sprintf(textQuit, words.Some(running+waiting, "run", "")))
}

// printHelp prints help; the command line explains its own commands.
func printHelp(c *console, r request) {
	args, _ := command.Split(r.rest)
	named, after, ok := command.Lead(command.InPlain, args)
	if !ok || len(after) > 0 || named.In&command.InShell == 0 || named.More != "" || slices.Contains(command.Groups, command.Group(strings.ToLower(r.rest))) {
		text, wrong := strings.CutPrefix(help(r.rest), textError)
		if wrong {
			c.misread(text)
			return
		}
		c.answer(text)
		return
	}
	if out, ok := call(c.executor, c.core.Do, command.Value(command.Line{Text: named.Name + " --help"})); ok {
		c.answer(spoken(out.Printed))
	}
}

// help lists the groups of commands, and explains all commands, those of a group, or one.
func help(about string) string {
	about = strings.ToLower(about)
	c, ok := command.Find(command.InPlain, about)
	switch g := command.Group(about); {
	case about == "":
		return helpText()
	case about == "all":
		return strings.Join(each(command.Groups, groupText), "\n")
	case slices.Contains(command.Groups, g): // before the command with its name
		return groupText(g)
	case !ok:
		names := each(command.Groups, func(g command.Group) string { return string(g) })
		return textError + fmt.Sprintf(textUnknown, about) + textGroups + words.Joined(names...)
	}
	text := shortText(c) + "\n" + c.More
	if len(c.Aliases) > 0 {
		text += "\n" + strings.Join(c.Aliases, " or ") + " means the same"
	}
	return text
}

// helpText returns each group in one line, with the names of its commands.
func helpText() string {
	text := textHelpHead
	for _, g := range command.Groups {
		text += "\n" + string(g) + ": " + words.Joined(each(groupOf(g), func(c command.Command) string { return c.Name })...)
	}
	return text + "\n" + textHelpTail
}

func groupOf(g command.Group) []command.Command {
	return slices.DeleteFunc(command.List(command.InPlain), func(c command.Command) bool { return c.Group != g })
}

func groupText(g command.Group) string {
	return g.Title() + ":\n" + strings.Join(each(groupOf(g), shortText), "\n")
}

// shortText returns a command in one line with its example.
func shortText(c command.Command) string {
	text := strings.TrimSpace(c.Name+" "+c.Usage) + ": " + strings.TrimSuffix(c.About, ".")
	if c.Example != "" {
		text += "; for example " + c.Example
	}
	return text
}

// question is answered by the next line: "yes" runs one function, "no" another.
type question struct {
	again string // the word that also means yes; may be empty
	do    func()
	not   func() // nil: nothing changes
}

// executor passes commands to the bot, asks before some of them, and can undo them.
type executor struct {
	ctx      context.Context
	core     tui.Core
	out      *printer
	wear     func(name, value string) error // saves a display setting
	readOnly string                         // why changes are refused; empty if they are allowed

	changes undo.History
	asked   *question
	awaited []<-chan error // closed when a message of the user was answered
}

// do executes a command and prints its outcome.
func (x *executor) do(r request, v command.Value) { x.doAndAdd(r, v, "") }

// doAndAdd is do with more text after the outcome.
func (x *executor) doAndAdd(r request, v command.Value, more string) {
	o, ok := x.carryOut(v)
	if !ok {
		return
	}
	if q := tui.Sure(v, o); q != nil {
		x.ask(r, q)
		return
	}
	if o.Done != nil {
		x.awaited = append(x.awaited, o.Done)
	}
	done := textDone
	if _, is := v.(command.Say); is {
		done = "sent"
	}
	text := cmp.Or(o.Printed, o.Body, o.Message, done)
	if !r.Verbatim {
		text = spoken(text)
	}
	text += more
	if o.Undo != nil {
		x.changes.Add(undo.Change{Name: spoken(cmp.Or(o.Message, textDone)), Step: o.Undo})
		if !x.out.once {
			text += textUndoable
		}
	}
	x.out.answer(text)
}

// carryOut executes a command. ok is false if it failed; then the reason has been printed.
func (x *executor) carryOut(v command.Value) (o command.Outcome, ok bool) {
	if _, line := v.(command.Line); x.readOnly != "" && !line { // obey refuses lines that change something
		x.out.fail(x.readOnly)
		return o, false
	}
	o, ok = call(x, x.core.Do, v)
	if l, is := v.(command.SetLook); ok && is {
		if err := x.wear(l.Name, l.Value); err != nil {
			x.out.fail(err.Error())
		}
	}
	return o, ok
}

// call calls a method of the core, for a limited time; a panic in it is an error. False means
// that it has printed the error.
func call[Q, A any](x *executor, of func(context.Context, Q) (A, error), about Q) (a A, ok bool) {
	ctx, cancel := context.WithTimeout(x.ctx, commandTime)
	defer cancel()
	err := fault.Guard("a command", func() (err error) {
		a, err = of(ctx, about)
		return err
	})()
	switch no := new(command.NoLineError); {
	case errors.As(err, &no):
		x.out.misread(spoken(no.Why))
	case err != nil:
		x.out.fail(spoken(err.Error()))
	}
	return a, err == nil
}

// ask asks a question of the panes, which the next line answers.
func (x *executor) ask(r request, q *pane.Question) {
	x.asked = &question{do: func() { x.do(r, q.Do) }}
	x.out.answer(fmt.Sprintf(textAsk, q.Text, q.Yes, q.No))
}

// confirmed reports whether a word was the answer to a question, and acts on it.
func (x *executor) confirmed(word string) bool {
	q := x.asked
	if q == nil {
		return false
	}
	x.asked = nil
	switch word {
	case "yes", "y", q.again:
		q.do()
	case "no", "n":
		if q.not != nil {
			q.not()
			break
		}
		x.out.answer(textUnchanged)
	default:
		if q.not == nil {
			x.out.answer(textDropped)
		}
		return false
	}
	return true
}

// walk undoes or redoes a change, after a question if that removes a file.
func (x *executor) walk(way undo.Way) {
	change, ok := x.changes.Next(way)
	if !ok {
		x.out.fail(map[undo.Way]string{undo.Back: "nothing to undo", undo.Forward: "nothing to redo"}[way])
		return
	}
	if q := tui.Removal(x.out.snap, change.Step, "undo"); q != nil && x.readOnly == "" {
		x.asked = &question{do: func() { x.step(way, change, q.Do) }}
		x.out.answer(fmt.Sprintf(textAsk, q.Text, q.Yes, q.No))
		return
	}
	x.step(way, change, change.Step)
}

// step executes the command that undoes or redoes a change.
func (x *executor) step(way undo.Way, change undo.Change, step command.Value) {
	o, ok := x.carryOut(step)
	if !ok { // it can be tried again
		return
	}
	x.changes.Take(way)
	if o.Undo != nil {
		x.changes.Put(!way, undo.Change{Name: change.Name, Step: o.Undo})
	}
	x.out.answer(map[undo.Way]string{undo.Back: "undone: ", undo.Forward: "redone: "}[way] + change.Name)
}
