package discord

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// Only the owner is heard, and only in private.
func TestOnlyTheOwnerIsHeardAndOnlyInPrivate(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"what others write, and what is written elsewhere, does not reach the bot", `
			stub ⇒ me first ⇒ stranger let me in ⇒ other ✅ ⇒ server on a server ⇒ stranger reacts ✅ ⇒ stranger /clear ⇒ bot not authorized. ⇒ private
			answered 4 0 ⇒ me last ⇒ hears first ⇒ hears last`},
		story{"a command on a server is refused", `stub ⇒ server /clear ⇒ and only in our direct messages.`},
		story{"events that are no messages break nothing", `
			stub ⇒ me first ⇒ dispatch MESSAGE_CREATE {} ⇒ dispatch MESSAGE_CREATE {"id":"","channel_id":"","author":null}
			dispatch MESSAGE_CREATE {"id":"5","channel_id":"6"} ⇒ dispatch MESSAGE_CREATE {"id":5,"channel_id":[],"author":"x"}
			dispatch MESSAGE_CREATE {"id":"9","channel_id":"$channel","author":null,"content":"nobody"} ⇒ dispatch INTERACTION_CREATE {}
			dispatch INTERACTION_CREATE {"id":5,"channel_id":[],"author":"x"}
			dispatch INTERACTION_CREATE {"id":"9","channel_id":"$channel","author":null,"content":"nobody"} ⇒ dispatch MESSAGE_REACTION_ADD {}
			dispatch MESSAGE_REACTION_ADD {"id":5,"channel_id":[],"author":"x"}
			dispatch MESSAGE_REACTION_ADD {"id":"9","channel_id":"$channel","author":null,"content":"nobody"} ⇒ dispatch SOMETHING_NEW {"id":"5"} ⇒ me last
			hears first ⇒ hears last`},
		story{"the owner of a team is the owner", `given a team ⇒ stub ⇒ me hello ⇒ hears hello`},
		story{"a remembered channel that is gone is opened again", `stub ⇒ file state/discord.json {"app":"$bot","owner":"$owner","channel":"424242"} ⇒ me hello ⇒ hears hello`},
		story{"a ruined memory is set aside", `stub ⇒ file state/discord.json {"app":[] ⇒ me hello ⇒ hears hello ⇒ files 1 state/discord.json.corrupt-*`},
		story{"the user who has to write first opens the direct messages by that", `
			stub ⇒ fault * /users/@me/channels all refused 403 50278 ⇒ begin ⇒ status down unblock the bot, or share a server
			post p1 x => shut out ⇒ outside unblock the bot ⇒ logs 1 the user cannot be reached in Discord ⇒ log Privacy Settings
			stranger I am the owner ⇒ me hello ⇒ lift ⇒ hears hello ⇒ post p2 and now? ⇒ status ok up ⇒ outside -`},
		story{"a code of a login never reaches the agent, the log or the user's eyes", `
			given a login ⇒ stub login bad: error the code bad1#state is not right ⇒ me hello ⇒ me #7 ⇒ me ␣␣good-1_x#state-2␣␣ ⇒ me bad1#state ⇒ me no code # at all
			hears hello ⇒ hears #7 ⇒ hears login good-1_x#state-2 ⇒ hears login bad1#state ⇒ hears no code # at all ⇒ bot the login did not work ⇒ lacks bad1
			buttons Log in ⇒ logs 0 bad1 ⇒ stop ⇒ forget received ⇒ given no login ⇒ start ⇒ hears no code # at all`})
}

// What the user sends is heard once, in order, and as it was written.
func TestEachMessageIsHeardOnceInOrderAndAsItWasWritten(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"emoji without end and nothing at all are messages", `stub ⇒ me 4000×(👩‍🚀) ⇒ me ⇒ hears 4000×(👩‍🚀) ⇒ hears`},
		story{"forwarded messages and stickers are heard, also later, and notices are not", `
			given no contract ⇒ stub ⇒ forward The train leaves at nine. ⇒ send {"type":6} ⇒ send {"type":3,"call":{"participants":[],"ended_timestamp":null}}
			send {"sticker_items":[{"id":"7","name":"Wave","format_type":1}]} ⇒ hears [forwarded message]⏎The train leaves at nine. (a forwarded message)
			hears [sticker: Wave] ⇒ stop ⇒ send {"type":6} ⇒ send {"sticker_items":[{"id":"7","name":"Nod","format_type":1}]} ⇒ start ⇒ hears [sticker: Nod]`},
		story{"what the user edits and deletes while it waits is heard as it became", `
			stub first: hold ⇒ me first ⇒ name one ⇒ hears first ⇒ me secnd ⇒ name two ⇒ me my password ⇒ name three
			edit two second ⇒ delete three ⇒ edit one the very first ⇒ me last ⇒ /cost ⇒ hears /cost
			release ⇒ hears edit one: the very first ⇒ hears second … ⇒ alone last ⇒ delete two ⇒ hears edit two: gone`},
		// P9: a number that Discord wrote as text cost a message, and the user did not know.
		story{"an odd author costs no message, and the user learns of one that cannot be read", `
			given no contract ⇒ stub ⇒ send {"content":"live","author":{"id":"$owner","public_flags":"0"}} ⇒ hears live
			send {"content":"lost","author":{"id":42}} ⇒ and cannot read ⇒ log message=$mine
			stop ⇒ send {"content":"missed","author":{"id":"$owner","public_flags":"0"}} ⇒ send {"content":"lost too","author":{"id":"$owner","bot":"no"}}
			start ⇒ hears missed ⇒ log message=$mine ⇒ twice cannot read`},
		// P9: a page of history without a readable message ended the catch-up.
		story{"a message behind a page of unreadable ones is received", `
			given no contract ⇒ stub ⇒ me before ⇒ hears before
			stop ⇒ send 101× {"content":"lost","author":{"id":42}} ⇒ me behind them ⇒ start ⇒ hears behind them`},
		story{"messages that the bot refuses are marked, and the reason is said", `
			stub *: error too many messages wait already ⇒ several 5 # ⇒ hears 0 ⇒ hears 1 ⇒ hears 2 ⇒ hears 3 ⇒ hears 4 ⇒ and too many messages wait
			me x ⇒ hears x ⇒ marks ❌`},
		story{"a message whose answer Discord refuses is not done", `
			connected ⇒ fault POST /channels/*/messages all refused 403 50001 ⇒ me ▸ say Hello there. ⇒ marks ❌`}, // S39
		story{"below its name the bot says that it is muted, and then busy", `
			stub ⇒ world muted ⇒ begin ⇒ shows pings are muted until 07:30 ⇒ shows "status":"idle" ⇒ arrives
			world busy ⇒ writes It is done. ⇒ ended ⇒ and It is done. ⇒ shows your DMs (busy with one)`},
		story{"below its name the bot shows the pings that are left", `stub ⇒ world budget ⇒ begin ⇒ shows "type":4,"state":"3 of 5 pings left"`})
}

// Messages and answers outlive the program and the network.
func TestNothingOfAConversationIsLostOrDoneTwice(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"pictures are seen, and other files saved, whatever type they declare; the end rings no more", `
			upload ▸ say I see it. + cat.png text/plain PNG + notes.txt image/png just words ⇒ and I see it. ⇒ marks ✅ ⇒ chat you [1 image]
			chat you downloads/notes.txt ⇒ chat you Discord ⇒ holds downloads/notes.txt just words ⇒ from here ⇒ stop ⇒ exactly -# olli is going offline. ⇒ only`}, // P12
		story{"a picture that cannot be shown is named to the user", `
			upload ▸ say hm + cat.jpg - ` + "\xff\xd8\xff\xe0" + `broken
			and cat.jpg was saved, but I cannot see it: it `},
		story{"a forwarded message labels the conversation", `forward ▸ say I have read it ⇒ chat bot I have read it ⇒ chat bot a forwarded message`},
		story{"a ping that is answered after a restart continues its run", `
			reminder dddd0001 100ms: call ping_user {"message":"Water the plants?"} ; call report_updates {"message":"asked"} ⇒ bot Water the plants?
			now ended=1 | reminders=0 ⇒ stop ⇒ start ⇒ reply not yet ⇒ and Forked Session ⇒ now resumed=true`},
		story{"a reply streams to its end although the network is gone meanwhile", `
			me ▸ say Line 0 of the story. ; wait 300ms ; say Line 1 of the story. ; wait 300ms ; say Line 2 of the story. ; wait 300ms ; say Line 3 of the story.
			bot Line 0 ⇒ fault * /channels all lost ⇒ down ⇒ now busy=false ⇒ now surface=down | ok=false
			lift ⇒ up ⇒ bot Line 3 ⇒ has Line 0 ⇒ said 1 Line 0 ⇒ said 1 Line 1 ⇒ said 1 Line 2 ⇒ said 1 Line 3
			me ▸ say and on it goes ⇒ and and on it goes ⇒ now surface=up | ok=true`},
		story{"messages of the time between are caught up with once", `
			early ▸ say from before the first start ⇒ me ▸ say while I was there ⇒ and while I was there
			stop ⇒ early ▸ say one of the night ⇒ early ▸ say two of the night ⇒ start ⇒ and two of the night
			forget sessions ⇒ again MESSAGE_CREATE ⇒ me ▸ say last ⇒ and last ⇒ said 0 from before ⇒ said 1 while I was there ⇒ said 1 two of the night
			said 1 last ⇒ said 1 is here`}, // P12
		story{"a backlog is one turn with all of it in order, and one mark", `
			given no contract ⇒ me ▸ say hello ⇒ and hello ⇒ stop ⇒ several 11 part # of the night ⇒ me ▸ say I have read all of it. ⇒ from here
			start ⇒ and I have read all of it. ⇒ marks ✅ ⇒ count PUT /channels/*/messages/*/reactions/*/@me 2 ⇒ only is here | I have read ⇒ chats 12`}, // P11
		story{"without the REST interface the status says so, and answers and marks follow in order, with few requests", `
			given no contract ⇒ me ▸ say Ready. ⇒ and Ready. ⇒ now busy=false ⇒ fault * /channels all lost ⇒ from here
			me ▸ say This is the first answer. ⇒ name first ⇒ chat bot first answer ⇒ now busy=false
			me ▸ say This is the second answer. ⇒ status down down since ⇒ reacted 12
			lift ⇒ and first answer ⇒ and second answer ⇒ below second answer: first answer ⇒ marks ✅ ⇒ see first ⇒ marks ✅ ⇒ status ok up`}, // D4
		story{"a start without Discord is in the log, and in the status, until it is there", `
			stub ⇒ down ⇒ begin ⇒ log discord cannot be reached ⇒ status down down since ⇒ up ⇒ arrives ⇒ log discord can be reached again ⇒ status ok up`}, // D4
		story{"a start while Discord fails is a start later", `
			stub ⇒ fault * /applications/@me all broken 503 ⇒ begin ⇒ status down down since ⇒ lift ⇒ arrives ⇒ status ok up`},
		story{"an answer survives a moment in which the user cannot be reached", `
			stub ⇒ connected ⇒ fault PATCH /channels/*/messages 1 refused 403 50007 ⇒ writes these are the first words. ⇒ bot these are the first words.
			writes  and the last ⇒ count PATCH /channels/*/messages/* 1 ⇒ has these are the first words.`},
		story{"eyes that cannot be removed at the end are removed at the next start", `
			stub *: turn ⇒ me x ⇒ hears x ⇒ marks 👀 ⇒ fault DELETE /channels/*/messages/*/reactions all lost ⇒ stop ⇒ lift ⇒ start ⇒ marks -`},
		story{"after a kill the half answer is marked, and the eyes are gone", `
			stub *: turn ⇒ me tell me a story ⇒ hears tell me a story ⇒ marks 👀 ⇒ writes Once upon a time ⇒ bot Once upon a time
			kill ⇒ start ⇒ ends Once upon a time⏎-# *cut short: the bot was ended here. ask again for the rest.* ⇒ marks -`})
}

// Posts are messages of the bot outside of an answer: a ping, for example.
func TestAPostArrivesOnceOrSaysWhyNot(t *testing.T) {
	testkit.Alone(t)
	const post = "POST /channels/*/messages"
	tell(t,
		story{"a post waits for the network, and arrives once", `
			stub ⇒ connected
			fault stored ` + post + ` 1 broken 500
			fault stored ` + post + ` 1 lost
			fault stored ` + post + ` 1 garbled
			post p1 Stand up, please. ⇒ said 1 Stand up ⇒ post p1 Stand up, please. ⇒ once`},
		story{"a post without an answer may have arrived, a refused one has not", `
			stub ⇒ connected
			fault stored ` + post + ` all hold frozen
			post p1 Stand up. => unknown ⇒ lift ⇒ thaw frozen
			fault ` + post + ` all refused 403 50007
			post p2 Sit down. => shut out`},
		story{"a long post is one message, which is replied to, changed and deleted", `
			stub ⇒ connected ⇒ from here ⇒ post long 300×(a line of the report⏎) ⇒ ends … ⇒ count POST /channels/*/messages 1
			reply about that ⇒ hears about that (about the card) ⇒ rewrite short now ⇒ is short now ⇒ withdraw ⇒ withdraw ⇒ deleted`},
		story{"a user who shuts the bot out is seen in the status, until a post arrives", `
			stub ⇒ connected
			fault ` + post + ` all refused 403 50007
			post p1 x => shut out ⇒ status down unblock the bot ⇒ lift ⇒ post p2 y ⇒ status ok up`})
}

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
			reminder dddd0002 2s: call ping_user {"message":"Leave now."} ⇒ bot The parcel has arrived. ⇒ rings not ⇒ bot Leave now. ⇒ rings ⇒ now tokens=4 | free=1`})
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
