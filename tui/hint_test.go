package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/chat"
)

// shown is a hint as the help line shows it: cells counted from 0.
type shown struct {
	keys []string // one, or two that share the place
	at   []int    // where each stands
	end  int      // the last cell of its words
}

// chunks are parts of the help line: two blanks or more keep them apart.
var chunks = regexp.MustCompile(`\S(?:\S| \S)*`)

// help reads the help line.
func (s *stage) help() (out []shown) {
	rows := s.rows()
	line := rows[len(rows)-1]
	for _, at := range chunks.FindAllStringIndex(line, -1) {
		x := ansi.StringWidth(line[:at[0]])
		name, _, _ := strings.Cut(line[at[0]:at[1]], " ")
		h := shown{keys: []string{name}, at: []int{x}, end: ansi.StringWidth(line[:at[1]]) - 1}
		if one, other, both := strings.Cut(name, "/"); both && one != "" && other != "" {
			h.keys, h.at = []string{one, other}, []int{x, x + ansi.StringWidth(one) + 1}
		}
		out = append(out, h)
	}
	return out
}

// keyOf is a key by the name in the help line, as press takes it.
func keyOf(name string) string {
	signs := map[string]string{"↑": "up", "↓": "down", "←": "left", "→": "right", "PgUp": "pgup", "PgDn": "pgdown", "End": "end"}
	if k, ok := signs[name]; ok {
		return k
	}
	return name
}

// many are names that stand for more than one key: a click on them does nothing.
var many = []string{"0-9", "HH:MM"}

// always are the hints that every pane has: one scene is enough for them.
var always = []string{"?", "ctrl+p", "q"}

// helpScenes are scenes with different help lines.
func helpScenes() map[string]scene {
	forked := func(s core.Snapshot) core.Snapshot {
		s = asked(s)
		s.Fork = &chat.Banner{Topic: "Plans", Since: s.At}
		return s
	}
	return map[string]scene{
		"budget": {keys: []string{"1"}}, "schedule": {keys: []string{"2"}}, "updates": {keys: []string{"3"}},
		"forks": {keys: []string{"4", "down", "down"}}, "chat": {keys: []string{"5"}}, "logs": {keys: []string{"6"}},
		"undo":             {keys: []string{"1", "+"}},
		"a call and exits": {keys: []string{"5"}, change: forked},
		"writing":          {keys: []string{"5", "i", "h", "i"}},
		"a command":        {keys: []string{"5", "i", "/", "c"}},
		"buttons":          {keys: []string{"5", "b"}},
		"searching":        {keys: []string{"6", "&", "l"}},
		"filtering":        {keys: []string{"6", "/", "1"}},
		"a page":           {keys: []string{"?"}},
		"finding":          {keys: []string{"?", "/", "s"}},
		"found":            {keys: []string{"?", "/", "s", "enter"}},
		"palette":          {keys: []string{"ctrl+p"}},
		"question":         {keys: []string{"4", "x"}},
		"numbers":          {keys: []string{"1", "e"}},
		"until":            {keys: []string{"1", "m"}},
		"form":             {keys: []string{"2", "n", "x"}},
		"form, a choice":   {keys: []string{"2", "n", "up"}},
		"login": {keys: []string{"L", "c"}, change: func(s core.Snapshot) core.Snapshot {
			s.Engine.LoginURL = "https://example.org/login"
			return s
		}},
	}
}

func TestAClickOnAHintDoesWhatItsKeyDoes(t *testing.T) {
	for name, sc := range helpScenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var hints []shown
			sc.play(t, func(s *stage) { hints = s.help() })
			if len(hints) < 2 {
				t.Fatalf("the help line has %v", hints)
			}
			for n, h := range hints {
				if slices.Contains(always, h.keys[0]) && name != "undo" {
					continue
				}
				clicks := func(s *stage, x int) {
					s.click(x, 25)
					if strings.Contains(s.screen(), "n not now") { // what costs something asks
						time.Sleep(time.Second)
						s.press("y")
					}
				}
				words := func(s *stage) { clicks(s, h.end) }
				for i, k := range h.keys {
					ways := map[string]func(s *stage){"a click on " + k: func(s *stage) { clicks(s, h.at[i]) }}
					switch {
					case len(h.keys) == 1 && n%2 == 1:
						ways = map[string]func(s *stage){"a click on its words": words}
					case len(h.keys) == 2 && i == 0:
						ways["a click on its words"] = words
					}
					if slices.Contains(many, k) {
						ways["nothing"] = func(*stage) {}
					} else {
						ways["key "+k] = func(s *stage) { s.press(keyOf(k)) }
					}
					same(t, sc, ways)
				}
			}
		})
	}
}

func TestBetweenHintsNothingIsClicked(t *testing.T) {
	scene{keys: []string{"1"}}.play(t, func(s *stage) {
		before := s.still()
		hints := s.help()
		for i, h := range hints {
			s.click(h.at[0]-1, 25)
			if i+1 < len(hints) {
				s.click(h.end+1, 25)
			}
		}
		if s.still() != before || len(s.bot.done()) > 0 {
			t.Errorf("a click beside a hint did %v:\n%s", s.bot.done(), s.screen())
		}
	})
}

func TestAHintFollowsTheUsersKeys(t *testing.T) {
	dir := config(t, "keys.yaml", "budget.capacity-up: f7\nbudget.capacity-down: f8\n")
	play(t, setup{options: Options{Config: dir}}, func(s *stage) {
		s.press("1")
		s.sees("f7/f8 capacity 5→6")
		s.clickOn("f8 capacity")
		s.sees("3.2 / 4")
		s.clickOn("f7/")
		time.Sleep(frameGap)
		s.sees("3.2 / 5")
	})
}

func TestAClickOnACostlyWordAsksFirst(t *testing.T) {
	for _, c := range []struct {
		keys        []string
		word, after string
		want        []command.Value
	}{
		{[]string{"2"}, "f fire", "y fire", []command.Value{command.FireNow{ID: "aaaa1111", Stays: true}}},
		{[]string{"3"}, "d deliver now", "y deliver now", []command.Value{command.DeliverNow{}}},
		{[]string{"4", "down", "down"}, "f again", "y again", []command.Value{command.FireNow{ID: "eeee5555", Stays: true}}},
	} {
		play(t, setup{w: 160, snap: everything, h: 50}, func(s *stage) {
			s.press(c.keys...)
			s.clickOn(c.word)
			s.sees("Sure?", "n not now")
			s.did()
			s.press("y") // too soon
			s.did()
			time.Sleep(time.Second)
			s.press("y")
			s.did(c.want...)
		})
	}
	play(t, setup{}, func(s *stage) {
		s.press("1")
		s.clickOn("q quit")
		s.stays()
		s.sees("Sure?")
		time.Sleep(time.Second)
		s.press("y")
		s.quits()
	})
}

func TestTheHelpLineNamesTheKeysOfTheTailWhileItHasThem(t *testing.T) {
	play(t, setup{snap: everything, rings: func(b *bot) { b.talk("f1f1f1f1", 60) }}, func(s *stage) {
		s.press("4")
		s.sees("↑/↓ select", "enter tail")
		s.press("enter")
		s.sees("↑/↓ scroll", "enter list")
		s.misses("select", "enter tail")
		s.press("k", "k")
		s.sees("paused", "◉ 31 Dec  Email sweep")
		s.press("enter", "j")
		s.sees("tail: Weekly review")
		s.press("k")
		s.sees("tail: Email sweep")
	})
}

// Terminals that know how tell shift+enter from enter in one of two ways; the
// others have alt+enter.
func TestALineIsBrokenByShiftEnterAndByAltEnter(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i", "a")
		s.send("\x1b[27;2;13~") // modifyOtherKeys
		s.press("b")
		s.send("\x1b[13;2u") // the protocol of kitty
		s.press("c")
		s.send("\x1b\r")                   // alt+enter, everywhere
		time.Sleep(200 * time.Millisecond) // an escape may have been meant by itself
		s.press("d", "enter")
		s.did(command.Say{Text: "a\nb\nc\nd"})
	})
}

// The keys that a terminal then sends in long form mean what they did.
func TestKeysInLongFormAreTheSameKeys(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.send("\x1b[112;5u") // ctrl+p
		s.sees("Actions")
		s.send("\x1b[27u") // esc
		s.misses("Actions")
		s.send("\x1b[27;5;112~")
		s.sees("Actions")
		s.send("\x1b[99;5u") // ctrl+c
		s.stays()
		s.misses("Actions")
	})
}
