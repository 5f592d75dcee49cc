package review

const (
	textAllowed      = "%s may do what its file says"
	textCardAllow    = "Allow"
	textCardCut      = "\n… The rest is not shown here: press y on it in the schedule, or run `ollim-bot allow`, to see all of it."
	textCardDecided  = "decided"
	textCardRefuse   = "Refuse"
	textCardNew      = "The agent has written this: %s. It has no effect until you allow it."
	textCardText     = "`%s`: %s\n```diff\n%s\n```%s"
	textCardTitle    = "Edit of %s"
	textCardTitleNew = "New: %s"
	textCardWait     = "Let it wait"
	textEdit         = "an edit is waiting: %s. The old text stays in force until you decide"
	textEditAllowed  = "the edit of %s is in force"
	textEditGone     = "this file is no longer waiting: it was decided, or has changed since"
	textEditRefused  = "the edit of %s was refused; its file is unchanged"
	textEditWaits    = "The agent's edit of %s waits for you: %s. The old text stays in force until you decide: " +
		"press y on it in the schedule, or run `ollim-bot allow`."
	textFileWaits    = "%s is on hold until you approve it: %s Press y on it in the schedule, or run `ollim-bot allow`."
	textNoServers    = "no edit of %s is waiting"
	textNoEdit       = "no edit of %s is waiting: delete its file if you do not want it"
	textNotWaiting   = "%s does not need your approval"
	textNothingWaits = "nothing named %q is waiting for approval; `ollim-bot allow` lists what is"
	textOtherVersion = "%s has changed since you saw it: look again before you decide"
	textSkillWaits   = "this skill is not used until you approve it: %s. Press y on it in the schedule, or run `ollim-bot allow`."
	textWaits        = "needs your approval: %s"
	textWaitsAgain   = "%s needs your approval again"
)
