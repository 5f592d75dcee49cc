package proposals

import (
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestARefusalThatWasUndoneForbidsNothing(t *testing.T) {
	s, now := NewStore(storetest.Prepared(t), time.UTC, nil), time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	asked := Proposal{Kind: "promise", Words: "call the dentist", Buttons: []Button{{ID: "no", Never: true}}}
	p, err := s.Add(now, asked, 3)
	testkit.Must(t, err)
	_, err = s.Answer(now, p.ID, "no", func(Proposal, Button) (string, error) { return "", nil })
	testkit.Must(t, err)
	_, err = s.Reopen(p.ID, nil)
	testkit.Must(t, err)
	if _, err := s.Add(now.Add(lasts), asked, 3); err != nil {
		t.Errorf("once the reopened question is closed, the same words are not proposed: %v", err)
	}
}
