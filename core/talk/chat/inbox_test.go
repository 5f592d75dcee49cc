package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// Messages put into the inbox, changed and taken back come out once, in order, and the
// disk agrees.
func TestPropertyTheInboxIsAListThatSurvives(t *testing.T) {
	s := newStage(t)
	testkit.Check(t, func(rt *rapid.T) {
		b := s.inbox
		all, finish := b.take()
		ids := all.ids
		b.forget(ids...)
		finish(nil)
		type want struct {
			key, text string
			done      chan error
		}
		var model []want
		text := rapid.StringMatching(`[a-z]{1,6}`)
		for i := range rapid.IntRange(1, 7).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0, 1:
				w := want{strconv.Itoa(100 + i), text.Draw(rt, "text"), make(chan error, 1)}
				m := inbound{message: agent.Message{Text: w.text}, plain: w.text, from: "Phone", key: w.key, done: w.done}
				if err := b.put(m, false); err != nil {
					rt.Fatal(err)
				}
				model = append(model, w)
			case 2:
				if i := rapid.IntRange(0, 6).Draw(rt, "which"); i < len(model) {
					model[i].text = text.Draw(rt, "text")
					if err := b.Reword("Phone", model[i].key, model[i].text, false); err != nil {
						rt.Fatal(err)
					}
				}
			case 3:
				if i := rapid.IntRange(0, 6).Draw(rt, "which"); i < len(model) {
					if err := b.Reword("Phone", model[i].key, "", true); err != nil {
						rt.Fatal(err)
					}
					if err := <-model[i].done; err != nil {
						rt.Fatal(err)
					}
					model = slices.Delete(model, i, i+1)
				}
			}
		}
		var texts, onDisk []string
		for _, w := range model {
			texts = append(texts, w.text)
		}
		for _, m := range b.load().Messages {
			onDisk = append(onDisk, m.Text)
		}
		if !slices.Equal(onDisk, texts) {
			rt.Fatalf("on disk is %q, want %q", onDisk, texts)
		}
		needed := b.needsTurn()
		if needed != (len(model) > 0) || b.needsTurn() || b.needsTurn() {
			rt.Fatalf("needs a turn: %v, with %d messages", needed, len(model))
		}
		all, finish = b.take()
		ids = all.ids
		if m := all.message; m.Text != strings.Join(texts, "\n\n") || len(ids) != len(model) {
			rt.Fatalf("taken: %q, want %q", m.Text, texts)
		}
		b.forget(ids...)
		finish(nil)
		for _, w := range model {
			if err := <-w.done; err != nil {
				rt.Fatal(err)
			}
		}
		if n := len(b.load().Messages); n != 0 {
			rt.Fatalf("%d messages are left on disk", n)
		}
	})
}

func TestPropertyTheNewerKeyIsTheLargerNumber(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		a, b := rapid.Uint64Min(1).Draw(rt, "a"), rapid.Uint64Min(1).Draw(rt, "b")
		if newer(strconv.FormatUint(a, 10), strconv.FormatUint(b, 10)) != (a > b) || !newer(strconv.FormatUint(a, 10), "") {
			rt.Fatalf("%d and %d", a, b)
		}
	})
}

func TestAMessageThatArrivesTwiceIsAnsweredOnce(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		for _, key := range []string{"9", "10", "10", "9"} {
			s.hear(key, "key "+key)
			synctest.Wait()
		}
		s.take(command.Receive{From: "Phone", Text: "without a key"})
		synctest.Wait()
		s.hear("10", "key 10")
		synctest.Wait()
		equal(t, "the model hears", a.inputs(), []string{"key 9", "key 10", "without a key"})
		if s.LastReceived("Phone") != "10" || s.LastReceived("Watch") != "" {
			t.Errorf("last received %q", s.LastReceived("Phone"))
		}
	})
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		for text, want := range map[string]string{
			"": textEmptyMessage, " \n": textEmptyMessage,
			strings.Repeat("é", maxMessage+1): fmt.Sprintf(textLongMessage, maxMessage+1, maxMessage),
		} {
			done, err := s.Receive(s.t.Context(), command.Receive{Text: text})
			if done != nil || err == nil || err.Error() != want {
				t.Errorf("%.20q: %v", text, err)
			}
		}
		long := strings.Repeat("é", maxMessage)
		if _, err := s.Receive(s.t.Context(), command.Receive{Text: long}); err != nil {
			t.Errorf("the longest message: %v", err)
		}
		synctest.Wait()
		s.take(command.Receive{From: "Phone", Key: "1"}) // such as a sticker
		synctest.Wait()
		if len(a.inputs()) != 2 || a.inputs()[0] != long {
			t.Errorf("%d turns", len(a.inputs()))
		}
	})
}

func TestAMessageOfTheDashboardIsShownOnThePhoneWithItsFiles(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.troubles = []string{"an attachment could not be saved"}
		testkit.Must(t, attachSome(s, "notes.txt"))
		png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")
		for range 2 {
			if _, err := s.inbox.attach("cat.png", png); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "attached", s.Attached(), []string{"notes.txt", "cat.png", "cat.png"})
		done := s.take(command.Receive{Text: "look at these"})
		testkit.Must(t, <-done)
		synctest.Wait()
		want := "look at these\n[attached file: downloads/notes.txt]"
		equal(t, "the model hears", a.inputs(), []string{want})
		equal(t, "in the chat", s.entries(transcript.User), []string{want + "\n[2 images]"})
		if !s.noted("look at these") || len(s.Attached()) != 0 {
			t.Errorf("notes %q, attached %q", s.phone.notes, s.Attached())
		}
		s.say("from the phone")
		if s.noted("from the phone") {
			t.Error("the phone hears its own message")
		}
		testkit.Must(t, s.dir.Write("downloads/x", nil))
		s.take(command.Receive{From: "Phone", Key: "9000", Text: "one", Files: []command.File{{Name: "dog.png", Data: png}, {Name: "a.txt", Data: make([]byte, maxAttachment+1)}}})
		synctest.Wait()
		equal(t, "in the chat", s.entries(transcript.User)[2:], []string{"one\n[attached file that could not be saved: a.txt]\n[1 image]"})
	})
}

func TestAFullQueueGivesTheMessageBack(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		id, card := s.pinged(post.Button{Label: "A", Action: "agent:draft it"})
		release := s.occupy()
		for range maxJobs {
			testkit.Must(t, s.Ask("busy"))
		}
		testkit.Must(t, s.o.Records.Runs.Record(s.now(), []post.MessageID{"77"}, "run-1", ""))
		for _, in := range []command.Receive{{Text: "lost"}, {Text: "lost", ReplyTo: "77"}} {
			done, err := s.Receive(s.t.Context(), in)
			if err == nil || err.Error() != textTooManyMessages || len(s.inbox.load().Messages) != 0 {
				t.Errorf("%v", err)
			}
			if err := <-done; err == nil || err.Error() != textTooManyMessages {
				t.Errorf("done: %v", err)
			}
		}
		if err := s.EnterFork(""); err == nil || err.Error() != textTooManyMessages {
			t.Errorf("a fork: %v", err)
		}
		testkit.Must(t, s.o.Records.Updates.Append(s.now(), "The kettle is hot."))
		if _, _, err := s.DeliverUpdates(); err == nil || err.Error() != textTooManyMessages {
			t.Errorf("updates: %v", err)
		}
		if _, err := s.Click(t.Context(), id, card.Buttons[0].Action); err == nil || err.Error() != textTooManyMessages {
			t.Errorf("a button: %v", err)
		}
		release()
		synctest.Wait()
		s.say("now")
		if n := len(a.inputs()); n != maxJobs+1 || !strings.HasSuffix(a.inputs()[n-1], "now") {
			t.Errorf("%d turns", n)
		}
		s.enter("")
		release = s.occupy()
		for range maxJobs {
			testkit.Must(t, s.Ask("busy"))
		}
		if err := s.ExitFork(command.ExitSave); err == nil || err.Error() != textTooManyMessages {
			t.Errorf("out of the fork: %v", err)
		}
		release()
	})
}

func TestMessagesOfEarlierVersionsAreReadAndStayOnAFullDisk(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	s := newStage(t)
	testkit.Must(t, s.dir.Write(unansweredPath, []byte(`[{"id":"a1","at":"2026-01-01T00:00:00Z","text":"old"},{"id":"a2","text":"older"}]`)))
	if err := storetest.FullDisk(t, func() error { return s.inbox.ack("a2") }); err == nil {
		t.Error("it could not be written, and says nothing")
	}
	if m := s.inbox.load().Messages; len(m) != 2 || m[0].Text != "old" {
		t.Errorf("%+v", m)
	}
	testkit.Must(t, s.inbox.ack("a2"))
	testkit.Must(t, s.inbox.ack("a1"))
	if s.has(unansweredPath) {
		t.Error("an empty file is left")
	}
	testkit.Must(t, errors.Join(s.inbox.noteReceived("Phone", ""), s.inbox.ack()))
	if s.has(unansweredPath) {
		t.Error("nothing was written down")
	}
}

func TestPostsGetButtonsThatLastAndFilesAreWrittenDown(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.troubles = []string{"button was left out"}
		e := &post.Embed{Title: "Mail", Buttons: []post.Button{
			{Label: "Draft", Action: "agent:draft it"}, {Label: "Bad", Action: "No Action"}, {Label: "Gone", Action: "dismiss:"},
		}}
		id, err := s.Post(s.t.Context(), post.Post{Embed: e, Files: []string{"/a", "/b"}, Text: "see", Source: "Email sweep"})
		testkit.Must(t, err)
		buttons := s.phone.posts[0].Embed.Buttons
		if len(buttons) != 2 || len(e.Buttons) != 3 || e.Buttons[0].Action != "agent:draft it" {
			t.Fatalf("%+v", buttons)
		}
		list, _, err := s.o.Records.Audit.Read(10)
		if err != nil || len(list) != 1 || list[0].From != fromRun+" Email sweep" || list[0].Subject != "/a /b" || list[0].Detail != "see" {
			t.Errorf("%+v, %v", list, err)
		}
		_, err = s.Post(s.t.Context(), post.Post{Files: []string{"/d"}})
		testkit.Must(t, err)
		if list, _, _ := s.o.Records.Audit.Read(10); len(list) != 2 || list[1].From != fromRun {
			t.Errorf("a run without a name is recorded as %+v", list)
		}
		s.click(buttons[0].Action)
		if inputs := a.inputs(); len(inputs) != 1 || !strings.Contains(inputs[0], "draft it") {
			t.Errorf("the model hears %q", inputs)
		}
		if done := s.click(buttons[1].Action); done != "dismissed" || !slices.Equal(s.phone.deleted, []post.MessageID{"9001"}) {
			t.Errorf("%q, deleted %q", done, s.phone.deleted)
		}
		for button, want := range map[string]string{
			buttons[0].Action: textButtonExpired, "act:unheard_of:_": textUnknownButton, "what": textUnknownButton,
			"act:" + post.StopAnswer + ":a": textAnswerOver, "act:fork_save:_": textNoFork, "act:fork_report:_": textNoFork, "act:fork_exit:_": textNoFork,
			"act:task_done:_": "google is not connected", "act:task_del:_": "google is not connected", "act:event_del:_": "google is not connected",
		} {
			if _, err := s.Click(s.t.Context(), id, button); err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", button, err, want)
			}
		}
		s.phone.with(func() { s.phone.broken = errors.New("no network") })
		if _, err := s.Post(s.t.Context(), post.Post{Text: "lost", Files: []string{"/c"}}); err == nil {
			t.Error("a post that failed did not say so")
		}
		if list, _, _ := s.o.Records.Audit.Read(10); len(list) != 2 || slices.Contains(s.entries(transcript.Bot), "lost") {
			t.Errorf("%+v", list)
		}
	})
}

func TestAButtonOfARunIsAnsweredThereUnlessAnotherForkIsOpen(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		id, card := s.pinged(post.Button{Label: "A", Action: "agent:draft it"})
		s.enter("")
		if _, err := s.Click(s.t.Context(), id, card.Buttons[0].Action); err == nil || err.Error() != textAlreadyForked {
			t.Errorf("%v", err)
		}
		s.click("act:fork_exit:_")
		mend := s.jam("inquiries")
		if _, err := s.Click(s.t.Context(), id, card.Buttons[0].Action); err == nil || err.Error() == textButtonExpired {
			t.Errorf("a question that cannot be used up: %v", err)
		}
		mend()
		if _, err := s.Click(s.t.Context(), id, card.Buttons[0].Action); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b := s.Banner(); b == nil || !b.Resumed || a.opened[2].Resume != "11111111-0000-4000-8000-000000000000" {
			t.Errorf("%+v", b)
		}
		if inputs := a.inputs(); !strings.Contains(inputs[1], "draft it") || !strings.Contains(inputs[1], s.o.UserName) {
			t.Errorf("the model hears %q", inputs)
		}
	})
}

func TestACardThatIsSettledLosesItsButtonsButForTheOneThatEndsAReminder(t *testing.T) {
	const retired = "hi, mail, answered, from Tea in bg, critical true, small false, 0 buttons, "
	back := time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC)
	card := func(b ...post.Button) post.Post {
		return post.Post{Text: "hi", Source: "Tea", Context: "bg", Critical: true, Label: "mail", Embed: &post.Embed{Title: "Tea", Buttons: b}}
	}
	done, later := post.Button{Label: "Done", Action: "remind_done:abcd1234"}, post.Button{Label: "Later", Action: "remind_later:abcd1234"}
	asked := post.Post{Embed: &post.Embed{Title: "A better time?", Buttons: []post.Button{{Label: "No", Action: "dismiss:"}}}}
	retire := func(s *stage, id post.MessageID) { s.Retire(s.t.Context(), id, "answered") }
	putOff := func(s *stage, id post.MessageID) { s.PutOff(s.t.Context(), id, "later", back) }
	for _, tt := range []struct {
		name   string
		card   post.Post
		settle func(s *stage, id post.MessageID)
		want   string // the card; empty: it is left alone
	}{
		{"it is retired", card(done, later), retire, retired},
		{"it is put off", card(done, later), putOff, "hi, mail, later, from Tea in bg, critical true, small false, 1 buttons, Done 09:00"},
		{"what is retired stays so", card(done), func(s *stage, id post.MessageID) { putOff(s, id); retire(s, id); putOff(s, id) }, retired},
		{"it may have reached one surface only", card(done), func(s *stage, id post.MessageID) {
			s.Retire(s.t.Context(), id, "unused")
			testkit.Must(s.t, s.Settle(s.t.Context(), id, "answered"))
		}, retired},
		// Q4: an answered question became a ping
		{"a question is answered", asked, retire, ", , answered, from  in , critical false, small false, 0 buttons, "},
		{"it has no buttons", card(), retire, ""},
		{"it is another", card(done), func(s *stage, _ post.MessageID) { retire(s, "unknown") }, ""},
	} {
		acted(t, func(s *stage, _ *actor) {
			id, err := s.Post(s.t.Context(), tt.card)
			testkit.Must(t, err)
			tt.settle(s, id)
			words := func(p post.Post) string {
				last := ""
				for _, b := range p.Embed.Buttons {
					last = b.Label + " " + p.Embed.Back.Format("15:04")
				}
				return fmt.Sprintf("%s, %s, %s, from %s in %s, critical %v, small %v, %d buttons, %s",
					p.Text, p.Label, p.Embed.Footer, p.Source, p.Context, p.Critical, p.Small, len(p.Embed.Buttons), last)
			}
			if p, edited := s.phone.edits[id]; edited != (tt.want != "") || edited && words(p) != tt.want {
				t.Errorf("%s: edited %v, %+v", tt.name, edited, p)
			}
			for _, e := range s.o.Records.Transcript.Entries() {
				if e.Is(id) && tt.want != "" && words(again(e, e.Embed)) != tt.want {
					t.Errorf("%s: the chat shows %+v", tt.name, e)
				}
			}
			s.phone.with(func() { s.phone.frozen = errors.New("no network") })
			s.troubles = []string{"a message still shows buttons"}
			if err := s.Settle(s.t.Context(), id, "why"); err == nil || err.Error() != "no network" {
				t.Errorf("%s: where it cannot be changed the error is %v", tt.name, err)
			}
		})
	}
}

func TestAnAddressThatEndsALoginIsNoMessage(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.google = login{}
		s.say("http://localhost/?code=4")
		if len(a.inputs()) != 0 || len(s.entries(transcript.User)) != 0 || s.LastReceived("Phone") == "" {
			t.Errorf("inputs %q, the chat shows %q", a.inputs(), s.entries(transcript.User))
		}
		s.take(command.Receive{From: "Phone", Key: "2000", Text: "http://localhost/?code=4", Files: []command.File{{Name: "a.txt"}}})
		s.settle()
		equal(t, "with a file", a.inputs(), []string{"http://localhost/?code=4\n[attached file: downloads/a.txt]"})
		mend := s.jam(unansweredLock)
		if _, err := s.Receive(s.t.Context(), command.Receive{From: "Phone", Key: "3000", Text: "http://localhost/?code=5"}); err == nil {
			t.Error("it is received, and would arrive again")
		}
		mend()
	})
}

// login waits for the address of a page.
type login struct{ offline }

func (login) Redirected(_ context.Context, text string) bool { return strings.HasPrefix(text, "http") }

func TestUpdatesOfATurnThatFailedBeforeItArrivedStayPending(t *testing.T) {
	for _, tt := range []struct {
		name    string
		has     bool
		err     error
		pending int
	}{{"arrived", true, nil, 0}, {"did not arrive", false, nil, 1}, {"it is not known", false, errors.New("no history"), 1}} {
		acted(t, func(s *stage, a *actor) {
			a.has, a.hasErr = tt.has, tt.err
			if tt.err != nil {
				s.troubles = []string{"it is not known whether the last message arrived"}
			}
			testkit.Must(t, s.o.Records.Updates.Append(s.now(), "The kettle is hot."))
			a.next(errors.New("no engine"))
			s.say("hello")
			if n := len(s.o.Records.Updates.Peek()); n != tt.pending || s.has("state/delivery.json") {
				t.Errorf("%s: %d pending", tt.name, n)
			}
			s.say("again")
			if n := strings.Count(strings.Join(a.heard, ""), "The kettle is hot."); n != 1+tt.pending {
				t.Errorf("%s: delivered %d times", tt.name, n)
			}
		})
	}
}
