package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	forkspane "ollimbot/tui/pane/forks"
)

// start adds a running fork in front of the others.
func start(id string, at time.Time) func(*core.Snapshot) {
	return func(c *core.Snapshot) {
		c.Forks = append([]fork.View{{ID: id, Title: "Run " + id, State: fork.Running, Started: at}}, c.Forks...)
	}
}

func TestForksShowByID(t *testing.T) {
	s := open("forks")
	s.Pane.(*forkspane.Pane).Show(s.c, "22222222")
	has(t, s.screen(80, 12), "tail: Move a little", "Time to move.", "▸ ◉ 14:00   Move a little   late")
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
