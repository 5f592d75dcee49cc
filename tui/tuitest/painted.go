package tuitest

import (
	"strings"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/tui/theme"
)

// Colours is a theme whose roles Painted recognizes.
var Colours = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})

// roleNames are the names of the roles, in their order. Where two look the same, Painted uses the first.
var roleNames = strings.Fields("text dim strong accent good warn bad border focus here key select match ping tool think report gauge track level you caret")

// Painted is a text in Colours with its roles in words: ‹bad ✗ Rent failed› at 14:01.
func Painted(text string) string {
	var pairs []string
	for i, name := range roleNames {
		if open, shut := Colours.Ends(theme.Role(i)); open != "" {
			pairs = append(pairs, open, "‹"+name+" ", shut, "›")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
