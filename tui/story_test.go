package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/vt"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notice"
)

// happenings are what stories of all tables let happen.
var happenings = happening{
	"the context ends":    func(s *stage) { s.stop() },
	"it answers":          func(s *stage) { s.change(func(c *core.Snapshot) { c.Busy, c.BusySince = true, time.Now() }) },
	"the answer ends":     func(s *stage) { s.change(func(c *core.Snapshot) { c.Busy = false }) },
	"rm x is asked":       func(s *stage) { s.asks("a1", "Run this command? rm x") },
	"rm y is asked":       func(s *stage) { s.asks("a2", "Run this command? rm y") },
	"the call is settled": func(s *stage) { s.change(func(c *core.Snapshot) { c.Approvals = nil }) },
	"a fork begins": func(s *stage) {
		s.change(func(c *core.Snapshot) { c.Fork = &chat.Banner{Topic: "Plans", Since: time.Now()} })
	},
	"the fork ends": func(s *stage) { s.change(func(c *core.Snapshot) { c.Fork = nil }) },
	"the runs end":  func(s *stage) { s.change(func(c *core.Snapshot) { c.Forks = nil }) },
	"the first run talks": func(s *stage) {
		s.bot.talk("f1f1f1f1", 200)
		s.change(func(c *core.Snapshot) { c.Forks[0].Lines = 200 })
	},
	"it settles":             func(s *stage) { s.written() },
	"commands take a second": func(s *stage) { s.bot.takes = func(command.Value) time.Duration { return time.Second } },
	"the disk is full":       func(s *stage) { s.bot.full = true },
	"the disk has room":      func(s *stage) { s.bot.full = false },
	"pings are off":          func(s *stage) { s.change(func(c *core.Snapshot) { c.At, c.Budget.State.Capacity = time.Now(), 0 }) },
	"pings are on":           func(s *stage) { s.change(func(c *core.Snapshot) { c.Budget.State.Capacity = 5 }) },
	"the bot changes":        func(s *stage) { s.change(func(c *core.Snapshot) { c.At = time.Now() }) },
	"a long reason": func(s *stage) {
		s.hears(notice.Alert, strings.Repeat("a long reason ", 30))
	},
}

// asks lets a tool call wait.
func (s *stage) asks(id, label string) {
	s.t.Helper()
	now := time.Now()
	s.change(func(c *core.Snapshot) {
		c.Approvals = append(slices.Clone(c.Approvals), policy.Approval{
			ID: id, Label: label, Question: "Run this command?", Text: strings.TrimPrefix(label, "Run this command? "), Tool: "Bash", Command: "rule", Session: "main session", Asked: now, Until: now.Add(policy.Patience),
		})
	})
}

// hears lets the bot say things.
func (s *stage) hears(level notice.Level, texts ...string) {
	s.t.Helper()
	s.change(func(c *core.Snapshot) {
		for _, text := range texts {
			c.Notices = append(c.Notices, notice.Notice{Seq: uint64(len(c.Notices) + 1), At: time.Now(), Level: level, Text: text})
		}
	})
}

func berlin(s *core.Snapshot) { s.Zone, _ = time.LoadLocation("Europe/Berlin") }

func answering(s *core.Snapshot) { s.Busy, s.BusySince = true, s.At }

func TestTheDashboardIsUsedAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"it opens with every pane", setup{snap: busyForks}, `
			=> 1 run under way, 1 waiting. | 12 routines | 1 Ping budget | 3.2 / 5 | 2 Schedule | Email sweep | 3 Updates | 4 Runs | 5 Chat | 6 Logs | ? keys | : command`},
		{"the clock is in the configured zone", setup{change: berlin}, `
			      => 01:00 CET
			~61s  => 01:01 CET`},
		{"a key changes the budget, and the help line shows the effect", sized(200, 40), `
			1 => ▸ 1 Ping budget | +/- capacity 5→6 | [/] refill 90→85
			+ => 3.2 / 6 | capacity 5 → 6 · u undoes | +/- capacity 6→7 | u undo capacity 5→6 | {/} by 1
			2 => !"u undo "
			u => 3.2 | undone: capacity 5 → 6`},
		{"undo takes the last changes back, newest first", setup{}, `
			1 + + => 3.2 / 7
			u     => 3.2 / 6 | undone: capacity 6 → 7
			u     => 3.2 / 5
			u     => nothing to undo`},
		{"an undo that failed can be tried again", setup{}, `
			1 + (the disk is full) u => write budget: the disk is full | 3.2 / 6
			(the disk has room) u    => undone: capacity 5 → 6 | 3.2 / 5`},
		{"a theme is undone and redone, too", sized(160, 40), `
			T      => theme auto → dark · u undoes | u undo theme auto→dark
			u      => "undone: theme auto → dark · ctrl+r redoes " | ctrl+r redo theme auto→dark
			ctrl+r => redone: theme auto → dark · u undoes
			1 + u ctrl+r => 3.2 / 6 | redone: capacity 5 → 6`},
		{"the run of a task that was fired is selected, whatever was", setup{snap: busyForks, rings: func(b *bot) { b.adds = true }}, `
			4 down down => tail: Medication
			2 f ~1s     => tail: Fired`},
		{"zoom gives a pane the screen, and esc takes it back", setup{}, `
			2 z => ▸ 2 Schedule | zoomed | !5 Chat
			tab => ▸ 3 Updates | zoomed
			esc => Ping budget | 5 Chat`},
		{"the focus goes by number and by tab", setup{}, `
			6         => ▸6 Logs | 5 Chat
			1         => ▸ 1 Ping budget | [6 Logs]
			shift+tab => ▸6 Logs
			tab tab   => ▸ 2 Schedule`},
		{"a key without a meaning says so", setup{}, `
			1 h     => h does nothing here; ? shows the keys
			~5s i h => !does nothing here`},
		{"read-only changes nothing", setup{options: Options{ReadOnly: true}}, `
			                => read-only
			1 + e 3 x 2 f   => the dashboard is read-only
			p               => You are about to fire. | did nothing`},
		{"two quick escapes are an escape", setup{}, `
			1 ?      {\x1b\x1b} ~150ms => !esc close | ▸ 1 Ping budget
			1 ctrl+p {\x1b\x1b} ~150ms => !esc close | !╭─ Actions
			1 !      {\x1b\x1b} ~150ms => !esc close | !Notices
			1 e      {\x1b\x1b} ~150ms => !esc close | !Ping budget, exactly
			z        => zoomed
			{\x1b\x1b} ~150ms => !zoomed`},
		{"keys that a terminal sends in long form are the same keys", setup{}, `
			{\x1b[112;5u}    => Actions
			{\x1b[27u}       => !Actions
			{\x1b[27;5;112~} => Actions
			{\x1b[99;5u}     => stays | !Actions`},
		{"a line is broken by shift+enter in both forms, and by alt+enter", setup{}, `
			5 i a {\x1b[27;2;13~} b {\x1b[13;2u} c {\x1b\r} ~200ms d enter => did Say Text=a\nb\nc\nd`},
		{"where a terminal distinguishes ESC, an arrow that is cut after it leaves the field", setup{}, `
			=> wrote \x1b[?u
			{\x1b[?1u} 5 i "hello" {\x1b} ~1s {[D} x enter => did Say Text=hellxo`},
	})
}

func TestAMessageIsWrittenAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"its letters are keys elsewhere", setup{}, `
			5 i "quit? +1" => stays | quit? +1
			enter          => did Say Text=quit? +1`},
		{"the help line says what keys do meanwhile", setup{snap: busyForks}, `
			5 i          => enter send | alt+enter new line | esc keep for later | ctrl+c quit
			(it answers) => ctrl+c interrupt
			esc /        => enter keep the search | esc end it`},
		{"a paste is never read as keys", setup{}, `
			1 {\x1b[200~+q+\x1b[201~} => stays | you can paste into a message | 3.2 / 5`},
		{"a paste of several lines is one message", setup{}, `
			5 i {\x1b[200~buy:\r\n- milk\x1b[31m\r\n- bread\x1b[201~} => ▸ buy: | "  - milk" | "  - bread"
			up ! enter => did Say Text=buy:\n- milk!\n- bread`},
		{"words that could not be sent stay", setup{}, `
			5 i "hi you" enter => the disk is full | ▸ hi you | !send it`},
		{"a command that stops something asks, and an earlier key is no answer", setup{}, `
			5 i "/stop email" enter  => /stop email: Stop a run | carry it out
			~1s n "/stop email" enter => carry it out
			~1s y => did Say Text=/stop email; Say Text=/stop email; Say Text=/stop email Sure=true`},
		{"a line that is no command as a whole can be sent to the agent", setup{}, `
			5 i "/pause for a walk" enter => no task is called | y send it
			~1s y => did Say Text=/pause for a walk; Say Text=pause for a walk`},
		{"also from the palette", setup{}, `
			: "pause for a walk" => Send to the agent: pause for a walk`},
	})
	for from, there := range map[string]string{
		"1": "▸ 1 Ping budget", "2": "▸ 2 Schedule", "3": "▸ 3 Updates", "4 enter": "▸ 4 Runs", "6 z": "▸ 6 Logs | zoomed", "$": "▸ $ Costs", ",": "▸ , Settings", "A": "▸ A ", "2 0": "→ walk", "6 !": "▸6 Logs | !Notices",
	} {
		tell(t, []story{{"N1: it begins anywhere, and esc leads back: " + from, setup{}, from + ` i x q u D => xquD | esc keep for later | did nothing
			esc => !esc keep for later | ` + there}})
	}
}

func TestTheDashboardIsLeftAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"ctrl+c interrupts a turn, then means nothing for a moment, then quits", setup{change: answering}, `
			ctrl+c => stays | did Interrupt | the answer was interrupted
			(the answer ends) ~1s ctrl+c => stays | the answer has just ended
			~2s ctrl+c => quits`},
		{"the end of the context ends it without an error", setup{}, `
			(the context ends) => quits | given back`},
		{"while runs work it asks, and staying is the default", setup{snap: busyForks}, `
			q       => 1 fork still running, 1 waiting | ▸ n stay
			enter   => !still running, 1 waiting | stays
			q ~1s y => quits`},
		{"a key that was typed ahead never confirms", setup{snap: busyForks}, `
			{qy}     => stays | still running
			~1s down => ▸ y quit and stop them
			enter    => quits`},
		{"on a small screen the question keeps its consequence", setup{w: 40, h: 10, snap: busyForks}, `
			q => 1 fork still running, 1 | waiting: stopped at once | n stay | y quit and stop them`},
		{"the question counts while it is open", setup{snap: busyForks, happen: happening{
			"one run ends": func(s *stage) { s.change(func(c *core.Snapshot) { c.Forks = c.Forks[:1] }) },
		}}, `
			q                  => 1 fork still running, 1 waiting
			(one run ends) ~1s => "1 fork still running: " | !1 waiting
			(the runs end) ~1s => have ended | n stay | y quit | !stop them`},
		{"ctrl+c asks before it drops what is written", setup{}, `
			5 i "half a thought" ctrl+c => stays | was not sent. Quitting discards
			ctrl+c                      => stays
			n ctrl+c ~1s ctrl+c         => quits`},
		{"a draft is named beside the runs that would stop", setup{snap: busyForks}, `
			5 i "half a thought" ctrl+c => still running | was not sent. Quitting discards`},
		{"over a draft it asks, and staying is the default", setup{}, `
			5 i "half a thought" esc q => was not sent. Quitting discards | quit and discard it
			~1s enter                  => stays
			q ~1s y                    => quits`},
		{"ctrl+c never drops a task that is half written", setup{}, `
			2 n "0 9" ctrl+c => A new routine or reminder | Esc again discards
			ctrl+c           => !A new routine or reminder | stays`},
	})
}

func TestTheDemoNamesKeysToTry(t *testing.T) {
	demo := Options{InDemo: true}
	tell(t, []story{
		{"again after they were read", setup{options: demo, change: begun}, `
			      => demo: try 1 then + | 2 then f | 5 then i
			3 ~1m => demo: try 1 then +`},
		{"but not once it has run for three hours", setup{options: demo}, `=> !demo: try | 1 Ping budget`},
		{"and nowhere else", setup{}, `=> !demo:`},
		{"they are the user's", setup{options: Options{InDemo: true, Config: config(t, "keys.yaml", "go.chat: f5\nschedule.fire: []\n")}, change: begun}, `
			=> f5 then i | 2 then the palette (:)`},
	})
}

// begun is a bot that has just started.
func begun(s *core.Snapshot) { s.Started = s.At.Add(-10 * time.Second) }

func TestAPanicInTheDashboardIsAnErrorAndTheTerminalIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBot(busyDay(time.Now().UTC()))
		g := &glass{vt: vt.NewEmulator(80, 24)}
		err := Run(t.Context(), &explosive{bot: b}, Options{Output: g, Env: []string{"TERM=dumb"}, Theme: "dark"})
		if err == nil || !strings.Contains(err.Error(), "the snapshot is broken") {
			t.Errorf("error %v", err)
		}
		if g.vt.IsAltScreen() {
			t.Error("the alternate screen is left on")
		}
	})
}

// explosive panics at the second look.
type explosive struct {
	*bot
	looks int
}

func (e *explosive) Snapshot() core.Snapshot {
	if e.looks++; e.looks > 1 {
		panic("the snapshot is broken")
	}
	return e.bot.Snapshot()
}

func TestTheCoreHearsThatSomebodyLooksWhileSomebodyMay(t *testing.T) {
	play(t, setup{}, func(st *stage) {
		for _, c := range []struct {
			input       string
			lasts       time.Duration
			least, most int
			active      int // how often it hears of keys
		}{
			{"", 0, 1, 1, 0},
			{"", 10 * time.Minute, 9, 12, 0},
			{"\x1b[O", 59 * time.Minute, 55, 60, 0}, // the focus is elsewhere, and the dashboard may still be in sight
			{"", 2 * time.Minute, 0, 2, 0},
			{"", 10 * time.Hour, 0, 0, 0},
			{"\x1b[I", 0, 1, 1, 0},
			{"\x1b[O", 10 * time.Hour, 55, 61, 0},
			{"2", 59 * time.Second, 1, 2, 1}, // a terminal that does not report the focus
			{"3", time.Second, 0, 1, 0},
			{"2", 0, 0, 1, 1},
		} {
			if c.input != "" {
				st.send(c.input)
			}
			time.Sleep(c.lasts)
			synctest.Wait()
			st.bot.mu.Lock()
			if n := st.bot.looks; n < c.least || n > c.most {
				t.Errorf("after %q and %v: looked %d times", c.input, c.lasts, n)
			}
			if st.bot.active != c.active {
				t.Errorf("after %q and %v: active %d times", c.input, c.lasts, st.bot.active)
			}
			st.bot.looks, st.bot.active = 0, 0
			st.bot.mu.Unlock()
		}
	})
}

// L3, L4: over a slow line a paste reaches its field whole and no rest of an answer, a key or a mouse report is typed,
// at this machine and from a viewer.
func TestOverASlowLineNothingIsTypedThatWasNot(t *testing.T) {
	for name, setup := range map[string]setup{"here": {}, "attached": remotely(Options{})} {
		t.Run(name, func(t *testing.T) {
			play(t, setup, func(s *stage) {
				s.press("2") // where "f" fires the selected task
				for _, sequence := range []string{"\x1b]11;rgb:ffff/ffff/ffff\a", "\x1b[?2026;2$y", "\x1bP>|fff(1.2)\x1b\\", "\x1b[<64;200;200M"} {
					for cut := 2; cut < len(sequence); cut++ {
						for _, pause := range []time.Duration{60 * time.Millisecond, 2 * time.Second} {
							s.send(sequence[:cut])
							time.Sleep(pause)
							s.send(sequence[cut:])
						}
					}
				}
				s.plays(nil, `
					=> did nothing
					5 i {\x1b[200~hello \x1b[20} ~60ms {1~} "you" enter => did Say Text=hello you`)
			})
		})
	}
}
