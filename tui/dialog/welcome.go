package dialog

import (
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

// Offers are the programs that the welcome can start.
type Offers struct{ Demo, SetUp bool }

// NewWelcome is the first thing a new user sees: what this is, three ways to start, and
// the keys that matter. notice is the program's notice at the start; it may be empty.
func NewWelcome(c pane.Context, notice string, o Offers) *Question {
	q := &Question{name: "Welcome", text: textWhatItIs, short: textWhatShort, wide: true}
	if notice != "" {
		q.text += "\n\n" + clean.Line(notice)
	}
	add := func(keys, text string, means pane.Answer, opens func() pane.Dialog) {
		q.answers = append(q.answers, answer{binding(keys, "", keys), text, means, opens})
	}
	if !c.ReadOnly {
		add("n", textWriteFirst, pane.Answer{Close: true, Focus: action.Schedule}, func() pane.Dialog { return firstTask() })
		add("s", textInstall, pane.Answer{}, func() pane.Dialog { return newStarters() })
	}
	add("c", textConnect, pane.Answer{}, func() pane.Dialog { return Connect(c, o.SetUp) })
	if o.SetUp {
		add("i", textSetUp, pane.Answer{Leave: pane.SetUp}, nil)
	}
	if o.Demo {
		add("d", textSeeDemo, pane.Answer{Leave: pane.Demo}, nil)
	}
	help, _ := c.Keys.Get(action.Everywhere, action.Help)
	keys := binding(c.Names(action.Chat).Badge(action.Help), "", help.Keys...)
	q.answers = append(q.answers,
		answer{keys: keys, text: textEveryKey, means: pane.Answer{Run: &help}},
		answer{keys: binding("esc", "", "esc", "q", "ctrl+c"), text: lookAround(c), means: pane.Answer{Close: true, Seen: true}})
	return q
}

// newStarters lists the starter routines and asks whether to install them.
func newStarters() *Question {
	lines := []string{textStarters, ""}
	starters, _ := routines.Starters() // they are part of the program
	for _, r := range starters {
		lines = append(lines, "- "+r.Title()+": "+cronWords(r))
	}
	ask := pane.Question{Text: strings.Join(lines, "\n"), Yes: "install them", No: "not now", Do: command.AddStarters{}}
	q := Ask(ask, pane.Answer{Focus: action.Schedule})
	q.name = "Starter routines"
	return q
}

func cronWords(r routines.Routine) string {
	line, err := cron.Parse(r.Cron)
	if err != nil {
		return r.Cron
	}
	return line.Words()
}

// Connect lists the exact commands that connect a model and Discord.
func Connect(c pane.Context, setUp bool) *Page {
	rows := append([]Row{}, textConnectRows...)
	if setUp {
		rows = append(rows, Row{}, Row{Text: textConnectHere})
	}
	p := NewTable(textConnectName, connectColumn, rows)
	p.heads, p.headings = theme.Key, true
	return p
}

// connectColumn is where the steps of the page start.
const connectColumn = 4

// lookAround is the answer that closes the welcome: it names the keys to write and to
// reopen the welcome.
func lookAround(c pane.Context) string {
	names := c.Names(action.Chat)
	then := slices.Concat(names.Say(action.ChatWrite, textAroundWrite), names.Say(action.Palette, textAroundBack))
	if len(then) == 0 {
		return textAround
	}
	return textAround + ": " + strings.Join(then, ", ")
}
