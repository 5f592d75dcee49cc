package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/view"
)

// Every action is reached by its keys, by its name in the palette and with the mouse alone, which leave the same.

// everything is a snapshot in which nearly every action can be used.
func everything(at time.Time) core.Snapshot {
	s := withForks(busyDay(at))
	s.Forks[0].Lines, s.LogLines = 120, 120
	s.Forks[2].Session = "s-1"
	s.Engine.LoginNeeded = true
	s.Money.Today.Cap, s.Money.Month.Cap = 2, 40
	for i := range 30 {
		s.Schedule.Entries = append(s.Schedule.Entries, schedule.Entry{
			ID: fmt.Sprintf("e%07d", i), FireTime: at.Add(2*time.Hour + time.Duration(i)*time.Minute),
			Description: fmt.Sprintf("Task %d", i), FilePath: "routines/more.md", Kind: routines.KindRoutine,
		})
		s.Chat = append(s.Chat, transcript.Entry{
			ID: post.MessageID(fmt.Sprint("m", i)), At: at, Role: transcript.Bot, Text: fmt.Sprintf("line %d of the talk", i),
		})
	}
	for i := range 4 {
		s.Updates = append(s.Updates, updates.Update{Key: fmt.Sprint("more", i), At: at, Message: fmt.Sprintf("update %d", i)})
	}
	s.Chat = append(s.Chat, transcript.Entry{ID: "card", At: at, Role: transcript.Ping, Embed: &post.Embed{
		Title: "Card", Buttons: []post.Button{{Label: "Done", Action: "done"}, {Label: "Later", Action: "later"}},
	}})
	return s
}

func asked(s core.Snapshot) core.Snapshot {
	s.Approvals = []policy.Approval{{ID: "a1", Label: "Run this command? rm x", Tool: "Bash", Asked: s.At, Until: s.At.Add(policy.Patience)}}
	return s
}

// scene is where a way to an action begins.
type scene struct {
	change   func(core.Snapshot) core.Snapshot // of everything
	keys     []string                          // pressed first
	readOnly bool
}

// needs are what actions need beside their pane: keys that are pressed first, and a change of everything.
var needs = []struct {
	ids    string
	keys   string
	change func(s *core.Snapshot)
}{
	{"approval.allow approval.deny approval.always approval.read", "", func(s *core.Snapshot) { *s = asked(*s) }},
	{"schedule.allow", "", func(s *core.Snapshot) {
		e := &s.Schedule.Entries[0]
		e.Held, e.Tag, e.Why = true, schedule.TagWaits, "asks for Bash"
		s.Schedule.Tasks = []schedule.TaskView{{ID: e.ID, Title: e.Description, Path: e.FilePath, Waits: e.Why, Version: "v1"}}
	}},
	{"updates.yes updates.other updates.no", "", func(s *core.Snapshot) {
		s.Proposals = []proposals.Proposal{{
			ID: "0f0f0f0f", Text: "Shall I remind you?", Made: s.At,
			Buttons: []proposals.Button{{ID: "yes", Label: "Yes"}, {ID: "when", Label: "Other"}, {ID: "no", Label: "No"}},
		}}
	}},
	{"fork.save fork.report fork.exit", "", func(s *core.Snapshot) { s.Fork = &chat.Banner{Topic: "Plans", Since: s.At} }},
	{"app.interrupt", "", answering},
	{"app.undo", "1 + 2", nil},
	{"app.redo", "1 + u 2", nil},
	{"view.back", "z", nil},
	{"go.schedule", "1", nil},
	{"forks.resume forks.again", "down down", nil},
	{"task.newer", "left", nil},
	{"task.before", "]", nil},
	{"tail.next tail.prev", "& l i n e enter", nil},
	{"forks/tail.left forks/tail.right", "w right right", nil}, // the log's are cut already
	{"chat/tail.left chat/tail.right logs/tail.left logs/tail.right", "right right", nil},
	{"forks/tail.down", "enter g", nil}, // the list has g
	{"tail.follow tail.down tail.pgdn", "g", nil},
	{"tail.home tail.pgup", "down down", nil},
}

// sceneOf is where the ways to an action begin.
func sceneOf(a action.Action) scene {
	sc := scene{keys: []string{"2"}}
	if goes, ok := action.Get(action.Everywhere, a.Pane.Go()); ok {
		sc.keys = goes.Keys[:1]
	}
	for _, n := range needs {
		if ids := strings.Fields(n.ids); slices.Contains(ids, string(a.ID)) || slices.Contains(ids, rowName(a)) {
			return scene{keys: append(sc.keys, strings.Fields(n.keys)...), change: func(s core.Snapshot) core.Snapshot {
				if n.change != nil {
					n.change(&s)
				}
				return s
			}}
		}
	}
	if _, verb, _ := strings.Cut(string(a.ID), "."); a.Pane != action.Everywhere && !strings.HasPrefix(string(a.ID), "tail.") && slices.Contains([]string{"up", "pgup", "top"}, verb) {
		sc.keys = append(sc.keys, "down", "down")
	}
	return sc
}

// play plays a story from the scene.
func (sc scene) play(t *testing.T, story func(s *stage)) {
	t.Helper()
	set := setup{w: 96, h: 26, env: []string{"NO_MOTION=1"}, options: Options{ReadOnly: sc.readOnly}}
	set.rings = func(b *bot) {
		b.rings["f1f1f1f1"], b.rings[core.LogTail] = longTail(), longTail()
	}
	set.snap = func(at time.Time) core.Snapshot {
		s := everything(at)
		if sc.change != nil {
			s = sc.change(s)
		}
		return s
	}
	play(t, set, func(s *stage) {
		s.press(sc.keys...)
		time.Sleep(time.Second) // a question has been readable
		story(s)
	})
}

// still is the screen once everything has come to rest, without its clocks: they
// differ by how long the way took.
func (s *stage) still() string {
	time.Sleep(3 * frameGap)
	return steady(s.screen())
}

// steady is what a screen shows without what differs by how long a way took: clocks, and
// the curve of the budget with the days below it.
func steady(screen string) string {
	return days.ReplaceAllString(clocks.ReplaceAllString(screen, "0:00"), "   ")
}

var (
	clocks = regexp.MustCompile(`\d+:\d\d(:\d\d)?|[\x{2800}-\x{28ff}]`)
	days   = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b`)
)

// outcome is what a way leaves behind.
type outcome struct {
	Did    []command.Value
	Screen string // with the toasts
	Seen   bool   // the way has changed the screen, or the bot
}

// leaves plays a way from a scene.
func leaves(t *testing.T, sc scene, way func(s *stage)) (o outcome) {
	t.Helper()
	sc.play(t, func(s *stage) {
		did, before := len(s.bot.done()), s.still()
		way(s)
		o.Did, o.Screen = s.bot.done(), s.still()
		o.Seen = len(o.Did) > did || o.Screen != before
	})
	return o
}

// longTail has more lines than a pane can show, each wider than it.
func longTail() *tail.Ring {
	r := tail.New(200)
	for i := range 120 {
		r.Add(tail.Line{At: day, Kind: tail.Text, Text: fmt.Sprintf("line %d %s", i, strings.Repeat("and on ", 12))})
	}
	return r
}

// page is the text of the page on the screen, in one line.
func (s *stage) page() string {
	var words []string
	for _, l := range s.rows() {
		if inside, ok := strings.CutPrefix(l, "│"); ok {
			words = append(words, strings.Fields(strings.TrimSuffix(strings.TrimRight(inside, " "), "│"))...)
		}
	}
	return strings.Join(words, " ")
}

// row finds the row of the palette that begins as the name does; marked says
// that it has the pointer.
func (s *stage) row(name string) (x, y int, marked, ok bool) {
	for y, l := range s.rows() {
		for _, mark := range []string{"▸", " "} {
			if before, _, found := strings.Cut(l, "│ "+mark+" "+name[:min(len(name), 48)]); found {
				return len([]rune(before)) + 10, y, mark == "▸", true
			}
		}
	}
	return 0, 0, false, false
}

func byPalette(a action.Action) func(s *stage) {
	return func(s *stage) {
		s.press("ctrl+p")
		s.send("\x1b[200~" + a.Name() + "\x1b[201~") // one paint for all of its letters
		for range 6 {
			if _, _, marked, _ := s.row(a.Name()); marked {
				s.press("enter")
				return
			}
			s.press("down")
		}
		s.t.Errorf("its name does not find it:\n%s", s.screen())
	}
}

func byMouse(a action.Action) func(s *stage) {
	return func(s *stage) {
		s.clickOn(": command")
		for range 14 {
			if x, y, _, ok := s.row(a.Name()); ok {
				s.click(x, y)
				return
			}
			s.wheelDown(17) // of 18 rows
		}
		s.t.Errorf("the wheel does not come to it:\n%s", s.screen())
	}
}

// waysTo are all ways to an action from its scene.
func waysTo(a action.Action) map[string]func(s *stage) {
	ways := map[string]func(s *stage){"the palette": byPalette(a), "the mouse": byMouse(a)}
	if a.ID == action.Palette { // it does not list itself
		ways = map[string]func(s *stage){"the mouse": func(s *stage) { s.clickOn(": command") }}
	}
	for _, k := range a.Keys {
		ways["key "+k] = func(s *stage) { s.press(k) }
	}
	return ways
}

// same plays all ways and expects that they leave the same, which is given back.
func same(t *testing.T, sc scene, ways map[string]func(s *stage)) (o outcome) {
	t.Helper()
	first := ""
	for name, way := range ways {
		got := leaves(t, sc, way)
		if first == "" {
			first, o = name, got
			continue
		}
		if d := cmp.Diff(o, got); d != "" {
			t.Errorf("%s leaves something else than %s (-%s +%s):\n%s", name, first, first, name, d)
		}
	}
	return o
}

func rowName(a action.Action) string {
	if a.Pane == action.Everywhere {
		return string(a.ID)
	}
	return string(a.Pane) + "/" + string(a.ID)
}

func TestEveryActionIsReachedByKeyByPaletteAndByMouse(t *testing.T) {
	// What these do cannot be seen in what they leave.
	silent := map[action.ID]string{
		action.DayEarlier: "nothing is there (TestEachMarkIsWalkedToSaidAndOpened)", action.DayLater: "as before", action.DayNow: "as before",
		action.WeekLater: "no week comes after this one (TestPagesAreOpenedReadAndLeftAsTheirStoriesSay)",
		action.DayFirst:  "as before", action.DayLast: "as before",
		action.Redraw: "it draws the same screen (TestTheScreenFollowsTheTerminalAsItsStoriesSay)",
	}
	for _, a := range (action.Keys{}).All() {
		t.Run(rowName(a), func(t *testing.T) {
			t.Parallel()
			sc := sceneOf(a)
			o := same(t, sc, waysTo(a))
			if why, ok := silent[a.ID]; o.Seen == ok {
				t.Errorf("it is to be seen: %t (%s)", o.Seen, why)
			}
			if a.Off != nil && strings.Contains(o.Screen, a.Title+": "+a.Off(core.Snapshot{})[:4]) {
				t.Errorf("it is off in its scene:\n%s", o.Screen)
			}
		})
	}
}

// refuses plays a scene in which every row is tried in every way, and expects
// that nothing comes of it but its reason, as often as it was tried.
func refuses(t *testing.T, sc scene, reasons map[*action.Action]string) {
	t.Helper()
	sc.play(t, func(s *stage) {
		s.press("esc", sc.keys[0]) // what was said before; the page that esc has left
		before := s.still()
		tried := map[*action.Action]int{}
		for a := range reasons {
			for _, way := range waysTo(*a) {
				way(s)
				tried[a]++
			}
		}
		s.press("esc", "esc", sc.keys[0]) // the last toast
		if d := cmp.Diff(before, s.still()); d != "" {
			t.Errorf("something has changed (-before +after):\n%s", d)
		}
		for _, did := range s.bot.done() {
			t.Errorf("it does %v", did)
		}
		s.resize(120, 400)
		s.press("!")
		said := s.page()
		for a, why := range reasons {
			if n := strings.Count(said, a.Title+": "+why); n != tried[a] {
				t.Errorf("%q is said %d times, tried %d times: %s", a.Title+": "+why, n, tried[a], said)
			}
		}
	})
}

func TestAnActionThatIsOffSaysWhyWhicheverWayItIsReached(t *testing.T) {
	for _, p := range append(slices.Clone(action.Panes), action.Everywhere) {
		reasons := map[*action.Action]string{}
		for _, a := range (action.Keys{}).Of(p) {
			if a.Over {
				a.Keys = nil // while it is off they are another row's
			}
			if a.ID == action.Undo {
				reasons[&a] = "nothing to undo"
			} else if a.Off != nil && a.Off(core.Snapshot{At: day}) != "" {
				reasons[&a] = a.Off(core.Snapshot{At: day})
			}
		}
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			refuses(t, scene{keys: []string{strconv.Itoa(max(1, slices.Index(action.Panes, p)+1))}, change: func(s core.Snapshot) core.Snapshot {
				return core.Snapshot{At: s.At, Zone: s.Zone}
			}}, reasons)
		})
	}
}

func TestReadOnlyRefusesWhatWritesWhicheverWayItIsReached(t *testing.T) {
	scenes := map[string]scene{}
	rows := map[string]map[*action.Action]string{}
	for _, a := range (action.Keys{}).All() {
		if !a.Writes {
			continue
		}
		kind, _, _ := strings.Cut(string(a.ID), ".")
		if rows[kind] == nil {
			scenes[kind], rows[kind] = sceneOf(a), map[*action.Action]string{}
		}
		rows[kind][&a] = view.TextReadOnly
	}
	for kind, sc := range scenes {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			sc.readOnly = true
			refuses(t, sc, rows[kind])
		})
	}
}
