package tui

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/transcript"
)

func TestAToolCallIsAnsweredAsItsStoriesSay(t *testing.T) {
	const both = "did Answer ID=a1 Verdict=allowed; Answer ID=a2 Verdict=denied"
	tell(t, []story{
		{"in the chat", setup{}, `
			5 (rm x is asked) (rm y is asked) => permission 1 of 2 | The main session asks: Run this command? rm x | 1:00 left | y allow   n deny   a always
			~2s   => 0:58 left
			y     => allowed: Run this command? rm x | asks: Run this command? rm y | 1 approval
			~1s n => denied: Run this command? rm y | !asks: Run | !approval | ` + both},
		{"in another pane, once it could be read", setup{}, `
			3 (rm x is asked) => ⚑ The main session asks: Run this command? rm x.  y allows  n denies  1:00 left | !needs your answer
			y         => a tool call just arrived: read, press again
			3 ~1s a   => did nothing
			y         => did Answer ID=a1 Verdict=allowed | allowed: Run this command? rm x`},
		{"Poster 17: a key for a question that has just gone means nothing for a moment", setup{}, `
			2 (rm x is asked) ~1s (the call is settled) n => nothing waits for that answer any more | !New routine
			~2s n => !nothing waits for that answer any more | did nothing`},
		{"what the top line cannot show in full is not answered there", setup{happen: happening{
			"a long call": func(s *stage) { s.asks("a1", "Run this command? "+strings.Repeat("rm x; ", 40)+"curl evil") },
		}}, `
			3 (a long call) ~1s => ⚑ The main session asks: Run this command? rm x; | Z opens | !y allows | needs your answer: 5, then y or n
			y => did nothing
			Z => y allow`},
		{"one that is answered elsewhere says so, seen or not", setup{}, `
			3 (rm x is asked) ~1s (the call is settled) => answered elsewhere or cancelled: Run this command? rm x
			5 (rm y is asked) => !needs your answer
			~1s (the call is settled) => answered elsewhere or cancelled: Run this command? rm y`},
		{"and one that was not answered in time", setup{}, `
			3 (rm x is asked) ~61s (the call is settled) => denied, because you did not answer in time: Run this command? rm x`},
		{"it is seen behind a dialog", setup{}, `5 ? (rm x is asked) => asks: Run this command? rm x`},
		{"a late answer hears the outcome", setup{happen: happening{"it is settled unheard": func(s *stage) {
			s.bot.mu.Lock()
			s.bot.snap.Approvals = nil
			s.bot.mu.Unlock()
		}}}, `
			5 (rm x is asked) ~1s (it is settled unheard) y => “Run this command? rm x” was already answered: denied | !answered elsewhere`},
		{"on a strip it is seen until esc puts it away, and another is seen again", sized(40, 10), `
			5 (rm x is asked) => permission | Run this command? rm x | y allow | left
			esc               => " 1  Budget" | ▸5 | rm x | y allow | n deny
			(rm y is asked)   => " 1  Budget"
			~1s y             => Run this command? rm y | permission
			~1s n             => !permission | " 1  Budget" | ` + both},
	})
	for _, p := range []string{"1", "2", "3", "4", "6"} {
		tell(t, []story{{"S5: with one key from pane " + p, setup{}, p + ` (rm x is asked) ~2s y => allowed: Run this command? rm x`}})
	}
}

func TestAConversationGoesAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"the reply of a command is in the chat", setup{}, `
			5 i "/config" enter ~100ms => notice Main model  opus | Thinking    adaptive | !**Main | once: adaptive | did Say Text=/config`},
		{"an answer counts its seconds", setup{}, `
			(it answers) ~12s => answering 0:12 · ctrl+c interrupts
			(the answer ends) => !ctrl+c interrupts`},
		// The toast said for four more seconds that the fork is being saved.
		{"a fork that has ended is not being saved", setup{}, `
			(commands take a second) (a fork begins) 5 S => saving the fork as the main conversation
			~1100ms => the fork has ended: you are in the main conversation | !saving the fork`},
		{"also where it ends in Discord, or by the agent", setup{}, `(a fork begins) ~5s (the fork ends) => the fork has ended`},
	})
}

func TestADeltaIsOnTheScreenWithin50Milliseconds(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		delta := func(version int, text string) {
			s.bot.change(func(c *core.Snapshot) {
				c.Chat = append(c.Chat[:2:2], transcript.Entry{ID: "d", Version: version, At: time.Now(), Role: transcript.Bot, Text: text, Streaming: true})
			})
		}
		for i := range 40 {
			text := "delta " + strings.Repeat("x", i) + "."
			delta(i, text)
			time.Sleep(time.Duration(i) * time.Millisecond) // any phase of the frames
			delta(100+i, text+"!")
			time.Sleep(50 * time.Millisecond)
			s.sees(text + "!")
		}
	})
}
