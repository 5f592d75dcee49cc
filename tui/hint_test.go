package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/talk/chat"
)

// shown is a hint as the help line shows it: cells counted from 0.
type shown struct {
	keys []string // one, or two that share the place
	at   []int    // where each is
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

func TestTheHelpLineHasWholeWordsAtEachWidth(t *testing.T) {
	for name, sc := range helpScenes() {
		sc.play(t, func(s *stage) {
			for _, w := range []int{80, 64, 56, 46, 40} {
				s.resize(w, 24)
				if line := s.rows()[23]; strings.Contains(line, "…") {
					t.Errorf("%s at %d: %q", name, w, line)
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

func TestAClickOnACostlyWordAsksFirst(t *testing.T) {
	wide := setup{w: 160, h: 50, snap: everything}
	for word, c := range map[string]struct{ keys, did string }{
		"f fire":        {"2", "FireNow ID=aaaa1111 Stays=true"},
		"d deliver now": {"3", "DeliverNow"},
		"f again":       {"4 down down", "FireNow ID=eeee5555 Stays=true"},
	} {
		tell(t, []story{{word, wide, c.keys + ` <` + word + `> => Sure? | n not now | did nothing
			y     => did nothing
			~1s y => did ` + c.did}})
	}
	tell(t, []story{
		{"q quit", setup{}, `
			1 <q quit> => stays | Sure?
			~1s y      => quits`},
		{"an answer is a click, but not one that was on its way", setup{snap: everything}, `
			4 <x stop> <n leave it running> => Sure? | did nothing
			~1s <Sure?>          => Sure?
			<n leave it running> => !Sure? | did nothing`},
		{"the dangerous one is marked by the first", setup{snap: everything, happen: happening{"every hint is clicked": func(s *stage) {
			for _, h := range s.help() {
				s.click(h.at[0], 39)
			}
		}}}, `
			4 <x stop> <y stop it> (every hint is clicked) => Sure? | did nothing
			~1s <Sure?> => Sure?
			<y stop it> => did nothing | ▸ y stop it
			<y stop it> => !Sure? | did StopFork Run=f1f1f1f1`},
		{"also where it quits, and the release is not read", setup{snap: busyForks, happen: happening{"it is pressed": func(s *stage) {
			x, y := s.find("quit and stop them")
			s.send(fmt.Sprintf("\x1b[<0;%d;%dM", x+1, y+1))
		}}}, `
			q ~1s <quit and stop them> => stays | ▸ y quit and stop them
			<n stay>                   => ▸ n stay
			<quit and stop them> (it is pressed) => quits`},
	})
}
