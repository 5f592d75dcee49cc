package webhook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ollimbot/core/brief/prompt"
)

// ScreenPrompt asks a small model that was told ScreenSystem whether texts from
// outside try to give orders. Each text stands in quotes on a line
// of its own, so that none can end the list or forge another field.
func ScreenPrompt(fields map[string]string) string {
	var b strings.Builder
	b.WriteString(screenHead)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString("- " + prompt.DataKey(name) + ": " + prompt.DataQuoted(fields[name]) + "\n")
	}
	b.WriteString(screenTail)
	return b.String()
}

// errVerdict says that an answer is no verdict. Such a delivery is held.
var errVerdict = errors.New("the answer is not a verdict")

// ParseVerdict reads the model's answer, whatever stands around the JSON in it.
// flagged are names as the model gives them, which are not to be trusted. An
// answer that is not exactly a verdict is an error, and so nothing is let
// through by a doubt.
func ParseVerdict(text string) (safe bool, flagged []string, err error) {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return false, nil, errVerdict
	}
	list, err := readObject([]byte(text[from : to+1]))
	if err != nil {
		return false, nil, fmt.Errorf("read the verdict: %w", err)
	}
	answer := asMap(list)
	safe, ok := answer["safe"].(bool)
	if !ok {
		return false, nil, errVerdict
	}
	names, ok := answer["flagged"].([]any)
	if !ok && answer["flagged"] != nil {
		return false, nil, errVerdict
	}
	for _, n := range names {
		name, ok := n.(string)
		if !ok {
			return false, nil, errVerdict
		}
		flagged = append(flagged, name)
	}
	return safe && len(flagged) == 0, flagged, nil
}

// texts are the fields of the payload that are screened.
func (p Payload) texts() map[string]string {
	fields := make(map[string]string, len(p.Screened))
	for _, d := range p.Data {
		if slices.Contains(p.Screened, d.Key) {
			fields[d.Key] = d.Value
		}
	}
	return fields
}

// named gives names from outside as they may be told: those that the spec
// declares; all others, which the sender chose, stand as one word of ours.
func (f Fields) named(names []string) []string {
	var list []string
	for _, n := range names {
		if _, declared := slices.BinarySearch(f.Declared, n); !declared {
			n = textUndeclaredField
		} else {
			n = prompt.DataKey(n)
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}
