package review

const (
	textAllowed      = "%s may do what its file says"
	textFileWaits    = "%s is on hold until you approve it: %s Press y on it in the schedule, or run `ollim-bot allow`."
	textNotWaiting   = "%s does not need your approval"
	textNothingWaits = "nothing named %q is waiting for approval; `ollim-bot allow` lists what is"
	textOtherVersion = "%s has changed since you saw it: look again before you allow it"
	textSkillWaits   = "this skill is not used until you approve it: %s. Press y on it in the schedule, or run `ollim-bot allow`."
	textWaits        = "needs your approval: %s"
	textWaitsAgain   = "%s needs your approval again"
)
