package pane_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// ledger is n stored runs, newest first; each seventh has failed, each third pinged.
type ledger struct {
	pane.Reader
	n, damaged int
	tainted    bool // every run has read untrusted input
	looked     []string
	broken     error
}

func (l *ledger) run(i int) fork.View {
	at := noon.Add(-time.Duration(i+1) * 11 * time.Minute)
	f := fork.View{
		ID: fmt.Sprintf("%08x", 0x70000000-i), TaskID: fmt.Sprintf("%08x", i%40), Title: fmt.Sprintf("Task %d", i%40), State: fork.Done,
		Started: at, Ended: at.Add(time.Duration(i%300) * time.Second), Session: fmt.Sprintf("s%035d", i), Parent: fmt.Sprintf("p%035d", i),
		Tools: i % 9, Usage: agent.Usage{InputTokens: 100 * (i % 1000), CostUSD: float64(i%50) / 1000},
	}
	if i%7 == 3 {
		f.State, f.Error = fork.Failed, fmt.Sprintf("the command ended with status %d", i%5)
	}
	if i%3 == 0 {
		f.Pings = 1
	}
	if l.tainted {
		f.Label = "web page"
	}
	return f
}

func (l *ledger) Runs(_ context.Context, mark command.Mark, most int) (p fork.Page, err error) {
	if l.broken != nil {
		return p, l.broken
	}
	from := int(mark.At)
	for i := from; i < min(l.n, from+most); i++ {
		p.Runs = append(p.Runs, l.run(i))
	}
	if from == 0 {
		p.Damaged = l.damaged
	}
	p.Next = command.Mark{At: int64(from + len(p.Runs)), Set: true}
	p.All = from+len(p.Runs) == l.n
	return p, nil
}

// settle does all that a pane wants, as the frame does, and gives what was said.
func (s *stage) settle(t *testing.T, l *ledger) (toasts []string) {
	t.Helper()
	for range 1000 {
		a := s.Pane.(pane.Loader).Wants(s.c)
		if seen, ok := a.Do.(command.MarkSeen); ok {
			l.looked = append(l.looked, seen.Runs...)
		}
		if a.Load == nil {
			return toasts
		}
		if a := a.Load(t.Context(), l)(s.c); a.Toast != "" {
			toasts = append(toasts, a.Toast)
		}
		s.Sync(s.c)
		s.screen(118, 36)
	}
	t.Fatal("the pane never has enough")
	return nil
}

func runsPage(t *testing.T, l *ledger) *stage {
	t.Helper()
	s := open("forks")
	s.c.Zoomed = true
	s.next(func(c *core.Snapshot) {
		c.Forks = c.Forks[:3]
		for i := range min(20, l.n) {
			c.Forks = append(c.Forks, l.run(i))
		}
	})
	s.screen(118, 36)
	s.settle(t, l)
	return s
}

func TestThePageOfRunsLooksAsItDid(t *testing.T) {
	s := runsPage(t, &ledger{n: 300})
	s.next(func(c *core.Snapshot) { c.Failures = []fork.View{(&ledger{}).run(3), (&ledger{}).run(220)} })
	for _, size := range [][2]int{{198, 56}, {118, 36}, {78, 20}, {44, 8}} {
		compare(t, fmt.Sprintf("runs-%dx%d", size[0], size[1]), strings.Split(s.screen(size[0], size[1]), "\n"))
	}
	for look, o := range looks {
		s.c.Theme = theme.New(o)
		lines := strings.Split(strings.ReplaceAll(s.screen(78, 20), "\x1b", "␛"), "\n")
		compare(t, "runs-"+look, lines)
	}
}

// On the page the room goes to what has the keys: the list, or the tail behind enter.
func TestWhatHasTheKeysHasTheRoom(t *testing.T) {
	s := runsPage(t, &ledger{n: 300})
	rule := func() int { return strings.Count(strings.Split(s.screen(118, 36), "tail: ")[0], "\n") }
	if n := rule(); n != 25 {
		t.Errorf("the list has %d of 36 lines", n)
	}
	s.do(action.ForksTail)
	if n := rule(); n != 18 {
		t.Errorf("beside a tail with the keys the list has %d of 36 lines", n)
	}
}

func TestRunsAreReadAsOneScrolls(t *testing.T) {
	l := &ledger{n: 10_000}
	s := runsPage(t, l)
	state := s.State(s.c)
	has(t, state, "the newest 255 runs")
	for range 40 {
		s.do(action.TailPageDown)
		s.settle(t, l)
	}
	lacks(t, "scrolling reads no further runs", s.State(s.c), "255 runs")
	s.do(action.TailFollow)
	for range 60 {
		s.settle(t, l)
		s.do(action.TailFollow)
	}
	state = s.State(s.c)
	has(t, state, "10,005 runs")
	has(t, s.screen(118, 36), "tail: Task 39", "8 Sep")
}

func TestTenThousandRunsTakeLessThanEightMegabytes(t *testing.T) {
	l := &ledger{n: 10_000}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s := runsPage(t, l)
	s.do(action.ForksSort)
	s.settle(t, l)
	used := heap() - before
	if s.screen(118, 36); used > 8<<20 {
		t.Errorf("10,000 runs take %d kB", used>>10)
	}
	t.Logf("10,000 runs take %d kB", used>>10)
}

func TestRunsAreFilteredByTextAndState(t *testing.T) {
	l := &ledger{n: 1000}
	s := runsPage(t, l)
	s.do(action.TailFilter)
	s.keys(t, "task status 4")
	s.settle(t, l)
	screen := s.screen(118, 36)
	has(t, screen, "of 1,005 runs", "the command ended with")
	lacks(t, "a run that is done is shown", screen, "✓ done")
	s.keys(t, "enter")
	if !s.Pane.(interface{ End(pane.Context) bool }).End(s.c) {
		t.Error("there was a filter to end")
	}
	s.do(action.ForksState)
	s.settle(t, l)
	if screen = s.screen(118, 36); strings.Contains(screen, "done") {
		t.Error("failed runs only were asked for\n" + screen)
	}
	has(t, screen, "is:failed", "144 of 1,005 runs")
}

func TestTheHeadOfAColumnSortsTheRuns(t *testing.T) {
	l := &ledger{n: 1000}
	s := runsPage(t, l)
	head := s.Draw(s.c, 118, 36, true)[0]
	at := widget.Place(0)
	for x, r := range []rune(head.Text) {
		if r == 'K' && strings.HasPrefix(string([]rune(head.Text)[x:]), "KENS") {
			at = head.At(x)
		}
	}
	s.Press(s.c, at, true)
	s.settle(t, l)
	state := s.State(s.c)
	has(t, state, "by TOKENS")
	has(t, s.screen(118, 36), "TOKENS▼", " 100k ")
	s.do(action.ForksTurn)
	has(t, s.screen(118, 36), "TOKENS▲")
}

func TestAFailureBeyondTheNewestRunsStaysUntilItIsLookedAt(t *testing.T) {
	l := &ledger{n: 300}
	s := runsPage(t, l)
	old := l.run(220)
	s.next(func(c *core.Snapshot) { c.Failures = []fork.View{old} })
	if l.looked != nil {
		t.Error("nobody has looked yet")
	}
	above, _, _ := strings.Cut(s.screen(118, 36), "\n──")
	has(t, above, "✗", old.Title)
	s.do(action.TailHome, action.ForksDown, action.ForksDown, action.ForksDown)
	s.settle(t, l)
	s.settle(t, l) // it tells once
	if strings.Join(l.looked, " ") != old.ID {
		t.Errorf("the core is told of %v", l.looked)
	}
	has(t, s.screen(118, 36), "tail: "+old.Title, old.Error)
	s.do(action.ForksDown)
	s.next(func(c *core.Snapshot) { c.Failures = nil })
	above, _, _ = strings.Cut(s.screen(118, 36), "\n──")
	lacks(t, "it is still above the others", above, old.Title+" ")
}

func TestAReadOnlyDashboardTellsNobodyWhatItHasSeen(t *testing.T) {
	l := &ledger{n: 30}
	s := runsPage(t, l)
	s.c.ReadOnly = true
	s.next(func(c *core.Snapshot) { c.Failures = []fork.View{l.run(3)} })
	s.do(action.TailHome)
	s.settle(t, l)
	if l.looked != nil {
		t.Error("it was told")
	}
}

func TestDamagedHistoryIsSaidOnce(t *testing.T) {
	l := &ledger{n: 600, damaged: 2}
	s := open("forks")
	s.c.Zoomed = true
	s.screen(118, 36)
	said := s.settle(t, l)
	s.do(action.ForksSort)
	said = append(said, s.settle(t, l)...)
	if len(said) != 1 || !strings.Contains(said[0], "damaged") {
		t.Errorf("said: %q", said)
	}
	broken := &ledger{broken: errors.New("the disk is gone")}
	s = open("forks")
	s.c.Zoomed = true
	s.screen(118, 36)
	if said := s.settle(t, broken); len(said) != 1 || said[0] != "the disk is gone" {
		t.Errorf("said: %q", said)
	}
}

func TestAStoredRunIsOpenedAndFiredAgain(t *testing.T) {
	l := &ledger{n: 300}
	s := runsPage(t, l)
	s.do(action.TailPageDown, action.TailPageDown, action.ForksDown)
	has(t, s.screen(118, 36), "No output of this run is recorded")
	a := s.do(action.ForksAgain)
	if fire, ok := a.Do.(command.FireNow); !ok || fire.ID == "" {
		t.Errorf("again is %+v", a)
	}
	if why := s.Pane.(interface {
		Off(pane.Context, action.ID) string
	}).Off(s.c, action.ForksResume); why != "" {
		t.Errorf("it cannot be resumed: %s", why)
	}
}

// The list's note about what it read is no error of the run.
func TestAStoredRunThatReadUntrustedInputSaysThatItsOutputIsGone(t *testing.T) {
	l := &ledger{n: 300, tainted: true}
	s := runsPage(t, l)
	s.do(action.TailPageDown, action.TailPageDown, action.ForksDown)
	has(t, s.screen(118, 36), "No output of this run is recorded", "untrusted input: web page")
}
