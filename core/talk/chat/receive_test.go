package chat

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
)

func TestABacklogIsOneTurnWithAllMessagesInOrder(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		var done []<-chan error
		var want []string
		for i := range 100 {
			text := fmt.Sprint("message ", i)
			want = append(want, text)
			done = append(done, s.take(command.Receive{From: "Phone", Key: fmt.Sprint(100 + i), Text: text, More: i < 99}))
			pass(time.Second) // as long as its files take
		}
		for _, d := range done {
			testkit.Must(t, <-d)
		}
		synctest.Wait()
		if got := a.inputs(); !slices.Equal(got, []string{strings.Join(want, "\n\n")}) {
			t.Errorf("%d turns: %.300q", len(got), got)
		}
		if n := len(s.inbox.load().Messages); n != 0 {
			t.Errorf("%d messages still wait", n)
		}
	})
}

// P11
func TestABacklogOfAThousandMessagesHasTheNewestAndNamesAFile(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		for i := range 1000 {
			s.take(command.Receive{From: "Phone", Key: fmt.Sprint(1000 + i), Text: fmt.Sprint("message ", i), More: i < 999})
		}
		pass(time.Minute)
		got := a.inputs()
		if len(got) != 1 || !strings.HasPrefix(got[0], "[900 earlier messages are in downloads/earlier-messages.txt]\n\nmessage 900\n\n") ||
			!strings.HasSuffix(got[0], "message 999") {
			t.Fatalf("%d turns: %.300q", len(got), got)
		}
		data, err := s.dir.Read("downloads/earlier-messages.txt")
		if err != nil || !strings.HasPrefix(string(data), "message 0\n") || !strings.HasSuffix(string(data), "message 899\n") {
			t.Errorf("the file has %d bytes, %v", len(data), err)
		}
	})
}

func TestMessagesFromBeforeARestartPrecedeNewOnesAndAreAnsweredOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		a := &actor{}
		s := stageAt(t, root, a)
		testkit.Must(t, s.dir.Write(unansweredPath, []byte(`{"messages":[{"id":"a1","at":"2026-01-01T00:00:00Z","text":"from before"}]}`)))
		s.hear("101", "quick")
		s.run(func(s *stage) {
			pass(time.Minute)
			if got := a.inputs(); !slices.Equal(got, []string{"from before\n\nquick"}) {
				t.Errorf("%q", got)
			}
		})
		a = &actor{before: 5}
		s = stageAt(t, root, a)
		s.hear("102", "alone")
		s.run(func(s *stage) {
			pass(time.Minute)
			if got := a.inputs(); !slices.Equal(got, []string{"alone"}) {
				t.Errorf("%q", got)
			}
			if n := len(s.inbox.load().Messages); n != 0 {
				t.Errorf("%d messages still wait", n)
			}
		})
	})
}

func TestYesAndNoAnswerTheQuestionThatWaitsAndEverythingElseTakesItBack(t *testing.T) {
	for words, want := range map[string]policy.Verdict{
		"yes": policy.Allow, "Yes!": policy.Allow, "ok": policy.Allow, "👍": policy.Allow, "always": policy.Always,
		"y": policy.Allow, "okay": policy.Allow, "allow": policy.Allow, "allow once": policy.Allow, "✅": policy.Allow, "🔓": policy.Always,
		"n": policy.Deny, "👎": policy.Deny, "❌": policy.Deny,
		"no": policy.Deny, "No.": policy.Deny, "deny": policy.Deny, "what does it do?": policy.Cancelled,
	} {
		t.Run(words, func(t *testing.T) {
			acted(t, func(s *stage, a *actor) {
				testkit.Must(t, s.SetMode(t.Context(), policy.Ask))
				a.asks("rm x")
				s.hear("101", "remove x")
				pass(5 * time.Second)
				s.hear("102", words)
				pass(time.Second)
				if asked := s.phone.approvals(); len(asked) != 2 || asked[1].Verdict != want {
					t.Fatalf("%+v, want %s", asked, want)
				}
				turns := 1
				if want == policy.Cancelled {
					turns = 2
				}
				if len(a.inputs()) != turns || s.LastReceived("Phone") != "102" {
					t.Errorf("%d turns, last heard %s", len(a.inputs()), s.LastReceived("Phone"))
				}
			})
		})
	}
}

func TestANewConversationForgetsWhatWasAlwaysAllowed(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.SetMode(t.Context(), policy.Ask))
		try := func(key string) (asked int) {
			a.asks("rm x")
			s.hear(key, "remove x")
			pass(time.Second)
			return len(s.phone.approvals())
		}
		try("101")
		s.hear("102", "always")
		pass(time.Minute)
		if n := try("103"); n != 2 {
			t.Errorf("what is always allowed was asked for: %+v", s.phone.approvals())
		}
		s.clear()
		if n := try("104"); n != 3 {
			t.Errorf("the new conversation still allows it: %+v", s.phone.approvals())
		}
		s.hear("105", "no")
		pass(time.Minute)
	})
}

func TestAYesWithoutAQuestionIsAMessage(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.say("yes")
		equal(t, "the model hears", a.inputs(), []string{"yes"})
	})
}

func TestAYesFromBeforeTheQuestionAnswersNothing(t *testing.T) {
	for before, want := range map[time.Duration]policy.Verdict{
		-time.Minute: policy.Allow, clocksDiffer: policy.Allow, clocksDiffer + time.Second: policy.Cancelled, time.Minute: policy.Cancelled,
	} {
		acted(t, func(s *stage, a *actor) {
			testkit.Must(t, s.SetMode(s.t.Context(), policy.Ask))
			a.asks("rm x")
			asked := time.Now()
			s.hear("101", "remove x")
			pass(30 * time.Second)
			s.take(command.Receive{From: "Phone", Key: "102", Text: "yes", At: asked.Add(-before)})
			pass(time.Second)
			if asked := s.phone.approvals(); len(asked) != 2 || asked[1].Verdict != want {
				t.Errorf("written %s before it: %+v, want %s", before, asked, want)
			}
		})
	}
}

// P5
func TestPicturesAreShownAndWhatCannotBeShownIsSavedWithTheReason(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		var large bytes.Buffer
		testkit.Must(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&large, image.NewRGBA(image.Rect(0, 0, 1600, 1000))))
		s.take(command.Receive{From: "Phone", Key: "101", Text: "look", Files: []command.File{
			{Name: "one.png", Data: large.Bytes()},
			{Name: "two.png", Data: large.Bytes()},
			{Name: "cat.heic", Data: []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00")},
			{Name: strings.Repeat("a", 101) + ".png", Data: []byte("PK\x03\x04")},
		}})
		pass(time.Minute)
		const heic = "is a HEIC picture, which is not supported: send it as a JPEG (iPhone: Settings > Camera > Formats > Most Compatible)"
		const zip = "is not a supported image: use PNG, JPEG, GIF or WebP"
		long := strings.Repeat("a", 99) + "…"
		heard := "look\n[the file cat.heic was saved, but not shown to you: it " + heic + "]\n[the file " + long + " was saved, but not shown to you: it " + zip +
			"]\n[attached file: downloads/cat.heic]\n[attached file: downloads/" + strings.Repeat("a", 101) + ".png]"
		equal(t, "the model hears", a.inputs(), []string{heard})
		equal(t, "the chat shows", s.entries(transcript.User), []string{heard + "\n[2 images]"})
		equal(t, "the user reads", s.phone.noted, []string{
			"cat.heic was saved, but I cannot see it: it " + heic + ". (silent)", long + " was saved, but I cannot see it: it " + zip + ". (silent)",
		})
	})
}

// P11: a backlog is written to disk in groups. Messages not yet written when the program
// ended were not received, so their surface delivers them again.
func TestABacklogIsWrittenInGroupsAndWhatIsNotWrittenWasNotReceived(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		hear := func(key int, more bool, files ...command.File) {
			t.Helper()
			s.take(command.Receive{From: "Phone", Key: fmt.Sprint(key), Text: fmt.Sprint("message ", key), More: more, Files: files})
		}
		onDisk := func(n int, heard string) {
			t.Helper()
			if state := s.inbox.load(); len(state.Messages) != n || state.Heard["Phone"] != heard || len(s.entries(transcript.User)) != n {
				t.Errorf("%d on disk, %d shown, heard %q; want %d and %q", len(state.Messages), len(s.entries(transcript.User)), state.Heard["Phone"], n, heard)
			}
		}
		for i := range maxUnsaved - 1 {
			hear(1000+i, true)
		}
		onDisk(0, "")
		if got := s.LastReceived("Phone"); got != fmt.Sprint(1000+maxUnsaved-2) {
			t.Errorf("it knows %q", got)
		}
		hear(1000, true) // arrives twice
		hear(2000, true)
		onDisk(maxUnsaved, "2000")
		hear(2001, true)
		onDisk(maxUnsaved, "2000")
		hear(2002, true, command.File{Name: "a.txt", Data: []byte("x")}) // downloaded, perhaps transcribed
		onDisk(maxUnsaved+2, "2002")
		hear(2003, true)
		testkit.Must(t, s.inbox.noteReceived("Phone", "2004"))
		onDisk(maxUnsaved+3, "2004")
		hear(2005, true)
		if _, err := s.Receive(t.Context(), command.Receive{From: "Phone", Key: "2006", Text: strings.Repeat("x", maxMessage+1)}); err == nil {
			t.Error("a message that is too long was taken")
		}
		pass(time.Minute)
		if got := a.inputs(); len(got) != 1 || !strings.HasSuffix(got[0], "message 2003\n\nmessage 2005") {
			t.Errorf("%d turns: %q", len(got), got)
		}
		if state := s.inbox.load(); len(state.Messages) > 0 || state.Heard["Phone"] != "2005" {
			t.Errorf("when all are answered the file has %+v", state)
		}
	})
}

// Messages that a full or broken disk did not accept were not received: the surface may
// deliver them again.
func TestABacklogThatCannotBeWrittenWasNotReceived(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		mend := s.jam(unansweredLock)
		for i, more := range []bool{true, false} {
			_, err := s.Receive(t.Context(), command.Receive{From: "Phone", Key: fmt.Sprint(10 + i), Text: "hello", More: more})
			if (err == nil) != more {
				t.Errorf("message %d: %v", i, err)
			}
		}
		if got := s.LastReceived("Phone"); got != "" {
			t.Errorf("it says it has %q", got)
		}
		mend()
		for i, more := range []bool{true, false} {
			s.take(command.Receive{From: "Phone", Key: fmt.Sprint(10 + i), Text: fmt.Sprint("again ", i), More: more})
		}
		pass(time.Minute)
		if got := a.inputs(); !slices.Equal(got, []string{"again 0\n\nagain 1"}) {
			t.Errorf("the model hears %q", got)
		}
	})
}
