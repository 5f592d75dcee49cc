package demo

import (
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/routines"
)

// The routines among the example files that the driver fires.
const (
	medication  = "a11ce002"
	inboxSweep  = "a11ce003"
	moveALittle = "a11ce004"
	goodNight   = "a11ce006"
)

// scenes are the scenes of a day. Within a minute they show normal operation, within five minutes also problems: a
// ping refused, a run that fails, a file with a mistake, a file that needs approval. The hours after that are calm.
var scenes = []scene{
	{300 * time.Millisecond, "inbox", fire(inboxSweep)},
	{1500 * time.Millisecond, "medication", fire(medication)},
	{3 * time.Second, "laundry", start(laundryRun)},
	{5 * time.Second, "plants earlier", edit(plants, 12*time.Minute)},
	{6 * time.Second, "move", fire(moveALittle)},
	{20 * time.Second, "question", say("What is left for today?")},
	{90 * time.Second, "a run that fails", start(mailRun)},
	{2 * time.Minute, "an error in a file", mistype(plants, "61 9 * * *")},
	{2*time.Minute + 20*time.Second, "the error fixed", edit(plants, 10*time.Minute)},
	{2*time.Minute + 40*time.Second, "a promise", say("I'll call the dentist tomorrow.")},
	{3 * time.Minute, "reminded of it", agree(core.KindPromise)},
	{3*time.Minute + 15*time.Second, "a question before writing", say("Please put the answer to the landlord on my desktop.")},
	{3*time.Minute + 22*time.Second, "a ping into the conversation", start(parcelRun)},
	{5 * time.Minute, "what came", say("Did anything come in?")},
	{5*time.Minute + 30*time.Second, "a better time", agree(core.KindTime)},
	{6 * time.Minute, "a routine that lacks its skill", save(invoicesFile, invoices)},
	{6*time.Minute + 40*time.Second, "the skill left out", save(invoicesFile, strings.Replace(invoices, "skills: [\"invoices\"]\n", "", 1))},
	{7 * time.Minute, "many at once", start(newsRun, backupRun, weatherRun, birthdayRun, parcelQuietRun)},
	{11 * time.Minute, "stand-up", fire(standUp)},
	{16 * time.Minute, "stuck", say("I am stuck with the tax letter.")},
	{17 * time.Minute, "less stuck", say("The first sentence is written!")},
	{22 * time.Minute, "evening list", start(listRun)},
	{30 * time.Minute, "until it is done", start(pharmacyRun)},
	{38 * time.Minute, "papers", fire(papers)},
	{45 * time.Minute, "asking for a reminder", say("Remind me to call Dana in 3 minutes.")},
	{55 * time.Minute, "budget", say("How many pings were that today?")},
	{62 * time.Minute, "inbox", fire(inboxSweep)},
	{72 * time.Minute, "mail", say("Did the landlord write?")},
	{80 * time.Minute, "laundry", start(laundryRun)},
	{96 * time.Minute, "stove", start(stoveRun)},
	{104 * time.Minute, "review", say("How was the day?")},
	{110 * time.Minute, "good night", fire(goodNight)},
	{111 * time.Minute, "the one thing", say("The walk at noon, thank you.")},
}

const (
	// between is the interval of quiet runs, starting at calm.
	between = 150 * time.Second
	calm    = 8 * time.Minute
)

// day is the n-th day: the same scenes, between them quiet runs in turn.
func day(n int) []scene {
	list := slices.Clone(scenes)
	quiet := []run{newsRun, weatherRun, backupRun, birthdayRun, parcelQuietRun}
	i := n
	for at := calm; at < dayLong-between; at += between {
		r := quiet[i%len(quiet)]
		list = append(list, scene{at, r.title, start(r)})
		i++
	}
	slices.SortStableFunc(list, func(a, b scene) int { return int(a.at - b.at) })
	return list
}

// A routine that is saved before the skill that it names.
const (
	invoicesFile = "routines/sort-invoices.md"
	invoices     = `---
id: "de300006"
cron: "0 17 * * fri"
description: "Sort invoices"
background: true
skills: ["invoices"]
---
Sort the invoices of the week, and report what is due.
`
)

// answers are the user's answers to the pings of reminders, by title.
var answers = map[string]string{
	"Evening list": "Bins are out. Dana gets a yes.",
	"Parcel":       "Good, I am at home.",
	"Stove":        "Off now. Thank you!",
	"Call Dana":    "Called her; Friday it is.",
}

const (
	inboxScript = `think Seven new messages since the last sweep. Archive the newsletters first.
say Reading seven new messages.
wait 2s
say Four newsletters and an invoice that is paid already.
wait 2s
say Two need an answer today: the landlord about the boiler, and Dana about Friday.
call report_updates {"message": "Inbox sweep: 2 of 7 need an answer today (landlord about the boiler, Dana about Friday)."}
wait 2s
say The rest can wait until tomorrow.`
	medicationScript = `think A health routine: worth a token.
call ping_user {"message": "Time for the medication. A glass of water is half the work."}
wait 1s
call report_updates {"message": "Medication: pinged, no answer yet."}
say Done; I will ask later.`
	moveScript = `say An hour in the chair is enough.
call ping_user {"message": "Five minutes on your feet? The window is a good place."}
wait 1500ms
think One more line would be nice.
call ping_user {"message": "And stretch your shoulders while you are there."}
say One ping for each run; the shoulders can wait.`
	papersScript = `think Eleven scans since last week. What has a date comes first.
say Eleven scans; reading the letters among them.
wait 8s
say Tax office, letter of the 16th: the receipts for the study are missing.
wait 6s
say They have to be there by the 4th; a letter or the portal will do.
wait 8s
say Landlord: the boiler is serviced on Thursday between 8 and 10.
think Somebody has to be at home on Thursday, and it is not in the calendar yet.
wait 5s
say Insurance: four pages, of which one sentence matters. The rate stays as it is.
wait 8s
say Clinic: the letter with the results says that all is well.
wait 5s
say Naming the files by date and sender.
repeat 11
wait 1500ms
say Named %d of 11: sender, date and what it is about.
end
call report_updates {"message": "Papers: tax receipts are due on the 4th; the boiler is serviced on Thursday, 8 to 10."}
say Done: eleven files, two dates.`
)

var (
	pharmacyRun = run{
		title: "Call the pharmacy", untilDone: true,
		words: "Remind me to call the pharmacy until it is done.",
		script: `say This one repeats until Done, Later or Not today is pressed.
call ping_user {"message": "Call the pharmacy: the prescription is ready until six."}`,
	}
	laundryRun = run{
		title: "Laundry", chain: 2, mode: routines.Freely,
		words: "Take the laundry out of the machine.",
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
	parcelRun = run{
		title: "Parcel",
		words: "The parcel will be delivered between two and four.",
		script: `wait 1s
call ping_user {"message": "Your parcel arrives between two and four."}
say You are in a conversation, so this becomes an update.
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
	newsRun        = quietRun("News", "Nothing in the news concerns you today.")
	backupRun      = quietRun("Backup", "The backup of last night is complete.")
	weatherRun     = quietRun("Weather", "Rain from five o'clock on; take the tram.")
	birthdayRun    = quietRun("Birthdays", "Jo turns forty on Thursday.")
	parcelQuietRun = quietRun("Parcel tracking", "The parcel is in the van, eleven stops away.")
)

// quietRun is a run that only says something, to fill the queue.
func quietRun(title, words string) run {
	return run{
		title: title, words: words, silent: true, isolated: true, mode: routines.Freely,
		script: "say Looking.\nwait 3s\nsay " + words,
	}
}

const (
	plantsScript = `think Two days without rain; the basil hangs its head.
call ping_user {"message": "The plants on the balcony are thirsty."}
call report_updates {"message": "Plants: pinged."}
say One can is enough.`
	teaScript = `think Two hours at the desk.
call ping_user {"message": "Time for a cup of tea and a look out of the window."}
call report_updates {"message": "Tea break: pinged."}
say That is all.`
)

// inboxFile is the inbox sweep's.
const inboxFile = "routines/inbox-sweep.md"

const standUpScript = `think Yesterday's runs and the chat say enough.
say Three lines: what got done, what is open, what is next.
wait 1s
call report_updates {"message": "Stand-up: the landlord is answered, Dana is open, the tax letter is next."}`

// starterScripts are the scripts of the example routines for which the offline engine
// would say too little, by file.
var starterScripts = map[string]string{
	"routines/morning-plan.md": `think What would be missed most? The tax letter; it is due on Friday.
say Two meetings, one open letter, nothing urgent in the inbox.
wait 1s
call discord_embed {"title": "Today", "fields": [{"name": "First", "value": "the tax letter"}, {"name": "Step", "value": "the form, on the table"}]}
call report_updates {"message": "Morning plan: sent a card, the tax letter comes first."}`,
	inboxFile:                   inboxScript,
	"routines/medication.md":    medicationScript,
	"routines/move-a-little.md": moveScript,
	"routines/weekly-review.md": `think The calls got finished, the letter slipped twice.
say Finished: the calls. Slipped: the tax letter. Repeated: late evenings.
wait 1s
call ping_user {"message": "Your week: calls done, the tax letter slipped again, three late evenings. What would make the letter smaller?"}
call report_updates {"message": "Weekly review: sent; asked what would make the letter smaller."}`,
	"routines/good-night.md": "say What was the one thing worth remembering today? Good night.",
}
