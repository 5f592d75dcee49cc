package schedule

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

func recurrence(t testing.TB, expr string) *recur.Recurrence {
	t.Helper()
	s, err := cron.Parse(expr)
	testkit.Must(t, err)
	r := recur.Of(s)
	return &r
}

func TestTheLastFireMayBeExactlyNow(t *testing.T) {
	each := recurrence(t, "* * * * *")
	for _, c := range []struct {
		first, now, last, before int64
		n                        int
	}{
		{60, 60, 60, 60, 1},
		{60, 119, 60, 60, 1},
		{60, 120, 120, 60, 2},
		{60, 121, 120, 60, 2},
		{60, 60 * 99, 60 * 99, 60 * 98, 99},
		{60, 60 * 100, 60 * 100, 60 * 99, mostMissed},
		{60, 60 * 5000, 60 * 5000, 60 * 4999, mostMissed},
		{60, 60*5000 - 1, 60 * 4999, 60 * 4998, mostMissed},
	} {
		last, before, n := lastFires(each, c.first, c.now, time.UTC)
		if last != c.last || before != c.before || n != c.n {
			t.Errorf("from %d to %d: %d, %d, %d; want %+v", c.first, c.now, last, before, n, c)
		}
	}
}

func TestTheFireBeforeTheLastIsFoundHoweverManyWereMissed(t *testing.T) {
	for expr, step := range map[string]int64{"* * * * *": 60, "0 * * * *": 3600, "0 0 * * *": 86400} {
		each := recurrence(t, expr)
		for n := int64(90); n < 500; n++ {
			for _, late := range []int64{0, 10, step - 1} {
				last, before, counted := lastFires(each, step, n*step+late, time.UTC)
				if last != n*step || before != (n-1)*step || counted != int(min(n, mostMissed)) {
					t.Fatalf("%s, %d fires and %d s: %d, %d, %d", expr, n, late, last/step, before/step, counted)
				}
			}
		}
	}
}

func TestAPartOfASecondCountsAsTheNextOne(t *testing.T) {
	for at, want := range map[time.Time]int64{time.Unix(7, 0): 7, time.Unix(7, 1): 8, time.Unix(7, 999_999_999): 8} {
		if got := ceilSecond(at); got != want {
			t.Errorf("%v gives %d, want %d", at, got, want)
		}
	}
	if got := after(time.Unix(7, 5)); !got.Equal(time.Unix(8, 0)) {
		t.Errorf("after gives %v", got)
	}
}

func TestALongPromptOfFewWordsShowsThatItContinues(t *testing.T) {
	for body, want := range map[string]string{
		"call" + strings.Repeat("\n", 1000) + "home": "call...",
		"call\nhome":                        "call home",
		"call home\n```script\nsay ok\n```": "call home",
		strings.Repeat("x", 8):              "xxxxxxxx",
	} {
		if got := briefly(&routines.Task{Body: body}); got != want {
			t.Errorf("%.10q gives %q, want %q", body, got, want)
		}
	}
}

func TestNewTimesCancelTheLateRunOfTheOldOnes(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 1 * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start() // it would run late in five seconds
		n.put("routines/a.md", routineText(idA, "0 5 * * *", "water", "missed: run"))
		n.look()
		n.sleep(time.Minute)
		n.want()
		n.start()
		n.sleep(4 * time.Hour)
		n.want("01 05:00:00 aaaaaaaa 01 05:00:00")
	})
}

func TestARoutineThatIsApprovedFiresFromThenOn(t *testing.T) {
	inBubble(t, func(n *night) {
		waits := "it may use Bash"
		n.judge = func(*routines.Task) string { return waits }
		n.put("routines/a.md", routineText(idA, "*/10 * * * *", "water"))
		n.start()
		n.sleep(25 * time.Minute)
		n.want()
		waits = ""
		n.loop.Judge()
		n.sleep(10 * time.Minute)
		n.want("01 00:30:00 aaaaaaaa 01 00:30:00")
		n.wantNotes()
	})
}

func TestAReminderFiredByHandBeforeTheClockIsSetEndsNoLoop(t *testing.T) {
	inBubble(t, func(n *night) {
		n.jump(-30 * 366 * 24 * time.Hour)
		n.form = "15:04"
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T05:00:00Z", "call"))
		n.start()
		testkit.Must(t, n.loop.FireNow(idA))
		n.sleep(time.Second)
		if len(n.fired) != 1 {
			t.Errorf("fired %q", n.fired)
		}
		n.wantFile(recordFile, false)
	})
}
