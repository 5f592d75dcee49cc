package schedule

import "testing"

// The steps of these tables are in steps_test.go. A routine's text is "water", a reminder's "call".

func TestARoutineFiresAtItsTimes(t *testing.T) {
	const running = `Skipped routine "water" (was due 00:05): its previous run has not ended`
	const twice = "This routine file has an error:\nroutines/copy.md: routines/copy.md has the same id (a) as routines/water.md, which stays active: give one of them another id"
	tell(t, []story{
		{"on the minute, again and again", "a 5,10 * * * *", "start, sleep 70m", "00:05 a, 00:10 a, 01:05 a, 01:10 a", "", ""},
		{
			"within a minute of it after a restart, and once", "a 5 0 * * *", "start, sleep 4m50s, stop, sleep 20s, start, sleep 1m, start, sleep 1m",
			"00:05:10 a of 00:05", "", "00:05 a done",
		},
		{
			"unless its previous run has not ended, which is noted once per run", "a */5 * * * *",
			"work 12m, start, runs a, sleep 6m, mark, sleep 5m, woken, sleep 9m",
			"00:00 a, 00:15 a", running + ` / Skipped routine "water" (was due 00:20): its previous run has not ended`,
			"00:00 a done, 00:05 a skipped, 00:10 a skipped, 00:15 a running, 00:20 a skipped",
		},
		{
			"as an edit has them, at once", "a 30 * * * *", "start, sleep 10m, put a 5,20 * * * *, edit b 15 * * * *, sleep 15m, drop a, sleep 40m",
			"00:15 b, 00:20 a", "", "",
		},
		{
			"though its text is edited in that second", "a 5 * * * *", "start, sleep 4m59s, jump 1500ms, edit a 5 * * * *; body: more",
			"00:05 a", "", "",
		},
		{
			"but owes nothing for a time in which it was away", "a 30 * * * *; missed: run",
			"start, sleep 10m, drop a, sleep 1h, edit a 30 * * * *; missed: run, sleep 25m",
			"01:30 a", "", "01:30 a done",
		},
		{
			"and by hand beside them", "a 5 * * * *", "start, sleep 2m, fire a, sleep 4m, cannot fire nosuch: nosuch",
			"00:02 a by hand, 00:05 a", "", "00:05 a done",
		},
		{
			"but not by hand while it runs", "a 5 * * * *", "work hangs quietly, start, fire a, cannot fire a: still running, sleep 6m",
			"00:00 a by hand", running, "00:05 a skipped",
		},
		{"although the disk is broken", "a 5 * * * *", "write state in the way, start, sleep 6m, kept ./state", "00:05 a", "", ""},
		{
			"once it is approved", "a */10 * * * *", "judge it may use Bash, start, sleep 25m, cannot fire a: Bash, judge, sleep 10m",
			"00:30 a", "", "",
		},
		{
			"but was not held while it was away", "a */10 * * * *",
			"judge it may use Bash, start, sleep 15m, drop a, sleep 1h, judge, edit a */10 * * * *, sleep 6m",
			"01:20 a", "", "00:00 a held needs your approval, 00:10 a held needs your approval, 01:20 a done",
		},
		{
			"of the file that was first, over a restart", "water/a 5 * * * *", "start, edit copy/a 7 * * * *, sleep 2s, start, sleep 10m, file a routines/water.md",
			"00:05 a", twice + " / " + twice, "",
		},
		{
			"whose late run is cancelled by new ones", "a 0 1 * * *; missed: run",
			"start, stop, sleep 2h, start, edit a 0 5 * * *; missed: run, sleep 1m, start, sleep 4h",
			"05:00 a", `Missed routine "water" (was due 01:00); it runs now, late`, "",
		},
		{
			"as its zone has them, within the window", "a 0 9 * * *; zone: Asia/Tokyo; window: 9:00-11:00; from: 2000-01-02",
			"start, sleep 10h, busy 02 00:00 until 02 05:00, sleep 20h",
			"02 02:00 a", "", "",
		},
		{"of every other week", "a 0 9 * * 2; every: 2 weeks; from: 2000-01-04", "start, sleep 30d", "04 09:00 a, 18 09:00 a", "", ""},
		{"on some days of the month", "a 0 17 * * 5; days: [second friday, last friday]", "start, sleep 30d", "14 17:00 a, 28 17:00 a", "", ""},
		{"between bounds", "a 0 9 * * *; from: 2000-01-05; until: 2000-01-07", "start, sleep 30d", "05 09:00 a, 06 09:00 a, 07 09:00 a", "", ""},
		{"so many times", "a 0 9 * * *; from: 2000-01-05; times: 2", "start, sleep 30d", "05 09:00 a, 06 09:00 a", "", ""},
		{"but those it skips", "a 0 9 * * *; until: 2000-01-10; skip: 2 Jan to 8 Jan, 2000-01-10", "start, sleep 30d", "09:00 a, 09 09:00 a", "", ""},
		{
			"again after its end when the clock is set back", "a 0 9 * * *; until: 2000-01-02", "start, sleep 5d, jump -5d, sleep 2d1h",
			"09:00 a, 02 09:00 a, 09:00 a", "", "",
		},
		{
			"and owes nothing for a bound of before", "a 0 9 * * *; missed: run; until: 2000-01-01",
			"start, stop, sleep 3d12h, put a 0 9 * * *; missed: run, start, sleep 1h",
			"", "", "",
		},
	})
}

func TestAnInvalidFileIsNotedOnceUntilItIsValid(t *testing.T) {
	tell(t, []story{{
		"of both kinds", "", "write routines/a.md nothing, write reminders/a.md nothing, start, edit b 0 9 * * *, " +
			"edit a 0 9 * * *, write routines/a.md nothing again, look", "",
		"This routine file has an error:\nroutines/a.md:1:1: … / This reminder file has an error:\nreminders/a.md:1:1: … / This routine file has an error:\nroutines/a.md:1:1: …", "",
	}})
}

func TestAMissedFireIsNotedOrRunsLate(t *testing.T) {
	const late = `Missed routine "water" (was due 01:00); it runs now, late`
	tell(t, []story{
		{"not that of a routine never seen before", "a 0 9 * * *; missed: run", "sleep 9h30m, start, sleep 1h", "", "", ""},
		{
			"noted once", `a 0 9 * * *; description: "Water the plants"`, "start, stop, sleep 10h, start, stop, start, sleep 1h",
			"", `Missed routine "Water the plants" (was due 09:00)`, "09:00 a missed the bot was off",
		},
		{
			"with the day", "a 0 9 1 * *", "start, stop, sleep 33h, start, stop, sleep 32d20h, start",
			"", `Missed routine "water" (was due Saturday 09:00) / Missed routine "water" (was due Tuesday 09:00)`, "",
		},
		{
			"run once, and all count as one", "a 0 * * * *; missed: run", "start, stop, sleep 3h30m, start, sleep 20m, start, sleep 10m",
			"00:00 a, 03:30:05 a of 03:00 +2 late, 04:00 a", `Missed routine "water" (was due 03:00); it runs now, late`,
			"00:00 a done, 01:00 a missed the bot was off, 02:00 a missed the bot was off, 03:00 a done late, 04:00 a done",
		},
		{
			"run up to twelve hours later", "a 0 1 * * *; missed: run", "start, stop, sleep 13h, start, sleep 1h",
			"13:00:05 a of 01:00 late", late, "01:00 a done late",
		},
		{
			"and not a second more", "a 0 1 * * *; missed: run", "start, stop, sleep 13h1s, start, sleep 1h",
			"", `Missed routine "water" (was due 01:00)`, "01:00 a missed the bot was off",
		},
		{
			"or as old as the file says, the last one too", "a 0 9 * * *; missed: run; late: 2 hours; from: 2000-01-01; times: 1",
			"start, stop, sleep 11h, start, sleep 3d",
			"11:00:05 a of 09:00 late", `…; it runs now, late`, "",
		},
		{
			"and not older", "a 0 9 * * *; missed: run; late: 1 hour; from: 2000-01-01; times: 1", "start, stop, sleep 11h, start, sleep 3d",
			"", `Missed routine "water" (was due 09:00)`, "",
		},
		{"on time for a minute", "a 0 1 * * *", "start, stop, sleep 61m, start, sleep 1m", "01:01 a of 01:00", "", "01:00 a done"},
		{"and not a second longer", "a 0 1 * * *", "start, stop, sleep 61m1s, start, sleep 1m", "", `Missed routine "water" (was due 01:00)`, ""},
		{
			"run though the bot ended before it did", "a 0 1 * * *; missed: run", "start, stop, sleep 2h, start, stop, start, sleep 1m",
			"02:00:05 a of 01:00 late", late, "01:00 a done late",
		},
		{
			"one after the other", "a 0 1 * * *; missed: run|b 0 1 * * *; missed: run|c @ 01:00|d @ 01:00", "start, stop, sleep 2h, start, sleep 1m",
			"02:00:05 c of 01:00 late, 02:00:07 d of 01:00 late, 02:00:09 a of 01:00 late, 02:00:11 b of 01:00 late", late + " / " + late, "",
		},
		{
			"wakes the dashboard, as nothing else does", "a 0 9 * * *", "start, sleep 1h, mark, sleep 1h, asleep, jump 10h, sleep 1m, woken",
			"", `Missed routine "water" (was due 09:00)`, "09:00 a missed the machine slept",
		},
	})
}

func TestAReminderFiresOnceAndIsUsedUp(t *testing.T) {
	tell(t, []story{
		{
			"after its run", "a @ 00:10",
			"work 1m, start, sleep 10m30s, kept a, sleep 1h, gone a, cannot fire a: no active, commits reminders/a.md: remove reminder a",
			"00:10 a", "", "00:10 a done",
		},
		{"also if that fails", "a @ 00:10", "work panics, start, sleep 1h, gone a", "00:10 a", "", "00:10 a failed…"},
		{"also if it ends while the bot does", "a @ 00:10", "work hangs quietly, start, sleep 11m, stop, gone a, start, sleep 1m", "00:10 a", "", ""},
		{
			"late if nothing ran at its time", "a @ 00:10", "sleep 2d, start, sleep 10s, edit b @ 02 00:10, sleep 10s",
			"03 00:00:05 a of 00:10 late, 03 00:00:15 b of 02 00:10 late", "", "00:10 a done late, 02 00:10 b done late",
		},
		{
			"at its place, though its text is edited", "a @ 00:10", "sleep 2d, start, sleep 4s, edit a @ 00:10; body: call home, sleep 10s",
			"03 00:00:05 a of 00:10 late", "", "",
		},
		{
			"again if its failure could not be recorded", "a @ 00:10",
			"work unrecorded twice, start, sleep 12m, kept a, people 00:10 a overdue, agents 00:10 a overdue, sleep 1h, gone a",
			"00:10 a, 00:15 a of 00:10 late, 00:20 a of 00:10 late", "", "",
		},
		{"never when it is cancelled", "a @ 01:10|b @ 00:10", "sleep 1h, start, remove a, drop b, sleep 1h", "", "", ""},
		{"at the time to which it is moved", "a @ 00:10", "start, edit a @ 00:20, sleep 15m, edit a @ 00:16, sleep 15m", "00:16 a", "", ""},
		{
			"again if it is moved during its run", "a @ 00:10", "work 1m, start, sleep 10m30s, edit a @ 00:30, sleep 1h, gone a",
			"00:10 a, 00:30 a", "", "",
		},
		{
			"under the name it got during its run", "a @ 00:10",
			"work 1m, start, sleep 10m30s, rename reminders/a.md reminders/b.md, look, sleep 1h, gone b",
			"00:10 a", "", "",
		},
		{
			"though its file cannot be removed", "a @ 00:10", "work breaks state, start, sleep 1h, look, sleep 1h, kept a, edit a @ 03:00, sleep 2h",
			"00:10 a, 03:00 a", "", "",
		},
		{
			"though its file is removed only later", "a @ 00:10",
			"start, write state/trash in the way, sleep 15m, start, sleep 1m, kept a, stop, remove state/trash, start, sleep 1m, gone a, " +
				"stop, put a @ 00:20, start, sleep 10m",
			"00:10 a, 00:20 a", "", "",
		},
		{
			"before its run is recorded, in the conversation", "a @ 00:10", "work is shown, start, sleep 1h, commits reminders/a.md: remove reminder a",
			"00:10 a", "", "",
		},
		{"by hand", "a @ 00:10", "start, sleep 1m, fire a, gone a, sleep 1h", "00:01 a by hand", "", ""},
		{
			"by hand while the clock is not set", "a @ 05:00", "jump -10980d, start, fire a, sleep 1s, gone state/schedule.json",
			"09 00:00 a by hand", "The clock says …", "",
		},
		{
			"not by hand if it is kept", "a @ 05:00", "work 1m, start, cannot keep a, fire a, sleep 10s, keep a, sleep 1h, kept a, sleep 6h, gone a",
			"00:00 a by hand, 05:00 a", "", "",
		},
		{
			"not by hand beside its time", "a @ 05:00; until: done; again: 10|b @ 05:00",
			"start, fire a, sleep 1s, beside b, sleep 5h1m, kept a, gone b",
			"00:00 a by hand, 00:00:01 b by hand, 05:00 a, 05:00 b", "", "05:00 a done, 05:00 b done",
		},
		{"at its time when it is put back", "a @ 05:00", "start, fire a, sleep 1h, gone a, restore a, sleep 6h", "00:00 a by hand, 05:00 a", "", ""},
		{
			"until done, until its last time", "a @ 00:10; until: done; again: 10; max-chain: 2", "work 1500ms, start, sleep 2h, gone a",
			"00:10 a, 00:20:01 a, 00:30:02 a, 00:40:03 a last", "", "",
		},
		{
			"until done, again where it could not be moved on", "a @ 00:10; until: done; again: 10",
			"work breaks state, start, sleep 12m, logs …its run is tried again…, work mends state, sleep 20m",
			"00:10 a, 00:15 a of 00:10 late, 00:25 a", "", "",
		},
		{
			"as the user has removed it during its run", "a @ 00:10; until: done; again: 10",
			"work removes it, start, sleep 10m, look, sleep 10h, gone a, logs",
			"00:10 a", "", "",
		},
		{
			"as the user has broken it during its run", "a @ 00:10; until: done; again: 10",
			"work breaks it, start, sleep 10m, look, sleep 10h, kept a, logs",
			"00:10 a", "This reminder file has an error:…", "",
		},
		{
			"as the user has moved it during its run", "a @ 00:10; until: done; again: 10",
			"work moves it, start, sleep 10m, look, sleep 10h, kept a, logs",
			"00:10 a", "", "",
		},
		{
			"which is what it speaks ahead of", `a @ 03 09:00; ahead: ["1 day: tomorrow", "1 hour"]`, "start, sleep 3d, gone a",
			"02 09:00 a (1 day before: tomorrow), 03 08:00 a (1 hour before), 03 09:00 a", "",
			"02 09:00 a (1 day before) done, 03 08:00 a (1 hour before) done, 03 09:00 a done",
		},
		{
			"late with what it missed to say ahead", `a @ 03 09:00; ahead: ["1 day", "1 hour"]`,
			"start, stop, sleep 34h, start, sleep 1m, start, sleep 3d",
			"02 10:00:05 a (1 day before) of 02 09:00 late, 03 08:00 a (1 hour before), 03 09:00 a", "", "",
		},
		{
			"late with the last of that", `a @ 03 09:00; ahead: ["1 day", "1 hour"]`, "start, stop, sleep 56h30m, start, sleep 1m, start, sleep 3d",
			"03 08:30:05 a (1 hour before) of 03 08:00 late, 03 09:00 a", "", "",
		},
		{
			"without any once it is due", `a @ 03 09:00; ahead: ["1 day", "1 hour"]`, "start, stop, sleep 58h, start, sleep 1m, start, sleep 3d",
			"03 10:00:07 a of 03 09:00 late", "", "",
		},
		{
			"and its repetitions say nothing ahead", "a @ 02:00; until: done; max-chain: 1; ahead: 10 minutes", "start, sleep 5h",
			"01:50 a (10 minutes before), 02:00 a, 02:30 a, 03:00 a last", "", "",
		},
	})
}

func TestAReminderWhoseRunWasInterruptedFiresAgainLate(t *testing.T) {
	tell(t, []story{
		{
			"again if its run was interrupted", "a @ 00:10", "work hangs, start, sleep 11m, stop, kept a, work ok, start, sleep 10s, gone a",
			"00:10 a, 00:11:05 a of 00:10 late", "", "",
		},
	})
}

// A kill leaves the files as they were when the last run began, or at the step snap. The bot then knows which runs have ended.
func TestAKillLosesAndDoublesNothing(t *testing.T) {
	const again = "00:10 a, 00:15:05 a of 00:10 late"
	const atFire = `contains state/schedule.json …"last_fire":"2000-01-01T00:05:00Z","outcome":"running"…`
	tell(t, []story{
		{"of a routine", "a 5 * * * *", "start, sleep 5m, kill, " + atFire + ", start, sleep 30s, outcome interrupted", "00:05 a", "", "00:05 a interrupted"},
		{
			"of a reminder whose run has ended", "a @ 00:10",
			"start, sleep 15m, kill, ended a for 00:10 at 00:10, start, account 00:10 a done, sleep 1m, gone a, start, sleep 1m",
			"00:10 a", "", "00:10 a done",
		},
		{
			"of one whose run has not", "a @ 00:10", "start, sleep 15m, kill, start, account 00:10 a interrupted, sleep 1m, gone a, start, sleep 1m",
			again, "", "00:10 a done late",
		},
		{
			"of one whose ended run was for another time", "a @ 00:10",
			"start, sleep 15m, kill, ended a for 00:09 at 00:10, start, account 00:10 a interrupted, sleep 1m, gone a, start, sleep 1m",
			again, "", "",
		},
		{
			"of one beside another with a run that ended", "a @ 00:10",
			"start, sleep 15m, kill, ended b for 00:10 at 00:10, start, account 00:10 a interrupted, sleep 1m, gone a, start, sleep 1m",
			again, "", "",
		},
		{
			"of one with an earlier run by hand", "a @ 00:10",
			"start, sleep 15m, kill, ended a for 00:10 at 00:09:59, start, account 00:10 a interrupted, sleep 1m, gone a, start, sleep 1m",
			again, "", "",
		},
		{
			"of one that was moved after its run", "a @ 00:10", "start, sleep 15m, kill, put a @ 00:20, ended a for 00:10 at 00:10, start, sleep 10m",
			"00:10 a, 00:20 a", "", "",
		},
		{
			"of one with a next check", "a @ 00:10; until: done; again: 30; max-chain: 2; allow-ping: true",
			"start, sleep 15m, kill, ended a for 00:10 at 00:10, start, contains reminders/a.md …chain-depth: 1…, sleep 31m",
			"00:10 a, 00:45 a", "", "",
		},
		{
			"of one fired beside its schedule", "a @ 00:10",
			"work 1m, start, beside a, sleep 30s, snap, sleep 1m, kill, ended a for 00:10 at 00:00, start, kept a, sleep 10m",
			"00:00 a by hand, 00:10 a", "", "",
		},
		{
			"of one whose run by hand was undone", "a @ 00:10",
			"work 1m, start, fire a, sleep 1s, keep a, sleep 30s, snap, sleep 1m, kill, ended a for 00:10 at 00:00, start, kept a, sleep 10m",
			"00:00 a by hand, 00:10 a", "", "",
		},
		{
			"of one that had failed while the bot ended", "a @ 00:10",
			"work hangs and fails, start, sleep 11m, stop, kept a, ended a for 00:10 at 00:10, work ok, start, sleep 1m",
			"00:10 a", "", "",
		},
		{
			"of one that had been interrupted then", "a @ 00:10", "work hangs and fails, start, sleep 11m, stop, kept a, work ok, start, sleep 1m",
			"00:10 a, 00:11:05 a of 00:10 late", "", "",
		},
		{
			"of what is said ahead", `a @ 03 09:00; ahead: 1 day`,
			"work hangs, start, sleep 33h, stop, work ok, ended b for 00:00 at 00:00, start, sleep 1h, asked a 02 09:00, start, sleep 1h",
			"02 09:00 a (1 day before), 02 09:00 a (1 day before)", "", "",
		},
		{
			"of what was said ahead", `a @ 03 09:00; ahead: 1 day`,
			"work hangs, start, sleep 33h, stop, work ok, ended a for 02 09:00 at 02 09:00, start, sleep 1h, asked a 02 09:00, start, sleep 1h",
			"02 09:00 a (1 day before)", "", "",
		},
		{
			"of a late run that had no money", "a 30 * * * *; missed: run",
			"start, stop, sleep 45m, broke until 06:00, start, sleep 7s, snap, kill, free, start, sleep 10m",
			"", `Missed routine "water" (was due 00:30); it runs now, late`, "",
		},
		{
			"L5: nor repeats what the user cut off", "a 0 * * * *|b @ 01:30",
			"work cut off, start, sleep 61m, people 01:00 a cut off, agents 01:00 a cut off, sleep 58m, start, sleep 30s, gone b",
			"00:00 a, 01:00 a, 01:30 b", "", "00:00 a interrupted by you, 01:00 a interrupted by you, 01:30 b interrupted by you",
		},
	})
}

func TestTheOutcomeIsWrittenAfterTheRun(t *testing.T) {
	tell(t, []story{
		{"done, a second later", "a 5 * * * *", "start, sleep 5m1s, outcome done", "00:05 a", "", "00:05 a done"},
		{"failed", "a 5 * * * *", "work fails, start, sleep 6m, outcome failed", "00:05 a", "", "00:05 a failed no route"},
		{"panicked", "a 5 * * * *", "work panics, start, sleep 6m, outcome failed", "00:05 a", "", "00:05 a failed…"},
		{"running", "a 5 * * * *", `work hangs, start, sleep 6m, contains state/schedule.json …"outcome":"running"…, stop, outcome interrupted`, "00:05 a", "", "00:05 a interrupted"},
	})
}

func TestAHoldHidesExactlyWhatItCovers(t *testing.T) {
	const noted = `Missed routine "water" (was due 02:30)`
	tell(t, []story{
		{
			"of a routine that is snoozed", "a */10 * * * *; missed: run",
			"start, sleep 1m, snooze a 00:30, entries 00:00 a just fired / 00:10 a snoozed until 00:30 held / 00:30 a, sleep 45m, " +
				"gone state/holds.json, start, sleep 1m",
			"00:00 a, 00:30 a, 00:40 a", "", "00:00 a done, 00:10 a held paused, 00:20 a held paused, 00:30 a done, 00:40 a done",
		},
		{"to its second", "a 30 * * * *", "start, snooze a 01 02:00:10, sleep 2h11s, gone state/holds.json", "", "", ""},
		{
			"of one that is paused, over a restart", "a 30 * * * *; missed: run",
			"start, pause a, sleep 3h, start, sleep 3h, resume a, was paused since 00:00, gone state/holds.json, start, sleep 35m",
			"06:30 a", "", "",
		},
		{
			"of one while the bot is down", "a 30 * * * *",
			"start, snooze a 02:00, stop, sleep 105m, start, stop, notes, sleep 1h, start, sleep 1s, gone state/holds.json",
			"", noted, "…02:30 a missed the bot was off",
		},
		{
			"of one while the machine sleeps", "a 30 * * * *", "start, snooze a 02:00, jump 2h45m, sleep 1m",
			"", noted, "…02:30 a missed the machine slept",
		},
		{
			"of a reminder, which fires at its end", "a @ 00:10|b @ 02:00",
			"start, snooze a 01:00, snooze b 01:00, sleep 30m, start, sleep 3h, gone a, sleep 25h, gone state/holds.json",
			"01:00 a, 02:00 b", "", "",
		},
		{
			"of a reminder, late after a sleep of the machine", "a @ 00:10", "start, snooze a 01:00, jump 3h, sleep 1m",
			"03:00… a of 01:00 late", "", "",
		},
		{
			"of a reminder that is paused", "a @ 00:10", "start, pause a, sleep 1h, start, sleep 1h, resume a, sleep 10s",
			"02:00:05 a of 00:10 late", "", "",
		},
		{
			"nor one that comes before its late run", "a 30 * * * *; missed: run",
			"start, stop, sleep 45m, start, pause a, sleep 1m, resume a, sleep 10m",
			"", `Missed routine "water" (was due 00:30); it runs now, late`, "",
		},
		{
			"of a removed task, for a day", "a 30 * * * *",
			`start, pause a, drop a, holds …"gone"…, sleep 20h, edit a 30 * * * *, sleep 2h, drop a, sleep 24h, money, holds …"gone"…, ` +
				`` + "sleep 1s, money, gone state/holds.json",
			"", "", "",
		},
		{
			"if it is possible", "a 5 * * * *",
			"start, sleep 1h, cannot pause x, cannot snooze a 01:00: in the past, resume a, was free, gone state/holds.json, stop, " +
				"cannot pause a",
			"00:05 a", "", "",
		},
		{"if it can be written", "a 5 * * * *", "start, sleep 1s, mkdir state/holds.json, cannot pause a, sleep 6m", "00:05 a", "", ""},
	})
}

func TestAHeldTaskFiresWhenItIsToldTo(t *testing.T) {
	tell(t, []story{
		{
			"and not a fire by hand", "a 30 * * * *|b @ 00:10", `start, pause a, pause b, fire a, sleep 1s, fire b, sleep 1h, gone b, holds …"a"…`,
			"00:00 a by hand, 00:00:01 b by hand", "", "",
		},
	})
}

func TestAClockThatJumpsRepeatsNothingAndLosesNothing(t *testing.T) {
	tell(t, []story{
		{
			"after a sleep of the machine", "a 0 * * * *; missed: run|b @ 01:30", "start, sleep 10m, jump 2h20m, sleep 40s",
			"00:00 a, 02:30… a of 02:00 +1 late, 02:30… b of 01:30 late", `Missed routine "water" (was due 02:00); it runs now, late`,
			"00:00 a done, 01:00 a missed the machine slept, 01:30 b done late, 02:00 a done late",
		},
		{
			"in the minute of waking", "a */5 * * * *", "start, sleep 1m, jump 1h59m10s, sleep 30s",
			"00:00 a, 02:00… a of 02:00 +23", `Missed routine "water" (was due 01:55)`, "",
		},
		{"back", "a 0 * * * *", "start, sleep 61m, jump -1h, sleep 2h", "00:00 a, 01:00 a, 02:00 a", "", ""},
		{
			"far back", "a 0 * * * *|b 10 9 * * *", "sleep 10d8h30m, start, sleep 1h, jump -4d, sleep 1h, jump -9h, start, sleep 30m",
			"11 09:00 a, 11 09:10 b, 07 10:00 a, 07 02:00 a", "", "",
		},
		{"back over the last fire", "b 0 9 * * *", "sleep 8h, start, sleep 5h, jump -6h, sleep 27h", "09:00 b, 02 09:00 b", "", ""},
		{
			"ahead, and back over what it missed there", "b 0 9 * * *", "sleep 8h, start, jump 2h, sleep 1m, jump -2h, sleep 2h",
			"09:00 b", `Missed routine "water" (was due 09:00)`, "",
		},
		{
			"to 1970, where nothing fires and nothing is missed", "a 0 * * * *|b @ 02:00",
			"start, sleep 10m, stop, jump -10980d, start, sleep 3h, notes The clock says December…, jump 10980d, sleep 40s",
			"00:00 a, 03:10… b of 02:00 late", "The clock says December 9 1969, 00:10, so nothing fires. Set the machine's clock and the schedule resumes on its own / " +
				`Missed routine "water" (was due 03:00)`, "",
		},
		{
			"by years, which is a correction", "a 30 * * * *; missed: run|b 30 * * * *; missed: run", "start, sleep 10m, jump 9516d, sleep 21m",
			"20 00:30 a, 20 00:30 b", "The clock jumped from January 1 2000 to January 20 2026; fires in between do not count as missed", "",
		},
		{
			"over thousands of fires", "a * 8,9 * * *; missed: run", "start, stop, jump 364d19h, start, sleep 1m, rows 2001",
			"30 19:00:05 a of 30 09:59 +99 late", `Missed routine "water" (was due 09:59); it runs now, late`, "",
		},
	})
}

func TestAWindowLeavesTheMinuteToTheBot(t *testing.T) {
	const window = "a 0 9 * * *; window: 9:00-11:00"
	tell(t, []story{
		{
			"a range, and then a minute that survives a restart", window,
			"usual 10h8m, start, sleep 8h, row a 09:00–11:00, mark, sleep 1h1m, woken, row a 10:05 you are usually here then, usual 10h40m, start, " +
				"row a 10:05 you are usually here then, sleep 1h4m, start, sleep 55m, account 09:00 a done, sleep 1d",
			"10:05 a, 02 10:35 a", "", "",
		},
		{
			"later for a busy user, but within the window", window,
			"usual 9h8m, start, sleep 9h1m, row a 09:05 you are usually here then, busy 09:03 until 09:30, sleep 5m, " +
				"row a …conversation until 09:30, busy 09:03 until 12:03, sleep 3h",
			"11:00 a", "", "09:00 a done",
		},
		{
			"in the rest of it after a start, and missed after it",
			window + "|b 0 8 * * *; window: 8:00-9:00|c @ 09:00; window: 9:00-11:00|d @ 08:00; window: 8:00-9:00",
			"start, sleep 1h, stop, sleep 9h, usual 10h38m, start, sleep 2h",
			"10:00:05 d of 08:00 late, 10:35 c of 09:00, 10:44 a", `Missed routine "water" (was due 08:00)`, "",
		},
		{
			"and missed a minute after it", "b 0 8 * * *; window: 8:00-9:00", "start, stop, sleep 9h1m1s, start, sleep 1h",
			"", `Missed routine "water" (was due 08:00)`, "",
		},
		{
			"anew when it changes while it is open", window,
			"usual 11h8m, start, sleep 9h1m, edit a 0 9 * * *; window: 9:00-12:00, sleep 1s, row a 11:05 you are usually here then, " +
				"snooze a 12:01:01, sleep 4h, row a 09:00–12:00",
			"", "", "09:00 a held paused",
		},
		{"on the days that are left", window + "; days: first sunday; times: 1; from: 2000-01-01", "usual 10h8m, start, sleep 20d", "02 10:05 a", "", ""},
	})
}

func TestWithoutMoneyARoutinePassesAndAReminderWaits(t *testing.T) {
	tell(t, []story{
		{
			"but a critical one", "a 30 * * * *|b @ 00:40|c @ 00:50; critical: true",
			"broke until 06:00, start, sleep 1m, mark, sleep 30m, woken, people 00:30 a held, agents, sleep 1h, firm 1, agents, " +
				"entries 00:40 b held for money until 06:00 held / 01:30 a held / 02:30 a held for money until 06:00 held / 06:30 a, paid, " +
				"money, entries 01:30 a held / 02:30 a, sleep 10s, sleep 1h, gone b",
			"00:50 c, 01:31:05 b of 00:40 late, 02:30 a", "", "",
		},
		{
			"or was put off when its run would have begun", "b @ 00:40", "work put off for money, start, sleep 1h, kept b, work ok, sleep 1h, gone b",
			"00:40 b, 01:40 b of 00:40 late", "", "00:40 b done late",
		},
		{"until its time comes", "b @ 00:40", "broke until 06:00, start, sleep 1h, money, sleep 6h", "06:00 b of 00:40 late", "", ""},
		{"but what the user fires", "a 30 5 * * *", "broke until 03 00:00, start, fire a, firm 1, tickets ticket of a", "00:00 a by hand", "", ""},
		{
			"but an essential one, which knows", "b @ 00:40; essential: true", "broke until 06:00, start, sleep 1h, firm 0",
			"00:40 b broke until 06:00", "", "",
		},
	})
}

func TestThreeFailuresInARowPauseARoutineOnceUntilItIsResumed(t *testing.T) {
	tell(t, []story{
		{
			"over a restart", "a 0 * * * *",
			"work fails, start, sleep 90m, start, reports, sleep 5h, reports a no route true, account 00:00 a failed no route / " +
				"01:00 a failed no route / 02:00 a failed no route / 03:00 a held paused / 04:00 a held paused / 05:00 a held paused / " +
				"06:00 a held paused, work ok, resume a, sleep 1h, work fails, sleep 2h, reports a no route true, sleep 1h, " +
				"reports a no route true / a no route true",
			"00:00 a, 01:00 a, 02:00 a, 07:00 a, 08:00 a, 09:00 a, 10:00 a", "", "",
		},
		{
			"unless it is critical", "a 0 * * * *; critical: true", "work fails, start, sleep 4h, reports a no route false",
			"00:00 a, 01:00 a, 02:00 a, 03:00 a, 04:00 a", "", "",
		},
		{
			"or essential", "a 0 * * * *; essential: true", "work fails, start, sleep 5h1m, reports a no route false / a no route false",
			"00:00 a, 01:00 a, 02:00 a, 03:00 a, 04:00 a, 05:00 a", "", "",
		},
	})
}

func TestTheScheduleSaysWhatHasBecomeOfAFire(t *testing.T) {
	const both, run = "00:00 a just fired / 00:01 b just fired", "00:00 a running / 00:01 b running"
	tell(t, []story{
		{
			"it failed or found nothing", "a */4 * * * *|b 10 0 * * *|c 11 0 * * *",
			"works b fails, works c nothing new, start, sleep 13m, people 00:10 b failed / 00:11 c nothing new / 00:12 a just fired, " +
				"agents 00:10 b failed / 00:12 a just fired",
			"00:00 a, 00:04 a, 00:08 a, 00:10 b, 00:11 c, 00:12 a", "", "",
		},
		{
			"nothing, as the task is new or has other times", "",
			"start, sleep 7m, edit a */5 * * * *, sleep 1s, people, agents, sleep 4m, people 00:10 a just fired, " +
				"agents 00:10 a just fired, edit a 6 * * * *, people, agents",
			"00:10 a", "", "",
		},
		{
			"it runs, or was skipped", "a */5 * * * *|b @ 00:01",
			"work 7m, start, sleep 2m, " +
				"people " +
				run + ", agents " + both + ", as command people " + run + ", as command agents " + both + ", sleep 4m, people " + run + " / 00:05 a skipped, agents " + both + ", sleep 3m, people 00:00 a just fired / 00:05 a skipped, agents 00:00 a just fired",
			"00:00 a, 00:01 b", `Skipped routine "water" (was due 00:05): its previous run has not ended`, "",
		},
		{
			"it was held, also when the hold is over", "a */5 * * * *",
			"start, sleep 1m, snooze a 00:08, sleep 5m, people 00:00 a just fired / 00:05 a held, agents 00:00 a just fired, sleep 3m, " +
				"people 00:00 a just fired / 00:05 a held, agents 00:00 a just fired",
			"00:00 a", "", "",
		},
		{
			"it is overdue", "a 0 0 * * *|b @ 00:05",
			"start, sleep 2s, stop, sleep 10m, as command people 00:00 a just fired / 00:05 b overdue, " +
				"as command agents 00:00 a just fired / 00:05 b overdue",
			"00:00 a", "", "",
		},
	})
}

func TestEveryDueTimeHasARow(t *testing.T) {
	tell(t, []story{
		{
			"of what it came to", "a 0 * * * *",
			"start, sleep 90m, work fails, sleep 1h, work 75m, sleep 2h, work ok, pause a, sleep 1h, resume a, sleep 5m, jump 3h, " +
				"sleep 1m, stop, sleep 2h, start, sleep 1m",
			"00:00 a, 01:00 a, 02:00 a, 03:00 a",
			`Skipped routine "water" (was due 04:00): its previous run has not ended / Missed routine "water" (was due 08:00) / ` +
				`Missed routine "water" (was due 10:00)`,
			"00:00 a done, 01:00 a done, 02:00 a failed no route, 03:00 a done, 04:00 a skipped, 05:00 a held paused, " +
				"06:00 a missed the machine slept, 07:00 a missed the machine slept, 08:00 a missed the machine slept, " +
				"09:00 a missed the bot was off, 10:00 a missed the bot was off",
		},
		{
			"which a hold explains only after it began", "a 0 * * * *", "start, sleep 1m, jump 2h, pause a, sleep 1h",
			"00:00 a", "", "00:00 a done, 01:00 a missed the machine slept, 02:00 a missed the machine slept, 03:00 a held paused",
		},
		{
			"of one that is late, and of one that is put off", "a @ 01:00|b @ 04:00", "sleep 3h, start, sleep 1m, work put off, sleep 2h, logs",
			"03:00:05 a of 01:00 late, 04:00 b…", "", "01:00 a done late, 04:00 b held quiet",
		},
		{
			"that says that no model ran", "a 0 * * * *; check: ./look.sh; say: check",
			"start, sleep 30m, work nothing new, sleep 1h, work nothing said, sleep 1h, work fails, sleep 1h",
			"00:00 a, 01:00 a, 02:00 a, 03:00 a", "",
			"00:00 a done no model, 01:00 a done the check found nothing new, 02:00 a done the check printed nothing, " +
				"so nothing was sent, 03:00 a failed no route",
		},
		{"unless it was fired by hand", "a 30 * * * *", "start, sleep 1m, fire a, sleep 1m, account", "00:01 a by hand", "", ""},
	})
}
