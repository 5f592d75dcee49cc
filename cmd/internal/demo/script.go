package demo

import (
	"time"

	"ollimbot/routines"
)

// The demo's script. The opening shows within about ten seconds what the bot does. The
// everyday steps then repeat until the demo ends.

var opening = []step{
	{300 * time.Millisecond, "inbox", start(inboxRun)},
	{1200 * time.Millisecond, "medication", start(medicationRun)},
	{1500 * time.Millisecond, "move", start(moveRun)},
	{1500 * time.Millisecond, "laundry", start(laundryRun)},
	{2 * time.Second, "plants earlier", edit(plants, 12*time.Minute)},
}

var everyday = []step{
	{14 * time.Second, "question", say("What is left for today?")},
	{12 * time.Second, "until it is done", start(pharmacyRun)},
	{12 * time.Second, "lists", start(listRun)},
	{16 * time.Second, "an error in a file", mistype(plants, "61 9 * * *")},
	{14 * time.Second, "the error fixed", edit(plants, 40*time.Minute)},
	{12 * time.Second, "many at once", start(inboxRun, newsRun, backupRun, weatherRun, birthdayRun)},
	{18 * time.Second, "talk", say("I am stuck with the evening plan.")},
	{0, "a run during the talk", start(hastyRun)},
	{20 * time.Second, "tea by hand", fire("de300002")},
	{18 * time.Second, "a run that fails", start(mailRun)},
	{12 * time.Second, "move", start(moveRun)},
	{16 * time.Second, "laundry", start(laundryRun)},
	{14 * time.Second, "plants", edit(plants, 15*time.Minute)},
	{18 * time.Second, "stove", start(stoveRun)},
	{15 * time.Second, "asking for a reminder", say("Remind me to call Dana in 2 minutes.")},
	{15 * time.Second, "thanks", say("Thank you, that helps.")},
}

var (
	inboxRun = run{
		title: "Inbox sweep", mode: routines.Freely, silent: true, isolated: true,
		words: "Sweep the inbox and report what needs an answer today.",
		script: `think Seven new messages since the last sweep. Archive the newsletters first.
say Reading seven new messages.
wait 2s
say Four newsletters and an invoice that is paid already.
wait 2s
say Two need an answer today: the landlord about the boiler, and Dana about Friday.
call report_updates {"message": "Inbox: 2 of 7 need an answer today (landlord about the boiler, Dana about Friday)."}
wait 2s
say The rest can wait until tomorrow.`,
	}
	medicationRun = run{
		title: "Medication", mode: routines.Always,
		words: "It is time for the medication. Ping, and report.",
		script: `think A health routine: worth a token.
call ping_user {"message": "Time for the medication. A glass of water is half the work."}
wait 1s
call report_updates {"message": "Medication: pinged, no answer yet."}
say Done; I will ask later.`,
	}
	moveRun = run{
		title: "Move a little",
		words: "A nudge to stand up and move.",
		script: `say An hour in the chair is enough.
call ping_user {"message": "Five minutes on your feet? The window is a good place."}
wait 1500ms
think One more line would be nice.
call ping_user {"message": "And stretch your shoulders while you are there."}
say One ping for each run: the rest goes into the report.
call report_updates {"message": "Move a little: pinged once, suggested stretching too."}`,
	}
	pharmacyRun = run{
		title: "Call the pharmacy", untilDone: true,
		words: "Remind me to call the pharmacy until it is done.",
		script: `say This one repeats until Done, Later or Not today is pressed.
call ping_user {"message": "Call the pharmacy: the prescription is ready until six."}`,
	}
	laundryRun = run{
		title: "Laundry", chain: 2, mode: routines.Freely,
		words: "Check whether the laundry is out of the machine, and again in a minute.",
		script: `say Checking whether the laundry is out of the machine.
wait 1s
say Not yet, as far as I can tell. The next check, if any, is in a minute.
call follow_up_chain {"minutes_from_now": 1}`,
	}
	listRun = run{
		title: "Evening list",
		words: "Send the evening list as a card.",
		script: `think Two things, the smaller one first.
say Putting the evening list together.
wait 1s
call discord_embed {"title": "This evening", "color": "green", "fields": [{"name": "Bins", "value": "by the door"}, {"name": "Dana", "value": "yes or no"}]}
call report_updates {"message": "Evening list: the bins, and an answer for Dana."}`,
	}
	hastyRun = run{
		title: "Parcel",
		words: "The parcel will be delivered between two and four.",
		script: `wait 1s
call ping_user {"message": "Your parcel arrives between two and four."}
say If you are in a conversation, this becomes an update.
call report_updates {"message": "Parcel: delivery between two and four."}`,
	}
	mailRun = run{
		title: "Newsletter digest", silent: true,
		words: "Collect the newsletters of the week.",
		script: `say Asking the mail server for the week's newsletters.
wait 2s
fail the mail server did not answer`,
	}
	stoveRun = run{
		title: "Stove", mode: routines.Always,
		words: "The stove has been on for three hours.",
		script: `think Nobody wants to miss this one.
call ping_user {"message": "The stove has been on for three hours. Is that intended?", "critical": true}
call report_updates {"message": "Stove: on for three hours, critical ping sent."}`,
	}
	newsRun     = quietRun("News", "Nothing in the news concerns you today.")
	backupRun   = quietRun("Backup", "The backup of last night is complete.")
	weatherRun  = quietRun("Weather", "Rain from five o'clock on; take the tram.")
	birthdayRun = quietRun("Birthdays", "Jo turns forty on Thursday.")
)

// quietRun is a run that only says something, to fill the queue.
func quietRun(title, words string) run {
	return run{
		title: title, words: words, silent: true, isolated: true, mode: routines.Freely,
		script: "say Looking.\nwait 3s\nsay " + words,
	}
}

const standUp = `think Yesterday's runs and the chat say enough.
say Three lines: what got done, what is open, what is next.
wait 1s
call report_updates {"message": "Stand-up: the landlord is answered, Dana is open, the tax letter is next."}`

// starterScripts are the scripts of the example routines for which the offline engine
// would say too little, by file.
var starterScripts = map[string]string{
	"routines/morning-plan.md": `think What would be missed most? The tax letter; it is due on Friday.
say Two meetings, one open letter, nothing urgent in the inbox.
wait 1s
call discord_embed {"title": "Today", "color": "blue", "fields": [{"name": "First", "value": "the tax letter"}, {"name": "First step", "value": "put the form on the table"}]}
call report_updates {"message": "Morning plan: sent a card, the tax letter comes first."}`,
	"routines/inbox-sweep.md": inboxRun.script,
	"routines/weekly-review.md": `think The calls got finished, the letter slipped twice.
say Finished: the calls. Slipped: the tax letter. Repeated: late evenings.
wait 1s
call ping_user {"message": "Your week: calls done, the tax letter slipped again, three late evenings. What would make the letter smaller?"}
call report_updates {"message": "Weekly review: sent; asked what would make the letter smaller."}`,
	"routines/good-night.md": "say What was the one thing worth remembering today? Good night.",
}
