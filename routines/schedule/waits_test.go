package schedule

import (
	"testing"
	"time"
)

func TestASnoozeOwesNothingUpToTheSecondBeforeItsEnd(t *testing.T) {
	end := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	for late, want := range map[time.Duration]time.Duration{0: -time.Second, 300 * time.Millisecond: -time.Second, time.Second: 0, 2 * time.Second: time.Second} {
		if got := (Hold{Until: end.Add(late)}).after(); !got.Equal(end.Add(want)) {
			t.Errorf("with an end %v later it is %v", late, got)
		}
	}
}

func TestMoneyThatHasComeIsSeenInTheSameMinute(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a 5 * * * *", "broke until 01:00, start, entries 00:05 a held for money until 01:00 held…, paid, money, entries 00:05 a")
	})
}
