package demo

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/words"
	"ollimbot/core/work/fork"
)

// Talk answers the user's messages without a model, with scripts for the offline engine. Facts about the day come
// from the bot's snapshot.
func Talk(look func() core.Snapshot) func(said string) string {
	return func(said string) string {
		s := look()
		if m := remindForm().FindStringSubmatch(said); m != nil {
			return remind(m[1], m[2])
		}
		for _, t := range topics {
			if t.about().MatchString(said) {
				return t.answer(&s)
			}
		}
		return "say " + elsewise
	}
}

const elsewise = "I only know this example day. Ask me what is left, what came in, what was refused, what failed or what it cost; " +
	"or say: remind me to call Dana in 2 minutes."

var remindForm = lazyregexp.New(`(?i)\bremind me to ([^."\\\n]{1,80}) in ([1-9]\d{0,2}) min`)

// remind sets a reminder whose run pings by a script of its own. It is set once that was said whole, so that an answer that
// was interrupted has set none.
func remind(what, minutes string) string {
	prompt := fmt.Sprintf("Remind me to %s.\n\n```script\ncall ping_user {\"message\": \"Time to %[1]s.\"}\n"+
		"call report_updates {\"message\": \"Reminded: %[1]s.\"}\n```", what)
	return fmt.Sprintf("say I will remind you to %s.\ncall add_reminder {\"prompt\": %q, \"delay_minutes\": %s, \"description\": %q}",
		what, prompt, minutes, strings.ToUpper(what[:1])+what[1:])
}

// topic is a subject that the user may mention.
type topic struct {
	about  lazyregexp.Pattern
	answer func(s *core.Snapshot) string
}

// topics are tried in order.
var topics = []topic{
	{lazyregexp.New(`^\[fork-started`), says(`say I am here. What is on your mind?`)},
	{lazyregexp.New(`^\[fork-timeout`), says(`say Are you still there? Send a message to continue; otherwise I will close this fork soon.`)},
	{lazyregexp.New(`^\[system`), says(`call report_updates {"message": "Talked in a fork; nothing is left open."}
say Reported to the main session. See you there.`)},
	{about(`I['’]ll call the dentist tomorrow`), says(`call propose_reminder {"words": "I'll call the dentist tomorrow", "delay_minutes": 1440}
wait 200ms
say Good plan.`)},
	{about(`desktop|write to the landlord|answer (to )?the landlord`), says(
		`say The answer is short. The desktop is outside of my own folder, so writing there needs your word.
ask Write {"file_path": "/home/sam/Desktop/landlord.txt", "content": "Dear Ms. Berg, Thursday between 8 and 10 is fine, I am at home."}
refused Then I keep it here: "Dear Ms. Berg, Thursday between 8 and 10 is fine, I am at home." Ask me again whenever you like.
say Done: landlord.txt is on your desktop.`)},
	{about(`stuck|overwhelmed|stressed|too much|tired|exhausted|slept badly|anxious|focus`), says(
		`think The letter again. Smaller, not louder.
say Then not the letter, only its first sentence: "I am sending you the receipts you asked for."
say Type that, and stop. If you want to go on after five minutes, good; if not, it is begun.`)},
	{about(`sentence|written|filled in|begun|first step`), says(`say That was the hard part. The receipts are in the blue folder, so the rest is copying.
say Shall I leave you alone for half an hour?`)},
	{about(`refuse|why not|silent`), refusals},
	{about(`fail|wrong|broke|error`), failures},
	{about(`cost|money|spent|expensive|dollar`), costs},
	{about(`how (many|often)|pings?\b|budget|tokens?`), pings},
	{about(`how was|summary|review`), summary},
	{about(`come in|came in|inbox|mail|landlord|new\b|updates?`), says(
		`say Two letters need an answer today. The landlord: the boiler is serviced on Thursday between 8 and 10, and somebody has to be at home.
say And Dana, about Friday: yes or no is enough. Shall I draft both?`)},
	{about(`left|open|next|plan|schedule|look like|to do|today|regret`), whatIsLeft},
	{about(`tax|letter|office|papers|scan`), says(
		`say The tax office wants the receipts by the 4th. The form is filled in; what is missing is one page and an envelope.`)},
	{about(`dana|friday`), says(`say Dana asks whether you come on Friday. A yes or no is enough; shall I draft it?`)},
	{about(`who are you|what are you|which model|are you (real|an? )`), says(
		`say In this demo a script speaks for the model. All else is the real bot: the runs, the budget, the schedule, the files.`)},
	{about(`help|what can you`), says("say " + elsewise)},
	{about(`\b(yes|please|draft|sure|ok(ay)?)\b`), says(
		`say Drafted: "Dear Ms. Berg, Thursday between 8 and 10 is fine, I am at home." And to Dana: "Yes, gladly. Seven?"
say Nothing is sent before you say so.`)},
	{about(`thank|cheers|great|nice|lovely`), says(`say Gladly. I will be quiet now.`)},
	{about(`done|did it|taken|watered|called|made one|kettle|stretched|walked|off now|at home|bins|finished|water\b`), says(
		`say Good. One thing less on the list.`)},
	{about(`^\W*(hi|hello|hey|good (morning|afternoon|evening)|moin|hallo)\b`), says(
		`say Hello! It is a calm day. Ask me what is left, or tell me what is on your mind.`)},
}

// about matches any of the given words.
func about(words string) lazyregexp.Pattern { return lazyregexp.New(`(?i)\b(` + words + `)`) }

// says returns a fixed answer.
func says(script string) func(*core.Snapshot) string {
	return func(*core.Snapshot) string { return script }
}

// whatIsLeft names what comes next in the schedule.
func whatIsLeft(s *core.Snapshot) string {
	var next []string
	for i := range s.Schedule.Day {
		e := &s.Schedule.Day[i]
		if e.FireTime.After(s.At) && s.IsToday(e.FireTime) && !e.Held && len(next) < 3 {
			next = append(next, fmt.Sprintf("%s at %s", e.Description, s.Clock(e.FireTime, "15:04")))
		}
	}
	said := "say Nothing is planned any more today."
	if len(next) > 0 {
		said = "say Next: " + strings.Join(next, ", ") + "."
	}
	return said + "\nsay And two letters: the landlord about the boiler, and Dana about Friday. Dana is the smaller one; I would begin there."
}

// pings counts those of today.
func pings(s *core.Snapshot) string {
	sent, answered := countPings(s)
	b := s.Budget.State
	said := fmt.Sprintf("say %s today, %d of them answered. I have %.1f of %d tokens left", words.Count(sent, "ping"), answered, b.Available, b.Capacity)
	if !s.Budget.NextAt.IsZero() {
		said += ", the next comes at " + s.Clock(s.Budget.NextAt, "15:04")
	}
	return said + "."
}

func countPings(s *core.Snapshot) (sent, answered int) {
	today := s.Budget.Today()
	for i := range today {
		switch p := &today[i]; {
		case p.Refused != "":
		case !p.Answered.IsZero():
			answered++
			fallthrough
		default:
			sent++
		}
	}
	return sent, answered
}

// refusals describes the newest refused ping.
func refusals(s *core.Snapshot) string {
	list := s.Budget.Pings
	for i := len(list) - 1; i >= 0; i-- {
		if p := &list[i]; p.Refused != "" {
			said := fmt.Sprintf("say At %s %s wanted to ping you, and was refused: %s.", s.Clock(p.At, "15:04"), p.Title, p.Refused)
			if slices.ContainsFunc(s.Forks, func(v fork.View) bool { return v.ID == p.Run && v.Reports > 0 }) {
				said += " What it had to say came as an update."
			}
			return said
		}
	}
	return "say Nothing was refused so far."
}

// failures describes the newest failed run.
func failures(s *core.Snapshot) string {
	for i := len(s.Ended) - 1; i >= 0; i-- {
		if v := &s.Ended[i]; v.State == fork.Failed {
			return fmt.Sprintf("say %s failed at %s: %s. Nothing is lost; it can run again with f.", v.Title, s.Clock(v.Ended, "15:04"), v.Error)
		}
	}
	return "say Nothing has failed in the last 24 hours."
}

// costs describes today's costs.
func costs(s *core.Snapshot) string {
	return fmt.Sprintf("say Today %s so far, this month %s, by the price list. In the demo nobody pays it.",
		words.Dollars(s.Money.Today.Spent.Dollars()), words.Dollars(s.Money.Month.Spent.Dollars()))
}

// summary is the day in two sentences.
func summary(s *core.Snapshot) string {
	sent, answered := countPings(s)
	return fmt.Sprintf("say A good day: the letter is begun, Dana has her answer, and the landlord knows about Thursday.\n"+
		"say I pinged you %s, you answered %d, and %d runs did the rest in silence.", times(sent), answered, len(s.Ended))
}

func times(n int) string { return words.Count(n, "time") }
