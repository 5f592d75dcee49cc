package review

const (
	textAllowed         = "%s may do what its file says"
	textCardAllow       = "Allow"
	textCardCut         = "\nThis is cut. All of it is in the attached file, and in the dashboard."
	textCardDecided     = "decided"
	textCardRefuse      = "Refuse"
	textCardNew         = "The agent has written this: %s. It has no effect until you allow it."
	textCardScript      = "%s. The run is held until you allow it."
	textCardTitleScript = "Changed check of %s"
	textScriptAllowed   = "the check of %s may run the script as it is now"
	textCardText        = "%s\n```diff\n%s\n```%s"
	textCardTitleNew    = "New: %s"
	textCardWait        = "Let it wait"
	textEdit            = "an edit is waiting: %s. The old text stays in force until you decide"
	textEditAllowed     = "the edit of %s is in force"
	textEditGone        = "this file is no longer waiting: it was decided, or has changed since"
	textEditRefused     = "the edit of %s was refused; its file is unchanged"
	textEditWaits       = "The agent's edit of %s waits for you: %s. The old text stays in force until you decide " +
		"on its card or in the schedule."
	textFileWaits    = "%s is on hold until you approve it: %s Decide on its card or in the schedule."
	textNoServers    = "no edit of %s is waiting"
	textNoTools      = "no change of %s's tools is waiting"
	textNoEdit       = "no edit of %s is waiting: delete its file if you do not want it"
	textNotWaiting   = "%s does not need your approval"
	textNothingWaits = "nothing named %q is waiting for approval"
	textOtherVersion = "%s has changed since you saw it: look again before you decide"
	textSkillWaits   = "this skill is not used until you approve it: %s. Decide on its card or in the schedule."
	textToolsAllowed = "the changed tools of %s are allowed, in force from the next new conversation"
	textToolsOf      = "change of %s's tools"
	textToolsRefused = "the change of %s's tools was refused; those that you have allowed stay as they were"
	textWaits        = "needs your approval: %s"
	textWhereAllowed = " Decide on its card or in the schedule."
	textWaitsAgain   = "%s needs your approval again"
)

// What the agent is told of the user's decision.
const (
	toldAllowed = "The user allowed your edit of %s: the file has its text now. Tools that are new come with the first message after /clear."
	toldRefused = "The user refused your edit of %s: the file is unchanged. Do not try it again in another way; ask what they would like instead."
)
