package plain

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/transcript"
)

func TestALineThatEndsInABackslashGoesOn(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", At: time.Now(), Role: transcript.Bot, Text: "And?"}}
		})
		s.hears()
		s.one(s.types(`say Dear Sam, \`), "more: ")
		s.one(s.types(`\`), "more: line 3")
		s.one(s.types(`  two spaces \ `), "more: line 4")
		s.one(s.types("yes"), "ok: done")
		s.types(`say\`)
		s.one(s.types("on its own line"), "ok: done")
		s.types("chat")
		s.types(`reply 1\`)
		s.one(s.types("a\\\\"), "ok: done")
		s.types(`say over \`)
		s.one(s.types(""), "ok: done") // nothing ends it too
		s.types(`new reminder 2h called Tea:\`)
		s.types(`put the kettle on\`)
		s.types("  - and wait")
		s.types(`new routine 0 9 * * * first\`)
		s.types("second")
		s.types(`say C:\\`)
		start := s.bot.done()[4].(command.AddTask).At // what a moment means is another test's
		want := []command.Value{
			command.Say{Text: "Dear Sam,\n\n  two spaces\nyes"},
			command.Say{Text: "on its own line"},
			command.Say{Text: `a\`, ReplyTo: "1"},
			command.Say{Text: "over"},
			command.AddTask{At: start, Description: "Tea", Message: "put the kettle on\n  - and wait"},
			command.AddTask{Cron: "0 9 * * *", Message: "first\nsecond"},
			command.Say{Text: `C:\`},
		}
		if diff := cmp.Diff(want, s.bot.done()); diff != "" {
			t.Errorf("what it did (-want +got):\n%s", diff)
		}
	})
}

func TestTheEndOfTheInputEndsWhatGoesOn(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hears()
		s.types(`say one\`)
		s.types(`two\`)
		_ = s.in.Close()
		s.hears()
		if diff := cmp.Diff([]command.Value{command.Say{Text: "one\ntwo"}}, s.bot.done()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestACommandThatIsTooLongDoesNothing(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hears()
		for range 3 {
			s.types("say " + strings.Repeat("x", maxLine/2) + `\`)
		}
		s.one(s.types("end"), "error: this is too long")
		s.one(s.types("say again"), "ok: done")
		if did := s.bot.done(); len(did) != 1 {
			t.Errorf("did %d commands", len(did))
		}
	})
}
