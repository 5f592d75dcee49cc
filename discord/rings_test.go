package discord

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// The phone rings for what a person wants to hear, once, and shows its words.
func TestThePhoneRingsOnlyForWhatThePersonHasToSee(t *testing.T) {
	testkit.Alone(t)
	var stories []story
	for _, line := range []string{"the status line", "no status line"} {
		stories = append(stories,
			story{"once for each of three answers and a ping, through two restarts, with " + line, `
			given no contract
			given ` + line + `
			me ▸ wait 500ms ; say Good morning. It is going to rain. ⇒ and going to rain
			stop ⇒ reminder dddd0001 100ms: call ping_user {"message":"Water the plants?"} ⇒ start ⇒ and Water the plants?
			me ▸ wait 500ms ; say 150×(The long story goes on and on. )The end. ⇒ and The end.
			stop ⇒ early one of the night ⇒ early ▸ wait 500ms ; say I have read both. ⇒ start ⇒ and I have read both. ⇒ stop
			rang 1 Good morning | 1 Water the plants | 1 The long story | 1 I have read both`}, // P2
			story{"for answers, pings and questions, not for edits that wait and words of the dashboard, with " + line, `
			given no contract
			given ` + line + `
			tidy Tidy up. ⇒ reminder dddd0001 100ms: call ping_user {"message":"Water the plants?"} ⇒ and Water the plants?
			me ▸ wait 500ms ; say Morning. ⇒ and Morning. ⇒ edits Delete it all. ⇒ and Edit of Tidy ⇒ and Written.
			do /permissions default ⇒ me ▸ ask Bash {"command":"rm a"} ; say Done. ⇒ and Run this command? ⇒ decide deny ⇒ and Done.
			typed ▸ say Typed. ⇒ and in the dashboard ⇒ exactly Typed. ⇒ said 1 Edit of Tidy ⇒ said 1 is here ⇒ said 1 in the dashboard
			rang 1 Run this command | 1 Morning. | 1 Done. | 1 Written. | 1 Typed. | 1 Water`})
	}
	tell(t, stories...)
}

func TestTheFirstThingThatThePhoneShowsAreTheWordsOfAnAnswer(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"and the bot types before", `
			me ▸ wait 500ms ; say Good morning. ⇒ and Good morning. ⇒ begins Good morning. ⇒ typing ⇒ marks ✅
			from here ⇒ me ▸ wait 500ms ; say Good night. ⇒ and Good night. ⇒ typing`}, // P2
		story{"also before the next answer begins", `stub *: turn ⇒ writes That was it. ⇒ ended ⇒ and That was it. ⇒ from here ⇒ me x ⇒ hears x ⇒ marks 👀 ⇒ typing`},
		// A quiet message costs no token; what was not asked to be quiet rings.
		story{"but a quiet message does not ring, and costs nothing", `
			reminder dddd0001 100ms: call ping_user {"message":"The parcel has arrived.","quiet":true}
			reminder dddd0002 2s: call ping_user {"message":"Leave now."} ⇒ bot The parcel has arrived. ⇒ silent ⇒ bot Leave now. ⇒ rings ⇒ now tokens=4 | free=1`})
}

// D1, D6, D12: a day of 8 routines, 5 reminders, 20 chats, a failing feed, a promise, a fork, a restart and an outage
// rings for the answers, the pings, and once for the feed. Nothing else does, and nothing is left of updates that were
// caught up with.
func TestAWholeDayRingsOnlyForWhatAPersonWantsToHear(t *testing.T) {
	testkit.Alone(t)
	var steps []string
	does := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }
	chats := 0
	chat := func(times int, before string) {
		for range times {
			chats++
			does("me ▸ %ssay This is the answer number %d.\n and the answer number %d.\n now busy=false", before, chats, chats)
		}
	}
	does("given no contract")
	for i := range 3 {
		does(`routine aaaa000%d Ping %d: call ping_user {"message":"Routine %d has something for you."}`, i, i, i)
		does(`routine aaaa000%d Report %d: call report_updates {"message":"Nothing urgent from %d."}`, i+3, i, i)
	}
	does(`routine aaaa0006 Quiet: call ping_user {"message":"The parcel has arrived.","quiet":true}`)
	does("routine aaaa0007 Feed: fail the feed cannot be read")
	for i := range 5 {
		does(`reminder dddd000%d 24h: call ping_user {"message":"Reminder %d is due."}`, i, i)
	}
	does("restore")
	chat(5, "say Let me think about that for a moment, please.  ; ")
	for i := range 7 {
		does("fires aaaa000%d\n now ended=%d", i, i+1)
	}
	does("fires aaaa0007\n now ended=8\n fires aaaa0007\n now ended=9\n fires aaaa0007\n now ended=10")
	chat(4, "") // with updates to catch up with
	does(`me I'll write to the bank later ▸ call propose_reminder {"words":"I'll write to the bank later"} ; say I have asked you about the bank.`)
	does("and I have asked you about the bank.\n and When shall I remind you?\n now busy=false")
	for i := range 5 {
		does("fires dddd000%d\n now ended=%d\n and Reminder %d is due.", i, i+11, i)
	}
	does("/fork topic=the garden\n bot Forked Session\n now busy=false | fork=true")
	chat(1, "")
	does("press Exit Fork\n and Fork Ended\n restart")
	chat(4, "")
	does("down\n me ▸ say This one was answered after the outage.\n up\n and This one was answered after the outage.")
	chat(18-chats, `call discord_embed {"title":"The plan of the day"} ; `)
	does("said 0 catching up\n stop")
	does("rang 20 answer number|Let me think|about the bank|after the outage|plan of the day | 8 has something for you|is due | 1 the feed cannot be read | 1 No model is connected")
	newPlayer(t).plays(strings.Join(steps, "\n"))
}
