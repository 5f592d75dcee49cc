package updates

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

func TestTheLabelOfAnUpdateIsStoredAndReadByAnybody(t *testing.T) {
	p := newPlace(t, "")
	testkit.Must(t, p.queue.AppendFrom(morning(), "The build is red.", Source{}, "webhook build → run 4f2a91c0"))
	testkit.Must(t, p.queue.AppendFrom(morning().Add(time.Minute), "Own words.", Source{}, ""))
	if got := p.content(t); !strings.Contains(got, `"label": "webhook build → run 4f2a91c0 → update"`) && !strings.Contains(got, `\u2192 update"`) {
		t.Errorf("the file says %s", got)
	}
	list := NewQueue(p.dir, pacific, nil).Peek()
	if len(list) != 2 || list[0].Label != "webhook build → run 4f2a91c0 → update" || list[1].Label != "" || Labels(list) != list[0].Label || Labels(list[1:]) != "" {
		t.Errorf("%+v", list)
	}
	gone, err := p.queue.Discard(list[0].Key)
	testkit.Must(t, err)
	testkit.Must(t, p.queue.Restore(gone))
	if again := p.queue.Peek(); again[0].Label != list[0].Label {
		t.Errorf("after discarding and undoing: %+v", again)
	}
}

func TestWhoLeftAnUpdateIsStored(t *testing.T) {
	p := newPlace(t, "")
	by := Source{Run: "4f2a91c0", From: "Email sweep"}
	for range 2 { // the same text twice is two updates
		testkit.Must(t, p.queue.AppendFrom(morning(), "Two mails.", by, ""))
	}
	want := `[{"ts": "2026-11-23T09:00:00-08:00", "message": "Two mails.", "run": "4f2a91c0", "from": "Email sweep"}, `
	if got := p.content(t); !strings.HasPrefix(got, want) {
		t.Errorf("the file says %s", got)
	}
	list := NewQueue(p.dir, pacific, nil).Peek()
	if len(list) != 2 || list[0].Source != by || list[1].Source != by {
		t.Errorf("%+v", list)
	}
	if err := p.queue.AppendFrom(morning(), " ", by, ""); err == nil {
		t.Error("an update without text was kept")
	}
	others := newPlace(t, `[{"ts": "2026-11-23T08:45:40-08:00", "message": "a", "run": "\u001b[2Jone", "from": "two\nlines"}]`)
	if got := others.queue.Peek()[0].Source; got != (Source{Run: "one", From: "two lines"}) {
		t.Errorf("of others: %+v", got)
	}
}

// The original ignores labels but keeps the key; people may write anything there.
func TestALabelInAnUpdateOfOthersIsCleaned(t *testing.T) {
	p := newPlace(t, `[{"ts": "2026-11-23T08:45:40-08:00", "message": "a", "label": "\u001b[2Jmail"}, {"ts": "2026-11-23T08:45:41-08:00", "message": "b", "label": 7}, {"ts": "2026-11-23T08:45:42-08:00", "message": "c", "label": ""}]`)
	list := p.queue.Peek()
	if len(list) != 3 || list[0].Label != "mail" || list[1].Label != "7" || list[2].Label != "" {
		t.Errorf("%+v", list)
	}
}
