package webhook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ollimbot/core/brief/prompt"
)

// ScreenPrompt asks a small model, whose system prompt is ScreenSystem, whether texts from
// outside try to give orders. Each text is in quotes on its own line, so that none can end
// the list or forge another field.
func ScreenPrompt(fields map[string]string) string {
	var b strings.Builder
	b.WriteString(screenHead)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString("- " + prompt.DataKey(name) + ": " + prompt.DataQuoted(fields[name]) + "\n")
	}
	b.WriteString(screenTail)
	return b.String()
}

// errVerdict means that an answer is not a verdict. Such a delivery is held.
var errVerdict = errors.New("the answer is not a verdict")

// ParseVerdict reads the model's answer, ignoring text around the JSON. flagged are names
// from the model, which are untrusted. Everything but a clear verdict is an error.
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

// texts returns the fields of the payload that must be screened.
func (p Payload) texts() map[string]string {
	fields := make(map[string]string, len(p.Screened))
	for _, d := range p.Data {
		if slices.Contains(p.Screened, d.Key) {
			fields[d.Key] = d.Value
		}
	}
	return fields
}

// named makes names from outside safe to report: those that the spec does not declare,
// which the sender chose, become textUndeclaredField.
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
