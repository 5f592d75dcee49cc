package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
)

// Senders that verify can name.
const (
	github  = "github"      // signs the payload
	gitlab  = "gitlab"      // sends the secret itself
	stripe  = "stripe"      // signs its time and the payload, once for each secret that is valid
	slack   = "slack"       // signs its time and the payload
	hmac256 = "hmac-sha256" // signs the payload, in a header that the file names
)

// senders are they in the order of the documentation, and signatureHeaders their headers.
var (
	senders          = []string{github, gitlab, stripe, slack, hmac256}
	signatureHeaders = map[string]string{
		github: "X-Hub-Signature-256", gitlab: "X-Gitlab-Token", stripe: "Stripe-Signature", slack: "X-Slack-Signature",
	}
)

const (
	slackTime   = "X-Slack-Request-Timestamp"
	githubEvent = "X-GitHub-Event"
	// tolerance is how far the signed time can be from the bot's. Beyond it a copied request is useless.
	tolerance = 5 * time.Minute
	// MaxSigned is the size of the largest payload of a verified sender, in bytes.
	MaxSigned = 1 << 20
	// signedAtOnce is how many payloads above MaxBody are read at once: their senders are not known yet.
	signedAtOnce = 8
	maxHeaderKey = 64 // characters of a header's name in a file
)

// parseVerify reads who sends the deliveries, and how that is known.
func (s *Spec) parseVerify(p *routines.File) {
	s.Verify = p.Choice("verify", "", senders...)
	s.DeliveryHeader = parseHeader(p, "delivery-header")
	s.SignatureHeader = parseHeader(p, "signature-header")
	if f, text, ok := p.Text("secret-env", ""); ok {
		if s.SecretEnv = text; !config.NamesSecret(text) { // the text could be the secret itself
			p.AddAt(routines.Error, f, msgSecretName)
			s.SecretEnv = ""
		}
	}
	at := p.Field("verify")
	set := func(key string) bool { return p.Field(key).Value.Kind != frontmatter.Null }
	switch {
	case s.Verify == "":
		for _, key := range []string{"secret-env", "signature-header"} {
			if set(key) && !set("verify") {
				p.AddAt(routines.Warning, p.Field(key), msgNeedsVerify, key)
			}
		}
	case !set("secret-env"):
		p.AddAt(routines.Error, at, msgNoSecretName, s.Verify, strings.ToUpper(strings.ReplaceAll(s.Verify, "-", "_")))
	case s.signatureHeader() == "" && !set("signature-header"):
		p.AddAt(routines.Error, at, msgNoHeader)
	case s.timed() && s.DeliveryHeader != "":
		p.AddAt(routines.Warning, p.Field("delivery-header"), msgSignedID, s.Verify)
	}
}

// parseHeader reads the name of a header.
func parseHeader(p *routines.File, key string) string {
	f, text, ok := p.Text(key, "")
	if !ok {
		return ""
	}
	if text == "" || len(text) > maxHeaderKey || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		p.AddAt(routines.Error, f, msgBadHeader, key, key)
		return ""
	}
	return text
}

// signatureHeader is the header with the proof of the sender.
func (s Spec) signatureHeader() string {
	if s.SignatureHeader != "" {
		return s.SignatureHeader
	}
	return signatureHeaders[s.Verify]
}

// timed reports whether the sender signs its time.
func (s Spec) timed() bool { return s.Verify == stripe || s.Verify == slack }

// limit is the size of the largest payload, in bytes.
func (s Spec) limit() int {
	if s.Verify != "" {
		return MaxSigned
	}
	return MaxBody
}

// Needs says what a webhook with verify needs from its sender, and what the original program does
// with it. It is empty without verify.
func (s Spec) Needs() string {
	if s.Verify == "" {
		return ""
	}
	proof := textNeedsSignature
	if s.Verify == gitlab {
		proof = textNeedsToken
	}
	return fmt.Sprintf(proof, s.signatureHeader(), s.SecretEnv) + textOurs
}

// Lacks returns what is wrong with the value of SecretEnv; empty if nothing is.
func (s Spec) Lacks(secret config.Secret) string {
	switch {
	case s.Verify == "":
		return ""
	case secret.Reveal() == "":
		return fmt.Sprintf(msgNoVariable, s.SecretEnv, s.Verify)
	default:
		return WeakSecret(s.SecretEnv, secret)
	}
}

// claim is what the headers of a delivery claim, before its payload is read.
type claim struct {
	proofs [][]byte // of which one must be right
	before string   // what is signed in front of the payload
	token  bool     // the proof is the digest of the secret
}

// claimed reads the headers. wrong is a sentence for the sender; it is empty if only the payload can
// show now whether the claim is true.
func (s Spec) claimed(h http.Header, now time.Time) (c claim, wrong string) {
	name := s.signatureHeader()
	given, wrong := single(h, name)
	if wrong != "" {
		return c, wrong
	}
	at, how := "", textHexSignature
	switch s.Verify {
	case gitlab:
		sum := sha256.Sum256([]byte(given))
		return claim{proofs: [][]byte{sum[:]}, token: true}, ""
	case github:
		c.add(given, "sha256=", false)
	case hmac256:
		c.add(strings.TrimPrefix(given, "sha256="), "", true)
		how = textAnySignature
	case slack:
		if at, wrong = single(h, slackTime); wrong != "" {
			return c, wrong
		}
		c.add(given, "v0=", false)
		c.before, how = "v0:"+at+":", textSlackSignature
	case stripe:
		at, how = c.addStripe(given), textStripeSignature
		c.before = at + "."
	}
	if len(c.proofs) == 0 {
		return c, fmt.Sprintf(how, name)
	}
	if s.timed() {
		return c, late(at, now)
	}
	return c, ""
}

// single returns the only value of a header. Of two, another program could read the other one.
func single(h http.Header, name string) (value, wrong string) {
	switch list := h.Values(name); {
	case len(list) > 1:
		return "", fmt.Sprintf(textHeaderTwice, name)
	case len(list) == 0 || strings.TrimSpace(list[0]) == "":
		return "", fmt.Sprintf(textHeaderMissing, name)
	default:
		return strings.TrimSpace(list[0]), ""
	}
}

// add adds a signature in hexadecimal digits, or perhaps in base64. Others are not added.
func (c *claim) add(text, prefix string, base64Too bool) {
	text, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return
	}
	mac, err := hex.DecodeString(text)
	if err != nil && base64Too {
		mac, err = base64.StdEncoding.DecodeString(text)
	}
	if err == nil && len(mac) == sha256.Size {
		c.proofs = append(c.proofs, mac)
	}
}

// addStripe adds the signatures of "t=TIME,v1=SIGNATURE,v1=SIGNATURE", one for each secret that is
// valid, and returns the time. Other schemes are older or for tests.
func (c *claim) addStripe(text string) (at string) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "t" && at == "":
			at = value
		case name == "v1":
			c.add(value, "", false)
		}
	}
	return at
}

// late says what is wrong with a signed time, in seconds since 1970.
func late(at string, now time.Time) string {
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return textNoTime
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > tolerance || off < -tolerance {
		return textTooLate
	}
	return ""
}

// proven reports whether a payload and the secret prove the claim.
func (c claim) proven(secret config.Secret, body []byte) bool {
	want := mac(secret, c.before, body)
	if c.token {
		sum := sha256.Sum256([]byte(secret.Reveal()))
		want = sum[:]
	}
	right := false
	for _, p := range c.proofs {
		right = hmac.Equal(p, want) || right
	}
	return right
}

func mac(secret config.Secret, before string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret.Reveal()))
	h.Write([]byte(before))
	h.Write(body)
	return h.Sum(nil)
}

// Sign returns the headers that the sender of this webhook would send with a payload.
func (s Spec) Sign(secret config.Secret, body []byte, now time.Time) http.Header {
	h, at := http.Header{}, strconv.FormatInt(now.Unix(), 10)
	signed := func(before string) string { return hex.EncodeToString(mac(secret, before, body)) }
	var value string
	switch s.Verify {
	case "":
		h.Set("Authorization", bearer+secret.Reveal())
		return h
	case gitlab:
		value = secret.Reveal()
	case stripe:
		value = "t=" + at + ",v1=" + signed(at+".")
	case slack:
		h.Set(slackTime, at)
		value = "v0=" + signed("v0:"+at+":")
	default:
		value = "sha256=" + signed("")
	}
	h.Set(s.signatureHeader(), value)
	return h
}

// keyHeaders are the headers in which senders give a delivery an id that stays the same when
// they send it again; the first one counts.
var keyHeaders = []string{"Idempotency-Key", "Webhook-Id", "X-GitHub-Delivery", "X-Gitea-Delivery", "X-Gitlab-Event-UUID"}

// signedIDs are the fields with the id of a delivery whose sender signs its time: a header could be
// changed to send a copied request again.
var signedIDs = map[string]string{stripe: "id", slack: "event_id"}

// key identifies what was delivered, if its sender says so. It is a digest, because the sender
// chooses the text.
func (s Spec) key(h http.Header, sent []member, c claim) string {
	id := ""
	if s.timed() {
		if id = textOf(sent, signedIDs[s.Verify]); id == "" { // the same signature is the same request
			id = "signature " + hex.EncodeToString(c.proofs[0])
		}
	} else {
		names := keyHeaders
		if s.DeliveryHeader != "" {
			names = []string{s.DeliveryHeader}
		}
		for _, name := range names {
			if id = strings.TrimSpace(h.Get(name)); id != "" {
				break
			}
		}
	}
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.ID + "\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// textOf returns the text of a field, or "".
func textOf(list []member, key string) string {
	i := slices.IndexFunc(list, func(m member) bool { return m.key == key })
	if i < 0 {
		return ""
	}
	text, _ := list[i].value.(string)
	return text
}

// greets returns the answer to a verified delivery by which its sender only tries the address.
func (s Spec) greets(h http.Header, sent []member) *RefusedError {
	switch {
	case s.Verify == github && h.Get(githubEvent) == "ping":
		return &RefusedError{Status: http.StatusOK, Reason: statusPong}
	case s.Verify == slack && textOf(sent, "type") == "url_verification":
		return &RefusedError{Status: http.StatusOK, Reason: statusPong, challenge: clean.Cut(clean.Line(textOf(sent, "challenge")), maxSentence)}
	}
	return nil
}

// formField is the field of a form in which GitHub and Slack can send their JSON.
const formField = "payload="

// unwrapped returns the JSON in a form of a verified sender. JSON never begins like one.
func (s Spec) unwrapped(body []byte) []byte {
	if s.Verify == "" || !bytes.HasPrefix(body, []byte(formField)) {
		return body
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil
	}
	return []byte(values.Get(strings.TrimSuffix(formField, "=")))
}

// shape is what a schema declares of a value. A nil shape declares nothing and keeps the value whole.
type shape struct {
	properties map[string]*shape
	items      *shape
}

// shapeOf returns what a schema declares by properties and items.
func shapeOf(node any) *shape {
	schema, ok := node.(map[string]any)
	if _, elsewhere := schema["$ref"]; !ok || elsewhere {
		return nil
	}
	s := &shape{items: shapeOf(schema["items"])}
	_, patterns := schema["patternProperties"]
	more, said := schema["additionalProperties"]
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) > 0 && !patterns && (!said || more == false) {
		s.properties = make(map[string]*shape, len(properties))
		for name, p := range properties {
			s.properties[name] = shapeOf(p)
		}
	}
	if s.properties == nil && s.items == nil {
		return nil
	}
	return s
}

// cut returns JSON without what the shape does not declare.
func (s *shape) cut(raw []byte) []byte {
	d := decoder(raw)
	open, _ := d.Token()
	object := open == json.Delim('{')
	if s == nil || object && s.properties == nil || !object && open != json.Delim('[') {
		return raw
	}
	b := []byte(open.(json.Delim).String())
	for d.More() {
		inner := s.items
		var key []byte
		if object {
			token, _ := d.Token()
			name, _ := token.(string)
			var declared bool
			if inner, declared = s.properties[name]; !declared {
				var skipped json.RawMessage
				_ = d.Decode(&skipped)
				continue
			}
			key, _ = json.Marshal(name)
			key = append(key, ':')
		}
		var value json.RawMessage
		_ = d.Decode(&value) // it is valid JSON
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, key...), inner.cut(value)...)
	}
	return append(b, map[bool]byte{true: '}', false: ']'}[object])
}
