package plain

import (
	"fmt"
	"maps"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
)

// allHandlers carry out the commands that are more than one value for the bot, by name.
func (s *session) allHandlers() map[string]func(request) {
	noQuestion := func(request) { s.fail(textNoQuestion) }
	all := map[string]func(request){
		"undo": s.undoLast, "yes": noQuestion, "no": noQuestion, "quit": s.quit,
		"help": func(r request) { s.answer(help(r.rest)) },
	}
	for _, group := range []interface {
		handlers() map[string]func(request)
	}{
		overviewCommands{s.console, &s.past}, s.tasks, &s.runs, s.updates, talkCommands{s.console}, callCommands{s.console},
	} {
		maps.Copy(all, group.handlers())
	}
	return all
}

// obey carries out a command.
func (s *session) obey(line string) {
	word, rest := command.CutWord(line)
	word = strings.ToLower(word)
	if s.confirmed(word) {
		return
	}
	if word == "/interrupt" { // its answer says less
		word = "interrupt"
	}
	if strings.HasPrefix(word, "/") {
		s.do(request{}, command.Slash{Line: line})
		return
	}
	c, ok := command.Find(command.InPlain, word)
	r := request{c, rest}
	switch {
	case !ok:
		s.fail(fmt.Sprintf(textUnknown, word))
	case c.Writes && s.readOnly != "":
		s.fail(c.Name + " is refused, " + s.readOnly)
	case c.Make == nil:
		s.handlers[c.Name](r)
	default:
		if subject, ok := s.subject(r); ok {
			s.do(r, c.Make(subject))
		}
	}
}

// subject reads what a command takes. False means that it has printed what is wrong.
func (s *session) subject(r request) (to command.Subject, ok bool) {
	switch r.Takes {
	case command.TaskMoment: // the moment is at the end of the line
		before, off := strings.CutSuffix(r.rest, " off")
		if r.rest = before; !off {
			if r.rest, to.At, ok = command.LastMoment(r.rest, s.now()); !ok {
				s.usage(r.Command)
				return to, false
			}
		}
		fallthrough
	case command.Task:
		r.rest = strings.TrimSpace(r.rest)
		t, ok := s.tasks.find(r)
		to.ID = t.ID
		return to, ok
	case command.Update:
		u, ok := s.updates.find(r)
		return command.Subject{ID: u.Key}, ok
	case command.Moment:
		if to.At, ok = command.ReadMoment(r.rest, s.now()); !ok && r.rest != "off" {
			s.usage(r.Command)
			return to, false
		}
	}
	to.Words = r.rest
	return to, true
}

// quit ends plain mode, after a question if there are runs.
func (s *session) quit(request) {
	end := func() {
		s.answer(kindQuit, textBye)
		s.done = true
	}
	running, waiting := fork.Count(s.snap.Forks)
	if running+waiting == 0 {
		end()
		return
	}
	s.asked = &question{again: "quit", do: end}
	s.answer(kindQuestion, fmt.Sprintf(textQuit, words.Some(running+waiting, "run", "")))
}
