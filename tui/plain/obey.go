package plain

import (
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/policy"
	"ollimbot/core/transcript"
)

// obey carries out a line of input.
func (m *machine) obey(line string) {
	if strings.HasPrefix(line, "/") {
		m.do(core.Slash{Line: line}, false)
		return
	}
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	word = strings.ToLower(word)
	if word != "quit" {
		m.warned = false
	}
	if m.tells(word, rest) || m.acts(word, rest) {
		return
	}
	m.answer(kindError, unknownText(word))
}

// tells carries out the commands that only read.
func (m *machine) tells(word, rest string) bool {
	s := m.core.Snapshot()
	switch word {
	case "help", "?":
		m.answer(kindHelp, textHelp)
	case "status":
		m.answer(kindStatus, statusText(&s, m.ear.zone))
	case "schedule":
		m.answer(kindSchedule, scheduleText(&s))
	case "updates":
		m.answer(kindUpdate, updatesText(&s, m.ear.zone))
	case "runs", "forks":
		m.answer(kindRun, runsText(&s))
	case "waits", "approvals":
		m.answer(kindApproval, m.ear.waitingText())
	case "preview":
		m.do(core.Preview{ID: rest}, false)
	case "read":
		m.answer(kindRead, lastText(s.Chat))
	default:
		return false
	}
	return true
}

// acts carries out the commands that change something.
func (m *machine) acts(word, rest string) bool {
	switch word {
	case "say":
		if rest == "" {
			m.answer(kindError, textSayWhat)
			return true
		}
		m.do(core.Say{Text: rest}, false)
	case "allow":
		m.settle(rest, policy.Allow)
	case "always":
		m.settle(rest, policy.Always)
	case "deny":
		m.settle(rest, policy.Deny)
	case "fire":
		m.named(rest, textFireWhat, core.FireNow{ID: rest})
	case "stop":
		m.named(rest, textStopWhat, core.StopFork{Run: rest})
	case "deliver":
		m.do(core.DeliverNow{}, false)
	case "budget":
		m.budget(rest)
	case "mute":
		m.mute(rest)
	case "exit":
		m.exit(rest)
	case "interrupt":
		m.do(core.Interrupt{}, false)
	case "login":
		m.do(core.Login{Code: rest}, false)
	case "undo":
		m.undoLast()
	case "quit":
		m.quit()
	default:
		return false
	}
	return true
}

// named carries out a command on something that has to be named.
func (m *machine) named(id, what string, c core.Command) {
	if id == "" {
		m.answer(kindError, what)
		return
	}
	m.do(c, false)
}

// settle answers the tool call with a number; without one the only one that waits.
func (m *machine) settle(which string, v policy.Verdict) {
	c, ok := m.ear.find(which)
	if !ok {
		m.answer(kindError, m.ear.waitingText())
		return
	}
	m.do(core.Answer{ID: c.ID, Verdict: v}, false)
}

// find is the tool call of a number, or the only one where none is given.
func (e *ear) find(which string) (call, bool) {
	n, err := strconv.Atoi(which)
	for _, c := range e.calls {
		if err == nil && c.number == n || which == "" && len(e.calls) == 1 {
			return c, true
		}
	}
	return call{}, false
}

// budget reads "+1", "-1", "6", "refill 60", "refill +5"; nothing shows it.
func (m *machine) budget(rest string) {
	s := m.core.Snapshot()
	now := s.Budget.State
	words := strings.Fields(rest)
	var set core.SetBudget
	switch {
	case len(words) == 0:
		m.answer(kindBudget, s.Budget.Status)
		return
	case len(words) == 1:
		set.Capacity = number(words[0], now.Capacity)
	case len(words) == 2 && words[0] == "refill":
		set.RefillMinutes = number(words[1], now.RefillRateMinutes)
	}
	if set.Capacity == nil && set.RefillMinutes == nil {
		m.answer(kindError, textBudgetWhat)
		return
	}
	m.do(set, false)
}

// number is a number, or one that a step leads to: "+1". Nil is none.
func number(word string, now int) *int {
	n, err := strconv.Atoi(word)
	if err != nil {
		return nil
	}
	if word[0] == '+' || word[0] == '-' {
		n += now
	}
	return &n
}

// mute reads "2h", "30m" and "off".
func (m *machine) mute(rest string) {
	if rest == "off" {
		m.do(core.MuteUntil{}, false)
		return
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d <= 0 || d > 7*24*time.Hour {
		m.answer(kindError, textMuteWhat)
		return
	}
	s := m.core.Snapshot()
	m.do(core.MuteUntil{Until: s.At.Add(d)}, false)
}

// exit leaves the fork: without a word nothing is kept.
func (m *machine) exit(rest string) {
	ways := map[string]core.Exit{"": core.ExitDiscard, "save": core.ExitSave, "report": core.ExitReport}
	how, ok := ways[rest]
	if !ok {
		m.answer(kindError, textExitHow)
		return
	}
	m.do(core.ExitFork{How: how}, false)
}

func (m *machine) undoLast() {
	n := len(m.undo)
	if n == 0 {
		m.answer(kindError, textNoUndo)
		return
	}
	c := m.undo[n-1]
	m.undo = m.undo[:n-1]
	m.do(c, true)
}

// quit ends plain mode; while runs go on, it takes the word twice.
func (m *machine) quit() {
	s := m.core.Snapshot()
	live := 0
	for _, f := range s.Forks {
		if f.State == fork.Running || f.State == fork.Waiting {
			live++
		}
	}
	if live > 0 && !m.warned {
		m.warned = true
		m.answer(kindQuit, quitText(live))
		return
	}
	m.answer(kindQuit, textBye)
	m.done = true
}

// lastText is the newest whole message that is not the user's own.
func lastText(chat []transcript.Entry) string {
	for i := len(chat) - 1; i >= 0; i-- {
		if m := chat[i]; !m.Streaming && m.Role != transcript.User {
			if words := messageText(m); words != "" {
				return words
			}
		}
	}
	return textNothingSaid
}
