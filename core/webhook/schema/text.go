package schema

import (
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core/clean"
)

// The cures of a schema that is not read.
const (
	curePattern  = "the pattern %s cannot be used; write a regular expression without look-ahead, look-behind and back-references"
	cureRemote   = `the reference %s leads out of the schema; write "#/definitions/NAME", and put that part below definitions`
	cureLost     = "the reference %s leads nowhere; put that part below definitions"
	cureID       = `the $id %s would move what references mean; delete it, and refer to this part as "#/definitions/NAME"`
	cureDraft    = "the schema is read as draft 7, not as %s; delete the $schema"
	cureDeep     = "it nests too deeply; write it flatter"
	cureType     = "it is of the type %s; write one of the type %s"
	cureEnum     = "this is not known here; write %s"
	cureEmpty    = "the list is empty; write at least one entry"
	cureTwice    = "an entry comes twice; keep one of them"
	cureNegative = "the number is too small; write one from 0 on"
	cureZero     = "the number is too small; write one above 0"
	cureNumber   = "the number is out of bounds; write a smaller one"
	textOr       = " or "
)

func (e *Error) cure() string {
	switch e.Reason {
	case Pattern:
		return fmt.Sprintf(curePattern, quoted(e.Text))
	case Remote:
		return fmt.Sprintf(cureRemote, quoted(e.Text))
	case Lost:
		return fmt.Sprintf(cureLost, quoted(e.Text))
	case ID:
		return fmt.Sprintf(cureID, quoted(e.Text))
	case Draft:
		return fmt.Sprintf(cureDraft, quoted(e.Text))
	case Deep:
		return cureDeep
	}
	switch p := e.Problem; p.Keyword {
	case "type":
		return fmt.Sprintf(cureType, p.Kind, strings.Join(p.Want.([]string), textOr))
	case "enum":
		return fmt.Sprintf(cureEnum, strings.Join(simpleTypes, textOr))
	case "minItems":
		return cureEmpty
	case "uniqueItems":
		return cureTwice
	case "minimum":
		return cureNegative
	case "exclusiveMinimum":
		return cureZero
	}
	return cureNumber
}

// quoted shows what somebody wrote, cleaned and cut.
func quoted(text string) string { return strconv.Quote(clean.Cut(clean.Line(text), 100)) }
