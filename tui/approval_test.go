package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	s.bot.change(func(c *core.Snapshot) {
		c.Approvals = append(c.Approvals[:len(c.Approvals):len(c.Approvals)], policy.Approval{
			ID: id, Label: label, Tool: "Bash", Session: "main session", Asked: now, Until: now.Add(policy.Patience),
		})
	})
	time.Sleep(100 * time.Millisecond)
}

// settled lets everything that waits be answered by somebody else.
func (s *stage) settled() {
	s.bot.change(func(c *core.Snapshot) { c.Approvals = nil })
	time.Sleep(100 * time.Millisecond)
}

// typed sends letters one by one.
func (s *stage) typed(text string) {
	s.t.Helper()
	s.press(strings.Split(text, "")...)
}

func (s *stage) did(want ...command.Value) {
	s.t.Helper()
	if d := cmp.Diff(want, s.bot.done()); d != "" {
		s.t.Errorf("commands (-want +got):\n%s", d)
	}
}

func TestAToolCallIsAllowedInTheChat(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Bash(rm x)")
		s.asks("a2", "Bash(rm y)")
		s.sees("permission 1 of 2", "The main session asks to run Bash(rm x)", "1:00 left", "y allow   n deny   a always Bash")
		time.Sleep(2 * time.Second)
		s.sees("0:58 left")
		s.press("y")
		s.sees("allowed: Bash(rm x)", "asks to run Bash(rm y)", "1 approval")
		time.Sleep(time.Second)
		s.press("n")
		s.sees("denied: Bash(rm y)")
		s.misses("asks to run", "approval")
		s.did(command.Answer{ID: "a1", Verdict: policy.Allow}, command.Answer{ID: "a2", Verdict: policy.Deny})
	})
}

func TestAToolCallIsHeardOfInAnotherPane(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("3")
		s.asks("a1", "Bash(rm x)")
		s.sees("⚑ 1 asks ", "Bash(rm x) waits for you: 5, then y or n", "5, then y allow")
		time.Sleep(time.Second)
		s.press("y", "n", "a") // mean nothing here
		s.did()
		s.press("5", "a")
		s.did(command.Answer{ID: "a1", Verdict: policy.Always})
		s.sees("always allowed: Bash(rm x)")
	})
}

func TestAToolCallIsHeardOfBehindADialog(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "?")
		s.asks("a1", "Bash(rm x)")
		s.sees("Bash(rm x) waits for you")
	})
}

func TestAKeyThatWasOnItsWayAnswersNothing(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Bash(rm x)")
		s.press("n", "y")
		s.did()
		s.sees("just arrived", "asks to run Bash(rm x)")
	})
}

func TestTheKeysOfAToolCallCopyAndSearchWhenNothingWaits(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "y")
		s.sees("copied the message")
		s.press("a")
		s.sees("waiting call: no tool call waits for you")
		s.did()
	})
}

func TestSomebodyElseAnswers(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Bash(rm x)")
		s.settled()
		s.sees("Bash(rm x) was answered elsewhere")
		s.misses("permission", "asks to run")
		s.asks("a2", "Bash(rm y)")
		time.Sleep(policy.Patience)
		s.settled()
		s.sees("Bash(rm y) was denied: you did not")
	})
}

func TestALateAnswerIsToldTheOutcome(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Bash(rm x)")
		time.Sleep(time.Second)
		s.bot.mu.Lock() // settled, but the dashboard has not heard of it
		s.bot.snap.Approvals = nil
		s.bot.mu.Unlock()
		s.press("y")
		s.sees("Bash(rm x) was already answered: denied")
		s.misses("settled elsewhere")
	})
}

func TestAnsweringHasToBeLeftFromTheLineThatIsWritten(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.asks("a1", "Bash(rm x)")
		s.sees("esc, then y allow")
		time.Sleep(time.Second)
		s.press("y")
		s.did()
		s.sees("▸ y")
		s.press("esc", "y")
		s.did(command.Answer{ID: "a1", Verdict: policy.Allow})
	})
}

func TestReadOnlyAnswersNoToolCall(t *testing.T) {
	play(t, setup{options: Options{ReadOnly: true}}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Bash(rm x)")
		s.bot.change(func(c *core.Snapshot) { c.Fork = &chat.Banner{Since: time.Now()} })
		time.Sleep(time.Second)
		s.press("y", "a", "S", "R", "X")
		s.sees("dashboard is read-only")
		s.did()
	})
}

func inFork(at time.Time) core.Snapshot {
	s := busyDay(at)
	s.Fork = &chat.Banner{Topic: "Plans for the garden", Since: at.Add(-12 * time.Minute)}
	return s
}

func TestAForkIsLeftByItsKeys(t *testing.T) {
	for key, how := range map[string]command.Exit{"S": command.ExitSave, "R": command.ExitReport} {
		play(t, setup{snap: inFork}, func(s *stage) {
			s.press("5")
			s.sees("fork  Plans for the garden · 12 min", "S save  R report  X exit", " fork ─", "S save   R report   X exit")
			s.press(key)
			s.did(command.ExitFork{How: how})
			s.misses("Plans for the garden")
		})
	}
}

func TestLeavingAForkWithoutAnythingAsksFirst(t *testing.T) {
	play(t, setup{snap: inFork}, func(s *stage) {
		s.press("5", "X")
		s.sees("gets no report of it", "n stay in the fork")
		time.Sleep(time.Second)
		s.press("n")
		s.did()
		s.press("X")
		time.Sleep(time.Second)
		s.press("y")
		s.did(command.ExitFork{How: command.ExitDiscard})
	})
}

func TestTheAgentAsksToSaveAFork(t *testing.T) {
	play(t, setup{snap: inFork}, func(s *stage) {
		s.misses("The agent asks")
		s.bot.change(func(c *core.Snapshot) {
			f := *c.Fork
			f.Asks = true
			c.Fork = &f
		})
		time.Sleep(100 * time.Millisecond)
		s.sees("The agent asks: save it")
		s.press("5", "S")
		s.did(command.ExitFork{How: command.ExitSave})
	})
}

func TestWithoutAForkItsKeysSayWhy(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "S")
		s.sees("the chat is not in a")
		s.did()
	})
}

func TestAFinishedRunIsResumed(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		s := withForks(busyDay(at))
		s.Forks[2].Session = "s-1"
		return s
	}}, func(s *stage) {
		s.press("4", "r")
		s.sees("this run has not ended yet")
		s.misses("r resume")
		s.press("down", "down")
		s.sees("r resume")
		s.press("r")
		s.did(command.ResumeFork{Run: "f3f3f3f3"})
		s.sees("▸5 Chat", "you lead · resumed · just started", "R report  X exit")
		s.misses("S save")
		s.press("S")
		s.sees("this fork continues a background run")
		s.press("4", "r")
		s.sees("the chat is already in a fork")
		s.did(command.ResumeFork{Run: "f3f3f3f3"})
	})
}

func TestCommandsAreOfferedAndCompleted(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i", "/")
		s.sees("/clear", "forget the conversation", "more: tab cycles through them", "tab complete")
		s.typed("perm")
		s.sees("/permissions [mode]", "show or set the permission mode")
		s.misses("/clear")
		s.press("tab")
		s.sees("▸ /permissions ")
		s.press("ctrl+u")
		s.misses("/permissions")
	})
}

func TestTheReplyOfACommandStandsInTheChat(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.typed("/config")
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

func TestACommandThatFailsComesBack(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.typed("/modell opus")
		s.press("enter") // this bot refuses everything else
		s.sees("the disk is full", "▸ /modell opus", "there is no command /modell")
	})
}

func TestAttachedFilesAreNamedBesideTheInput(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.misses("attached")
		s.bot.change(func(c *core.Snapshot) { c.Attached = []string{"cat.png", "lease.pdf"} })
		time.Sleep(100 * time.Millisecond)
		s.sees("attached: cat.png, lease.pdf")
	})
}

func TestAnAnswerCountsItsSeconds(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.bot.change(func(c *core.Snapshot) { c.Busy, c.BusySince = true, time.Now() })
		time.Sleep(12100 * time.Millisecond)
		s.sees("answering 0:12 · ctrl+c interrupts")
		s.bot.change(func(c *core.Snapshot) { c.Busy = false })
		time.Sleep(100 * time.Millisecond)
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
