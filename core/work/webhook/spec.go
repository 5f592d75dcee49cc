package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/schema"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// maxID is the longest id, in characters.
const maxID = 64

// Spec is a webhook: the background task that a delivery starts, with the template as its
// body, and the schema of its payload.
type Spec struct {
	routines.Task
	Fields Fields
	// Verify is how the sender proves who it is, one of senders; if it is empty, it sends the bot's own secret.
	Verify string
	// SecretEnv is the variable with the sender's secret, SignatureHeader the header with its proof
	// if that is not the usual one, and DeliveryHeader the one with the id of a delivery.
	SecretEnv, SignatureHeader, DeliveryHeader string
}

// MarshalJSON implements json.Marshaler: its name, its file and the fields that it declares.
func (s *Spec) MarshalJSON() ([]byte, error) {
	return store.JSONLine(struct {
		ID     string   `json:"id"`
		File   string   `json:"file"`
		Title  string   `json:"title"`
		Fields []string `json:"fields"`
	}{s.ID, s.Path, s.Title(), s.Fields.Declared})
}

// Parse reads a spec file. rel is its path relative to the data directory. It returns all
// problems in the file's order; if routines.HasErrors of them, the spec must not be used.
func Parse(rel string, data []byte) (Spec, []routines.Problem) {
	p, ok := routines.Open(routines.KindWebhook, rel, data)
	if !ok {
		return Spec{Task: routines.Task{Kind: routines.KindWebhook, Path: rel}}, p.Problems()
	}
	s := Spec{Task: p.Task()}
	if f, text, ok := p.Text("id", msgNoID); ok {
		if s.ID = text; !plainID(text) {
			p.AddAt(routines.Error, f, msgBadID, show(text), maxID, "github-ci")
		}
	}
	s.parseVerify(p)
	s.Fields = parseFields(p)
	checkTemplate(p, s)
	p.UnknownKeys()
	return s, p.Problems()
}

// plainID reports whether a text can be part of an address unescaped: 1 to 64 ASCII letters,
// digits, - or _.
func plainID(text string) bool {
	return text != "" && len(text) <= maxID && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// parseFields reads the schema, which is required.
func parseFields(p *routines.File) Fields {
	f := p.Field("fields")
	switch f.Value.Kind {
	case frontmatter.Map:
	case frontmatter.Null:
		p.Add(routines.Error, f.Line, f.Column, msgNoFields)
		return Fields{}
	default:
		p.AddAt(routines.Error, f, msgFieldsMapping)
		return Fields{}
	}
	fields, err := compile(f)
	if wrong, ok := errors.AsType[*fieldError](err); ok {
		p.Add(routines.Error, wrong.line, wrong.column, "%s", wrong.message)
		return Fields{}
	}
	switch n := len(fields.Declared); {
	case n > maxProperties:
		line, column := f.At("/properties")
		p.Add(routines.Warning, line, column, msgTooManyDeclared, n, maxProperties)
	case n == 0:
		p.Add(routines.Warning, f.Line, f.Column, msgNothingDeclared)
	}
	return fields
}

// checkTemplate warns about placeholders without a declared field, and rejects a template
// that could make a prompt of any size.
func checkTemplate(p *routines.File, s Spec) {
	list := prompt.Placeholders(s.Body)
	if len(list) > maxPlaceholders {
		p.Add(routines.Error, p.Doc.BodyLine, 1, msgTooManyPlaceholders, len(list), maxPlaceholders)
		return
	}
	lines := strings.Split(s.Body, "\n")
	for _, h := range list {
		if len(s.Fields.Declared) == 0 || slices.Contains(s.Fields.Declared, h.Name) {
			continue
		}
		column := utf8.RuneCountInString(lines[h.Line-1][:h.Column]) + 1
		p.Add(routines.Warning, p.Doc.BodyLine+h.Line-1, column, msgUnfilled, show(h.Name))
	}
}

// Index contains the spec files of a data directory: which are active, and their problems.
// A webhook that waits for approval is not active. All methods are safe for concurrent use;
// only Scan, Apply and Judge read files.
type Index struct{ *routines.Folder[Spec] }

// NewIndex returns an empty index; Scan fills it.
func NewIndex(d *store.Dir) *Index {
	return &Index{routines.NewFolder(d, Folder, Parse, func(s *Spec) *routines.Task { return &s.Task })}
}

// Find returns the active spec with that id.
func (x *Index) Find(id string) (Spec, bool) {
	s, ok := x.Now().Find(id)
	if !ok || s.Waits != "" {
		return Spec{}, false
	}
	return *s, true
}

// Specs returns the active specs, or those that wait for approval, by path.
func (x *Index) Specs(waiting bool) []*Spec {
	return slices.DeleteFunc(slices.Clone(x.Now().InForce), func(s *Spec) bool { return (s.Waits != "") != waiting })
}

// Problems returns the problems of the files, and a warning for each that waits for
// approval or in which an edit does: errors first, then by file and position.
func (x *Index) Problems() []routines.Problem {
	list := slices.Clone(x.Now().Problems)
	for _, s := range x.Specs(true) {
		list = append(list, routines.Problem{
			File: s.Path, Severity: routines.Warning, Message: clean.Line(fmt.Sprintf(msgWaits, s.Waits)), Waits: true, Version: s.Digest,
		})
	}
	for _, s := range x.Now().InForce {
		if p := s.Proposed; p.Version != "" {
			list = append(list, routines.Problem{
				File: s.Path, Severity: routines.Warning, Message: clean.Line(fmt.Sprintf(msgProposed, p.Why)), Waits: true, Version: p.Version, Proposed: p,
			})
		}
	}
	slices.SortStableFunc(list, routines.ByWeight)
	return list
}

// RefusedError is why a delivery was refused, for its sender. It contains no value of the
// payload.
type RefusedError struct {
	Status  int // of HTTP
	Reason  string
	Details []string
	retry   int // seconds to wait; 0 for none
	// challenge is what the answer repeats, with Status 200.
	challenge string
}

func (r *RefusedError) Error() string {
	if len(r.Details) == 0 {
		return r.Reason
	}
	return r.Reason + ": " + strings.Join(r.Details, "; ")
}

// Check validates a payload. An error is a *RefusedError. The spec must have parsed without
// errors.
func (s Spec) Check(body []byte) (Payload, error) {
	text, list, err := s.read(body)
	if err != nil {
		return Payload{}, err
	}
	return s.payload(text, list)
}

// read reads the JSON object of a payload. An error is a *RefusedError.
func (s Spec) read(body []byte) (text []byte, list []member, err error) {
	if len(body) > s.limit() {
		return nil, nil, tooLarge()
	}
	text = s.unwrapped(bytes.TrimPrefix(body, []byte("\ufeff"))) // a mark that some programs write
	list, err = readObject(text)
	switch {
	case errors.Is(err, errNotObject):
		err = invalid(textPayload + textNotObject)
	case errors.Is(err, errNumber):
		err = invalid(textPayload + textBadNumber)
	case err != nil:
		err = &RefusedError{Status: http.StatusBadRequest, Reason: answerJSON}
	}
	return text, list, err
}

func tooLarge(details ...string) *RefusedError {
	return &RefusedError{Status: http.StatusRequestEntityTooLarge, Reason: answerTooLarge, Details: details}
}

// payload validates a payload that was read. Its sender decides what it sends, so of a verified one
// only what the spec declares is kept.
func (s Spec) payload(text []byte, list []member) (Payload, error) {
	if s.Verify != "" {
		var err error
		text = s.Fields.shape.cut(text)
		if list, err = readObject(text); err != nil || len(text) > MaxBody {
			return Payload{}, tooLarge(textDeclareLess)
		}
	}
	if wrong := s.Fields.check(asMap(list)); len(wrong) > 0 {
		return Payload{}, invalid(wrong...)
	}
	if missing := unfilledBy(s.Body, list); len(missing) > 0 {
		return Payload{}, &RefusedError{Status: http.StatusBadRequest, Reason: fmt.Sprintf(answerMissing, strings.Join(missing, "', '"))}
	}
	p := Payload{Data: make([]prompt.Datum, 0, len(list)), text: text}
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

// unfilledBy returns the placeholders that the payload lacks, each once.
func unfilledBy(template string, list []member) []string {
	var missing []string
	for _, h := range prompt.Placeholders(template) {
		if !slices.ContainsFunc(list, func(m member) bool { return m.key == h.Name }) && !slices.Contains(missing, h.Name) {
			missing = append(missing, h.Name)
		}
	}
	return missing
}

// free reports whether a field can contain words of the sender's choice: in a string, list
// or object, unless the spec lists its values, or in an undeclared, unusual name.
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

// Limits of an answer, so that a small payload cannot cause a large one.
const (
	maxSentences = 20
	maxSentence  = 200 // characters
	maxNamed     = 40  // characters of a name that the sender chose
)

// sentences describes the problems of a document, one short sentence each, in alphabetical
// order. root is the name of the document itself. Values are never shown; names are, cleaned
// and cut.
func sentences(problems []schema.Problem, root string) []string {
	var list []string
	for _, p := range problems {
		list = append(list, clean.Cut(clean.Line(sentence(p, root)), maxSentence))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if more := len(list) - maxSentences; more > 0 {
		list = append(list[:maxSentences], fmt.Sprintf(textMore, more))
	}
	return list
}

func sentence(p schema.Problem, root string) string {
	where := root
	if len(p.Path) > 0 {
		steps := make([]string, len(p.Path))
		for i, s := range p.Path {
			steps[i] = clean.Cut(clean.Line(s), maxNamed)
		}
		where = strings.Join(steps, ".")
	}
	switch p.Keyword {
	case "required":
		return fmt.Sprintf(textRequired, where)
	case "additionalProperties":
		return fmt.Sprintf(textUndeclared, where)
	}
	return where + simple(p)
}

// simple is the end of a sentence about one value.
func simple(p schema.Problem) string {
	if words, known := simpleWords[p.Keyword]; known {
		return words
	}
	switch p.Keyword {
	case "type":
		want, _ := p.Want.([]string)
		return fmt.Sprintf(textType, strings.Join(want, textOr), p.Kind)
	case "enum":
		want, _ := p.Want.([]any)
		list := make([]string, 0, len(want)) // written by the author of the spec
		for _, w := range want {
			list = append(list, fmt.Sprint(w))
		}
		return textEnum + strings.Join(list, ", ")
	case "maxLength":
		return fmt.Sprintf(textTooLong, p.Count, p.Want)
	case "minLength":
		return fmt.Sprintf(textTooShort, p.Count, p.Want)
	case "maxItems":
		return fmt.Sprintf(textTooManyItems, p.Count, p.Want)
	case "minItems":
		return fmt.Sprintf(textTooFewItems, p.Count, p.Want)
	}
	return textDoesNotFit + " (" + p.Keyword + ")"
}

// simpleWords are for keywords without details.
var simpleWords = map[string]string{
	"const": textConst, "pattern": textPattern, "minimum": textTooSmall, "exclusiveMinimum": textTooSmall,
	"maximum": textTooLarge, "exclusiveMaximum": textTooLarge, schema.Exhausted: textTooCostly,
	schema.False: textDoesNotFit, "not": textDoesNotFit, "$ref": textDoesNotFit, // the keyword adds nothing
}
