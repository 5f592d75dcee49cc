package prompt

// The words of the system prompt that depend on values; the rest of it is
// templates/system.md.
const (
	textTheUser    = "the user"
	textTheZone    = "the configured time zone"
	textYourSkills = "Your custom skills:\n"
	textNoSkills   = "There are no custom skills yet."
	textMoreSkills = "\n- and %d more: `ls skills` lists them."
	textProfileCut = "\n\n[%s goes on: read the rest of it in the file.]"
)
