package config

// Why names cannot be saved.
const (
	msgNameEmpty   = "%s must not be empty: give a name"
	msgNameLong    = "%s must have at most %d characters: give a shorter name"
	msgNameLetters = "%s must not hold quotation marks (\"), backslashes, backquotes or dollar signs: leave them out"
	msgNamesByHand = "%s is written in a way that cannot be changed safely: set %s and %s in it by hand"
)
