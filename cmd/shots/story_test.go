package main

import "ollimbot/routines/starter"

// The tasks of the pictures.
const (
	medicine = "5a000001"
	inbox    = "5a000002"
	review   = "5a000003"
)

const question = "What is left for today?"

var own = []starter.File{
	{Path: "routines/medicine.md", Data: []byte(`---
id: "5a000001"
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
	{Path: "routines/inbox.md", Data: []byte(`---
id: "5a000002"
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
	{Path: "routines/review.md", Data: []byte(`---
id: "5a000003"
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
}
