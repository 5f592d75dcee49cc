package plain

import (
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/fork"
)

// question is asked before what cannot be undone. Only "yes", as the very next
// line, does it: all else leaves things as they are.
type question struct {
	again string // the word that may be said instead of yes; empty for none
	do    func()
}

// obey carries out a line of input.
func (m *machine) obey(line string) {
	word, rest := cutWord(line)
	word = strings.ToLower(word)
	if q := m.asked; q != nil {
		m.asked = nil
		switch word {
		case "yes", "y", q.again:
			q.do()
			return
		case "no", "n":
			m.answer(kindOK, textLeftAsIs)
			return
		}
		m.answer(kindQuestion, textDropped)
	}
	if word == "/interrupt" { // the same, which says more
		word = "interrupt"
	}
	if strings.HasPrefix(word, "/") {
		m.do(command.Slash{Line: line})
		return
	}
	c, ok := find(word)
	switch {
	case !ok:
		m.answer(kindError, unknownText(word))
	case c.writes && m.o.ReadOnly:
		m.answer(kindError, readOnlyText(c))
	default:
		c.run(m, rest)
	}
}

// ask says a question and waits for the next line.
func (m *machine) ask(text string, q question) {
	m.asked = &q
	m.answer(kindQuestion, text)
}

// reads reports whether a command leaves the bot as it is.
func reads(c command.Value) bool {
	switch c.(type) {
	case command.Preview, command.Describe, command.Costs:
		return true
	}
	return false
}

func (m *machine) undoLast() {
	n := len(m.undo)
	if n == 0 {
		m.answer(kindError, textNoUndo)
		return
	}
	if o, ok := m.carryOut(m.undo[n-1]); ok {
		m.undo = m.undo[:n-1]
		text := o.Message
		if text == "" {
			text = textDone
		}
		m.answer(kindOK, textUndone+spoken(text))
	}
}

// quit ends plain mode; while runs go on, after a question.
func (m *machine) quit() {
	s := m.core.Snapshot()
	end := func() {
		m.answer(kindQuit, textBye)
		m.done = true
	}
	running, waiting := fork.Count(s.Forks)
	live := running + waiting
	if live == 0 {
		end()
		return
	}
	m.ask(quitText(live), question{again: "quit", do: end})
}
