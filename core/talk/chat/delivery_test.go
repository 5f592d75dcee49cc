package chat

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/updates"
)

// A crash after the engine has accepted a message and before its updates are removed.
func TestADeliveryCutShortIsSettledByTheEnginesMemory(t *testing.T) {
	for _, taken := range []bool{true, false} {
		root := filepath.Join(t.TempDir(), "data")
		s := stageAt(t, root, nil)
		testkit.Must(t, errors.Join(s.o.Records.Updates.Append(s.now(), "one"), s.o.Records.Updates.Append(s.now(), "two")))
		const id = "5f4dcc3b-0000-4000-8000-000000000000"
		_, err := s.o.Records.Updates.Claim(func([]updates.Update) updates.Delivery { return updates.NewDelivery(id, "the message", nil) })
		testkit.Must(t, err)
		if taken {
			main, err := s.ear.Engine.Open(t.Context(), agent.SessionOptions{ID: id})
			testkit.Must(t, err)
			for _, err := range main.Send(t.Context(), agent.Message{Text: "the message"}) {
				testkit.Must(t, err)
			}
		}
		next := stageAt(t, root, nil)
		next.delivery.recover(t.Context())
		if n := len(next.o.Records.Updates.Peek()); taken && n != 0 || !taken && n != 2 {
			t.Errorf("taken %v: %d updates pending", taken, n)
		}
		if next.has("state/delivery.json") {
			t.Error("the delivery is still open")
		}
	}
}

func TestAMessageThatWaitedWhenTheProgramEndedIsAnsweredOnceAfterwards(t *testing.T) {
	root := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		first := stageAt(t, root, nil)
		first.run(func(s *stage) {
			s.occupy() // permanently
			s.hear("1", lines("say here you are"))
			time.Sleep(time.Minute)
		})
		if !first.has(unansweredPath) {
			t.Fatal("the message is gone with the program")
		}
		second := stageAt(t, root, nil)
		second.run(func(s *stage) {
			time.Sleep(time.Minute)
			if !s.said("here you are") || len(s.inbox.load().Messages) != 0 {
				t.Errorf("it was not answered: %+v", s.o.Records.Transcript.Entries())
			}
		})
		if second.has("state/delivery.json") {
			t.Error("it still waits after its answer")
		}
	})
}
