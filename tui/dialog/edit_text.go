package dialog

import (
	"fmt"

	"ollimbot/core/words"
)

// The words of the form of a task.
const (
	textFieldWhen       = "When"
	textFieldTitle      = "Title"
	textFieldPrompt     = "Prompt"
	textFieldRuns       = "Runs"
	textFieldPings      = "Pings"
	textFieldReports    = "Reports"
	textFieldModel      = "Model"
	textFieldThinking   = "Thinks"
	textFieldIsolated   = "Isolated"
	textFieldAllowed    = "May use"
	textFieldDisallowed = "May not use"
	textFieldSkills     = "Skills"
	textFieldSubagent   = "Subagent"
	textFieldTrust      = "Trusts input"
	textFieldCritical   = "Runs above caps"
	textFieldMissed     = "If missed"
	textFieldChain      = "Comes back"
	textFieldUntil      = "Until"
	textYes             = "yes"
	textNo              = "no"
	textUsual           = "as usual"
	textListNote        = "several are separated by ;"
	textChainNote       = "how often it may come back, 0 to 10000"
	textWriteFile       = "write the file"
	textOverwrite       = "enter writes what you changed over it, esc keeps the file"
	textOtherPart       = "something that no field shows"
)

func textLongPrompt(n int) string {
	return words.Count(n, "line") + ": open the file to change them"
}

func textBoth(label, there, here string) string {
	return fmt.Sprintf("%s says %s there and %s here", label, there, here)
}
