package main

import "ollimbot/routines/starter"

// The tasks of the pictures; all but the last are those of the example files, with words
// of their own.
const (
	medicine = "a11ce002"
	inbox    = "a11ce003"
	review   = "a11ce005"
	papers   = "5a000004"
)

const question = "What is left for today?"

var own = []starter.File{
	{Path: "routines/medication.md", Data: []byte(`---
id: "a11ce002"
cron: "0 8,14,20 * * *"
description: "Medication"
background: true
update-main-session: "always"
---
Ping, and report.

` + "```script" + `
think A health routine: worth a token.
call ping_user {"message": "Time for the medication. A glass of water is half the work."}
wait 1s
call report_updates {"message": "Medication: pinged at 14:02, no answer yet."}
say Done; I will ask later.
` + "```\n")},
	{Path: "routines/inbox-sweep.md", Data: []byte(`---
id: "a11ce003"
cron: "30 9,15,18 * * mon-sat"
description: "Inbox sweep"
background: true
update-main-session: "freely"
---
Sweep the inbox and report what needs an answer today.

` + "```script" + `
think Seven new messages since the last sweep. Newsletters first, they go away.
say Reading seven new messages.
ask Bash {"command": "ollim-bot tasks list"}
wait 1s
say Four newsletters and an invoice that is paid already.
say Two need an answer today: the landlord about the boiler, and Dana about Friday.
call report_updates {"message": "Inbox: 2 of 7 need an answer today (landlord about the boiler, Dana about Friday)."}
wait 1s
say The rest can wait until Monday.
` + "```\n")},
	{Path: "routines/weekly-review.md", Data: []byte(`---
id: "a11ce005"
cron: "0 16 * * sat"
description: "Weekly review"
background: true
update-main-session: "always"
allow-ping: false
---
Look back at the week.

` + "```script" + `
think Five days, eleven finished tasks, two that came back twice.
say Eleven tasks are done this week; the tax letter came back for the third time.
wait 2s
say The mornings were good: four of five plans were kept until noon.
wait 2s
say Looking at what was put off …
wait 1m
` + "```\n")},
	{Path: "routines/papers.md", Data: []byte(`---
id: "5a000004"
cron: "0 17 * * sat"
description: "Sort the papers"
background: true
update-main-session: "always"
---
Sort what was scanned, and say what has a date.

` + "```script" + `
think Nineteen scans since last Saturday. What has a date comes first.
ask Glob {"pattern": "scans/*.md"}
say Nineteen scans; reading the letters among them.
ask Read {"file_path": "scans/tax-office.md"}
think The tax office wants an answer by 4 December. That is thirteen days: a note, no ping.
say Tax office, letter of 16 November: the receipts for the study are missing.
say They have to be there by 4 December; a letter or the portal will do.
ask Read {"file_path": "scans/landlord.md"}
say Landlord, letter of 19 November: the boiler is serviced on Thursday between 8 and 10.
think Somebody has to be at home on Thursday, and it is not in the calendar yet.
ask Bash {"command": "ollim-bot tasks list"}
call ping_user {"message": "The boiler is serviced on Thursday, 8 to 10. Shall I block the morning?"}
say Asked about Thursday morning.
ask Read {"file_path": "scans/insurance.md"}
say Insurance: a letter of four pages, of which one sentence matters. The rate stays as it is.
call ping_user {"message": "The insurance rate stays as it is."}
say That one can wait for the evening summary.
say Eleven receipts, two of them for the study: kept for the tax letter.
call report_updates {"message": "Papers: tax receipts are due on 4 December; the boiler is serviced on Thursday, 8 to 10 (asked)."}
say Two flyers, one postcard from Dana, one bill that is paid already.
ask Read {"file_path": "scans/clinic.md"}
say Clinic: the letter with the results says that all is well.
wait 2s
say Naming the files by date and sender.
repeat 6
wait 300ms
say Named %d of 19: sender, date and what it is about.
end
wait 1m
` + "```\n")},
}
