package tui

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/transcript"
)

// The stories of the conversation: tool calls that wait, forks, commands.

// asks lets a tool call wait.
func (s *stage) asks(id, label string) {
	s.t.Helper()
	now := time.Now()
	s.change(func(c *core.Snapshot) {
		c.Approvals = append(c.Approvals[:len(c.Approvals):len(c.Approvals)], policy.Approval{
			ID: id, Label: label, Question: "Run this command?", Text: strings.TrimPrefix(label, "Run this command? "), Tool: "Bash", Command: "rule", Session: "main session", Asked: now, Until: now.Add(policy.Patience),
		})
	})
}

func TestAToolCallIsAllowedInTheChat(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Run this command? rm x")
		s.asks("a2", "Run this command? rm y")
		s.sees("permission 1 of 2", "The main session asks: Run this command? rm x", "1:00 left", "y allow   n deny   a always")
		time.Sleep(2 * time.Second)
		s.sees("0:58 left")
		s.press("y")
		s.sees("allowed: Run this command? rm x", "asks: Run this command? rm y", "1 approval")
		time.Sleep(time.Second)
		s.press("n")
		s.sees("denied: Run this command? rm y")
		s.misses("asks: Run", "approval")
		s.did(command.Answer{ID: "a1", Verdict: policy.Allow}, command.Answer{ID: "a2", Verdict: policy.Deny})
	})
}

func TestAToolCallIsHeardOfInAnotherPane(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("3")
		s.asks("a1", "Run this command? rm x")
		s.sees("⚑ The main session asks: Run this command? rm x.  y allows  n denies  1:00 left")
		s.misses("needs your answer") // the top line has the keys
		s.press("y")                  // it has just arrived
		s.sees("a tool call just arrived: read, press again")
		s.press("3")
		time.Sleep(time.Second)
		s.press("a") // means nothing here
		s.did()
		s.press("y")
		s.did(command.Answer{ID: "a1", Verdict: policy.Allow})
		s.sees("allowed: Run this command? rm x")
	})
}

// Poster 17: the key was meant for the question that has just gone, so it means nothing else for a moment.
func TestAKeyThatAnswersAQuestionNeverFallsThroughToAPane(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2")
		s.asks("a1", "Run this command? rm x")
		time.Sleep(time.Second)
		s.change(func(c *core.Snapshot) { c.Approvals = nil })
		s.press("n") // which writes a new task in this pane
		s.sees("nothing waits for that answer any more")
		s.misses("New routine")
		time.Sleep(2 * time.Second)
		s.press("n")
		s.misses("nothing waits for that answer any more")
		s.did()
	})
}

// What the top line cannot show in full is not answered there.
func TestALongToolCallIsReadBeforeItIsAnswered(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("3")
		s.asks("a1", "Run this command? "+strings.Repeat("rm x; ", 40)+"curl evil")
		time.Sleep(time.Second)
		s.sees("⚑ The main session asks: Run this command? rm x;", "Z opens")
		s.misses("y allows")
		s.sees("needs your answer: 5, then y or n")
		s.press("y")
		s.did()
		s.press("Z")
		s.sees("y allow")
	})
}

func TestAToolCallIsHeardOfBehindADialog(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "?")
		s.asks("a1", "Run this command? rm x")
		s.sees("asks: Run this command? rm x")
	})
}

func TestALateAnswerIsToldTheOutcome(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Run this command? rm x")
		time.Sleep(time.Second)
		s.bot.mu.Lock() // settled, but the dashboard has not heard of it
		s.bot.snap.Approvals = nil
		s.bot.mu.Unlock()
		s.press("y")
		s.sees("“Run this command? rm x” was already answered: denied")
		s.misses("answered elsewhere")
	})
}

func TestTheReplyOfACommandStandsInTheChat(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("/config")
		s.press("enter")
		time.Sleep(100 * time.Millisecond)
		s.sees("notice Main model  opus", "Thinking    adaptive")
		s.misses("**Main")
		if strings.Count(s.screen(), "adaptive") != 1 {
			t.Errorf("the reply is said twice:\n%s", s.screen())
		}
		s.did(command.Say{Text: "/config"})
	})
}

func TestAnAnswerCountsItsSeconds(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.bot.change(func(c *core.Snapshot) { c.Busy, c.BusySince = true, time.Now() })
		time.Sleep(12100 * time.Millisecond)
		s.sees("answering 0:12 · ctrl+c interrupts")
		s.change(func(c *core.Snapshot) { c.Busy = false })
		s.misses("ctrl+c interrupts")
	})
}

func TestADeltaIsOnTheScreenWithin50Milliseconds(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		for i := range 40 {
			text := "delta " + strings.Repeat("x", i) + "."
			s.bot.change(func(c *core.Snapshot) {
				c.Chat = append(c.Chat[:2:2], transcript.Entry{ID: "d", Version: i, At: time.Now(), Role: transcript.Bot, Text: text, Streaming: true})
			})
			time.Sleep(time.Duration(i) * time.Millisecond) // any phase of the frames
			last := text + "!"
			s.bot.change(func(c *core.Snapshot) {
				c.Chat = append(c.Chat[:2:2], transcript.Entry{ID: "d", Version: 100 + i, At: time.Now(), Role: transcript.Bot, Text: last, Streaming: true})
			})
			time.Sleep(50 * time.Millisecond)
			s.sees(last)
		}
	})
}

// What was under way when the key was pressed is over; the toast said for four more seconds
// that the fork is being saved.
func TestAForkThatHasEndedIsNotBeingSaved(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.bot.takes = func(command.Value) time.Duration { return time.Second }
		s.change(func(n *core.Snapshot) { n.Fork = &chat.Banner{Topic: "Plans", Since: time.Now()} })
		s.press("5", "S")
		s.sees("saving the fork as the main conversation")
		time.Sleep(1100 * time.Millisecond)
		s.sees("the fork has ended: you are in the main conversation")
		s.misses("saving the fork")
		s.change(func(n *core.Snapshot) { n.Fork = &chat.Banner{Topic: "Plans", Since: time.Now()} })
		time.Sleep(5 * time.Second)
		s.change(func(n *core.Snapshot) { n.Fork = nil }) // in Discord, or by the agent
		s.sees("the fork has ended")
	})
}
