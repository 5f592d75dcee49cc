package script

import (
	"encoding/json"
	"strings"

	"ollimbot/core/base/lazyregexp"
)

// fieldLine is a field of a webhook's payload in the bot's question: a name and the value as JSON,
// on one line.
var fieldLine = lazyregexp.New(`(?m)^- ("(?:[^"\\]|\\.)*"|[^\s":]+): (".*")$`)

// orders matches words with which a text gives orders to a model.
var orders = lazyregexp.New(`(?i)\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|prompts?|above|before|previous)\b` +
	`|\byou are now\b|\bsystem prompt\b|\bnew instructions?\b|\[system\]|\b(?:ping_user|report_updates|discord_embed|send_file)\b`)

// verdict answers the only question asked in a bare session: which fields of a delivery try to give
// orders to the model. It recognizes a few typical words, enough to demonstrate both outcomes.
func verdict(prompt string) []step {
	answer := struct {
		Safe    bool     `json:"safe"`
		Flagged []string `json:"flagged"`
	}{Flagged: []string{}}
	for _, field := range fieldLine().FindAllStringSubmatch(prompt, -1) {
		name, value := unquoted(field[1]), unquoted(field[2])
		if orders().MatchString(strings.Join(strings.Fields(value), " ")) {
			answer.Flagged = append(answer.Flagged, name)
		}
	}
	answer.Safe = len(answer.Flagged) == 0
	text, _ := json.Marshal(answer) // words can always be written
	return []step{say(string(text))}
}

// unquoted returns the text of a JSON string, or any other text unchanged.
func unquoted(text string) string {
	var out string
	if json.Unmarshal([]byte(text), &out) != nil {
		return text
	}
	return out
}
