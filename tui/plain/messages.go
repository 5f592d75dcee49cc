package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
)

func (m *session) speak(rest string) {
	if rest == "" {
		m.answer(kindError, textSayWhat)
		return
	}
	m.send(command.Say{Text: rest})
}

// send sends words. A command among them is answered here: as words its answer
// would stand in the conversation, too, and be read twice.
func (m *session) send(c command.Say) {
	if strings.HasPrefix(c.Text, "/") {
		m.do(command.Slash{Line: c.Text})
		return
	}
	m.do(c)
}

// messageThings are the whole messages of the conversation, newest first.
func (m *session) messageThings(s *core.Snapshot) []thing {
	var list []thing
	for _, e := range slices.Backward(s.Chat) {
		if words := flat(messageText(e)); words != "" && !e.Streaming {
			list = append(list, thing{
				id: string(e.ID), title: words,
				line: clockText(e.At, s.At, m.diff.zone) + ", " + string(e.Role) + ": " + words,
			})
		}
	}
	return list
}

// chat reads the newest messages, or those that hold words.
func (m *session) chat(rest string) {
	rest, e := cutFind(rest)
	n, ok := howMany(rest, 10)
	if !ok {
		m.answer(kindError, textChatWhat)
		return
	}
	s := m.core.Snapshot()
	list := slices.DeleteFunc(m.messageThings(&s), func(t thing) bool { return !holdsAll(strings.ToLower(t.title), e.find) })
	m.list(shelfMessage, kindChat, list[:min(n, len(list))], textNothingSaid)
	if n >= len(list) && len(list) > 0 && s.ChatMore {
		m.answer(kindChat, textChatMore)
	}
}

// read gives the newest whole message that is not the user's own.
func (m *session) read(string) {
	s := m.core.Snapshot()
	for _, e := range slices.Backward(s.Chat) {
		if words := messageText(e); !e.Streaming && e.Role != transcript.User && words != "" {
			m.answer(kindRead, words)
			return
		}
	}
	m.answer(kindRead, textNothingSaid)
}

// reply answers a message that chat has read with a number, else the newest that
// the bot has sent.
func (m *session) reply(rest string) {
	s := m.core.Snapshot()
	first, words := command.CutWord(rest)
	var to transcript.Entry
	if n, err := strconv.Atoi(first); err == nil { // never an id: those of messages are numbers too
		t, ok := m.byNumber(choose{shelf: shelfMessage, things: m.messageThings(&s), none: textNothingSaid}, n)
		if !ok {
			return
		}
		rest = words
		to = s.Chat[slices.IndexFunc(s.Chat, func(e transcript.Entry) bool { return string(e.ID) == t.id })]
	} else {
		for _, e := range s.Chat {
			if e.Role == transcript.Bot || e.Role == transcript.Ping {
				to = e
			}
		}
	}
	switch {
	case rest == "":
		m.answer(kindError, textReplyWhat)
	case to.ID == "":
		m.answer(kindError, textNothingSaid)
	case to.Role == transcript.Notice:
		m.answer(kindError, textReplyNotice)
	default:
		m.send(command.Say{Text: rest, ReplyTo: to.ID})
	}
}

// button is one of a card, with the number that presses it. Numbers are given
// once: a card that has just come takes none away from an older one.
type button struct {
	click command.Click
	label string
}

// buttonsOf are the numbers of a card's buttons; new ones get theirs here.
func (e *snapshotDiff) buttonsOf(m transcript.Entry) []int {
	if m.Embed == nil {
		return nil
	}
	var numbers []int
	for _, b := range m.Embed.Buttons {
		one := button{command.Click{Message: m.ID, ID: b.Action}, flat(b.Label)}
		i := slices.Index(e.buttons, one)
		if i < 0 {
			i = len(e.buttons)
			e.buttons = append(e.buttons, one)
		}
		numbers = append(numbers, i+1)
	}
	return numbers
}

// pressable is how many cards have their buttons read, the newest ones.
const pressable = 5

// cards are the newest cards with buttons, newest first.
func cards(chat []transcript.Entry) []transcript.Entry {
	var list []transcript.Entry
	for _, e := range slices.Backward(chat) {
		if e.Embed != nil && len(e.Embed.Buttons) > 0 && len(list) < pressable {
			list = append(list, e)
		}
	}
	return list
}

func (m *session) buttons(string) {
	s := m.core.Snapshot()
	list := cards(s.Chat)
	if len(list) == 0 {
		m.answer(kindButton, textNoButtons)
	}
	for _, e := range list {
		m.answer(kindButton, flat(e.Embed.Title)+": "+m.diff.buttonsText(e))
	}
}

// press presses a button by its number, or by its words on the newest card.
func (m *session) press(rest string) {
	s := m.core.Snapshot()
	list := cards(s.Chat)
	switch {
	case len(list) == 0:
		m.answer(kindError, textNoButtons)
		return
	case rest == "":
		m.answer(kindError, textPressWhat)
		return
	}
	if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= len(m.diff.buttons) {
		m.do(m.diff.buttons[n-1].click)
		return
	}
	var found []int
	for _, n := range m.diff.buttonsOf(list[0]) {
		if strings.EqualFold(m.diff.buttons[n-1].label, rest) {
			found = []int{n}
			break
		}
		if holdsAll(strings.ToLower(m.diff.buttons[n-1].label), strings.ToLower(rest)) {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		m.answer(kindError, fmt.Sprintf(textNoButton, rest))
		m.buttons("")
		return
	}
	m.do(m.diff.buttons[found[0]-1].click)
}

// interrupt ends the answer that is being given.
func (m *session) interrupt(string) {
	if s := m.core.Snapshot(); !s.Busy {
		m.answer(kindError, textNoAnswer)
		return
	}
	m.do(command.Interrupt{})
}

// exit leaves the fork. Where nothing is kept, it asks first.
func (m *session) exit(rest string) {
	s := m.core.Snapshot()
	switch {
	case s.Fork == nil:
		m.answer(kindError, textNoFork)
	case rest == "save" && s.Fork.Resumed:
		m.answer(kindError, textNoSave)
	case rest == "save":
		m.do(command.ExitFork{How: command.ExitSave})
	case rest == "report":
		m.do(command.ExitFork{How: command.ExitReport})
	case rest == "":
		m.ask(exitText(s.Fork), question{do: func() { m.do(command.ExitFork{How: command.ExitDiscard}) }})
	default:
		m.answer(kindError, textExitHow)
	}
}

// updateTitle is how much of an update a list reads, in characters.
const updateTitle = 160

// updateThings are the pending updates, newest first.
func (m *session) updateThings(s *core.Snapshot) []thing {
	list := make([]thing, 0, len(s.Updates))
	for _, u := range slices.Backward(s.Updates) {
		text := flat(updateText(s, u))
		list = append(list, thing{id: u.Key, title: text, line: clockText(u.At, s.At, m.diff.zone) + ", " + clean.Cut(text, updateTitle)})
	}
	return list
}

func (m *session) updates(string) {
	s := m.core.Snapshot()
	m.list(shelfUpdate, kindUpdate, m.updateThings(&s), textNoUpdates)
}

// namedUpdate finds the update that the words name; the only one where none do.
func (m *session) namedUpdate(s *core.Snapshot, words, verb string) (updates.Update, bool) {
	if words == "" && len(s.Updates) == 1 {
		return s.Updates[0], true
	}
	t, ok := m.pick(choose{
		shelf: shelfUpdate, things: m.updateThings(s), what: fmt.Sprintf(textUpdateWhat, verb, verb), none: textNoUpdates,
	}, words)
	for _, u := range s.Updates {
		if ok && u.Key == t.id {
			return u, true
		}
	}
	return updates.Update{}, false
}

// update reads one in full, and says what will become of it.
func (m *session) update(rest string) {
	s := m.core.Snapshot()
	u, ok := m.namedUpdate(&s, rest, "update")
	if !ok {
		return
	}
	left := fmt.Sprintf(textUpdateLeft, u.At.In(m.diff.zone).Format("Monday 2 January, 15:04"))
	text := updateText(&s, u)
	if from := s.Source(u); from != "" && u.Dropped == 0 {
		left, text = left+" by "+from, u.Message
	}
	m.answer(kindUpdate, left)
	m.answer(kindUpdate, text)
	m.answer(kindUpdate, textUpdateNext)
}
