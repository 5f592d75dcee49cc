package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ollimbot/core/prompt"
)

// RefusedError is why a delivery is not taken, as its sender reads it. It holds no
// value of the payload.
type RefusedError struct {
	Status  int // of HTTP
	Reason  string
	Details []string
	retry   int // seconds to wait; 0 says nothing of it
}

func (r *RefusedError) Error() string {
	if len(r.Details) == 0 {
		return r.Reason
	}
	return r.Reason + ": " + strings.Join(r.Details, "; ")
}

// Check holds a payload against the spec. An error
// is a *RefusedError. The spec must be one that parsed without errors.
func (s Spec) Check(body []byte) (Payload, error) {
	if len(body) > MaxBody {
		return Payload{}, &RefusedError{Status: http.StatusRequestEntityTooLarge, Reason: answerTooLarge}
	}
	list, err := readObject(body)
	switch {
	case errors.Is(err, errNotObject):
		return Payload{}, invalid(textPayload + textNotObject)
	case errors.Is(err, errNumber):
		return Payload{}, invalid(textPayload + textBadNumber)
	case err != nil:
		return Payload{}, &RefusedError{Status: http.StatusBadRequest, Reason: answerJSON}
	}
	if wrong := s.Fields.check(asMap(list)); len(wrong) > 0 {
		return Payload{}, invalid(wrong...)
	}
	if missing := unfilledBy(s.Body, list); len(missing) > 0 {
		return Payload{}, &RefusedError{Status: http.StatusBadRequest, Reason: fmt.Sprintf(answerMissing, strings.Join(missing, "', '"))}
	}
	p := Payload{Data: make([]prompt.Datum, 0, len(list))}
	for _, m := range list {
		p.Data = append(p.Data, prompt.Datum{Key: m.key, Value: m.text()})
		if s.Fields.free(m) {
			p.Screened = append(p.Screened, m.key)
		}
	}
	return p, nil
}

func invalid(details ...string) *RefusedError {
	return &RefusedError{Status: http.StatusBadRequest, Reason: answerInvalid, Details: details}
}

// unfilledBy are the names of the template that the payload lacks, each once.
func unfilledBy(template string, list []member) []string {
	var missing []string
	for _, h := range prompt.Placeholders(template) {
		if !has(list, h.Name) && !slices.Contains(missing, h.Name) {
			missing = append(missing, h.Name)
		}
	}
	return missing
}

// free reports whether a field can carry words of the sender's choice: any text
// and anything that may hold one, unless the spec fixes its values; and a name
// that is none of the spec's and no plain one.
func (f Fields) free(m member) bool {
	if f.closed[m.key] {
		return false
	}
	switch m.value.(type) {
	case string, []any, map[string]any:
		return true
	}
	_, declared := slices.BinarySearch(f.Declared, m.key)
	return !declared && prompt.DataKey(m.key) != m.key
}
