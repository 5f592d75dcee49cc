package history

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	sessions "ollimbot/core/agent/messages/history"
	"ollimbot/core/base/testkit"
)

func TestSessionsOfTheMessagesAPIAreReadAsThoseOfTheCommand(t *testing.T) {
	w := newWorld(t)
	const id, forkID = "6327f32f-1332-4813-936c-06afbe431c7b", "7327f32f-1332-4813-936c-06afbe431c7b"
	keep := func(h *sessions.History, lines ...string) {
		for _, l := range lines {
			testkit.Must(t, h.Add([]byte(l)))
			time.Sleep(time.Minute)
		}
	}
	synctest.Test(t, func(t *testing.T) { // it starts at midnight of the year 2000
		h, err := sessions.New(w.dir.Path(sessions.Folder), id)
		testkit.Must(t, err)
		testkit.Must(t, h.Begin([]byte(`[{"name":"Read"}]`), []byte(`[]`), sessions.Facts{}))
		keep(h, `{"role":"user","content":[{"type":"text","text":"[2000-01-01 Sat 12:00 AM UTC] where are the plums?"}]}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"plums.md"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"in the cellar"}]}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"In the cellar."}]}`,
			`{"role":"user","content":[{"type":"text","text":"Go on, you have not reported yet."}]}`)
		f, err := sessions.Fork(w.dir.Path(sessions.Folder), id, forkID)
		testkit.Must(t, err)
		keep(f, `{"role":"user","content":[{"type":"text","text":"[2000-01-01 Sat 12:05 AM UTC] [routine-bg:de300001] Count the plums."}]}`)
		testkit.Must(t, f.Close())
		testkit.Must(t, h.Close())
	})
	list, _, err := w.history().List(Query{Limit: 10})
	testkit.Must(t, err)
	if len(list) != 2 || list[0].ID != forkID || list[0].Kind != Background || list[0].Messages != 1 ||
		list[1].Messages != 2 || list[1].Words != "where are the plums?" || list[1].Started.Year() != 2000 {
		t.Errorf("%+v", list)
	}
	c, err := w.history().Show(id[:8], Full())
	testkit.Must(t, err)
	want := []string{
		"user where are the plums?", "call Read(plums.md)", "result in the cellar", "bot In the cellar.", "program Go on, you have not reported yet.",
	}
	if diff := cmp.Diff(want, talked(c.Entries)); diff != "" {
		t.Error(diff)
	}
	for i, e := range c.Entries {
		if got := e.At.Minute(); got != i {
			t.Errorf("%s is of minute %d, not %d", e.Text, got, i)
		}
	}
	hits, _, err := w.history().Search([]string{"cellar"}, time.Time{})
	testkit.Must(t, err)
	if len(hits) != 1 || hits[0].Session != id || hits[0].At.Minute() != 3 {
		t.Errorf("%+v", hits)
	}
}
