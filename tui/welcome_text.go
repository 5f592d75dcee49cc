package tui

import (
	"errors"
	"os/exec"

	"ollimbot/core/clean"
	"ollimbot/tui/action"
)

// The words of the welcome. Each line has a short form for a small screen.
const (
	textWelcome    = "Welcome"
	textLookAround = "look around"
	textSeeDemo    = "see it live"
	textSetUp      = "set it up"
	textEveryKey   = "every key"

	textWhatItIs     = "ollim-bot is a personal assistant that reaches out: it runs routines and reminders in the background, and pings you within a budget."
	textWhatShort    = "An assistant that reaches out."
	textAroundMore   = "look around: nothing is set up yet, and nothing can go wrong"
	textDemoMore     = "see it live: a demo day, without an account; it leaves nothing behind"
	textSetUpMore    = "set it up: four questions about names, time zone and Discord; then it starts anew"
	textEveryKeyMore = "every key, now and at any time"
	textInAShell     = "In a shell, ollim-bot init sets it up and ollim-bot demo shows it live."

	textInDemo     = "this is the demo"
	textDemoShell  = "not offered here; in a shell, ollim-bot demo shows it"
	textSetUpDemo  = "this is the demo; in a shell, ollim-bot init sets the bot up"
	textSetUpShell = "not offered here; in a shell, ollim-bot init sets it up"

	textSetUpLeft   = "the set-up has not come to its end; nothing has changed"
	textSetUpFailed = "the set-up could not begin: "
)

// setUpText says why the set-up has brought nothing.
func setUpText(err error) string {
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return textSetUpLeft
	}
	return textSetUpFailed + clean.Line(err.Error())
}

// noDemo says why the demo cannot be seen from here.
func (r *root) noDemo() string {
	if r.o.Try {
		return textInDemo
	}
	return textDemoShell
}

// noSetUp says why the set-up cannot begin from here.
func (r *root) noSetUp() string {
	if r.o.Try {
		return textSetUpDemo
	}
	return textSetUpShell
}

// welcomeText are the first words: what this is, and which keys lead on.
func (r *root) welcomeText() []welcomeLine {
	n := r.names()
	lines := []welcomeLine{{text: textWhatItIs, short: textWhatShort}}
	if r.o.Notice != "" {
		lines = append(lines, welcomeLine{text: clean.Line(r.o.Notice)})
	}
	if r.offersDemo() {
		lines = append(lines, welcomeLine{welcomeKeys.demo.Help().Key, textDemoMore, textSeeDemo})
	}
	if r.offersSetUp() {
		lines = append(lines, welcomeLine{welcomeKeys.begin.Help().Key, textSetUpMore, textSetUp})
	}
	if !r.offersDemo() && !r.offersSetUp() {
		lines = append(lines, welcomeLine{text: textInAShell})
	}
	return append(lines,
		welcomeLine{n.Badge(action.Help), textEveryKeyMore, textEveryKey},
		welcomeLine{welcomeKeys.around.Help().Key, textAroundMore, textLookAround})
}
