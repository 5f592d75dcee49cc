package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/post"
	"ollimbot/core/tail"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	forkspane "ollimbot/tui/pane/forks"
)

// stage is a pane with a fixture.
type stage struct {
	pane.Pane
	c pane.Context
}

func open(name string) *stage {
	s := &stage{panes()[name], everydayContext(plainTheme())}
	s.Sync(s.c)
	return s
}

// next gives the pane a changed copy of its snapshot.
func (s *stage) next(change func(*core.Snapshot)) {
	snap := *s.c.Snap
	change(&snap)
	s.c.Snap = &snap
	s.Sync(s.c)
}

func (s *stage) do(ids ...action.ID) pane.Answer {
	var a pane.Answer
	for _, id := range ids {
		a = s.Do(s.c, id)
	}
	return a
}

func (s *stage) screen(w, h int) string { return strings.Join(s.Lines(s.c, w, h, true), "\n") }

// keys types into a pane that captures: names of keys, or text.
func (s *stage) keys(t *testing.T, keys ...string) pane.Answer {
	t.Helper()
	named := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl},
		"backspace": {Code: tea.KeyBackspace},
	}
	var a pane.Answer
	for _, k := range keys {
		if !s.Capture() {
			t.Fatalf("%q is typed, but the pane takes no text", k)
		}
		if msg, ok := named[k]; ok {
			a = s.Type(s.c, msg)
			continue
		}
		for _, r := range k {
			a = s.Type(s.c, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return a
}

// has reports what is missing on a screen.
func has(t *testing.T, screen string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(screen, w) {
			t.Errorf("%q is missing in\n%s", w, screen)
		}
	}
}

func capacityOf(t *testing.T, a pane.Answer) int {
	t.Helper()
	set, ok := a.Do.(core.SetBudget)
	if !ok || set.Capacity == nil || set.RefillMinutes != nil {
		t.Fatalf("a change of the capacity wanted, got %#v", a)
	}
	return *set.Capacity
}

func TestBudgetKeysAnswerWithCommands(t *testing.T) {
	for id, want := range map[action.ID]core.SetBudget{
		action.CapacityUp: {Capacity: ptr(6)}, action.CapacityDown: {Capacity: ptr(4)},
		action.RefillUp5: {RefillMinutes: ptr(95)}, action.RefillDown5: {RefillMinutes: ptr(85)},
		action.RefillUp1: {RefillMinutes: ptr(91)}, action.RefillDown1: {RefillMinutes: ptr(89)},
	} {
		if d := cmp.Diff(pane.Answer{Do: want}, open("budget").do(id)); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
}

func ptr(n int) *int { return &n }

func TestAKeyHeldDownCountsEveryPress(t *testing.T) {
	s := open("budget")
	if n := capacityOf(t, s.do(action.CapacityUp, action.CapacityUp)); n != 7 {
		t.Errorf("two presses from 5 ask for %d", n)
	}
	s.next(func(c *core.Snapshot) { c.Budget.State.Capacity = 6 }) // the first has arrived
	if n := capacityOf(t, s.do(action.CapacityUp)); n != 8 {
		t.Errorf("a third press asks for %d", n)
	}
	s.next(func(c *core.Snapshot) { c.Budget.State.Capacity = 8 })
	if n := capacityOf(t, s.do(action.CapacityDown)); n != 7 {
		t.Errorf("back from 8 asks for %d", n)
	}
}

func TestARefusedChangeIsForgotten(t *testing.T) {
	s := open("budget")
	s.do(action.CapacityUp)
	for range 5 {
		s.next(func(*core.Snapshot) {})
	}
	if n := capacityOf(t, s.do(action.CapacityUp)); n != 6 {
		t.Errorf("asks for %d", n)
	}
}

func TestBudgetFloorsSayWhy(t *testing.T) {
	s := open("budget")
	s.next(func(c *core.Snapshot) { c.Budget.State.Capacity, c.Budget.State.RefillRateMinutes = 0, 1 })
	for _, id := range []action.ID{action.CapacityDown, action.RefillDown1, action.RefillDown5} {
		if a := s.do(id); a.Do != nil || a.Toast == "" {
			t.Errorf("%s answers %#v", id, a)
		}
	}
	s.next(func(c *core.Snapshot) { c.Budget.State.RefillRateMinutes = 3 })
	if a := s.do(action.RefillDown5); *a.Do.(core.SetBudget).RefillMinutes != 1 {
		t.Error("five less than three is one")
	}
}

func TestBudgetStatesAreWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*core.BudgetView)
		words  []string
	}{
		{"full", func(b *core.BudgetView) {
			b.State.Available, b.NextAt, b.FullAt = 5, time.Time{}, time.Time{}
		}, []string{"full", "5 / 5"}},
		{"empty", func(b *core.BudgetView) { b.State.Available = 0.97 }, []string{"empty", "0.9 / 5"}},
		{"muted", func(b *core.BudgetView) { b.State.Capacity, b.State.Available = 0, 0 }, []string{"muted", "Only critical"}},
		{"quiet", func(b *core.BudgetView) { b.Quiet = noon.Add(17*time.Hour + 28*time.Minute) }, []string{"quiet until Tue 07:30", "critical only"}},
		{"reserved", func(*core.BudgetView) {}, []string{"1 on its way"}},
	} {
		s := open("budget")
		s.next(func(snap *core.Snapshot) { c.change(&snap.Budget) })
		t.Run(c.name, func(t *testing.T) { has(t, s.screen(40, 8), c.words...) })
	}
}

func TestScheduleSelectsWhatComesNextAndStaysWithIt(t *testing.T) {
	s := open("schedule")
	if a := s.do(action.ScheduleFire); a.Do != (core.FireNow{ID: "0f1e2d3c"}) {
		t.Errorf("the next task fires, got %#v", a.Do)
	}
	s.do(action.ScheduleDown, action.ScheduleDown) // Move a little
	s.next(func(c *core.Snapshot) {
		c.Schedule.Entries = append([]routines.Entry{{ID: "new", FireTime: noon.Add(time.Minute)}}, c.Schedule.Entries[1:]...)
		c.Schedule.Entries = append([]routines.Entry{{ID: "newer", FireTime: noon.Add(time.Second)}}, c.Schedule.Entries...)
	})
	if a := s.do(action.SchedulePreview); a.Show == nil || a.Show.Load != (core.Preview{ID: "11aa22bb"}) {
		t.Errorf("the selection left its task: %#v", a.Show)
	}
}

func TestScheduleDetailsSayWhatThereIs(t *testing.T) {
	s := open("schedule")
	a := s.do(action.ScheduleDown, action.ScheduleDetails)
	has(t, a.Show.Body, "Has the landlord answered?", "Monday 23 November 2026, 14:30 PT (in 28m)", "check 2/5", "reminders/landlord.md", "c0ffee00", "reminder in the background")
}

func TestAProblemIsReadNotFired(t *testing.T) {
	s := open("schedule")
	s.do(action.ScheduleBottom)
	has(t, s.do(action.ScheduleDetails).Show.Body, "error in routines/gym.md:3:8", "as in 0 9 * * 1", "last good version")
	if a := s.do(action.ScheduleFire); a.Do != nil || a.Toast == "" {
		t.Errorf("firing a problem answers %#v", a)
	}
}

func TestProblemsAreAlwaysInSight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open("schedule")
		s.next(func(c *core.Snapshot) {
			for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
				c.Schedule.Entries = append(c.Schedule.Entries, routines.Entry{ID: fmt.Sprint(i), FireTime: noon.Add(time.Hour)})
			}
		})
		for range rapid.IntRange(0, 25).Draw(t, "down") {
			s.do(action.ScheduleDown)
		}
		screen := s.screen(rapid.IntRange(16, 90).Draw(t, "w"), rapid.IntRange(2, 30).Draw(t, "h"))
		if !strings.Contains(screen, "error") || strings.Count(screen, "▸") != 1 {
			t.Fatalf("the error or the selection is out of sight:\n%s", screen)
		}
	})
}

func TestReadOnlyPanesChangeNothing(t *testing.T) {
	for name, ids := range map[string][]action.ID{
		"budget": {action.CapacityUp, action.RefillDown1}, "schedule": {action.ScheduleFire}, "updates": {action.UpdatesDiscard},
		"forks": {action.ForksStop}, "chat": {action.ChatWrite, action.ChatSend},
	} {
		s := open(name)
		s.c.ReadOnly = true
		for _, id := range ids {
			if d := cmp.Diff(pane.Answer{Toast: "…"}, s.do(id), cmp.Transformer("any", func(s string) bool { return s != "" })); d != "" {
				t.Errorf("%s answers more than a toast:\n%s", id, d)
			}
			if s.Capture() {
				t.Errorf("%s opens an input", id)
			}
		}
	}
}

func TestUpdatesAreNewestFirstAndKeepTheirSelection(t *testing.T) {
	s := open("updates")
	if screen := s.screen(80, 12); strings.Index(screen, "Email triage") > strings.Index(screen, "Medication") {
		t.Error("the newest does not stand on top")
	}
	s.do(action.UpdatesDown)
	s.next(func(c *core.Snapshot) {
		c.Updates = append(c.Updates[:len(c.Updates):len(c.Updates)], updates.Update{Key: "c", At: noon, Message: "new"})
	})
	if a := s.do(action.UpdatesDiscard); a.Do != (core.DiscardUpdate{Key: "a"}) {
		t.Errorf("the selection left its update: %#v", a.Do)
	}
	has(t, s.do(action.UpdatesRead).Show.Body, "Medication: pinged at 8:00, no answer yet.", "Monday 23 November 2026, 08:02 PT")
	s.next(func(c *core.Snapshot) { c.Updates = nil })
	if a := s.do(action.UpdatesDiscard); a.Do != nil || a.Toast == "" {
		t.Errorf("without updates: %#v", a)
	}
}

// start adds a running fork in front of the others.
func start(id string, at time.Time) func(*core.Snapshot) {
	return func(c *core.Snapshot) {
		c.Forks = append([]fork.View{{ID: id, Title: "Run " + id, State: fork.Running, Started: at}}, c.Forks...)
	}
}

func TestARunThatStartsIsShownUnlessTheUserChose(t *testing.T) {
	s := open("forks")
	has(t, s.screen(80, 12), "tail: Email sweep")
	s.next(start("99999999", noon.Add(time.Second)))
	has(t, s.screen(80, 12), "tail: Run 99999999")
	s.do(action.ForksDown, action.ForksDown) // Move a little
	has(t, s.screen(80, 12), "tail: Move a little")
	s.next(start("aaaaaaaa", noon.Add(2*time.Second)))
	has(t, s.screen(80, 12), "tail: Move a little")
	s.do(action.Back) // lets the pane choose again
	s.next(start("bbbbbbbb", noon.Add(3*time.Second)))
	has(t, s.screen(80, 12), "tail: Run bbbbbbbb")
}

func TestARunThatEndsStaysSelectedInItsNewPlace(t *testing.T) {
	s := open("forks")
	s.next(func(c *core.Snapshot) {
		forks := append([]fork.View{}, c.Forks[1:]...)
		ended := c.Forks[0]
		ended.State, ended.Ended = fork.Done, noon
		c.Forks = append(forks, ended)
	})
	has(t, s.screen(80, 12), "tail: Email sweep", "▸✓ done")
}

func TestTheTailGoesOnToARunThatLives(t *testing.T) {
	s := open("forks")
	end := func(ago time.Duration) {
		s.next(func(c *core.Snapshot) {
			c.Forks = append([]fork.View{}, c.Forks...)
			c.Forks[0].State, c.Forks[0].Ended = fork.Done, noon.Add(-ago)
		})
	}
	end(3 * time.Second)
	has(t, s.screen(80, 12), "tail: Email sweep")
	end(time.Minute)
	has(t, s.screen(80, 12), "tail: Move a little")
}

func TestNothingTakesTheTailFromItsReader(t *testing.T) {
	for name, begin := range map[string]action.ID{"scrolled up": action.TailUp, "searching": action.TailFind, "in the tail": action.ForksTail} {
		s := open("forks")
		s.screen(80, 12)
		s.do(begin)
		s.next(start("99999999", noon.Add(time.Second)))
		if screen := s.screen(80, 12); !strings.Contains(screen, "tail: Email sweep") {
			t.Errorf("%s: another tail is shown:\n%s", name, screen)
		}
	}
}

func TestForksShowByID(t *testing.T) {
	s := open("forks")
	s.Pane.(*forkspane.Pane).Show("22222222")
	has(t, s.screen(80, 12), "tail: Move a little", "Time to move.", "▸● running  Move a little")
}

func TestStoppingAsksAndNamesWhatIsLost(t *testing.T) {
	s := open("forks")
	want := &pane.Question{
		Text: `Stop "Email sweep"? It has run 0:12, made 1 tool call and spent $0.01. What it has found so far is lost.`,
		Yes:  "stop it", No: "leave it running", Do: core.StopFork{Run: "11111111"},
	}
	if d := cmp.Diff(want, s.do(action.ForksStop).Ask); d != "" {
		t.Errorf("question (-want +got):\n%s", d)
	}
	s.do(action.ForksDown, action.ForksDown)
	has(t, s.do(action.ForksStop).Ask.Text, `Take "Weekly review" out of the queue?`, "will not run at all")
	has(t, s.screen(80, 12), "next in the queue")
	s.do(action.ForksDown)
	if a := s.do(action.ForksStop); a.Ask != nil || a.Toast == "" {
		t.Errorf("an ended run: %#v", a)
	}
}

func TestTheTailTakesTheKeysAndGivesThemBack(t *testing.T) {
	s := open("forks")
	s.screen(80, 10)
	s.do(action.ForksTail, action.ForksUp)
	has(t, s.screen(80, 10), "tail: Email sweep", "paused")
	s.do(action.ForksDown, action.ForksTail, action.ForksDown)
	has(t, s.screen(80, 10), "tail: Move a little")
	s.do(action.ForksUp)
	has(t, s.screen(80, 10), "tail: Email sweep", "following")
}

func TestEveryTailKeepsItsPlace(t *testing.T) {
	s := open("forks")
	s.screen(80, 10)
	s.do(action.TailUp, action.TailUp)
	before := s.screen(80, 10)
	s.do(action.ForksDown)
	s.screen(80, 10)
	s.do(action.ForksUp)
	if after := s.screen(80, 10); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestForkStatesAreWordsAndGlyphs(t *testing.T) {
	glyphs := map[fork.State]string{
		fork.Running: "●", fork.Waiting: "◐", fork.Done: "✓", fork.Failed: "✗", fork.TimedOut: "✗", fork.Stopped: "○", fork.Interrupted: "○",
	}
	for state, glyph := range glyphs {
		s := open("forks")
		s.next(func(c *core.Snapshot) { c.Forks = []fork.View{{ID: "1", Title: "Task", State: state}} })
		has(t, s.screen(80, 12), glyph+" "+string(state))
	}
}

func TestChatSendsWhatIsWritten(t *testing.T) {
	s := open("chat")
	if a := s.do(action.ChatWrite); a.Focus != action.Chat || !s.Capture() {
		t.Fatalf("writing does not begin: %#v", a)
	}
	s.keys(t, "hello", "alt+enter", "you", "ctrl+j", "x", "backspace")
	has(t, s.screen(60, 12), "hello", "you", "enter sends")
	if a := s.keys(t, "enter"); a.Do != (core.Say{Text: "hello\nyou"}) {
		t.Errorf("sent %#v", a.Do)
	}
	if a := s.keys(t, "enter"); a.Do != nil || s.Capture() {
		t.Errorf("enter on an empty line leaves, got %#v", a)
	}
}

func TestChatKeepsItsDraft(t *testing.T) {
	s := open("chat")
	s.do(action.ChatWrite)
	s.keys(t, "half a thought", "esc")
	if s.Capture() {
		t.Fatal("esc does not leave")
	}
	has(t, s.screen(60, 12), "half a thought")
	s.do(action.ChatWrite)
	if a := s.keys(t, "!", "enter"); a.Do != (core.Say{Text: "half a thought!"}) {
		t.Errorf("sent %#v", a.Do)
	}
}

func TestChatStaysWhereItsReaderIs(t *testing.T) {
	s := open("chat")
	say := func(i int) transcript.Entry {
		return transcript.Entry{ID: post.MessageID(fmt.Sprint("n", i)), At: noon, Role: transcript.Bot, Text: fmt.Sprintf("message %d", i)}
	}
	s.next(func(c *core.Snapshot) {
		c.Chat = nil
		for i := range 30 {
			c.Chat = append(c.Chat, say(i))
		}
	})
	has(t, s.screen(60, 8), "message 29")
	s.do(action.TailPageUp)
	before := strings.Split(s.screen(60, 8), "\n")[:4]
	for i := 30; i < 57; i++ { // each new message pushes an old one out
		s.next(func(c *core.Snapshot) {
			c.Chat = append(c.Chat[:len(c.Chat):len(c.Chat)], say(i))
			if i >= 40 {
				c.Chat = c.Chat[1:]
			}
		})
		if d := cmp.Diff(before, strings.Split(s.screen(60, 8), "\n")[:4]); d != "" {
			t.Fatalf("message %d moved the reader:\n%s", i, d)
		}
	}
	has(t, s.screen(60, 8), "new")
	s.do(action.TailFollow)
	has(t, s.screen(60, 8), "message 56")
}

func TestChatFindsAndCopies(t *testing.T) {
	s := open("chat")
	s.screen(60, 12)
	s.do(action.TailFind)
	s.keys(t, "landlord", "enter")
	has(t, s.screen(60, 12), "2 of 2")
	s.do(action.TailPrevious)
	has(t, s.screen(60, 12), "1 of 2", "answer the landlord about Thursday")
	if a := s.do(action.TailCopyLine); !strings.HasPrefix(a.Copy, "Two things are left:") {
		t.Errorf("copied %q", a.Copy)
	}
	if a := s.do(action.TailCopyAll); !strings.Contains(a.Copy, "14:01 ping (Landlord): The plumber comes at 15:00") {
		t.Errorf("copied %q", a.Copy)
	}
}

func TestAStreamingAnswerGrowsInPlace(t *testing.T) {
	s := open("chat")
	has(t, s.screen(60, 12), "I move the review to▌")
	s.next(func(c *core.Snapshot) {
		c.Chat = append([]transcript.Entry{}, c.Chat...)
		last := &c.Chat[len(c.Chat)-1]
		last.Version, last.Text, last.Streaming = 1, "I move the review to tomorrow.", false
	})
	has(t, s.screen(60, 12), "I move the review to tomorrow.")
	if strings.Contains(s.screen(60, 12), "tomorrow.▌") {
		t.Error("the cursor stays behind")
	}
}

func TestLogsAreReadOnlyWhenThereIsMore(t *testing.T) {
	s := open("logs")
	reads := 0
	s.c.Tail = func(id string, from tail.Cursor) tail.Page {
		if id != pane.LogTail {
			t.Errorf("the tail %q is read", id)
		}
		reads++
		return tails(id, from)
	}
	s.next(func(c *core.Snapshot) {})
	s.next(func(c *core.Snapshot) { c.LogLines++ })
	if reads != 1 {
		t.Errorf("read %d times", reads)
	}
}

func TestLogsFindAndLeaveTheSearch(t *testing.T) {
	s := open("logs")
	s.screen(80, 8)
	s.do(action.TailFind)
	s.keys(t, "fork")
	has(t, s.screen(80, 8), "2 of 2")
	s.keys(t, "esc")
	if _, state := s.Title(s.c); state != "following" || s.Capture() {
		t.Errorf("state %q", state)
	}
}
