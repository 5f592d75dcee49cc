package toast

import (
	"slices"
	"testing"
	"time"

	"ollimbot/core/talk/notice"
)

var start = time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)

// showing are the texts that show after a while.
func showing(l *List, after time.Duration) (out []string) {
	for _, t := range l.Showing(start.Add(after)) {
		out = append(out, t.Text)
	}
	return out
}

func expect(t *testing.T, l *List, after time.Duration, want ...string) {
	t.Helper()
	if got := showing(l, after); !slices.Equal(got, want) {
		t.Errorf("after %v it shows %q, want %q", after, got, want)
	}
}

func TestANoticeIsHeardOnceAndAnOldOneOnlyListed(t *testing.T) {
	var l List
	notices := []notice.Notice{
		{Seq: 1, At: start.Add(-time.Hour), Level: notice.Info, Text: "old"},
		{Seq: 2, At: start, Level: notice.Info, Text: "new\nline"},
	}
	l.Hear(start, notices, start)
	l.Hear(start, notices, start)
	expect(t, &l, 0, "new line")
	if all := l.All(); len(all) != 2 || all[0].Text != "old" {
		t.Errorf("listed are %+v", all)
	}
}

func TestAToastShowsForItsTime(t *testing.T) {
	for level, long := range map[notice.Level]time.Duration{notice.Info: 4 * time.Second, notice.Warn: 8 * time.Second, notice.Alert: 8 * time.Second} {
		var l List
		l.Report(start, level, "said")
		expect(t, &l, long-time.Millisecond, "said")
		expect(t, &l, long)
	}
}

func TestAKeyEndsAToastOnlyOnceItWasReadable(t *testing.T) {
	var l List
	l.Report(start, notice.Info, "info")
	l.Report(start, notice.Warn, "warning")
	l.Read(start.Add(time.Second))
	expect(t, &l, time.Second, "info", "warning")
	l.Read(start.Add(1500 * time.Millisecond))
	expect(t, &l, 1500*time.Millisecond, "warning")
	l.Read(start.Add(3 * time.Second))
	expect(t, &l, 3*time.Second)
}

func TestAReplyReplacesTheOneBeforeButNoReport(t *testing.T) {
	var l List
	l.Report(start, notice.Info, "reloaded")
	l.Reply(start, notice.Info, "5 → 6 · u undoes")
	l.Reply(start, notice.Alert, "the disk is full")
	expect(t, &l, 0, "reloaded", "the disk is full")
	l.Reply(start, notice.Info, "undone")
	expect(t, &l, 0, "reloaded", "the disk is full", "undone")
	l.Dismiss(start)
	expect(t, &l, 0)
}

func TestWhatIsOnlyRecordedIsListedAndNotShown(t *testing.T) {
	var l List
	l.Record(start, notice.Warn, "said in the welcome")
	expect(t, &l, 0)
	if len(l.All()) != 1 {
		t.Errorf("listed are %+v", l.All())
	}
}

func TestTheListDoesNotGrowForever(t *testing.T) {
	var l List
	for range 3 * kept {
		l.Report(start, notice.Info, "again")
	}
	if n := len(l.All()); n != kept {
		t.Errorf("%d kept, want %d", n, kept)
	}
}
