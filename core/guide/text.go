package guide

// Names where the user gave none.
const (
	textTheUser = "the user"
	textTheBot  = "the assistant"
)

// What Install tells.
const (
	textInstalled    = "installed"
	textRefreshed    = "refreshed: this version of the program brings a newer one"
	textLinkReplaced = "put in the place of a link that led out of the data directory"
	textNotReached   = "left alone, because it cannot be read as a file of the data directory (%s)"
	textNotRecorded  = "what was installed could not be written down: %v"
	textNoLink       = "the link for the engine's skills could not be made (%s): until then skills work in tasks only"
)

// What Offers tells, with the file's name twice.
const (
	textOffer       = "%s has a newer version in this program: move %s away, and the next start puts the new one in its place"
	textOfferEdited = "%s is your own version, and this program brings another one: keep yours, or move %s away, " +
		"and the next start puts ours in its place"
)

const textNoProfile = "[%s is there and cannot be read now. Tell the user.]"
