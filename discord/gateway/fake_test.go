package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/discord/fake"
	"ollimbot/discord/gateway"
)

// The fake is another author's reading of Discord's documents than the server of
// the other tests.
func TestTheFakesDayIsTheSupervisorsDay(t *testing.T) {
	f := fake.Start(t, fake.Options{Token: "token", Heartbeat: 200 * time.Millisecond, Compress: true, NoContract: true})
	address := "ws" + strings.TrimPrefix(f.URL(), "http")
	s := gateway.New(gateway.Options{
		Token: "token", Find: func(context.Context) (gateway.Door, error) {
			return gateway.Door{Address: address, Remaining: 1000}, nil
		},
		Timing: gateway.Timing{
			PauseMin: time.Millisecond, PauseMax: 2 * time.Millisecond,
			BackoffMin: time.Millisecond, BackoffMax: 2 * time.Millisecond, Window: time.Second,
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	var run sync.WaitGroup
	defer run.Wait()
	defer cancel()
	run.Go(func() { result <- s.Run(ctx) })
	next := func(kind gateway.Kind) gateway.Event {
		t.Helper()
		select {
		case e, ok := <-s.Events():
			if !ok || e.Kind != kind {
				t.Fatalf("event %v (%v), want %v; %+v", e, ok, kind, s.State())
			}
			return e
		case <-time.After(20 * time.Second):
			t.Fatalf("no event, want %v; %+v", kind, s.State())
		}
		return gateway.Event{}
	}

	if e := next(gateway.Ready); e.UserID != f.Bot().ID {
		t.Errorf("ready = %v", e)
	}
	user := f.User()
	said := user.Say("hello")
	if e := next(gateway.Message); e.MessageID != said.ID || e.Message.Text != "hello" || e.UserID != f.Owner().ID || e.Guild || e.Message.Bot {
		t.Errorf("message = %v", e)
	}
	user.Edit(said.ID, "hello again")
	if e := next(gateway.MessageEdit); e.MessageID != said.ID || e.Message.Text != "hello again" {
		t.Errorf("edit = %v", e)
	}
	user.Reply(said.ID, "and")
	if e := next(gateway.Message); e.Message.ReplyTo != said.ID || e.Message.Quoted != "hello again" {
		t.Errorf("reply = %v %+v", e, e.Message)
	}
	user.React(said.ID, "✅")
	if e := next(gateway.Reaction); e.MessageID != said.ID || e.Emoji != "✅" || e.UserID != f.Owner().ID {
		t.Errorf("reaction = %v", e)
	}
	click := user.Forge(said.ID, "act:dismiss:_")
	if e := next(gateway.Interaction); e.InteractionID != click.ID || e.Token != click.Token || e.CustomID != "act:dismiss:_" || e.MessageID != said.ID {
		t.Errorf("click = %v", e)
	}
	user.Delete(said.ID)
	if e := next(gateway.MessageDelete); e.MessageID != said.ID {
		t.Errorf("delete = %v", e)
	}

	f.Down()
	user.Say("missed")
	f.Up()
	if e := next(gateway.Message); e.Message.Text != "missed" {
		t.Errorf("message = %v", e)
	}
	next(gateway.Resumed)
	f.SendOp7()
	next(gateway.Resumed)
	f.Op7First()
	f.DropSocket()
	next(gateway.Resumed)
	f.Op9(true)
	next(gateway.Resumed)
	f.Op9(false)
	next(gateway.Ready)
	f.CloseWith(4009)
	next(gateway.Ready)
	f.CloseWith(4000)
	next(gateway.Resumed)
	f.ResetToken("another")
	f.CloseWith(4004)
	if e, ok := <-s.Events(); ok {
		t.Errorf("event %v after the end", e)
	}
	var stopped *gateway.StoppedError
	if err := <-result; !errors.As(err, &stopped) || stopped.Code != 4004 {
		t.Errorf("Run = %v", err)
	}
	if st := s.State(); st.Dropped != 0 {
		t.Errorf("state %+v", st)
	}
}
