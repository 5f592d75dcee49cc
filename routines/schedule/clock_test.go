package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestASuspendedMachineCatchesUpWithinThirtySeconds(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water", "missed: run"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T01:30:00Z", "call"))
		n.form = "02 15:04"
		n.start()
		n.sleep(10 * time.Minute)
		n.jump(2*time.Hour + 20*time.Minute) // the lid was closed until 2:30
		n.sleep(40 * time.Second)
		n.want("01 00:00 aaaaaaaa 01 00:00:00", "01 02:30 aaaaaaaa 01 02:00:00 late +1", "01 02:30 bbbbbbbb 01 01:30:00 late")
		n.wantNotes(`Missed routine "water" (was due 02:00); it runs now, late`)
	})
}

func TestAFireInTheMinuteOfWakingIsOnTimeAndTheOnesBeforeAreOneMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "water"))
		n.form = "02 15:04"
		n.start()
		n.sleep(time.Minute)
		n.jump(2*time.Hour - time.Minute + 10*time.Second)
		n.sleep(30 * time.Second)
		n.want("01 00:00 aaaaaaaa 01 00:00:00", "01 02:00 aaaaaaaa 01 02:00:00 +23")
		n.wantNotes(`Missed routine "water" (was due 01:55)`)
	})
}

func TestAClockSetBackRepeatsNothing(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.start()
		n.sleep(61 * time.Minute) // 1:01
		n.jump(-time.Hour)        // 0:01
		n.sleep(2 * time.Hour)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 01:00:00 aaaaaaaa 01 01:00:00", "01 02:00:00 aaaaaaaa 01 02:00:00")
		n.wantNotes()
	})
}

func TestAClockSetFarBackGoesOnFromItsNewTime(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(10*24*time.Hour + 8*time.Hour + 30*time.Minute) // 11 January, 8:30
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.put("routines/b.md", routineText(idB, "10 9 * * *", "daily"))
		n.start()
		n.sleep(time.Hour) // 9:30
		n.jump(-4 * 24 * time.Hour)
		n.sleep(time.Hour) // 7 January, 10:30
		n.jump(-9 * time.Hour)
		n.start()
		n.sleep(30 * time.Minute)
		n.want("11 09:00:00 aaaaaaaa 11 09:00:00", "11 09:10:00 bbbbbbbb 11 09:10:00",
			"07 10:00:00 aaaaaaaa 07 10:00:00", "07 02:00:00 aaaaaaaa 07 02:00:00")
		n.wantNotes()
	})
}

func TestTheVeryLastFireIsNotRepeatedHoweverFarTheClockGoesBack(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(8 * time.Hour)
		n.put("routines/b.md", routineText(idB, "0 9 * * *", "daily"))
		n.start()
		n.sleep(5 * time.Hour) // 13:00
		n.jump(-6 * time.Hour) // 7:00
		n.sleep(4 * time.Hour)
		n.want("01 09:00:00 bbbbbbbb 01 09:00:00")
		n.sleep(23 * time.Hour)
		n.want("01 09:00:00 bbbbbbbb 01 09:00:00", "02 09:00:00 bbbbbbbb 02 09:00:00")
	})
}

func TestWhatWasMissedUnderAClockThatRanAheadStillComes(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(8 * time.Hour)
		n.put("routines/b.md", routineText(idB, "0 9 * * *", "daily"))
		n.start()
		n.jump(2 * time.Hour) // 10:00
		n.sleep(time.Minute)
		n.jump(-2 * time.Hour)
		n.sleep(2 * time.Hour)
		n.want("01 09:00:00 bbbbbbbb 01 09:00:00")
		n.wantNotes(`Missed routine "daily" (was due 09:00)`)
	})
}

func TestAClockIn1970FiresNothingAndMarksNothingMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T02:00:00Z", "call"))
		n.form = "02 15:04"
		n.start()
		n.sleep(10 * time.Minute)
		n.stop()
		n.jump(-30 * 366 * 24 * time.Hour)
		n.start()
		n.sleep(3 * time.Hour)
		n.want("01 00:00 aaaaaaaa 01 00:00:00")
		if len(n.notes) != 1 || !strings.HasPrefix(n.notes[0], "The clock says December") {
			t.Errorf("notes are %q", n.notes)
		}
		n.jump(30 * 366 * 24 * time.Hour) // 3:10, as after a start
		n.sleep(40 * time.Second)
		n.want("01 00:00 aaaaaaaa 01 00:00:00", "01 03:10 bbbbbbbb 01 02:00:00 late")
		if len(n.notes) != 2 || n.notes[1] != `Missed routine "water" (was due 03:00)` {
			t.Errorf("notes are %q", n.notes)
		}
	})
}

func TestALeapOfYearsIsACorrectionNotAMiss(t *testing.T) {
	inBubble(t, func(n *night) {
		for _, id := range []string{idA, idB} {
			n.put("routines/"+id+".md", routineText(id, "30 * * * *", "water", "missed: run"))
		}
		n.start()
		n.sleep(10 * time.Minute)
		n.jump(26 * 366 * 24 * time.Hour)
		n.sleep(10 * time.Minute)
		n.want()
		if len(n.notes) != 1 || !strings.Contains(n.notes[0], "jumped from January 1 2000") {
			t.Errorf("notes are %q", n.notes)
		}
		n.sleep(11 * time.Minute)
		if len(n.fired) != 2 {
			t.Errorf("fired %v", n.fired)
		}
	})
}

func TestThousandsOfMissedFiresAreCountedQuickly(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "* 8 * * *", "water", "missed: run"))
		n.start()
		n.stop()
		n.jump(364*24*time.Hour + 19*time.Hour)
		n.start()
		n.sleep(time.Minute)
		n.want("30 19:00:05 aaaaaaaa 30 08:59:00 late +99")
	})
}
