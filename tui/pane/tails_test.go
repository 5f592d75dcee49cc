package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	forkspane "ollimbot/tui/pane/forks"
)

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
	has(t, s.screen(80, 12), "tail: Email sweep", "▸ ✓ 14:01   Email sweep")
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
	s.Pane.(*forkspane.Pane).Show(s.c, "22222222")
	has(t, s.screen(80, 12), "tail: Move a little", "Time to move.", "▸ ◉ 14:00   Move a little   late")
}

func TestStoppingAsksAndNamesWhatIsLost(t *testing.T) {
	s := open("forks")
	want := &pane.Question{
		Text: `Stop "Email sweep"? It has run 0:12, made 1 tool call and spent $0.01. What it has found so far is lost.`,
		Yes:  "stop it", No: "leave it running", Do: command.StopFork{Run: "11111111"},
	}
	if d := cmp.Diff(want, s.do(action.ForksStop).Ask); d != "" {
		t.Errorf("question (-want +got):\n%s", d)
	}
	s.do(action.ForksDown, action.ForksDown)
	has(t, s.do(action.ForksStop).Ask.Text, `Remove "Weekly review" from the queue?`, "will not run this time")
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
		fork.Running: "◉", fork.Waiting: "◐", fork.Done: "✓", fork.Failed: "✗", fork.TimedOut: "✗", fork.Stopped: "■", fork.Interrupted: "■",
	}
	for state, glyph := range glyphs {
		s := open("forks")
		s.next(func(c *core.Snapshot) { c.Forks = []fork.View{{ID: "1", Title: "Task", State: state}} })
		word := map[bool]string{true: "queue", false: string(state)}[state == fork.Waiting]
		has(t, strings.Split(s.screen(80, 12), "\n")[0], glyph, " "+word+" ")
	}
}

func TestChatSendsWhatIsWritten(t *testing.T) {
	s := open("chat")
	if a := s.do(action.ChatWrite); a.Focus != action.Chat || !s.Capture() {
		t.Fatalf("writing does not begin: %#v", a)
	}
	s.keys(t, "hello", "alt+enter", "you", "ctrl+j", "x", "backspace")
	has(t, s.screen(60, 12), "▸ hello", "   you")
	if a := s.keys(t, "enter"); a.Do != (command.Say{Text: "hello\nyou"}) {
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
	if a := s.keys(t, "!", "enter"); a.Do != (command.Say{Text: "half a thought!"}) {
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
	lacks(t, "the cursor stays behind", s.screen(60, 12), "tomorrow.▌")
}

func TestLogsAreReadOnlyWhenThereIsMore(t *testing.T) {
	s := open("logs")
	reads := 0
	s.c.Tail = func(id string, from tail.Cursor) tail.Page {
		if id != core.LogTail {
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
	if state := s.State(s.c); state != "following" || s.Capture() {
		t.Errorf("state %q", state)
	}
}

func TestRunsOutOfSightAreCounted(t *testing.T) {
	s := open("forks")
	has(t, s.screen(80, 8), "run 1 of 5 · following")
	lacks(t, "all runs are in sight", s.screen(80, 24), "of 5")
}
