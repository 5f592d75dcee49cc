package plain

import (
	"slices"
	"testing"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/proposals"
)

func TestAQuestionIsListedAndAnswered(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.types("questions"), "the bot asks you nothing")
		s.change(func(n *core.Snapshot) {
			n.Proposals = []proposals.Proposal{{ID: "1a2b3c4d", Text: "You wrote: \"I'll call Ada\".", Made: n.At, Buttons: []proposals.Button{
				{ID: "yes", Label: "Remind me"}, {ID: "when", Label: "Other time…", Asks: true}, {ID: "no", Label: "No"},
			}}}
		})
		s.one(s.types("questions"), "question 1, You wrote: \"I'll call Ada\". Answers: Remind me, Other time…, No.")
		s.hasLines(s.types("answer perhaps"), "error: answer takes [QUESTION] ANSWER", textToAgent)
		s.one(s.types("answer"), "error: answer takes [QUESTION] ANSWER")
		s.one(s.types("answer 7 no"), "there is no number 7 in the last list")
		s.did()
		for _, line := range []string{"answer yes", "answer 1 remind me", "answer 1 tomorrow 9:00", "answer no"} {
			s.one(s.types(line), "so it is")
		}
		want := []command.Value{
			command.AnswerProposal{ID: "1a2b3c4d", Button: "yes"},
			command.AnswerProposal{ID: "1a2b3c4d", Button: "yes"},
			command.AnswerProposal{ID: "1a2b3c4d", Button: "when", Value: "tomorrow 9:00"},
			command.AnswerProposal{ID: "1a2b3c4d", Button: "no"},
		}
		if got := s.bot.done(); !slices.Equal(got, want) {
			t.Errorf("did %+v", got)
		}
	})
}
